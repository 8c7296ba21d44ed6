"""Bodies of Responses requests, read back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from agentkit_core import (
    JsonFormat,
    JsonSchemaFormat,
    ModelOptions,
    ModelRequest,
    NamedTool,
    Provenance,
    ThinkingLevel,
    ToolChoice,
    ToolChoiceMode,
    ToolSpec,
)
from agentkit_providers.endpoints import default_registry
from agentkit_providers.openai_responses import OpenAIResponses, Quirks
from providers.requests.history import refuse_mended
from providers.requests.openai_responses_history import API, HistoryReader
from providers.requests.reading import (
    Body,
    Fields,
    Reading,
    laid_over,
    needed,
    vendor_row,
)

_ROWS: Final = {
    vendor or "": f"{vendor or 'compatible'}-responses"
    for vendor in ("openai", "azure", "xai", "openrouter", "lmstudio", "llamacpp", None)
}
"""Vendors that the recordings call otherwise than our rows."""


def read(exchange: Mapping[str, Any], body: Body) -> Reading:
    """Read a body in normal form.

    Raises:
        NotExpressible: It has what a request has no place for.
    """
    needed(body, "model", "input")
    model = body["model"]
    row = vendor_row(exchange["vendor"], API, _ROWS)
    own = default_registry.projection(row.for_model(model))
    assert isinstance(own, OpenAIResponses)
    reader = _Reader(body, Provenance(row.name, API, model), own.quirks)
    request = reader.request()
    quirks, shown = laid_over(own.quirks, reader.quirks)
    projection = OpenAIResponses(row.name, quirks)
    refuse_mended(request.items, projection.target(model))
    return Reading(request, projection, shown)


class _Reader:
    """Reads one body, and notes which quirks it shows."""

    def __init__(self, body: Body, origin: Provenance, own: Quirks) -> None:
        self._fields = Fields(body)
        self._origin = origin
        self._own = own
        # A body shows all that is said in it, and that nothing else is.
        self.quirks: dict[str, Any] = {"extra": {}}

    def request(self) -> ModelRequest:
        fields = self._fields
        model, streamed = fields.take("model"), fields.take("stream", False)
        history = HistoryReader(self._origin, self._own, self.quirks)
        items = tuple(history.items(fields.take("input")))
        self.quirks["supports_store"] = fields.left.get("store") is False
        if self.quirks["supports_store"]:
            fields.take("store")
        include = fields.take("include", [])
        self.quirks["encrypted_reasoning"] = _ENCRYPTED in include
        if _ENCRYPTED in include or "reasoning" in fields.left:
            self.quirks["thinking_level_map"] = {}
            self.quirks["supports_reasoning_effort"] = True
        if any(entry != _ENCRYPTED for entry in include):
            fields.left["include"] = [entry for entry in include if entry != _ENCRYPTED]
        tools, options = self._tools()
        options |= self._options()
        if fields.left:
            options["extra"] = {API: fields.left}
        return ModelRequest(
            model=model,
            items=items,
            tools=tools,
            options=ModelOptions(**options),
            streamed=streamed,
        )

    # Options.

    def _options(self) -> dict[str, Any]:
        fields, options = self._fields, dict[str, Any]()
        for name in ("max_output_tokens", "temperature", "top_p"):
            if name in fields.left:
                options[name] = fields.take(name)
                if name != "max_output_tokens":
                    self.quirks["sampling"] = True
                elif options[name] < self._own.min_output_tokens:
                    self.quirks["min_output_tokens"] = options[name]
        match fields.left.get("text"):
            case {"format": {"type": "json_object", **more}, **rest} if not rest and not more:
                options["response_format"] = JsonFormat()
            case {"format": {"type": "json_schema", "name": _, "schema": _}, **rest} if not rest:
                wanted = Fields(fields.left["text"]["format"])
                wanted.take("type")
                if wanted.left.keys() <= set(JsonSchemaFormat.__struct_fields__):
                    options["response_format"] = JsonSchemaFormat(**wanted.left)
        if "response_format" in options:
            fields.take("text")
        match fields.left.get("reasoning"):
            case {"effort": word, **rest} if word in _LEVELS and (
                rest.keys() <= ({"summary"} if word != "none" else set())
            ):
                level = options["thinking"] = _LEVELS[word]
                self.quirks["reasoning_summary"] = fields.take("reasoning").get("summary")
                if level in (ThinkingLevel.XHIGH, ThinkingLevel.MAX):
                    self.quirks["thinking_level_map"] = {level: word}
        return options

    # Tools.

    def _tools(self) -> tuple[tuple[ToolSpec, ...], dict[str, Any]]:
        """The tools, and the options that belong to them."""
        fields, options = self._fields, dict[str, Any]()
        offered = fields.left.get("tools") or []
        ours = [
            entry
            for entry in offered
            if entry.get("type") == "function" and entry.keys() <= _TOOL_FIELDS
        ]
        if 0 < sum("strict" in our for our in ours) < len(ours):
            ours = []  # we say of all tools whether they are strict, or of none
        others = [entry for entry in offered if entry not in ours]
        if not offered:
            return (), options
        fields.take("tools")
        if others:
            fields.left["tools"] = others  # what our specifications have no field for
        tools = tuple(_tool(Fields(our)) for our in ours)
        self.quirks["supports_strict_mode"] = any(tool.strict is not None for tool in tools)
        wanted = _tool_choice(fields.left.get("tool_choice"))
        offers = {tool.name for tool in tools}
        if wanted is not None and (not isinstance(wanted, NamedTool) or wanted.name in offers):
            options["tool_choice"] = wanted
            fields.take("tool_choice")
        if "parallel_tool_calls" in fields.left:
            options["parallel_tool_calls"] = fields.take("parallel_tool_calls")
            self.quirks["parallel_tools"] = True
        return tools, options


_LEVELS: Final[Mapping[Any, ThinkingLevel]] = {
    level.value: level for level in ThinkingLevel if level is not ThinkingLevel.OFF
} | {"none": ThinkingLevel.OFF}
_ENCRYPTED: Final = "reasoning.encrypted_content"
_TOOL_FIELDS: Final = {"type", "name", "description", "parameters", "strict"}


def _tool(fields: Fields) -> ToolSpec:
    fields.take("type")
    return ToolSpec(
        fields.take("name"),
        fields.take("description", ""),
        fields.take("parameters"),
        strict=fields.take("strict"),
    )


def _tool_choice(value: Any) -> ToolChoice | None:
    match value:
        case "auto" | "none" | "required":
            return ToolChoiceMode(value)
        case {"type": "function", "name": name, **rest} if not rest:
            return NamedTool(name)
        case _:
            return None
