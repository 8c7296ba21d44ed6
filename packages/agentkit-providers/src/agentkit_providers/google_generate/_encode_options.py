"""Everything of a request but its contents: instructions, tools, options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agentkit_core import (
    Item,
    JsonFormat,
    JsonSchemaFormat,
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
from agentkit_providers._protocol_kit._encoded_options import EncodedOptions
from agentkit_providers._protocol_kit._unsupported import (
    check_tool_choice,
    tool_names,
    unsupported_cache,
)
from agentkit_providers.google_generate._encode_items import encode_instructions
from agentkit_providers.google_generate._metadata_keys import API, THINKING_KEY
from agentkit_providers.google_generate._quirks import Quirks
from agentkit_providers.google_generate._schemas import openapi_schema
from agentkit_providers.google_generate._thinking import encode_thinking
from agentkit_providers.google_generate._wire_request import FunctionDeclaration


def encode_options(request: ModelRequest, items: Sequence[Item], quirks: Quirks) -> EncodedOptions:
    """Write the options; see `EncodedOptions`.

    The caller's extra fields are merged into the body, objects key by key; extra `tools` are added
    to the request's own. Extra fields that name a `cachedContent` replace instructions and tools:
    the cached content holds them, and the vendor accepts no others beside it.

    Args:
        request: The request.
        items: Its sendable items, of which the instructions go into the options.
        quirks: How the endpoint or the model differs from Google's newest.

    Raises:
        UnsupportedContent: The request requires something that the vendor cannot do.
    """
    options, extra = request.options, _extra_fields(request.options)
    _check_cache(options, extra)
    body: dict[str, Any] = {}
    if "cachedContent" not in extra:
        instructions = encode_instructions(items)
        if instructions:
            body["systemInstruction"] = {"parts": instructions}
        body |= _tool_fields(request, quirks)
    config = _generation_config(request, quirks)
    thinking = encode_thinking(request, quirks)
    config |= thinking.fields
    if config:
        body["generationConfig"] = config
    metadata: MetadataMap = {} if thinking.note is None else {THINKING_KEY: thinking.note}
    return EncodedOptions(_merge(body, extra), metadata)


def _extra_fields(options: ModelOptions) -> Mapping[str, Any]:
    extra = options.extra.get(API)
    return extra if isinstance(extra, dict) else {}


def _generation_config(request: ModelRequest, quirks: Quirks) -> dict[str, Any]:
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
    return config


def _tool_fields(request: ModelRequest, quirks: Quirks) -> dict[str, Any]:
    options = request.options
    if options.tool_choice is not None:
        check_tool_choice(options.tool_choice, tool_names(request), API)
    if not request.tools:
        return {}
    if options.parallel_tool_calls is False:
        raise UnsupportedContent(
            "the option to make one call at a time",
            target=API,
            advice="leave it to the model, and run its calls one after another",
        )
    declarations = [_declaration(tool, quirks) for tool in request.tools]
    fields: dict[str, Any] = {"tools": [{"functionDeclarations": declarations}]}
    if options.tool_choice is not None:
        fields["toolConfig"] = {"functionCallingConfig": _tool_choice(options.tool_choice)}
    return fields


def _declaration(tool: ToolSpec, quirks: Quirks) -> FunctionDeclaration:
    declaration = FunctionDeclaration(tool.name, tool.description or None)
    if quirks.json_schema:
        declaration.parameters_json_schema = tool.input_schema
    elif tool.input_schema.get("properties"):
        declaration.parameters = openapi_schema(tool.input_schema)
    # The older dialect has no object without properties, so `parameters` is left out for that.
    return declaration


def _tool_choice(choice: ToolChoice) -> dict[str, Any]:
    match choice:
        case NamedTool(name=name):
            return {"mode": "ANY", "allowedFunctionNames": [name]}
        case ToolChoiceMode.REQUIRED:
            return {"mode": "ANY"}
        case ToolChoiceMode.AUTO:
            return {"mode": "AUTO"}
        case ToolChoiceMode.NONE:
            return {"mode": "NONE"}


def _check_cache(options: ModelOptions, extra: Mapping[str, Any]) -> None:
    """Refuse required caching: the vendor caches prefixes by itself, or content by its name.

    Raises:
        UnsupportedContent: Caching is required, with marks or without a `cachedContent`.
    """
    cache = options.cache
    if cache is None or cache.mode is not CacheMode.REQUIRED:
        return
    if cache.marks or "cachedContent" not in extra:
        advice = (
            "make caching best effort, or name your cached content as the extra `cachedContent`"
        )
        raise unsupported_cache(cache, API, advice)


def _merge(body: dict[str, Any], extra: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(body)
    for name, value in extra.items():
        known = merged.get(name)
        if isinstance(known, dict) and isinstance(value, dict):
            merged[name] = _merge(known, value)
        elif name == "tools" and isinstance(known, list) and isinstance(value, list):
            merged[name] = [*known, *value]
        else:
            merged[name] = value
    return merged
