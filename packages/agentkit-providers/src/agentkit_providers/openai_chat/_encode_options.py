"""Everything of a request but its messages: model, options, tools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from agentkit_core import (
    Item,
    JsonFormat,
    JsonSchemaFormat,
    MetadataMap,
    ModelRequest,
    NamedTool,
    ResponseFormat,
    ToolChoice,
    ToolChoiceMode,
    ToolSpec,
)
from agentkit_core.cache import CacheMode, CacheRetention
from agentkit_providers._protocol_kit._encoded_options import EncodedOptions
from agentkit_providers._protocol_kit._unsupported import (
    check_tool_choice,
    tool_names,
    unsupported_cache,
    unsupported_schema,
)
from agentkit_providers.openai_chat._cache_marks import cache_control, marks_tools
from agentkit_providers.openai_chat._metadata_keys import API, THINKING_KEY
from agentkit_providers.openai_chat._quirks import Quirks
from agentkit_providers.openai_chat._thinking import encode_thinking
from agentkit_providers.openai_chat._wire_request import (
    FunctionSpec,
    JsonObjectParam,
    JsonSchema,
    JsonSchemaParam,
    ToolParam,
)

_CACHE_KEY_LENGTH: Final = 64


def encode_options(request: ModelRequest, items: Sequence[Item], quirks: Quirks) -> EncodedOptions:
    """Write the options; see `EncodedOptions`.

    Args:
        request: The request, fitted to the model.
        items: Its sendable items; nothing of the options depends on them in this protocol.
        quirks: How the vendor differs from OpenAI.

    Raises:
        UnsupportedContent: The request requires something that the vendor cannot do.
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
        body[quirks.max_tokens_field] = options.max_output_tokens
    if options.temperature is not None:
        body["temperature"] = options.temperature
    if options.top_p is not None:
        body["top_p"] = options.top_p
    if options.seed is not None:
        body["seed"] = options.seed
    if options.stop_sequences:
        body["stop"] = list(options.stop_sequences)
    thinking = encode_thinking(request, quirks)
    body |= thinking.fields
    if options.response_format is not None:
        body["response_format"] = _response_format(options.response_format, quirks)
    body |= _cache_fields(request, quirks)
    body |= _tool_fields(request, quirks)
    body |= quirks.extra
    extra = options.extra.get(API)
    if isinstance(extra, dict):
        body |= extra
    metadata: MetadataMap = {} if thinking.note is None else {THINKING_KEY: thinking.note}
    return EncodedOptions(body, metadata)


def _response_format(wanted: ResponseFormat, quirks: Quirks) -> JsonObjectParam | JsonSchemaParam:
    match wanted:
        case JsonFormat():
            return JsonObjectParam()
        case JsonSchemaFormat():
            if not quirks.json_schema:
                raise unsupported_schema(API)
            strict = wanted.strict if quirks.supports_strict_mode else None
            return JsonSchemaParam(
                JsonSchema(wanted.name, wanted.description, wanted.schema, strict)
            )


def _tool_fields(request: ModelRequest, quirks: Quirks) -> dict[str, Any]:
    options = request.options
    if options.tool_choice is not None:
        check_tool_choice(options.tool_choice, tool_names(request), API)
    if not request.tools:
        return {}
    fields: dict[str, Any] = {"tools": _tools(request, quirks)}
    if options.tool_choice is not None:
        fields["tool_choice"] = _tool_choice(options.tool_choice, quirks)
    if options.parallel_tool_calls is not None:
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


def _tool_choice(choice: ToolChoice, quirks: Quirks) -> Any:
    match choice:
        case NamedTool(name=name):
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
        raise unsupported_cache(cache, API)
    fields: dict[str, Any] = {}
    key = cache.key or request.session_id
    if key and quirks.cache_key:
        fields["prompt_cache_key"] = key[:_CACHE_KEY_LENGTH]
    if quirks.cache_retention_24h and cache.retention is not CacheRetention.DEFAULT:
        extended = cache.retention is CacheRetention.EXTENDED
        fields["prompt_cache_retention"] = "24h" if extended else "in_memory"
    return fields
