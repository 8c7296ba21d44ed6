"""Recorded exchanges with real providers, read by our projections and compared.

    python tests/providers/corpus.py DIR [DIR ...]

reads every exchange below a directory, prints one line for each protocol and kind of value
with how many agree, names what does not, and exits with 1 if anything did not. The format of
the files is described in the README beside the recordings; nothing here knows a single file.

A protocol joins by a row in `PROTOCOLS`; those without one are counted and skipped.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from agentkit_core import (
    Custom,
    File,
    Item,
    Media,
    Modality,
    ModelOptions,
    ModelRequest,
    Part,
    ProviderFailure,
    Reasoning,
    Text,
    TokenUsage,
    ToolCall,
    ToolSpec,
)
from agentkit_core.provider import (
    AppendText,
    BeginPart,
    CommitPart,
    ModelEvent,
    Projection,
    ResponseFailed,
    ResponseFinished,
    fold_response,
    native_reasons,
)
from agentkit_providers import UnknownProvider
from agentkit_providers.anthropic_messages import AnthropicMessages
from agentkit_providers.endpoints import OPENAI_CHAT, default_registry
from agentkit_providers.google_generate import GoogleGenerate
from agentkit_providers.openai_chat import OpenAIChat
from agentkit_providers.openai_responses import OpenAIResponses

Exchange = dict[str, Any]
"""One file of the corpus."""

PIECES = (1, 3, 17, 256, 1400)
"""In pieces of how many bytes a stream is fed; single bytes only where it is short."""


class FailingProjection(Projection, Protocol):
    """A projection that can also say what an HTTP error means."""

    def failure(
        self, status: int, headers: Mapping[str, str], body: bytes, *, now_s: float | None = None
    ) -> ProviderFailure:
        """Say what an answer without success means."""
        ...


class Mismatch(NamedTuple):
    """A value that is not what it should be."""

    exchange: str
    kind: str
    expected: object
    seen: object

    def __str__(self) -> str:
        return f"  {self.exchange}: {self.kind} is {self.seen!r}, should be {self.expected!r}"


class Spoken(NamedTuple):
    """How one protocol is read and compared."""

    projection: Callable[[Exchange], FailingProjection]
    part_kinds: Callable[[Item], list[str]]
    usage: Callable[[TokenUsage, Mapping[str, int]], dict[str, int | None]]
    more: Callable[[Item, Mapping[str, Any]], dict[str, object]] = lambda item, expected: {}
    """What else the protocol's files expect of an item, by its key."""


class Report:
    """What was compared, by protocol and kind, and what did not agree."""

    def __init__(self) -> None:
        self.compared = Counter[tuple[str, str]]()
        self.agreed = Counter[tuple[str, str]]()
        self.skipped = Counter[str]()
        self.mismatches: list[Mismatch] = []

    def compare(self, exchange: Exchange, kind: str, expected: object, seen: object) -> None:
        """Note one comparison."""
        key = exchange["protocol"], kind
        self.compared[key] += 1
        if expected == seen:
            self.agreed[key] += 1
        else:
            self.mismatches.append(Mismatch(exchange["id"], kind, expected, seen))

    def lines(self) -> Iterator[str]:
        """The report for people."""
        for protocol, kind in self.compared:
            agreed, compared = self.agreed[protocol, kind], self.compared[protocol, kind]
            yield f"{protocol} {kind} {agreed}/{compared}"
        for protocol, files in self.skipped.items():
            yield f"{protocol} skipped: no projection yet ({files} files)"
        yield from map(str, self.mismatches)


def exchanges(folder: Path) -> Iterator[Exchange]:
    """Read every exchange below a folder, in order of name; a single file is one too.

    What a file leaves out, or has as null, is what most files say.
    """
    for path in [folder] if folder.is_file() else sorted(folder.rglob("*.json")):
        try:
            found = json.loads(path.read_bytes())
        except ValueError:
            print(f"{path} is no JSON and was passed over", file=sys.stderr)
            continue
        if isinstance(found, dict) and found.get("protocol") and found.get("expected") is not None:
            told = {key: value for key, value in found.items() if value is not None}
            yield {
                "id": path.stem,
                "vendor": "unknown",
                "model": "unknown",
                "request": {},
                "status": 200,
                "streamed": "sse" in told,
                **told,
            }


def check(found: Iterable[Exchange]) -> Report:
    """Compare exchanges with what our projections make of them."""
    report = Report()
    for exchange in found:
        spoken = PROTOCOLS.get(exchange["protocol"])
        if spoken is None:
            report.skipped[exchange["protocol"]] += 1
            continue
        try:
            read = _check_error if exchange["status"] >= 400 else _check_answer
            read(exchange, spoken, report)
        except Exception as error:  # the rest is still worth reading
            report.compare(exchange, "raised", None, repr(error))
    return report


def request_of(exchange: Exchange) -> ModelRequest:
    """What was asked, as far as it matters to a decoder."""
    sent = exchange["request"]
    names = dict.fromkeys(_tool_names(sent.get("tools")))
    chat = {name: sent[name] for name in ("n", "audio") if name in sent}
    return ModelRequest(
        model=exchange["model"],
        tools=tuple(ToolSpec(name) for name in names),
        options=ModelOptions(extra={"openai_chat": chat} if chat else {}),
        streamed=exchange["streamed"],
    )


def body_of(exchange: Exchange) -> bytes:
    """The bytes of the answer."""
    if "sse" in exchange:
        return str(exchange["sse"]).encode()
    return json.dumps(exchange["response"], ensure_ascii=False).encode()


def events_of(
    exchange: Exchange, projection: Projection, chunks: Iterable[bytes]
) -> tuple[ModelEvent, ...]:
    """What a projection makes of an answer that comes in these chunks."""
    decoder = projection.decoder(request_of(exchange))
    events = [event for chunk in chunks for event in decoder.feed(chunk)]
    return (*events, *decoder.finish())


def _tool_names(tools: Any) -> Iterator[str]:
    for tool in tools if isinstance(tools, list) else ():
        if not isinstance(tool, dict):
            continue
        inner = tool.get("function") or tool.get("custom")
        name = inner.get("name") if isinstance(inner, dict) else tool.get("name")
        if isinstance(name, str):
            yield name
        yield from _tool_names(
            tool.get("functionDeclarations") or tool.get("function_declarations")
        )


def _check_error(exchange: Exchange, spoken: Spoken, report: Report) -> None:
    headers = {"content-type": exchange.get("content_type") or "application/json"}
    if exchange.get("retry_after") is not None:
        headers["Retry-After"] = str(exchange["retry_after"])
    failure = spoken.projection(exchange).failure(exchange["status"], headers, body_of(exchange))
    report.compare(exchange, "status", exchange["status"], failure.status)
    if exchange.get("retry_after") is not None:
        told = str(exchange["retry_after"])
        wait = failure.retry_after_s
        seen = wait if told.isdigit() or wait is None else told  # a date is no number of seconds
        report.compare(exchange, "retry_after", float(told) if told.isdigit() else told, seen)
    _compare_failure(exchange, failure, report)


def _compare_failure(exchange: Exchange, failure: ProviderFailure | None, report: Report) -> None:
    expected = {
        name: str(value)
        for name, value in exchange["expected"].get("error", {}).items()
        if name in ("type", "code", "message", "param") and isinstance(value, str | int)
    }
    seen: dict[str, object] = {}
    for name in expected:
        seen[name] = getattr(failure, name, None)
    message = expected.get("message")
    if message and str(seen["message"]).startswith(message.strip()):
        seen["message"] = message  # what a provider behind it said may follow
    report.compare(exchange, "error", expected, seen)


def _check_answer(exchange: Exchange, spoken: Spoken, report: Report) -> None:
    expected, body = exchange["expected"], body_of(exchange)
    projection = spoken.projection(exchange)
    events = events_of(exchange, projection, [body])
    ends = [at for at, one in enumerate(events) if isinstance(one, _ENDS)]
    report.compare(exchange, "one end", [len(events) - 1], ends)
    if exchange["streamed"]:
        _check_cuts(exchange, projection, body, events, report)
    response = fold_response(events, strict=True)
    item = response.item
    failed = "error" in expected or _names_failure(expected.get("finish_reason_native"))
    report.compare(exchange, "failure", failed, response.failure is not None)
    if "error" in expected:
        _compare_failure(exchange, response.failure, report)
    seen: dict[str, Callable[[], object]] = {
        "text": lambda: "".join(entry.text for entry in _texts(item, refusal=False)),
        "reasoning": lambda: _reasoning(item),
        "refusal": lambda: "".join(entry.text for entry in _texts(item, refusal=True)) or None,
        "parts": lambda: spoken.part_kinds(item),
        "annotations": lambda: _annotations(item),
        "finish_reason_native": lambda: _native_reason(events),
    }
    for kind, see in seen.items():
        if kind in expected:
            wanted = expected[kind]
            report.compare(
                exchange, kind, wanted if kind in _MAY_BE_EMPTY else wanted or None, see()
            )
    for kind, value in spoken.more(item, expected).items():
        if kind in expected:
            report.compare(exchange, kind, expected[kind], value)
    if "tool_calls" in expected:
        calls = [_expected_call(call) for call in expected["tool_calls"]]
        report.compare(exchange, "tool_calls", calls, _seen_calls(item, expected["tool_calls"]))
    if "runs" in expected:
        report.compare(exchange, "runs", _without_repeats(expected["runs"]), _runs(events))
    if "usage" in expected:
        usage = expected["usage"]
        if exchange["protocol"] == "openai-chat":
            usage = _that_adds_up(usage)
        tokens = TokenUsage() if item.usage is None else item.usage.tokens
        report.compare(exchange, "usage", usage, spoken.usage(tokens, usage))


def _names_failure(word: str | None) -> bool:
    """Whether a finish reason says that the answer is none: the model's own call is no JSON."""
    return "MALFORMED_FUNCTION_CALL" in (word or "").upper()


_ENDS = (ResponseFinished, ResponseFailed)
_MAY_BE_EMPTY = ("text", "parts", "annotations", "finish_reason_native")
"""Of other kinds, an empty value is as good as none."""


def _check_cuts(
    exchange: Exchange,
    projection: Projection,
    body: bytes,
    events: tuple[ModelEvent, ...],
    report: Report,
) -> None:
    sizes = [size for size in PIECES if size > 1 or len(body) <= 20_000]
    differ = [size for size in sizes if events_of(exchange, projection, cut(body, size)) != events]
    report.compare(exchange, "cuts", [], differ)


def cut(body: bytes, size: int) -> Iterator[bytes]:
    """Cut a body into pieces of one size."""
    return (body[at : at + size] for at in range(0, len(body), size))


def _texts(item: Item, *, refusal: bool) -> list[Text]:
    texts = [part for part in item.parts if isinstance(part, Text)]
    return [text for text in texts if _is_refusal(text) is refusal]


def _is_refusal(text: Text) -> bool:
    return any(key.endswith(".refusal") and value for key, value in text.metadata.items())


def _reasoning(item: Item) -> str | None:
    texts = [part.summary for part in item.parts if isinstance(part, Reasoning) and part.summary]
    return "".join(texts) if texts else None


def _annotations(item: Item) -> int:
    # What stands beside the whole answer as `citations` is a list of sources, not of marks.
    beside = [value for key, value in item.metadata.items() if key.endswith(".annotations")]
    on_text = [
        value
        for part in item.parts
        for key, value in part.metadata.items()
        if key.endswith((".annotations", ".citations"))
    ]
    found = beside + on_text
    return sum(len(entry) for entry in found if isinstance(entry, list))


def _native_reason(events: Sequence[ModelEvent]) -> str | None:
    end = events[-1]
    if isinstance(end, ResponseFinished):
        return end.native_reasons[-1] if end.native_reasons else None
    assert isinstance(end, ResponseFailed)
    for key, words in end.metadata.items():
        if key.endswith(".finish_reasons") and isinstance(words, list) and words:
            return str(words[-1])
    return None


def _expected_call(call: Mapping[str, Any]) -> dict[str, Any]:
    arguments = call["arguments"]
    return {**call, "arguments": {} if arguments in ("", None) else arguments}


def _seen_calls(item: Item, expected: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The calls as the corpus writes them; ids are ours where the wire had none, or one twice."""
    assert len({call.id for call in item.tool_calls}) == len(item.tool_calls), "ids repeat"
    ids = [call["id"] for call in expected]
    return [
        {
            "id": ids[at] if at < len(ids) and _is_made_up(ids, at) else call.id,
            "name": call.name,
            "arguments": _arguments(call),
        }
        for at, call in enumerate(item.tool_calls)
    ]


def _is_made_up(ids: Sequence[str | None], at: int) -> bool:
    return not ids[at] or ids[at] in ids[:at]


def _arguments(call: ToolCall) -> Any:
    if call.raw_input is None:
        return call.input
    try:
        return json.loads(call.raw_input)
    except ValueError:
        return call.raw_input


def _kind(part: Part) -> str | None:
    """A part's kind in the corpus' words; None for parts that it does not list."""
    match part:
        case Text():
            return ("refusal" if _is_refusal(part) else "text") if part.text else None
        case Reasoning():
            return "reasoning" if part.summary else None
        case ToolCall():
            return "tool_call"
        case Media(modality=Modality.IMAGE | Modality.AUDIO):
            return part.modality.value
        case File():
            return "file"
        case Custom(kind=kind):
            name = kind.partition(".")[2]
            return name if name == "reference" else f"other:{name}"
        case _:
            return None


def _runs(events: Iterable[ModelEvent]) -> list[str]:
    """Kinds in the order in which something of them arrived."""
    opened: dict[str, Part] = {}
    kinds: list[str] = []
    for event in events:
        kind: str | None = None
        if isinstance(event, BeginPart):
            opened[event.part_id] = event.part
            kind = "tool_call" if isinstance(event.part, ToolCall) else None
        elif isinstance(event, AppendText):
            kind = _opened_kind(opened[event.part_id])
        elif isinstance(event, CommitPart) and event.part_id is None:
            kind = _kind(event.part)
        if kind is not None:
            kinds.append(kind)
    return _without_repeats(kinds)


def _opened_kind(part: Part) -> str | None:
    match part:
        case Text():
            return "refusal" if _is_refusal(part) else "text"
        case Reasoning():
            return "reasoning"
        case ToolCall():
            return "tool_call"
        case _:
            return None


def _without_repeats(kinds: Iterable[str]) -> list[str]:
    kept: list[str] = []
    for kind in kinds:
        if not kept or kept[-1] != kind:
            kept.append(kind)
    return kept


# openai-chat

_VENDORS = {"vercel-gateway": "vercel", "google": "google-openai", "github-copilot": "compatible"}
"""Vendors that the corpus calls otherwise than our rows."""


def _chat_projection(exchange: Exchange) -> FailingProjection:
    vendor: str = exchange["vendor"]
    try:
        row = default_registry.get(_VENDORS.get(vendor, vendor))
    except UnknownProvider:
        row = default_registry.get("compatible")
    if row.api != OPENAI_CHAT:  # its other protocol has the vendor's name
        row = default_registry.get("compatible")
    projection = default_registry.projection(row)
    assert isinstance(projection, OpenAIChat)
    return projection


def _chat_parts(item: Item) -> list[str]:
    # A message has one field for each of these, so each counts once.
    kinds = [kind for part in item.parts if (kind := _kind(part)) is not None]
    return [
        kind
        for at, kind in enumerate(kinds)
        if kind not in ("text", "reasoning", "refusal") or kind not in kinds[:at]
    ]


def _that_adds_up(usage: Mapping[str, int]) -> dict[str, int]:
    """The vendor's counts as they add up to its total, where they do not by themselves."""
    counts = dict(usage)
    total, prompt, output = (usage.get(name) for name in ("total", "input", "output"))
    if not total or prompt is None or output is None:
        return counts
    if "cache_read" in counts:
        counts["cache_read"] = min(counts["cache_read"], prompt)
    if total > prompt + output + (counts.get("reasoning") or 0):
        counts["output"] = total - prompt  # hidden reasoning, at Google's endpoint
    if counts.get("reasoning") and total == prompt + output:
        counts["reasoning"] = min(counts["reasoning"], counts["output"])
    return counts


def _chat_usage(tokens: TokenUsage, expected: Mapping[str, int]) -> dict[str, int | None]:
    """Our counts as Chat Completions write them, for the keys that are expected."""
    output, reasoning = tokens.output, tokens.reasoning or 0
    total = None if tokens.total is None else tokens.total
    told = expected.get("input", 0) + expected.get("output", 0)
    if output is not None and reasoning and expected.get("total") == told + reasoning:
        output -= reasoning  # the vendor counts reasoning on top
    seen = {
        "input": tokens.prompt,
        "output": output,
        "cache_read": tokens.cache_read,
        "cache_write": tokens.cache_write,
        "reasoning": tokens.reasoning,
        "total": total,
    }
    cached = expected.get("cache_read", 0) + expected.get("cache_write", 0)
    if cached > expected.get("input", 0) and tokens.input == 0:
        # More from the cache than there was: of the prompt only that nothing is left over.
        seen["input"] = expected.get("input")
        seen["total"] = expected.get("total")
    if expected.get("total") not in (told, told + reasoning):
        seen["total"] = expected.get("total")  # the vendor counts what it does not report
    return {key: seen.get(key) for key in expected}


# anthropic-messages

_MESSAGES_VENDORS = {
    "google-vertex": "vertex-anthropic",
    "openrouter": "openrouter-anthropic",
}
"""Vendors that the corpus calls otherwise than our rows of Messages."""


def _messages_projection(exchange: Exchange) -> FailingProjection:
    vendor: str = exchange["vendor"]
    name = _MESSAGES_VENDORS.get(vendor, vendor)
    rows = {row.name: row for row in default_registry if row.api == AnthropicMessages.api}
    projection = default_registry.projection(rows.get(name, rows["anthropic-compatible"]))
    assert isinstance(projection, AnthropicMessages)
    return projection


def _messages_types(item: Item) -> list[str]:
    """The vendor's block types of an item's parts; blocks that became no part are not there."""
    types: list[str] = []
    for part in item.parts:
        match part:
            case Text():
                types.append("text")
            case Reasoning(metadata=metadata):
                redacted = "anthropic_messages.redacted_data" in metadata
                types.append("redacted_thinking" if redacted else "thinking")
            case ToolCall():
                types.append("tool_use")
            case Custom(kind=kind):
                types.append(kind.partition(".")[2])
            case _:
                types.append(type(part).__name__)
    return types


def _messages_parts(item: Item) -> list[str]:
    return [_messages_kind(block_type) for block_type in _messages_types(item)]


def _messages_kind(block_type: str) -> str:
    match block_type:
        case "thinking":
            return "reasoning"
        case "redacted_thinking":
            return "redacted_reasoning"
        case "tool_use":
            return "tool_call"
        case "server_tool_use" | "mcp_tool_use":
            return "server_tool_call"
        case "text" | "compaction":
            return block_type
        case _ if block_type.endswith("_tool_result"):
            return "server_tool_result"
        case _:
            return f"other:{block_type}"


def _messages_usage(tokens: TokenUsage, expected: Mapping[str, int]) -> dict[str, int | None]:
    seen = {
        "input": tokens.input,
        "output": tokens.output,
        "cache_read": tokens.cache_read,
        "cache_write": tokens.cache_write,
        "reasoning": tokens.reasoning,
    }
    return {key: seen.get(key) for key in expected}


def _messages_more(item: Item, expected: Mapping[str, Any]) -> dict[str, object]:
    types, native = _messages_types(item), expected.get("native_types", [])
    if len(native) > len(expected.get("parts", native)):
        # Empty texts are among the vendor's blocks, and none of ours.
        without_texts = [[entry for entry in kinds if entry != "text"] for kinds in (types, native)]
        types = native if without_texts[0] == without_texts[1] else types
    return {
        "native_types": types,
        "stop_sequence": item.metadata.get("anthropic_messages.stop_sequence"),
    }


# google-generate

_GENERATE_VENDORS = {"google-vertex": "vertex"}
"""Vendors that the corpus calls otherwise than our rows of generateContent."""
_GENERATE_BLOCKS = {
    "executableCode": "server_tool_call",
    "toolCall": "server_tool_call",
    "codeExecutionResult": "server_tool_result",
    "toolResponse": "server_tool_result",
}


def _generate_projection(exchange: Exchange) -> FailingProjection:
    vendor: str = exchange["vendor"]
    rows = {row.name: row for row in default_registry if row.api == GoogleGenerate.api}
    row = rows.get(_GENERATE_VENDORS.get(vendor, vendor), rows["google"])
    projection = default_registry.projection(row)
    assert isinstance(projection, GoogleGenerate)
    return projection


def _generate_parts(item: Item) -> list[str]:
    kinds = [kind for part in item.parts if (kind := _generate_kind(part)) is not None]
    # A stream cuts text anywhere, so neighbours are one.
    joined = ("text", "reasoning")
    return [
        kind for at, kind in enumerate(kinds) if kind not in joined or kinds[at - 1 : at] != [kind]
    ]


def _generate_kind(part: Part) -> str | None:
    match part:
        case Reasoning(data=data) if data is not None:
            return "thought_image"
        case Custom(kind="google_generate.text"):
            return None  # a signature and nothing else
        case Custom(kind=kind):
            name = kind.partition(".")[2]
            return _GENERATE_BLOCKS.get(name, f"other:{name}")
        case _:
            return _kind(part)


def _generate_usage(tokens: TokenUsage, expected: Mapping[str, int]) -> dict[str, int | None]:
    """Our counts as the vendor writes them: its own tools and thoughts stand apart."""
    of_tools = expected.get("tool_use_input", 0)
    seen = {
        "input": None if tokens.prompt is None else tokens.prompt - of_tools,
        "output": None if tokens.output is None else tokens.output - (tokens.reasoning or 0),
        "cache_read": tokens.cache_read,
        "reasoning": tokens.reasoning,
        "tool_use_input": of_tools,
        "total": tokens.total,
    }
    return {key: seen.get(key) for key in expected}


def _generate_more(item: Item, expected: Mapping[str, Any]) -> dict[str, object]:
    feedback = item.metadata.get("google_generate.prompt_feedback")
    reason = feedback.get("blockReason") if isinstance(feedback, dict) else None
    return {"block_reason": reason}


# openai-responses


def _responses_projection(exchange: Exchange) -> FailingProjection:
    rows = {row.name: row for row in default_registry if row.api == OpenAIResponses.api}
    name = f"{exchange['vendor']}-responses"
    projection = default_registry.projection(rows.get(name, rows["compatible-responses"]))
    assert isinstance(projection, OpenAIResponses)
    return projection


def _responses_type(part: Part) -> str:
    """The type of the vendor's item that a part comes from."""
    match part:
        case Text():
            return "message"
        case Reasoning():
            return "reasoning"
        case ToolCall(metadata=metadata) | Media(metadata=metadata):
            item = metadata.get("openai_responses.item")
            return str(item.get("type", "function_call") if isinstance(item, dict) else "?")
        case Custom(kind=kind):
            name = kind.partition(".")[2]
            return "message" if name.startswith("content.") else name
        case _:
            return type(part).__name__


def _responses_parts(item: Item) -> list[str]:
    return [_responses_kind(part) for part in item.parts]


def _responses_kind(part: Part) -> str:
    match _responses_type(part):
        case "message":
            return _kind(part) or "text"
        case "function_call" | "custom_tool_call":
            return "tool_call"
        case "shell_call" | "local_shell_call" | "apply_patch_call" | "computer_call":
            return "client_tool_call"
        case "mcp_approval_request":
            return "approval_request"
        case "reasoning" | "compaction" as kind:
            return kind
        case kind if kind.endswith("_output"):
            return "server_tool_result"
        case kind if kind.endswith("_call") or kind == "mcp_list_tools":
            return "server_tool_call"
        case kind:
            return f"other:{kind}"


def _responses_usage(tokens: TokenUsage, expected: Mapping[str, int]) -> dict[str, int | None]:
    seen = {
        "input": tokens.prompt,
        "output": tokens.output,
        "cache_read": tokens.cache_read,
        "cache_write": tokens.cache_write,
        "reasoning": tokens.reasoning,
        "total": tokens.total,
    }
    return {key: seen.get(key) for key in expected}


def _responses_more(item: Item, expected: Mapping[str, Any]) -> dict[str, object]:
    types: list[str] = []
    places: list[object] = []
    for part in item.parts:
        place = part.metadata.get("openai_responses.place", len(places))
        if place not in places:  # the texts of one message stand in one place
            places.append(place)
            types.append(_responses_type(part))
    native = expected.get("native_types", [])
    if len(types) < len(native):
        # Messages without text are among the vendor's items, and none of ours.
        rest = [[entry for entry in kinds if entry != "message"] for kinds in (types, native)]
        types = native if rest[0] == rest[1] else types
    words = native_reasons(item.metadata)
    return {
        "native_types": types,
        "incomplete_reason": words[0] if len(words) > 1 else None,
    }


PROTOCOLS: dict[str, Spoken] = {
    "anthropic-messages": Spoken(
        _messages_projection, _messages_parts, _messages_usage, _messages_more
    ),
    "google-generate": Spoken(
        _generate_projection, _generate_parts, _generate_usage, _generate_more
    ),
    "openai-chat": Spoken(_chat_projection, _chat_parts, _chat_usage),
    "openai-responses": Spoken(
        _responses_projection, _responses_parts, _responses_usage, _responses_more
    ),
}
"""How each protocol is read; those that are missing are skipped."""


def main(arguments: Sequence[str]) -> int:
    """Check the exchanges below each directory; print what came of it."""
    if not arguments:
        print(__doc__)
        return 2
    report = check(entry for folder in arguments for entry in exchanges(Path(folder)))
    for line in report.lines():
        print(line)
    if not (report.compared or report.skipped):
        print("no exchanges found")
        return 2
    return 1 if report.mismatches else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
