"""Everything of a request but its messages: model, options, tools.

A body is built in fixed order, and an option that was not given is not mentioned.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from agentkit_core import (
    JsonFormat,
    JsonSchemaFormat,
    MetadataMap,
    ModelRequest,
    NamedTool,
    ResponseFormat,
    ThinkingLevel,
    ToolChoice,
    ToolChoiceMode,
    ToolSpec,
    UnsupportedContent,
)
from agentkit_core.cache import CacheMode, CacheRetention
from agentkit_providers._protocol_kit._thinking_levels import supported_level
from agentkit_providers.openai_chat._cache_marks import cache_control, marks_tools
from agentkit_providers.openai_chat._metadata_keys import API, THINKING_KEY
from agentkit_providers.openai_chat._quirks import Quirks, ThinkingFormat
from agentkit_providers.openai_chat._thinking import thinking_fields
from agentkit_providers.openai_chat._wire_request import (
    FunctionSpec,
    JsonObjectParam,
    JsonSchema,
    JsonSchemaParam,
    ToolParam,
)

_CACHE_KEY_LENGTH: Final = 64


def thinking_level(request: ModelRequest, quirks: Quirks) -> ThinkingLevel | None:
    """The level that is sent; None where nothing is said of it."""
    asked = request.options.thinking
    if asked is None or quirks.thinking_format is ThinkingFormat.NONE:
        return None
    return supported_level(asked, quirks.thinking_level_map)


def body_options(
    request: ModelRequest, quirks: Quirks, *, history_calls: bool
) -> tuple[dict[str, Any], MetadataMap]:
    """Build the body without its messages.

    Args:
        request: What is asked.
        quirks: How the vendor wants it.
        history_calls: Whether the history has calls.

    Returns:
        The fields in the order in which they are written, extras last, and what the
        response's item is to know of what was decided.

    Raises:
        UnsupportedContent: The request must have something that the vendor cannot do.
    """
    options = request.options
    body: dict[str, Any] = {"model": request.model}
    if request.streamed:
        body["stream"] = True
        if quirks.supports_usage_in_streaming:
            body["stream_options"] = {"include_usage": True}
    if quirks.supports_store:
        body["store"] = False
    if options.max_output_tokens is not None:
        most = quirks.max_output_tokens or options.max_output_tokens
        body[quirks.max_tokens_field] = min(options.max_output_tokens, most)
    if options.temperature is not None and quirks.sampling:
        body["temperature"] = options.temperature
    if options.top_p is not None and quirks.sampling:
        body["top_p"] = options.top_p
    if options.seed is not None and quirks.supports_seed:
        body["seed"] = options.seed
    if options.stop_sequences:
        body["stop"] = list(options.stop_sequences)
    level = thinking_level(request, quirks)
    if level is not None:
        body |= thinking_fields(level, quirks)
    if options.response_format is not None:
        body["response_format"] = _response_format(options.response_format, quirks)
    body |= _cache_fields(request, quirks)
    body |= _tool_fields(request, quirks, history_calls=history_calls)
    body |= quirks.extra
    extra = options.extra.get(API)
    if isinstance(extra, dict):
        body |= extra
    metadata: MetadataMap = {}
    if options.thinking is not None and level is not options.thinking:
        sent = None if level is None else level.value
        metadata[THINKING_KEY] = {"asked": options.thinking.value, "sent": sent}
    return body, metadata


def _response_format(wanted: ResponseFormat, quirks: Quirks) -> JsonObjectParam | JsonSchemaParam:
    match wanted:
        case JsonFormat():
            return JsonObjectParam()
        case JsonSchemaFormat():
            if not quirks.json_schema:
                raise UnsupportedContent(
                    "an answer that follows a schema",
                    target=API,
                    advice="ask for JSON and put the schema in the instructions",
                )
            strict = wanted.strict if quirks.supports_strict_mode else None
            return JsonSchemaParam(
                JsonSchema(wanted.name, wanted.description, wanted.schema, strict)
            )


def _tool_fields(request: ModelRequest, quirks: Quirks, *, history_calls: bool) -> dict[str, Any]:
    options = request.options
    if not request.tools:
        if options.tool_choice not in (None, ToolChoiceMode.AUTO, ToolChoiceMode.NONE):
            raise UnsupportedContent(
                "a call that is required, without tools",
                target=API,
                advice="offer the tool, or leave the choice to the model",
            )
        return {"tools": []} if quirks.empty_tools_with_history and history_calls else {}
    fields: dict[str, Any] = {"tools": _tools(request, quirks)}
    if options.tool_choice is not None:
        fields["tool_choice"] = _tool_choice(options.tool_choice, request.tools, quirks)
    if options.parallel_tool_calls is not None and quirks.parallel_tools:
        fields["parallel_tool_calls"] = options.parallel_tool_calls
    return fields


def _tools(request: ModelRequest, quirks: Quirks) -> list[ToolParam]:
    tools = [_tool(tool, quirks) for tool in request.tools]
    mark = cache_control(request, quirks)
    if mark is not None and marks_tools(request):
        tools[-1].cache_control = mark
    return tools


def _tool(tool: ToolSpec, quirks: Quirks) -> ToolParam:
    strict = tool.strict if quirks.supports_strict_mode else None
    return ToolParam(FunctionSpec(tool.name, tool.description or None, tool.input_schema, strict))


def _tool_choice(choice: ToolChoice, tools: Sequence[ToolSpec], quirks: Quirks) -> Any:
    match choice:
        case NamedTool(name=name):
            if all(tool.name != name for tool in tools):
                raise UnsupportedContent(
                    f"a call of {name!r} that is required",
                    target=API,
                    advice="offer that tool with the request",
                )
            return {"type": "function", "function": {"name": name}}
        case ToolChoiceMode.REQUIRED:
            return quirks.required_tool_choice
        case ToolChoiceMode.AUTO | ToolChoiceMode.NONE:
            return choice.value


def _cache_fields(request: ModelRequest, quirks: Quirks) -> dict[str, Any]:
    cache = request.options.cache
    if cache is None or cache.mode is CacheMode.DISABLED:
        return {}
    if cache.mode is CacheMode.REQUIRED and not (
        quirks.cache_control or (quirks.cache_key and not cache.marks)
    ):
        raise UnsupportedContent(
            "cache marks of one's own" if cache.marks else "a cache request",
            target=API,
            advice="make caching best effort, or leave the marks to the projection",
        )
    fields: dict[str, Any] = {}
    key = cache.key or request.session_id
    if key and quirks.cache_key:
        fields["prompt_cache_key"] = key[:_CACHE_KEY_LENGTH]
    if quirks.cache_retention_24h and cache.retention is not CacheRetention.DEFAULT:
        extended = cache.retention is CacheRetention.EXTENDED
        fields["prompt_cache_retention"] = "24h" if extended else "in_memory"
    return fields
