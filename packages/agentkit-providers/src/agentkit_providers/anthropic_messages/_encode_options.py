"""Everything of a request but its instructions and messages: model, options, tools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from agentkit_core import (
    Item,
    ItemKind,
    JsonSchemaFormat,
    JsonValue,
    MetadataMap,
    ModelOptions,
    ModelRequest,
    NamedTool,
    ResponseFormat,
    ToolChoiceMode,
    ToolSpec,
    UnsupportedContent,
    to_json,
)
from agentkit_providers._protocol_kit._encoded_options import EncodedOptions
from agentkit_providers._protocol_kit._unsupported import (
    check_tool_choice,
    requires_call,
    unsupported_schema,
)
from agentkit_providers.anthropic_messages._encode_items import with_field
from agentkit_providers.anthropic_messages._metadata_keys import (
    API,
    CONTAINER_KEY,
    DROPPED_KEY,
    THINKING_KEY,
    TOOL_KEY,
)
from agentkit_providers.anthropic_messages._models import Traits, traits_of
from agentkit_providers.anthropic_messages._quirks import Quirks
from agentkit_providers.anthropic_messages._thinking import MessagesThinking, encode_thinking
from agentkit_providers.anthropic_messages._wire_request import ToolParam

BETA_FIELDS: Final = ("betas", "anthropic_beta")
"""Extra fields that name betas, which go into a header."""
_MIN_TOP_P_THINKING: Final = 0.95
"""While a model thinks, the vendor refuses a smaller `top_p`."""


class MessagesOptions(EncodedOptions, frozen=True):
    """The options of one request.

    Attributes:
        body: The fields in the order in which they are written, without the tools. An option that
            the caller did not give has no field; fields that the caller adds come last.
        metadata: What was decided and the response's item should record; empty where everything is
            sent as asked.
        extra: The fields that the caller adds, `betas` included and `tools` not.
        tools: The tools, each as JSON; a cache mark may be added to the last one.
        tool_types: The types of the vendor's own tools among them.
        interleaved: Whether the model should think between calls and needs a beta for it.
        thinks: Whether the model is asked to think.
        thinking_is_off: Whether a model with a thinking budget is told not to think.
        last_cacheable_tool: The index of the last tool that can bear a cache mark; None for none.
            A tool that loads late cannot (router-for-me/CLIProxyAPI#4561).
    """

    extra: dict[str, JsonValue]
    tools: list[bytes]
    tool_types: tuple[str, ...]
    interleaved: bool
    thinks: bool
    thinking_is_off: bool
    last_cacheable_tool: int | None


def encode_options(request: ModelRequest, items: Sequence[Item], quirks: Quirks) -> MessagesOptions:
    """Write the options; see `MessagesOptions`.

    Args:
        request: The request.
        items: Its sendable items.
        quirks: How the vendor differs from Anthropic.

    Raises:
        UnsupportedContent: The request requires something that the vendor cannot do.
    """
    options = request.options
    traits = traits_of(request.model)
    callers = options.extra.get(API)
    extra = dict(callers) if isinstance(callers, dict) else {}
    added = _added_tools(extra.pop("tools", None))
    own = [tool.metadata.get(TOOL_KEY) for tool in request.tools]
    tools = [_tool(tool, quirks) for tool in request.tools]
    tools += map(to_json, added)
    cacheable = [at for at, fields in enumerate([*own, *added]) if not _loads_late(fields)]
    thinking = encode_thinking(request, quirks)
    dropped: list[JsonValue] = []
    body = {
        **_head(request, quirks, thinking),
        **_sampling(options, quirks, traits, thinking, dropped),
        **_stop_sequences(options, dropped),
        **_tool_choice(request, quirks, traits, added),
        **_container(items),
        **{name: value for name, value in extra.items() if name not in BETA_FIELDS},
    }
    if options.seed is not None:
        dropped.append("seed")
    metadata: MetadataMap = {} if thinking.note is None else {THINKING_KEY: thinking.note}
    if dropped:
        metadata[DROPPED_KEY] = dropped
    interleaved = thinking.is_on and traits.interleaves and bool(tools)
    types = tuple(str(tool["type"]) for tool in added if "type" in tool)
    return MessagesOptions(
        body,
        metadata,
        extra,
        tools,
        types,
        interleaved,
        thinking.is_on,
        thinking.fields.get("thinking") == {"type": "disabled"},
        max(cacheable, default=None),
    )


def _added_tools(tools: JsonValue) -> list[dict[str, JsonValue]]:
    """The tools that the caller adds: those that the vendor runs itself."""
    if not isinstance(tools, list):
        return []
    return [_without_late_mark(tool) for tool in tools if isinstance(tool, dict)]


def _loads_late(fields: JsonValue) -> bool:
    """Whether a tool, or each tool of a set, is loaded only when the model searches for it."""
    if not isinstance(fields, dict):
        return False
    default = fields.get("default_config")
    return bool(fields.get("defer_loading")) or _loads_late(default)


def _without_late_mark(fields: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Take the caller's cache mark off a tool that cannot bear it."""
    if "cache_control" not in fields or not _loads_late(fields):
        return fields
    return {name: value for name, value in fields.items() if name != "cache_control"}


def _head(request: ModelRequest, quirks: Quirks, thinking: MessagesThinking) -> dict[str, Any]:
    head: dict[str, Any] = {}
    if quirks.version_in_body:
        head["anthropic_version"] = quirks.version
    else:
        head["model"] = request.model
    head["max_tokens"] = thinking.max_tokens
    if request.streamed:
        head["stream"] = True
    head |= thinking.fields
    output: dict[str, Any] = {}
    if thinking.effort is not None:
        output["effort"] = thinking.effort
    if request.options.response_format is not None:
        output["format"] = _format(request.options.response_format, quirks)
    if output:
        head["output_config"] = output
    return head


def _format(wanted: ResponseFormat, quirks: Quirks) -> dict[str, Any]:
    if isinstance(wanted, JsonSchemaFormat):
        if quirks.json_schema:
            return {"type": "json_schema", "schema": wanted.schema}
        raise unsupported_schema(API)
    raise UnsupportedContent(
        "a response format that is any JSON object",
        target=API,
        advice="ask for JSON in the instructions, or give a schema",
    )


def _sampling(
    options: ModelOptions,
    quirks: Quirks,
    traits: Traits,
    thinking: MessagesThinking,
    dropped: list[JsonValue],
) -> dict[str, Any]:
    """Temperature and `top_p`, as far as the model takes them."""
    accepted = traits.sampling if quirks.sampling is None else quirks.sampling
    fields: dict[str, Any] = {}
    if options.temperature is not None:
        if accepted and not thinking.is_on:
            fields["temperature"] = options.temperature
        else:
            dropped.append("temperature")
    if options.top_p is not None:
        may_stand_beside = "temperature" not in fields or traits.both_samplings
        fits_thinking = not thinking.is_on or options.top_p >= _MIN_TOP_P_THINKING
        if accepted and may_stand_beside and fits_thinking:
            fields["top_p"] = options.top_p
        else:
            dropped.append("top_p")
    return fields


def _stop_sequences(options: ModelOptions, dropped: list[JsonValue]) -> dict[str, Any]:
    sequences = [sequence for sequence in options.stop_sequences if sequence.strip()]
    if len(sequences) < len(options.stop_sequences):
        dropped.append("stop_sequences")  # the blank ones: the vendor refuses them
    return {"stop_sequences": sequences} if sequences else {}


def _tool(tool: ToolSpec, quirks: Quirks) -> bytes:
    schema = tool.input_schema
    if "type" not in schema:
        schema = {"type": "object", **schema}
    strict = tool.strict if quirks.supports_strict_mode else None
    param = to_json(ToolParam(tool.name, tool.description or None, schema, strict))
    further_fields = tool.metadata.get(TOOL_KEY)
    if isinstance(further_fields, dict) and further_fields:
        return with_field(param, to_json(_without_late_mark(further_fields))[1:-1])
    return param


def _tool_choice(
    request: ModelRequest, quirks: Quirks, traits: Traits, added: list[dict[str, JsonValue]]
) -> dict[str, Any]:
    options = request.options
    choice = options.tool_choice
    names = {tool.name for tool in request.tools} | {str(tool.get("name")) for tool in added}
    may_force = traits.forced_tools if quirks.forced_tools is None else quirks.forced_tools
    if requires_call(choice) and not may_force:
        raise UnsupportedContent(
            "a required tool call, which this model refuses",
            target=request.model,
            advice="leave the choice to the model, and ask for the call in the prompt",
        )
    check_tool_choice(choice, names, API)
    if not names:
        return {}
    field: dict[str, Any] | None
    match choice:
        case NamedTool(name=name):
            field = {"type": "tool", "name": name}
        case ToolChoiceMode.REQUIRED:
            field = {"type": "any"}
        case ToolChoiceMode.NONE:
            return {"tool_choice": {"type": "none"}}
        case ToolChoiceMode.AUTO:
            field = {"type": "auto"}
        case None:
            field = None
    if options.parallel_tool_calls is False:
        field = {**(field or {"type": "auto"}), "disable_parallel_tool_use": True}
    return {} if field is None else {"tool_choice": field}


def _container(items: Sequence[Item]) -> dict[str, JsonValue]:
    """Name the vendor's container of a turn that is not over: it waits for results, or paused."""
    last = items[-1] if items else None
    if last is not None and last.kind is ItemKind.TOOL and len(items) > 1:
        last = items[-2]
    if last is None or last.kind is not ItemKind.ASSISTANT:
        return {}
    container = last.metadata.get(CONTAINER_KEY)
    container_id = container.get("id") if isinstance(container, dict) else None
    return {"container": container_id} if isinstance(container_id, str) else {}
