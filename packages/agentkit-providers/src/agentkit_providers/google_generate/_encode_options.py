"""Everything of a request but its contents: instructions, tools, options.

A body is built in fixed order, and an option that was not given is not mentioned.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agentkit_core import (
    JsonFormat,
    JsonSchemaFormat,
    JsonValue,
    MetadataMap,
    ModelOptions,
    ModelRequest,
    NamedTool,
    ToolChoice,
    ToolChoiceMode,
    ToolSpec,
    UnsupportedContent,
)
from agentkit_core.cache import CacheMode
from agentkit_providers.google_generate._metadata_keys import API, THINKING_KEY
from agentkit_providers.google_generate._quirks import Quirks
from agentkit_providers.google_generate._schemas import openapi_schema
from agentkit_providers.google_generate._thinking import thinking_config
from agentkit_providers.google_generate._wire_request import FunctionDeclaration


def extra_of(options: ModelOptions) -> Mapping[str, Any]:
    """The fields that the caller wants in the body beside all others."""
    extra = options.extra.get(API)
    return extra if isinstance(extra, dict) else {}


def body_options(
    request: ModelRequest, quirks: Quirks, system: Sequence[Any]
) -> tuple[dict[str, Any], MetadataMap]:
    """Build the body without its contents.

    Args:
        request: What is asked.
        quirks: How the endpoint wants it.
        system: The parts of the system instruction.

    Returns:
        The fields in the order in which they are written, and what the response's item is to
        know of what was decided. The caller's extras are laid over the fields, objects key by
        key; `tools` are added to the request's own. Where they name a `cachedContent`, it holds
        instructions and tools, and the vendor takes no others beside it.

    Raises:
        UnsupportedContent: The request must have something that the vendor cannot do.
    """
    options, extra = request.options, extra_of(request.options)
    _check_cache(options, extra)
    body: dict[str, Any] = {}
    if "cachedContent" not in extra:
        if system:
            body["systemInstruction"] = {"parts": list(system)}
        body |= _tool_fields(request, quirks)
    config, decided = _generation_config(request, quirks)
    if config:
        body["generationConfig"] = config
    metadata: MetadataMap = {} if decided is None else {THINKING_KEY: decided}
    return _laid_over(body, extra), metadata


def _generation_config(request: ModelRequest, quirks: Quirks) -> tuple[dict[str, Any], JsonValue]:
    options = request.options
    config: dict[str, Any] = {}
    if options.max_output_tokens is not None:
        config["maxOutputTokens"] = options.max_output_tokens
    if options.temperature is not None:
        config["temperature"] = options.temperature
    if options.top_p is not None:
        config["topP"] = options.top_p
    if options.seed is not None:
        config["seed"] = options.seed
    if options.stop_sequences:
        config["stopSequences"] = list(options.stop_sequences)
    match options.response_format:
        case JsonFormat():
            config["responseMimeType"] = "application/json"
        case JsonSchemaFormat(schema=schema):
            config["responseMimeType"] = "application/json"
            if quirks.json_schema:
                config["responseJsonSchema"] = schema
            else:
                config["responseSchema"] = openapi_schema(schema)
        case None:
            pass
    thinking, decided = thinking_config(options, request.model, quirks)
    if thinking is not None:
        config["thinkingConfig"] = thinking
    return config, decided


def _tool_fields(request: ModelRequest, quirks: Quirks) -> dict[str, Any]:
    options = request.options
    if not request.tools:
        if options.tool_choice not in (None, ToolChoiceMode.AUTO, ToolChoiceMode.NONE):
            raise UnsupportedContent(
                "a call that is required, without tools",
                target=API,
                advice="offer the tool, or leave the choice to the model",
            )
        return {}
    if options.parallel_tool_calls is False:
        raise UnsupportedContent(
            "the wish for one call at a time",
            target=API,
            advice="leave it to the model, and run its calls one after another",
        )
    declarations = [_declaration(tool, quirks) for tool in request.tools]
    fields: dict[str, Any] = {"tools": [{"functionDeclarations": declarations}]}
    if options.tool_choice is not None:
        fields["toolConfig"] = {
            "functionCallingConfig": _calling_config(options.tool_choice, request.tools)
        }
    return fields


def _declaration(tool: ToolSpec, quirks: Quirks) -> FunctionDeclaration:
    declaration = FunctionDeclaration(tool.name, tool.description or None)
    if quirks.json_schema:
        declaration.parameters_json_schema = tool.input_schema
    elif tool.input_schema.get("properties"):
        declaration.parameters = openapi_schema(tool.input_schema)
    # The older dialect has no object without properties: no parameters are none given.
    return declaration


def _calling_config(choice: ToolChoice, tools: Sequence[ToolSpec]) -> dict[str, Any]:
    match choice:
        case NamedTool(name=name):
            if all(tool.name != name for tool in tools):
                raise UnsupportedContent(
                    f"a call of {name!r} that is required",
                    target=API,
                    advice="offer that tool with the request",
                )
            return {"mode": "ANY", "allowedFunctionNames": [name]}
        case ToolChoiceMode.REQUIRED:
            return {"mode": "ANY"}
        case ToolChoiceMode.AUTO:
            return {"mode": "AUTO"}
        case ToolChoiceMode.NONE:
            return {"mode": "NONE"}


def _check_cache(options: ModelOptions, extra: Mapping[str, Any]) -> None:
    """Refuse a cache that must be had; the vendor caches prefixes by itself, or by name."""
    cache = options.cache
    if cache is None or cache.mode is not CacheMode.REQUIRED:
        return
    if cache.marks or "cachedContent" not in extra:
        raise UnsupportedContent(
            "cache marks of one's own" if cache.marks else "a cache request",
            target=API,
            advice="make caching best effort, or name what you had cached as `cachedContent` "
            "in the options' extra",
        )


def _laid_over(body: dict[str, Any], extra: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(body)
    for name, value in extra.items():
        known = merged.get(name)
        if isinstance(known, dict) and isinstance(value, dict):
            merged[name] = _laid_over(known, value)
        elif name == "tools" and isinstance(known, list) and isinstance(value, list):
            merged[name] = [*known, *value]
        else:
            merged[name] = value
    return merged
