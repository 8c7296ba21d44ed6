"""Everything of a request but its input: model, options, tools.

A body is built in fixed order, and an option that was not given is not mentioned.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from agentkit_core import (
    JsonFormat,
    JsonSchemaFormat,
    MetadataMap,
    ModelOptions,
    ModelRequest,
    NamedTool,
    ResponseFormat,
    ThinkingLevel,
    ToolChoice,
    ToolChoiceMode,
    ToolSpec,
    UnsupportedContent,
)
from agentkit_core.cache import CacheMode, CacheRequest, CacheRetention
from agentkit_providers._protocol_kit._thinking_levels import supported_level
from agentkit_providers.openai_responses._metadata_keys import (
    API,
    DROPPED_KEY,
    MAX_OUTPUT_KEY,
    THINKING_KEY,
)
from agentkit_providers.openai_responses._quirks import Quirks
from agentkit_providers.openai_responses._wire_request import (
    FunctionTool,
    JsonObjectParam,
    JsonSchemaParam,
)

_CACHE_KEY_LENGTH: Final = 64
_JOINED: Final = ("tools", "include")
"""Lists to which an extra adds: the vendor's own tools stand beside the client's."""


def extra_fields(options: ModelOptions) -> dict[str, Any]:
    """The fields that the caller adds to the body."""
    extra = options.extra.get(API)
    return extra if isinstance(extra, dict) else {}


def body_options(request: ModelRequest, quirks: Quirks) -> tuple[dict[str, Any], MetadataMap]:
    """Build the body without its input.

    Args:
        request: What is asked.
        quirks: How the vendor wants it.

    Returns:
        The fields in the order in which they are written, extras last, and what the response's
        item is to know of what was decided.

    Raises:
        UnsupportedContent: The request must have something that the vendor cannot do.
    """
    options = request.options
    metadata: MetadataMap = {}
    body: dict[str, Any] = {"model": request.model}
    if request.streamed:
        body["stream"] = True
    if quirks.supports_store:
        body["store"] = False
    body |= _limit(options.max_output_tokens, quirks, metadata)
    body |= _sampling(options, quirks, metadata)
    body |= _reasoning(options.thinking, quirks, metadata)
    if options.response_format is not None:
        body["text"] = {"format": _response_format(options.response_format, quirks)}
    body |= _cache_fields(request, quirks)
    body |= _tool_fields(request, quirks)
    for name, value in (quirks.extra | extra_fields(options)).items():
        known = body.get(name)
        if name in _JOINED and isinstance(known, list) and isinstance(value, list):
            value = [*known, *(one for one in value if one not in known)]
        body[name] = value
    return body, metadata


def _limit(asked: int | None, quirks: Quirks, metadata: MetadataMap) -> dict[str, Any]:
    if asked is None:
        return {}
    sent = max(asked, quirks.min_output_tokens)
    if sent != asked:
        metadata[MAX_OUTPUT_KEY] = {"asked": asked, "sent": sent}
    return {"max_output_tokens": sent}


def _sampling(options: ModelOptions, quirks: Quirks, metadata: MetadataMap) -> dict[str, Any]:
    """How tokens are drawn; what changes only the draw is dropped where it cannot be sent."""
    if options.stop_sequences:
        raise UnsupportedContent(
            "stop sequences",
            target=API,
            advice="ask for a short answer, or use a protocol that has them",
        )
    given = {"temperature": options.temperature, "top_p": options.top_p}
    fields = {name: value for name, value in given.items() if value is not None}
    dropped = [] if options.seed is None else ["seed"]
    if not quirks.sampling:
        dropped, fields = [*fields, *dropped], {}
    if dropped:
        metadata[DROPPED_KEY] = list(dropped)
    return fields


def reasons(quirks: Quirks) -> bool:
    """Whether the model can reason at all."""
    return supported_level(ThinkingLevel.HIGH, quirks.thinking_level_map) is not ThinkingLevel.OFF


def _reasoning(
    asked: ThinkingLevel | None, quirks: Quirks, metadata: MetadataMap
) -> dict[str, Any]:
    """What is asked of reasoning; of a model without any, nothing."""
    can = reasons(quirks)
    fields: dict[str, Any] = {}
    if can and quirks.encrypted_reasoning:
        fields["include"] = ["reasoning.encrypted_content"]
    if asked is None:
        return fields
    level, word = ThinkingLevel.OFF, None
    if can and quirks.supports_reasoning_effort:
        level, word = _effort(asked, quirks)
    if word is not None:
        fields["reasoning"] = {"effort": word}
        if level is not ThinkingLevel.OFF and quirks.reasoning_summary is not None:
            fields["reasoning"]["summary"] = quirks.reasoning_summary
    if level is not asked or (can and word is None):
        sent = level.value if word is not None or not can else None
        metadata[THINKING_KEY] = {"asked": asked.value, "sent": sent}
    return fields


def _effort(asked: ThinkingLevel, quirks: Quirks) -> tuple[ThinkingLevel, str | None]:
    """The level that the model has for the one that is asked for, and the vendor's word for it."""
    words = quirks.thinking_level_map
    if asked is ThinkingLevel.OFF:
        return asked, words.get(asked, "none")
    level = supported_level(asked, words)
    return level, words.get(level) or level.value


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
            return JsonSchemaParam(wanted.name, wanted.description, wanted.schema, strict)


def _tool_fields(request: ModelRequest, quirks: Quirks) -> dict[str, Any]:
    options = request.options
    if not request.tools and "tools" not in extra_fields(options):
        if options.tool_choice not in (None, ToolChoiceMode.AUTO, ToolChoiceMode.NONE):
            raise UnsupportedContent(
                "a call that is required, without tools",
                target=API,
                advice="offer the tool, or leave the choice to the model",
            )
        return {}
    fields: dict[str, Any] = {}
    if request.tools:
        fields["tools"] = [_tool(tool, quirks) for tool in request.tools]
    if options.tool_choice is not None:
        fields["tool_choice"] = _tool_choice(options.tool_choice, request.tools)
    if options.parallel_tool_calls is not None and quirks.parallel_tools:
        fields["parallel_tool_calls"] = options.parallel_tool_calls
    return fields


def _tool(tool: ToolSpec, quirks: Quirks) -> FunctionTool:
    # What is not said to be strict is not to become so, and a schema that was not made for it is
    # refused.
    strict = bool(tool.strict) if quirks.supports_strict_mode else None
    return FunctionTool(tool.name, tool.description or None, tool.input_schema, strict)


def _tool_choice(choice: ToolChoice, tools: Sequence[ToolSpec]) -> Any:
    match choice:
        case NamedTool(name=name):
            if all(tool.name != name for tool in tools):
                raise UnsupportedContent(
                    f"a call of {name!r} that is required",
                    target=API,
                    advice="offer that tool with the request",
                )
            return {"type": "function", "name": name}
        case ToolChoiceMode():
            return choice.value


def cache_of(request: ModelRequest) -> CacheRequest | None:
    """The request for caching; None where there is none, or one that nothing be cached."""
    cache = request.options.cache
    return None if cache is None or cache.mode is CacheMode.DISABLED else cache


def _cache_fields(request: ModelRequest, quirks: Quirks) -> dict[str, Any]:
    cache = cache_of(request)
    if cache is None:
        return {}
    if cache.mode is CacheMode.REQUIRED and (
        (cache.marks and not quirks.cache_breakpoints) or not quirks.cache_key
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
