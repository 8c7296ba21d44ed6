"""What vendors refuse, read off request bodies.

It is written from the vendors' public messages, apart from the encoders. `broken_rules` takes a
body as the vendor would get it, and gives one line for each rule that the body breaks. It knows
nothing of quirks, traits and cards; models are told apart by their names.
The sources are the vendors' documentation, and the messages that people quote in public trackers.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, Final, NamedTuple

Body = dict[str, Any]


class Asked(NamedTuple):
    """A request as a vendor gets it."""

    vendor: str
    """The vendor's name among the endpoints."""
    model: str
    body: Body


Check = Callable[[Asked], Iterator[str]]


def broken_rules(api: str, vendor: str, model: str, body: Body) -> list[str]:
    """The rules that a body breaks; empty where the vendor takes it."""
    asked = Asked(vendor, model.lower(), body)
    return [f"{check.__name__}: {line}" for check in CHECKS[api] for line in check(asked)]


# What is alike.

_MAGIC: Final = (
    (b"\x89PNG", "image/png"), (b"\xff\xd8\xff", "image/jpeg"), (b"GIF8", "image/gif"),
    (b"RIFF", "image/webp"),
)  # fmt: skip


def _objects(value: Any) -> Iterator[Body]:
    if isinstance(value, dict):
        yield value
        for entry in value.values():
            yield from _objects(entry)
    elif isinstance(value, list):
        for entry in value:
            yield from _objects(entry)


def _image_types(body: Body) -> Iterator[tuple[str, bytes]]:
    for found in _objects(body):
        kind = found.get("media_type", found.get("mimeType"))
        data, url = found.get("data"), found.get("url", found.get("image_url"))
        if isinstance(kind, str) and kind.startswith("image/") and isinstance(data, str):
            yield kind, b64decode(data)
        if isinstance(url, str) and url.startswith("data:image/"):
            head, _, data = url.partition(";base64,")
            yield head.removeprefix("data:"), b64decode(data)


def images_are_what_they_say(asked: Asked) -> Iterator[str]:
    """Anthropic: "specified using the image/png media type, but … appears to be"."""
    for kind, content in _image_types(asked.body):
        shown = next((name for start, name in _MAGIC if content.startswith(start)), None)
        if shown != kind:
            yield f"an image says {kind} and is {shown}"


def _schema_problems(schema: Any) -> Iterator[str]:
    if not isinstance(schema, dict) or schema.get("type") != "object":
        yield "a tool's schema is not of type object"
        return
    for name in ("oneOf", "anyOf", "allOf", "enum", "not"):
        if name in schema:
            yield f"{name} at the top of a tool's schema"
    for found in _objects(schema):
        if found.get("type") == "array" and not {"items", "prefixItems"} & set(found):
            yield "an array without items"
        if isinstance(found.get("items"), list):
            yield "a list of items, which is no JSON Schema 2020-12"
        if isinstance(found.get("exclusiveMinimum"), bool):
            yield "exclusiveMinimum of draft 4"


def _objects_are_closed(schema: Any) -> bool:
    objects = [found for found in _objects(schema) if found.get("type") == "object"]
    return all(found.get("additionalProperties") is False for found in objects)


def _all_is_required(schema: Any) -> bool:
    with_properties = [found for found in _objects(schema) if found.get("type") == "object"]
    return all(
        set(found.get("required", ())) == set(found.get("properties", ()))
        for found in with_properties
    )


def _claude(model: str) -> tuple[int, int] | None:
    """The version of one of Anthropic's models; None for other models."""
    if "claude" not in model:
        return None
    found = re.search(r"claude-(?:[a-z]+-)?(\d{1,2})(?!\d)(?:[-.](\d{1,2})(?!\d))?", model)
    return (int(found[1]), int(found[2] or 0)) if found else (99, 0)


def tools_are_not_an_empty_list(asked: Asked) -> Iterator[str]:
    """OpenAI: "[] is too short - 'tools'"."""
    if asked.body.get("tools") == []:
        yield "tools is an empty list"
    if "tools" not in asked.body and "tool_choice" in asked.body:
        yield "tool_choice without tools"


def tools_have_names(asked: Asked) -> Iterator[str]:
    """OpenAI, Anthropic: "should match pattern '^[a-zA-Z0-9_-]{1,64}$'"; Google: its own."""
    pattern = r"[a-zA-Z0-9_-]{1,64}"
    declared = asked.body.get("tools", [])
    if any("functionDeclarations" in tool for tool in declared):
        declared = [entry for tool in declared for entry in tool.get("functionDeclarations", ())]
        pattern = r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}"
    names = [tool.get("function", tool).get("name", "a") for tool in declared]
    for name in names:
        if not re.fullmatch(pattern, name):
            yield f"a tool is called {name!r}"
    if len(names) != len(set(names)):
        yield f"two tools have one name: {names}"
    choice = asked.body.get("tool_choice")
    forced = choice.get("function", choice).get("name") if isinstance(choice, dict) else None
    if forced is not None and forced not in names:
        yield f"a call of {forced!r} is required, which is not offered"


# Messages.


def messages_tools(asked: Asked) -> Iterator[str]:
    """Anthropic: "input_schema does not support oneOf, allOf, or anyOf at the top level"."""
    for tool in asked.body.get("tools", ()):
        if "input_schema" not in tool:
            continue
        yield from _schema_problems(tool["input_schema"])
        for name in tool["input_schema"].get("properties", ()):
            if not re.fullmatch(r"[a-zA-Z0-9_.-]{1,64}", name):
                yield f"a property is called {name!r}"
        if tool.get("strict") and not _objects_are_closed(tool["input_schema"]):
            yield "a strict tool is open"


def messages_thinking(asked: Asked) -> Iterator[str]:
    """Anthropic: "a final `assistant` message must start with a thinking block", and its kin."""
    body = asked.body
    thinking = body.get("thinking", {})
    thinks = thinking.get("type") not in (None, "disabled", "between_tools")
    choice = body.get("tool_choice", {}).get("type")
    if thinks and choice in ("any", "tool"):
        yield "thinking and a forced call"
    if thinks and "temperature" in body:
        yield "thinking and a temperature"
    if thinking.get("type") == "enabled":
        if thinking["budget_tokens"] < 1024 or thinking["budget_tokens"] >= body["max_tokens"]:
            yield "a budget that does not fit"
        turns = body["messages"]
        if turns[-1]["role"] == "assistant":
            yield "a prefill while thinking"
        has_results = any(block["type"] == "tool_result" for block in turns[-1]["content"])
        if has_results and not _turn_thinks(turns):
            yield "thinking in a turn that began without"


def _turn_thinks(turns: list[Body]) -> bool:
    at = len(turns) - 1
    while at > 1 and any(block["type"] == "tool_result" for block in turns[at]["content"]):
        at -= 2
    return turns[at + 1]["content"][0]["type"] in ("thinking", "redacted_thinking")


def messages_end(asked: Asked) -> Iterator[str]:
    """Anthropic: "This model does not support assistant message prefill"."""
    last = asked.body["messages"][-1]
    version = _claude(asked.model)
    if last["role"] != "assistant":
        return
    if version is not None and version >= (4, 6):
        yield "the history ends with the assistant"
    if last["content"][-1].get("text", "x")[-1:].isspace():
        yield "the assistant's last words end in white space"


def messages_turns(asked: Asked) -> Iterator[str]:
    """Anthropic: roles are user and assistant, and the first is the user's."""
    if {turn["role"] for turn in asked.body["messages"]} - {"user", "assistant"}:
        yield "another role"
    if asked.body["messages"][0]["role"] != "user":
        yield "the first is not the user's"


def messages_options(asked: Asked) -> Iterator[str]:
    """Anthropic: ranges of options, and models that take fewer."""
    body, version = asked.body, _claude(asked.model)
    if not 0 <= body.get("temperature", 0) <= 1:
        yield "a temperature above 1"
    if version is not None and version >= (4, 7) and {"temperature", "top_p"} & set(body):
        yield "a temperature, which newer models refuse"
    if any(not text.strip() for text in body.get("stop_sequences", ())):
        yield "a blank stop sequence"
    if {"seed", "stop", "top_k"} & set(body):
        yield "an option that there is not"
    if body.get("output_config", {}).get("format") and version is not None and version < (4, 1):
        yield "an answer format, which older models refuse"


def messages_answer(asked: Asked) -> Iterator[str]:
    """Anthropic: "For 'object' type, 'additionalProperties' must be explicitly set to false"."""
    wanted = asked.body.get("output_config", {}).get("format")
    if not wanted:
        return
    if not _objects_are_closed(wanted["schema"]):
        yield "an answer's object is open"
    refused = {"minimum", "maximum", "minLength", "maxLength", "multipleOf", "maxItems",
               "uniqueItems", "oneOf", "patternProperties"}  # fmt: skip
    for found in _objects(wanted["schema"]):
        if "properties" in found or isinstance(found.get("type"), str):
            for name in refused & set(found):
                yield f"{name} in an answer's schema"


def messages_marks(asked: Asked) -> Iterator[str]:
    """Anthropic: "A maximum of 4 blocks with cache_control may be provided"."""
    marked = [found for found in _objects(asked.body) if "cache_control" in found]
    if len(marked) > 4:
        yield f"{len(marked)} cache marks"
    for found in marked:
        if found.get("defer_loading") or found.get("type") in ("thinking", "redacted_thinking"):
            yield "a cache mark on what cannot bear it"


# Chat Completions.


def _newer_openai(asked: Asked) -> tuple[int, int] | None:
    """The version of an OpenAI model that reasons, (0, n) for the o-series; None for others."""
    if asked.vendor not in ("openai", "azure", "openai-responses", "azure-responses"):
        return None
    if "-chat" in asked.model:
        return None
    if found := re.match(r"o(\d)", asked.model):
        return 0, int(found[1])
    found = re.match(r"gpt-(\d+)(?:\.(\d+))?", asked.model)
    version = (int(found[1]), int(found[2] or 0)) if found else None
    return version if version is not None and version >= (5, 0) else None


def chat_reasoning(asked: Asked) -> Iterator[str]:
    """OpenAI: "Function tools with reasoning_effort are not supported for …"."""
    version, body = _newer_openai(asked), asked.body
    if version is None:
        return
    effort = body.get("reasoning_effort")
    if "tools" in body and version >= (5, 6) and effort != "none":
        yield "tools without the effort none"
    if "tools" in body and (5, 2) <= version < (5, 6) and effort is not None:
        yield "tools with an effort"
    for name in ("temperature", "top_p"):
        if name in body:
            yield f"{name}, which models that reason refuse"
    if "stop" in body and version != (0, 1):
        yield "stop, which models that reason refuse"
    if version[0] == 0 and "parallel_tool_calls" in body:
        yield "parallel_tool_calls, which the o-series refuses"


def chat_forced_calls(asked: Asked) -> Iterator[str]:
    """DeepSeek: "Thinking mode does not support this tool_choice", and its kin."""
    body = asked.body
    choice = body.get("tool_choice")
    if choice in (None, "auto", "none"):
        return
    mode = body.get("thinking", {}).get("type")
    if asked.vendor == "deepseek" and asked.model != "deepseek-chat" and mode != "disabled":
        yield "a forced call while thinking"
    kimi = asked.vendor == "moonshot" and re.match(r"kimi-k(2\.[5-9]|3)", asked.model)
    if kimi and mode != "disabled":
        yield "a forced call while thinking"
    qwen = asked.vendor == "alibaba" and asked.model.startswith("qwen3")
    if qwen and body.get("enable_thinking") is not False:
        yield "a forced call while thinking"


def chat_reasoning_content(asked: Asked) -> Iterator[str]:
    """DeepSeek, Moonshot: "reasoning_content is missing in assistant … message"."""
    thinking = asked.body.get("thinking", {}).get("type")
    by_default = re.match(r"deepseek-(?!chat)|kimi-k(2\.[5-9]|3|2-thinking)", asked.model)
    if asked.vendor not in ("deepseek", "moonshot") or thinking == "disabled":
        return
    if thinking == "enabled" or by_default:
        for turn in asked.body["messages"]:
            if turn["role"] == "assistant" and "reasoning_content" not in turn:
                yield "an assistant message without reasoning_content"


def chat_options(asked: Asked) -> Iterator[str]:
    """Ranges of options, by vendor."""
    body = asked.body
    most = {"mistral": 1.5, "zai": 1.0, "moonshot": 1.0, "minimax": 1.0}.get(asked.vendor, 2.0)
    if body.get("temperature", 0) > most:
        yield f"a temperature above {most}"
    stops = {"openai": 4, "azure": 4, "groq": 4, "zai": 1, "deepseek": 16}.get(asked.vendor, 99)
    if len(body.get("stop", ())) > stops:
        yield f"more than {stops} stop sequences"
    reasons = re.match(r"grok-(4|3-mini|code)(?!.*non-reasoning)", asked.model)
    if asked.vendor == "xai" and "stop" in body and reasons:
        yield "stop, which models that reason refuse"
    if asked.vendor in ("mistral", "minimax", "google-openai") and "seed" in body:
        yield "a seed, which the vendor does not know"
    if "response_format" in body and "tools" in body:
        old_gemini = asked.vendor == "google-openai" and re.match(r"gemini-[12]", asked.model)
        if asked.vendor in ("groq", "cerebras") or old_gemini:
            yield "a response format with tools"


def chat_tools(asked: Asked) -> Iterator[str]:
    """OpenAI: "schema must have type 'object' and not have 'oneOf'/'anyOf'/… at the top level"."""
    for tool in asked.body.get("tools", ()):
        function = tool["function"]
        schema = function.get("parameters", {"type": "object"})
        yield from _schema_problems(schema)
        if function.get("strict") and not (
            _objects_are_closed(schema) and _all_is_required(schema)
        ):
            yield "a strict tool is open"
        if asked.vendor == "moonshot":
            for found in _objects(schema):
                if "anyOf" in found and "type" in found:
                    yield "type beside anyOf"
    calls = any("tool_calls" in turn for turn in asked.body["messages"])
    if (
        asked.vendor == "litellm"
        and "claude" in asked.model
        and calls
        and "tools" not in asked.body
    ):
        yield "calls without tools"


def chat_documents(asked: Asked) -> Iterator[str]:
    """OpenAI: "got unsupported MIME type 'text/markdown'"."""
    for found in _objects(asked.body["messages"]):
        if found.get("type") == "file" and "file_data" in found["file"]:
            data = found["file"]["file_data"]
            if not data.startswith("data:application/pdf;base64,JVBERi") and not (
                asked.vendor == "openrouter" and data.startswith("https:")
            ):
                yield "a file that is no PDF"


def chat_turns(asked: Asked) -> Iterator[str]:
    """Strict templates: "System message must be at the beginning", "roles must alternate"."""
    roles = [turn["role"] for turn in asked.body["messages"]]
    strict = (
        "mistral",
        "perplexity",
        "vllm",
        "sglang",
        "llamacpp",
        "lmstudio",
        "ollama",
        "minimax",
    )
    if asked.vendor in strict:
        late = [role for role in roles[1:] if role in ("system", "developer")]
        if "user" in roles and "system" in roles[roles.index("user") :]:
            yield "a system message after the first user message"
        if late and asked.vendor in ("mistral", "perplexity"):
            yield "more than one system message"
    if asked.vendor in ("mistral", "perplexity"):
        said = [role for role in roles if role not in ("system", "tool")]
        if said[:1] == ["assistant"]:
            yield "the assistant speaks first"
        for role, following in pairwise(roles):
            if role == following and role != "tool":
                yield f"two messages of the {role} in a row"
    last = asked.body["messages"][-1]
    if last["role"] != "assistant":
        return
    if asked.vendor == "mistral" and not last.get("prefix"):
        yield "the history ends with the assistant, without prefix"
    version = _claude(asked.model)
    if asked.vendor in ("deepseek", "perplexity") or (version is not None and version >= (4, 6)):
        yield "the history ends with the assistant"


def chat_marks(asked: Asked) -> Iterator[str]:
    """Anthropic's limit of four marks holds behind gateways too."""
    if sum("cache_control" in found for found in _objects(asked.body)) > 4:
        yield "more than 4 cache marks"


# Responses.


def responses_options(asked: Asked) -> Iterator[str]:
    """OpenAI: "Unsupported parameter: 'temperature' is not supported with this model"."""
    version, body = _newer_openai(asked), asked.body
    if {"stop", "seed"} & set(body):
        yield "an option that there is not"
    if body.get("max_output_tokens", 16) < 16 and asked.vendor.startswith(("openai", "azure")):
        yield "a limit below 16"
    if version is None:
        return
    for name in ("temperature", "top_p"):
        if name in body:
            yield f"{name}, which models that reason refuse"
    if version[0] == 0 and "parallel_tool_calls" in body:
        yield "parallel_tool_calls, which the o-series refuses"


def responses_tools(asked: Asked) -> Iterator[str]:
    """OpenAI takes a tool that does not say `strict` as strict, and refuses it where it is open."""
    for tool in asked.body.get("tools", ()):
        schema = tool.get("parameters", {"type": "object"})
        yield from _schema_problems(schema)
        if tool.get("strict") and not (_objects_are_closed(schema) and _all_is_required(schema)):
            yield "a strict tool is open"
    wanted = asked.body.get("text", {}).get("format", {})
    if wanted.get("strict") and not _objects_are_closed(wanted["schema"]):
        yield "a strict answer is open"


# generateContent.


def generate_options(asked: Asked) -> Iterator[str]:
    """Google: ranges of options, and "Function calling with a response mime type … unsupported"."""
    config = asked.body.get("generationConfig", {})
    if config.get("temperature", 0) > 2:
        yield "a temperature above 2"
    if len(config.get("stopSequences", ())) > 5:
        yield "more than 5 stop sequences"
    is_old = re.match(r"(models/)?(gemini-[12]|gemma-[123])", asked.model)
    if is_old and "responseMimeType" in config and "tools" in asked.body:
        yield "a JSON answer with tools"


def generate_tools(asked: Asked) -> Iterator[str]:
    """Google: "functionDeclaration parameters schema should be of type OBJECT"."""
    for tool in asked.body.get("tools", ()):
        for declaration in tool.get("functionDeclarations", ()):
            if (schema := declaration.get("parametersJsonSchema")) is not None:
                yield from _schema_problems(schema)


def generate_turns(asked: Asked) -> Iterator[str]:
    """Google: "ensure that multiturn requests end with a user role or a function response"."""
    roles = [content["role"] for content in asked.body["contents"]]
    if roles[0] != "user" or roles[-1] != "user":
        yield "contents do not begin and end with the user"
    if set(roles) - {"user", "model"}:
        yield "another role"


CHECKS: Final[dict[str, tuple[Check, ...]]] = {
    "anthropic_messages": (
        images_are_what_they_say, tools_are_not_an_empty_list, tools_have_names, messages_tools,
        messages_thinking,
        messages_end, messages_turns, messages_options, messages_answer, messages_marks,
    ),
    "openai_chat": (
        images_are_what_they_say, tools_are_not_an_empty_list, tools_have_names, chat_reasoning,
        chat_forced_calls,
        chat_reasoning_content, chat_options, chat_tools, chat_documents, chat_turns, chat_marks,
    ),
    "openai_responses": (
        images_are_what_they_say, tools_are_not_an_empty_list, tools_have_names, responses_options,
        responses_tools,
    ),
    "google_generate": (
        images_are_what_they_say, tools_are_not_an_empty_list, tools_have_names, generate_options,
        generate_tools,
        generate_turns,
    ),
}  # fmt: skip
"""The rules of each protocol's vendors."""
