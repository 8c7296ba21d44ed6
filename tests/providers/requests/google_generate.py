"""Bodies of generateContent requests, read back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any, Final

from msgspec.structs import replace

from agentkit_core import (
    Custom,
    File,
    Item,
    JsonFormat,
    JsonSchemaFormat,
    Media,
    Modality,
    ModelOptions,
    ModelRequest,
    NamedTool,
    Part,
    Provenance,
    Reasoning,
    StructuredOutput,
    Text,
    TextOutput,
    ThinkingLevel,
    ToolCall,
    ToolCallId,
    ToolChoice,
    ToolChoiceMode,
    ToolOutput,
    ToolResult,
    ToolSpec,
    Uri,
)
from agentkit_providers.endpoints import default_registry
from agentkit_providers.google_generate import GoogleGenerate
from providers.requests.google_generate_rules import RESERVED
from providers.requests.history import refuse_mended
from providers.requests.reading import (
    MENDED,
    Body,
    Fields,
    NotExpressible,
    Reading,
    bytes_or_address,
    laid_over,
    needed,
    vendor_row,
)

API: Final = "google_generate"
_ROWS: Final = {"google-vertex": "vertex", "": "google"}
"""Vendors that the recordings call otherwise than our rows."""


def read(exchange: Mapping[str, Any], body: Body) -> Reading:
    """Read a body in normal form.

    Raises:
        NotExpressible: It has what a request has no place for.
    """
    needed(body, "contents")
    if "cachedContent" in body and body.keys() & {"systemInstruction", "tools"}:
        raise NotExpressible("instructions or tools beside a cache, which has its own")
    model = exchange["model"]
    row = vendor_row(exchange["vendor"], API, _ROWS)
    own = default_registry.projection(row.for_model(model))
    assert isinstance(own, GoogleGenerate)
    reader = _Reader(body, Provenance(row.name, API, model))
    request = reader.request(model, streamed=exchange["streamed"])
    quirks, shown = laid_over(own.quirks, reader.quirks)
    projection = GoogleGenerate(row.name, quirks)
    refuse_mended(request.items, projection.target(model))
    return Reading(request, projection, shown)


class _Reader:
    """Reads one body, and notes which quirks it shows."""

    def __init__(self, body: Body, origin: Provenance) -> None:
        self._fields = Fields(body)
        self._origin = origin
        self._calls: list[ToolCall] = []
        """Those that have no result yet."""
        self._numbers = count(1)
        self.quirks: dict[str, Any] = {}

    def request(self, model: str, *, streamed: bool) -> ModelRequest:
        items = tuple(self._items())
        tools, options = self._tools()
        options |= self._generation()
        if self._fields.left:
            options["extra"] = {API: self._fields.left}
        return ModelRequest(
            model=model,
            items=items,
            tools=tools,
            options=ModelOptions(**options),
            streamed=streamed,
        )

    # Options.

    def _generation(self) -> dict[str, Any]:
        """What `generationConfig` says in neutral words; the rest of it stays."""
        config, options = Fields(self._fields.take("generationConfig", {})), dict[str, Any]()
        for name, option in _NUMBERS.items():
            if name in config.left:
                options[option] = config.take(name)
        if config.left.get("stopSequences"):
            options["stop_sequences"] = tuple(config.take("stopSequences"))
        if config.left.get("responseMimeType") == "application/json":
            config.take("responseMimeType")
            schema = config.take("responseJsonSchema")
            options["response_format"] = (
                JsonFormat() if schema is None else JsonSchemaFormat(schema)
            )
        match config.left.get("thinkingConfig"):
            case {"includeThoughts": True, "thinkingBudget": int(budget), **rest} if (
                not rest and 0 < budget <= options.get("max_output_tokens", _MUCH) - _LEAST_ANSWER
            ):
                options["thinking"] = ThinkingLevel.MEDIUM
                self.quirks["thinking_budgets"] = {ThinkingLevel.MEDIUM: budget}
            case {"includeThoughts": True, "thinkingLevel": str(word), **rest} if (
                not rest and word.lower() in _LEVELS
            ):
                level = options["thinking"] = _LEVELS[word.lower()]
                self.quirks["thinking_level_map"] = {level: word}
            case {"thinkingBudget": 0, **rest} if not rest:
                options["thinking"] = ThinkingLevel.OFF
                self.quirks["thinking_budgets"] = {ThinkingLevel.OFF: 0}
        if "thinking" in options:
            config.take("thinkingConfig")
        if config.left:
            self._fields.left["generationConfig"] = config.left
        return options

    # Tools.

    def _tools(self) -> tuple[tuple[ToolSpec, ...], dict[str, Any]]:
        """The tools, and the options that belong to them."""
        fields, options = self._fields, dict[str, Any]()
        offered = fields.left.get("tools") or []
        ours = [entry for entry in offered if _is_ours(entry)]
        if not ours:
            return (), options
        tools = tuple(
            _tool(Fields(functionDeclaration))
            for tool in ours
            for functionDeclaration in tool["functionDeclarations"]
        )
        # Those that the vendor runs itself go as they are.
        others = [entry for entry in fields.take("tools") if entry not in ours]
        if others:
            fields.left["tools"] = others
        match fields.left.get("toolConfig"):
            case {"functionCallingConfig": calling, **rest} if not rest:
                wanted = _tool_choice(calling)
                offers = {tool.name for tool in tools}
                if wanted is not None and (
                    not isinstance(wanted, NamedTool) or wanted.name in offers
                ):
                    options["tool_choice"] = wanted
                    fields.take("toolConfig")
        return tools, options

    # The history.

    def _items(self) -> Iterator[Item]:
        system = self._fields.take("systemInstruction")
        if system is not None:
            yield Item.system(*map(self._part, system["parts"]))
        for content in self._fields.take("contents"):
            fields = Fields(content)
            role, parts = fields.take("role", "user"), fields.take("parts", [])
            fields.end(f"a content of the role {role!r}")
            if role == "model":
                item = Item.assistant(*map(self._part, parts))
                self._calls = list(item.tool_calls)
                yield replace(item, provenance=self._origin)
            elif role in ("user", "function"):
                results = [entry for entry in parts if "functionResponse" in entry]
                if parts[: len(results)] != results:
                    raise NotExpressible("a result stands after what the user says")
                if results:
                    yield Item.tool(*(self._result(Fields(result)) for result in results))
                said = [self._part(entry) for entry in parts[len(results) :]]
                if any(isinstance(entry, Reasoning | Custom) for entry in said):
                    raise NotExpressible("a user's content has what only the model says")
                if said:
                    yield Item.user(*said)
            else:
                raise NotExpressible(f"a content of the role {role!r}, which is none of ours")

    def _part(self, part: Body) -> Part:
        fields = Fields(part)
        signature, thought = fields.take("thoughtSignature"), fields.take("thought", False)
        metadata = {} if signature is None else {f"{API}.signature": signature}
        kinds = list(fields.left)
        if len(kinds) != 1:
            raise NotExpressible(f"a part that is several things at once: {', '.join(kinds)}")
        kind = kinds[0]
        value = fields.take(kind)
        match kind:
            case "text" if signature and not value.strip():
                return Custom(f"{API}.text", part)
            case "text" if thought:
                return Reasoning(summary=value, metadata=metadata)
            case "text":
                return Text(value, metadata=metadata)
            case "functionCall":
                return self._call(Fields(value), metadata)
            case _ if thought:
                raise NotExpressible(f"a thought that is no text: {kind}")
            case "inlineData" | "fileData" if value.keys() - _DATA_FIELDS:
                raise NotExpressible("media with more than a type and where they are")
            case "inlineData":
                mime_type = value.get("mimeType", "")
                return _content(mime_type, bytes_or_address(value["data"], mime_type), metadata)
            case "fileData":
                return _content(value.get("mimeType", ""), Uri(value["fileUri"]), metadata)
            case _:
                return Custom(f"{API}.{kind}", part)

    def _call(self, fields: Fields, metadata: dict[str, Any]) -> ToolCall:
        given = fields.take("id")
        if given is not None:
            metadata = {**metadata, f"{API}.call_id": given}
        # Calls without an id are answered by name and order; ours need one to be told apart.
        call_id = ToolCallId(given or f"call_{next(self._numbers)}")
        call = ToolCall(call_id, fields.take("name"), fields.take("args", {}), metadata=metadata)
        fields.end("a call")
        return call

    def _result(self, part: Fields) -> ToolResult:
        fields = Fields(part.take("functionResponse"))
        part.end("a part with a result")
        given, name = fields.take("id"), fields.take("name")
        response = fields.take("response")
        fields.end("a result")
        for at, call in enumerate(self._calls):
            if call.name == name and given in (None, call.id):
                del self._calls[at]
                return _result_of(call, response)
        raise NotExpressible(MENDED + "a result answers no earlier call")


_LEAST_ANSWER: Final = 1024
"""What a level's budget leaves to the answer; a bigger one is the sender's own."""
_MUCH: Final = 1_000_000
_DATA_FIELDS: Final = {"mimeType", "data", "fileUri"}
_NUMBERS: Final = {
    "maxOutputTokens": "max_output_tokens",
    "temperature": "temperature",
    "topP": "top_p",
    "seed": "seed",
}
_LEVELS: Final = {level.value: level for level in ThinkingLevel if level is not ThinkingLevel.OFF}
_MODALITIES: Final = {"image", "audio", "video"}


def _result_of(call: ToolCall, response: Any) -> ToolResult:
    match response:
        case {"output": value, **rest} if not rest:
            is_error = False
        case {"error": value, **rest} if not rest:
            is_error = True
        case dict(value) if not value.keys() & RESERVED:
            is_error = False
        case _:
            raise NotExpressible("a result that is more than an output or an error")
    output: ToolOutput = StructuredOutput(value)
    if isinstance(value, str):
        output = TextOutput(value)
    return ToolResult(call.id, output, is_error=is_error)


def _content(mime_type: str, data: Any, metadata: dict[str, Any]) -> Part:
    sense = mime_type.partition("/")[0]
    if sense in _MODALITIES:
        return Media(Modality(sense), mime_type, data, metadata=metadata)
    return File(data, mime_type or None, metadata=metadata)


def _is_ours(tool: Body) -> bool:
    known = {"name", "description", "parametersJsonSchema"}
    return tool.keys() == {"functionDeclarations"} and all(
        functionDeclaration.keys() <= known for functionDeclaration in tool["functionDeclarations"]
    )


def _tool(fields: Fields) -> ToolSpec:
    spec = ToolSpec(
        fields.take("name"),
        fields.take("description", ""),
        fields.take("parametersJsonSchema"),
    )
    fields.end("a function that is offered")
    return spec


def _tool_choice(calling: Body) -> ToolChoice | None:
    match calling:
        case {"mode": "AUTO" | "NONE" as word, **rest} if not rest:
            return ToolChoiceMode(word.lower())
        case {"mode": "ANY", "allowedFunctionNames": [name], **rest} if not rest:
            return NamedTool(name)
        case {"mode": "ANY", **rest} if not rest:
            return ToolChoiceMode.REQUIRED
        case _:
            return None
