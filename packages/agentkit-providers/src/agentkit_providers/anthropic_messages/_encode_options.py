"""Everything of a request but its instructions and messages: model, options, tools.

A body is built in fixed order, and an option that was not given is not mentioned.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from agentkit_core import (
    JsonSchemaFormat,
    JsonValue,
    MetadataMap,
    ModelOptions,
    ModelRequest,
    NamedTool,
    ResponseFormat,
    ToolChoice,
    ToolChoiceMode,
    ToolSpec,
    UnsupportedContent,
    to_json,
)
from agentkit_providers.anthropic_messages._encode_items import with_field
from agentkit_providers.anthropic_messages._metadata_keys import API, DROPPED_KEY, TOOL_KEY
from agentkit_providers.anthropic_messages._models import Traits, traits_of
from agentkit_providers.anthropic_messages._quirks import Quirks
from agentkit_providers.anthropic_messages._thinking import Thinking, thinking_of
from agentkit_providers.anthropic_messages._wire_request import ToolParam

_LEAST_TOP_P_THINKING = 0.95
"""While a model thinks, it takes no smaller `top_p`."""


class Options(Struct, frozen=True):
    """The options of one request, as they are sent.

    Attributes:
        body: Fields in the order in which they are written; tools and extras apart.
        extra: Fields that the caller adds, laid over the body last.
        tools: The tools, each as it is written.
        tool_types: The types of those that the vendor knows by one.
        metadata: What the answer's item is to know of what was decided.
        interleaved: Whether the model is to think between calls and a beta is needed for it.
    """

    body: dict[str, Any]
    extra: dict[str, JsonValue]
    tools: list[bytes]
    tool_types: tuple[str, ...]
    metadata: MetadataMap
    interleaved: bool


def options_of(request: ModelRequest, quirks: Quirks) -> Options:
    """Write the options.

    Raises:
        UnsupportedContent: The request must have something that the vendor cannot do.
    """
    options = request.options
    traits = traits_of(request.model)
    given = options.extra.get(API)
    extra = dict(given) if isinstance(given, dict) else {}
    added = _added_tools(extra.pop("tools", None))
    tools = [_tool(tool, quirks) for tool in request.tools]
    tools += map(to_json, added)
    thinking = thinking_of(request, quirks, traits)
    dropped: list[JsonValue] = []
    body = {
        **_head(request, quirks, thinking),
        **_sampling(options, quirks, traits, thinking, dropped),
        **_stop_sequences(options, dropped),
        **_tool_choice(request, quirks, traits, added),
    }
    if options.seed is not None:
        dropped.append("seed")
    metadata = thinking.noted(options.thinking)
    if dropped:
        metadata[DROPPED_KEY] = dropped
    interleaved = thinking.is_on and traits.interleaves and bool(tools)
    types = tuple(str(one["type"]) for one in added if "type" in one)
    return Options(body, extra, tools, types, metadata, interleaved)


def _added_tools(given: JsonValue) -> list[dict[str, JsonValue]]:
    """The tools that the caller adds: those that the vendor runs itself."""
    return [one for one in given if isinstance(one, dict)] if isinstance(given, list) else []


def _head(request: ModelRequest, quirks: Quirks, thinking: Thinking) -> dict[str, Any]:
    head: dict[str, Any] = {}
    if quirks.version_in_body:
        head["anthropic_version"] = quirks.version
    else:
        head["model"] = request.model
    head["max_tokens"] = thinking.max_tokens
    if request.streamed:
        head["stream"] = True
    if thinking.thinking is not None:
        head["thinking"] = thinking.thinking
    output: dict[str, Any] = {}
    if thinking.effort is not None:
        output["effort"] = thinking.effort
    if request.options.response_format is not None:
        output["format"] = _format(request.options.response_format, quirks)
    if output:
        head["output_config"] = output
    return head


def _format(wanted: ResponseFormat, quirks: Quirks) -> dict[str, Any]:
    if isinstance(wanted, JsonSchemaFormat) and quirks.json_schema:
        return {"type": "json_schema", "schema": wanted.schema}
    schema = isinstance(wanted, JsonSchemaFormat)
    raise UnsupportedContent(
        "an answer that follows a schema" if schema else "an answer that is any JSON object",
        target=API,
        advice="ask for JSON in the instructions" + ("" if schema else ", or give a schema"),
    )


def _sampling(
    options: ModelOptions,
    quirks: Quirks,
    traits: Traits,
    thinking: Thinking,
    dropped: list[JsonValue],
) -> dict[str, Any]:
    """Temperature and `top_p`, as far as the model takes them."""
    taken = traits.sampling if quirks.sampling is None else quirks.sampling
    fields: dict[str, Any] = {}
    if options.temperature is not None:
        if taken and not thinking.is_on:
            fields["temperature"] = options.temperature
        else:
            dropped.append("temperature")
    if options.top_p is not None:
        beside = "temperature" not in fields or traits.both_samplings
        fits = not thinking.is_on or options.top_p >= _LEAST_TOP_P_THINKING
        if taken and beside and fits:
            fields["top_p"] = options.top_p
        else:
            dropped.append("top_p")
    return fields


def _stop_sequences(options: ModelOptions, dropped: list[JsonValue]) -> dict[str, Any]:
    sequences = [one for one in options.stop_sequences if one.strip()]
    if len(sequences) < len(options.stop_sequences):
        dropped.append("stop_sequences")  # the blank ones: the vendor refuses them
    return {"stop_sequences": sequences} if sequences else {}


def _tool(tool: ToolSpec, quirks: Quirks) -> bytes:
    schema = tool.input_schema
    if "type" not in schema:
        schema = {"type": "object", **schema}
    strict = tool.strict if quirks.supports_strict_mode else None
    written = to_json(ToolParam(tool.name, tool.description or None, schema, strict))
    more = tool.metadata.get(TOOL_KEY)
    if isinstance(more, dict) and more:
        return with_field(written, to_json(more)[1:-1])
    return written


def _tool_choice(
    request: ModelRequest, quirks: Quirks, traits: Traits, added: list[dict[str, JsonValue]]
) -> dict[str, Any]:
    options = request.options
    choice = options.tool_choice
    names = {tool.name for tool in request.tools} | {str(one.get("name")) for one in added}
    if choice is ToolChoiceMode.REQUIRED or isinstance(choice, NamedTool):
        forced = traits.forced_tools if quirks.forced_tools is None else quirks.forced_tools
        _check_choice(choice, names, request.model, forced=forced)
    if not names:
        return {}
    written: dict[str, Any] | None
    match choice:
        case NamedTool(name=name):
            written = {"type": "tool", "name": name}
        case ToolChoiceMode.REQUIRED:
            written = {"type": "any"}
        case ToolChoiceMode.NONE:
            return {"tool_choice": {"type": "none"}}
        case ToolChoiceMode.AUTO:
            written = {"type": "auto"}
        case None:
            written = None
    if options.parallel_tool_calls is False and quirks.parallel_tools:
        written = {**(written or {"type": "auto"}), "disable_parallel_tool_use": True}
    return {} if written is None else {"tool_choice": written}


def _check_choice(choice: ToolChoice, names: set[str], model: str, *, forced: bool) -> None:
    """Refuse a call that is required and cannot be."""
    if not forced:
        raise UnsupportedContent(
            "a call that is required",
            target=model,
            advice="this model refuses that: leave the choice to it, and say it in the prompt",
        )
    if not names:
        raise UnsupportedContent(
            "a call that is required, without tools",
            target=API,
            advice="offer the tool, or leave the choice to the model",
        )
    if isinstance(choice, NamedTool) and choice.name not in names:
        raise UnsupportedContent(
            f"a call of {choice.name!r} that is required",
            target=API,
            advice="offer that tool with the request",
        )
