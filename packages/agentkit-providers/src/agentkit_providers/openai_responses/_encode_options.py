"""Everything of a request but its input: model, options, tools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from agentkit_core import (
    Item,
    JsonFormat,
    JsonSchemaFormat,
    MetadataMap,
    ModelOptions,
    ModelRequest,
    NamedTool,
    ResponseFormat,
    ToolChoice,
    ToolChoiceMode,
    ToolSpec,
    UnsupportedContent,
)
from agentkit_core.cache import CacheMode, CacheRequest, CacheRetention
from agentkit_providers._protocol_kit._encoded_options import EncodedOptions
from agentkit_providers._protocol_kit._unsupported import (
    check_tool_choice,
    tool_names,
    unsupported_cache,
    unsupported_schema,
)
from agentkit_providers.openai_responses._metadata_keys import (
    API,
    MAX_OUTPUT_KEY,
    THINKING_KEY,
)
from agentkit_providers.openai_responses._quirks import Quirks
from agentkit_providers.openai_responses._thinking import encode_thinking
from agentkit_providers.openai_responses._wire_request import (
    FunctionTool,
    JsonObjectParam,
    JsonSchemaParam,
)

_CACHE_KEY_LENGTH: Final = 64
_JOINED_LISTS: Final = ("tools", "include")
"""Lists that a caller's extra field adds to: the vendor's own tools join the client's."""


def extra_fields(options: ModelOptions) -> dict[str, Any]:
    """The fields that the caller adds to the body; empty for none."""
    extra = options.extra.get(API)
    return extra if isinstance(extra, dict) else {}


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
    metadata: MetadataMap = {}
    body: dict[str, Any] = {"model": request.model}
    if request.streamed:
        body["stream"] = True
    if quirks.supports_store:
        body["store"] = False
    body |= _limit(options.max_output_tokens, quirks, metadata)
    body |= _sampling(options)
    thinking = encode_thinking(request, quirks)
    body |= thinking.fields
    if thinking.note is not None:
        metadata[THINKING_KEY] = thinking.note
    if options.response_format is not None:
        body["text"] = {"format": _response_format(options.response_format, quirks)}
    body |= _cache_fields(request, quirks)
    body |= _tool_fields(request, quirks)
    for name, value in (quirks.extra | extra_fields(options)).items():
        known = body.get(name)
        if name in _JOINED_LISTS and isinstance(known, list) and isinstance(value, list):
            value = [*known, *(entry for entry in value if entry not in known)]
        body[name] = value
    return EncodedOptions(body, metadata)


def _limit(asked: int | None, quirks: Quirks, metadata: MetadataMap) -> dict[str, Any]:
    if asked is None:
        return {}
    sent = max(asked, quirks.min_output_tokens)
    if sent != asked:
        metadata[MAX_OUTPUT_KEY] = {"asked": asked, "sent": sent}
    return {"max_output_tokens": sent}


def _sampling(options: ModelOptions) -> dict[str, Any]:
    """Temperature and `top_p`."""
    if options.stop_sequences:
        raise UnsupportedContent(
            "stop sequences",
            target=API,
            advice="ask for a short response, or use a protocol that has them",
        )
    sampling = {"temperature": options.temperature, "top_p": options.top_p}
    return {name: value for name, value in sampling.items() if value is not None}


def _response_format(wanted: ResponseFormat, quirks: Quirks) -> JsonObjectParam | JsonSchemaParam:
    match wanted:
        case JsonFormat():
            return JsonObjectParam()
        case JsonSchemaFormat():
            if not quirks.json_schema:
                raise unsupported_schema(API)
            strict = wanted.strict if quirks.supports_strict_mode else None
            return JsonSchemaParam(wanted.name, wanted.description, wanted.schema, strict)


def _tool_fields(request: ModelRequest, quirks: Quirks) -> dict[str, Any]:
    options = request.options
    vendor_tools = "tools" in extra_fields(options)
    if options.tool_choice is not None:
        names = tool_names(request)
        check_tool_choice(options.tool_choice, names, API, vendor_tools=vendor_tools)
    if not request.tools and not vendor_tools:
        return {}
    fields: dict[str, Any] = {}
    if request.tools:
        fields["tools"] = [_tool(tool, quirks) for tool in request.tools]
    if options.tool_choice is not None:
        fields["tool_choice"] = _tool_choice(options.tool_choice)
    if options.parallel_tool_calls is not None:
        fields["parallel_tool_calls"] = options.parallel_tool_calls
    return fields


def _tool(tool: ToolSpec, quirks: Quirks) -> FunctionTool:
    # OpenAI takes a tool that does not say `strict` as strict, and refuses schemas that were not
    # written for that.
    strict = bool(tool.strict) if quirks.supports_strict_mode else None
    return FunctionTool(tool.name, tool.description or None, tool.input_schema, strict)


def _tool_choice(choice: ToolChoice) -> Any:
    match choice:
        case NamedTool(name=name):
            return {"type": "function", "name": name}
        case ToolChoiceMode():
            return choice.value


def cache_request(request: ModelRequest) -> CacheRequest | None:
    """The request for caching; None where there is none, or where it disables caching."""
    cache = request.options.cache
    return None if cache is None or cache.mode is CacheMode.DISABLED else cache


def _cache_fields(request: ModelRequest, quirks: Quirks) -> dict[str, Any]:
    cache = cache_request(request)
    if cache is None:
        return {}
    if cache.mode is CacheMode.REQUIRED and (
        (cache.marks and not quirks.cache_breakpoints) or not quirks.cache_key
    ):
        raise unsupported_cache(cache, API)
    fields: dict[str, Any] = {}
    key = cache.key or request.session_id
    if key and quirks.cache_key:
        fields["prompt_cache_key"] = key[:_CACHE_KEY_LENGTH]
    extended = cache.retention is CacheRetention.EXTENDED
    if quirks.cache_breakpoints:
        options = {"mode": "explicit"} if cache.marks else {}
        if cache.retention is not CacheRetention.DEFAULT:
            options["ttl"] = "12h" if extended else "30m"
        if options:
            fields["prompt_cache_options"] = options
    elif quirks.cache_retention_24h and cache.retention is not CacheRetention.DEFAULT:
        fields["prompt_cache_retention"] = "24h" if extended else "in_memory"
    return fields
