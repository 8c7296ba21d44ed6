"""Bodies of Messages requests, read back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from agentkit_core import (
    ItemKind,
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
from agentkit_core.cache import CacheRequest, CacheRetention, ToolsEnd
from agentkit_providers.anthropic_messages import AnthropicMessages, Quirks, ThinkingStyle
from agentkit_providers.anthropic_messages._models import traits_of
from agentkit_providers.endpoints import default_registry
from providers.requests.anthropic_messages_history import API, HistoryReader, refuse_unpaired
from providers.requests.history import refuse_mended
from providers.requests.reading import (
    MENDED,
    Body,
    Fields,
    NotExpressible,
    Reading,
    laid_over,
    needed,
    vendor_row,
)

_ROWS: Final = {
    "google-vertex": "vertex-anthropic",
    "openrouter": "openrouter-anthropic",
    "": "anthropic-compatible",
}
"""Vendors that the recordings call otherwise than our rows."""


def read(exchange: Mapping[str, Any], body: Body) -> Reading:
    """Read a body in normal form.

    Raises:
        NotExpressible: It has what a request has no place for.
    """
    needed(body, "messages", "max_tokens", "model" if "model" in body else "anthropic_version")
    if "betas" in body:
        raise NotExpressible("`betas` in the body: they belong into a header")
    model = body.get("model", exchange["model"])
    row = vendor_row(exchange["vendor"], API, _ROWS)
    own = default_registry.projection(row.for_model(model))
    assert isinstance(own, AnthropicMessages)
    reader = _Reader(body, Provenance(row.name, API, model), own.quirks)
    request = reader.request(model)
    quirks, shown = laid_over(own.quirks, reader.quirks)
    projection = AnthropicMessages(row.name, quirks)
    refuse_mended(request.items, projection.target(model))
    if request.items[-1].kind is ItemKind.ASSISTANT and not traits_of(model).prefill:
        raise NotExpressible(f"{MENDED}the model does not go on from the assistant's words")
    refuse_unpaired(request.items)
    return Reading(request, projection, shown)


class _Reader:
    """Reads one body, and notes which quirks it shows."""

    def __init__(self, body: Body, origin: Provenance, own: Quirks) -> None:
        self._fields = Fields(body)
        self.quirks: dict[str, Any] = {}
        self._history = HistoryReader(origin, own, self.quirks)

    def request(self, model: str) -> ModelRequest:
        fields, options = self._fields, dict[str, Any]()
        self.quirks["version_in_body"] = "model" not in fields.left
        if self.quirks["version_in_body"]:
            self.quirks["version"] = fields.take("anthropic_version")
        fields.take("model")
        streamed = fields.take("stream", False)
        options["max_output_tokens"] = fields.take("max_tokens")
        if "thinking" not in fields.left:
            # While a model thinks it takes no other value than the default.
            # Newer models take but one of the two.
            for name in ("temperature", "top_p"):
                if name in fields.left and "temperature" not in options:
                    options[name] = fields.take(name)
                    self.quirks["sampling"] = True
        if all(sequence.strip() for sequence in fields.left.get("stop_sequences") or [""]):
            options["stop_sequences"] = tuple(fields.take("stop_sequences"))
        options |= self._output(options["max_output_tokens"])
        tools, choices = self._tools()
        options |= choices
        items = tuple(self._history.items(fields.take("system"), fields.take("messages")))
        options |= self._cache()
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

    def _output(self, max_tokens: int) -> dict[str, Any]:
        """The thinking level, and the format of the answer."""
        left = self._fields.left
        config, thinking = dict(left.get("output_config", {})), left.get("thinking")
        options: dict[str, Any] = {}
        match config.get("format"):
            case {"type": "json_schema", "schema": schema, **rest} if not rest:
                options["response_format"] = JsonSchemaFormat(schema)
                self.quirks["json_schema"] = True
                del config["format"]
        forced = left.get("tool_choice", {}).get("type") in ("any", "tool")
        match None if forced else thinking:
            case {"type": "enabled", "budget_tokens": int(budget), **rest} if (
                rest.keys() <= {"display"} and _LEAST_BUDGET <= budget < max_tokens
            ):
                # A level stands for a budget, which comes on top of what the answer may have.
                options["thinking"] = ThinkingLevel.MEDIUM
                options["max_output_tokens"] = max_tokens - budget
                self.quirks["thinking_style"] = ThinkingStyle.BUDGET
                self.quirks["thinking_budgets"] = {ThinkingLevel.MEDIUM: budget}
                self.quirks["max_output_tokens"] = max_tokens
            case {"type": "adaptive", **rest} if (
                rest.keys() <= {"display"} and config.get("effort") in _LEVELS
            ):
                level = options["thinking"] = _LEVELS[config.pop("effort")]
                self.quirks["thinking_style"] = ThinkingStyle.ADAPTIVE
                if level in (ThinkingLevel.XHIGH, ThinkingLevel.MAX):
                    self.quirks["thinking_level_map"] = {level: level.value}
        if "thinking" in options:
            self.quirks["thinking_display"] = self._fields.take("thinking").get("display")
        if config:
            # What is left of it goes as it is, and would replace what we write there.
            options.pop("response_format", None)
        elif "output_config" in left:
            self._fields.take("output_config")
        return options

    # Tools.

    def _tools(self) -> tuple[tuple[ToolSpec, ...], dict[str, Any]]:
        """The tools, and the options that belong to them."""
        fields, options = self._fields, dict[str, Any]()
        offered = fields.left.get("tools") or []
        ours = [entry for entry in offered if entry.get("type", "custom") == "custom"]
        others = [entry for entry in offered if entry not in ours]
        if not ours or (others and any("cache_control" in entry for entry in offered)):
            # Nothing of ours, or a marked prefix in which each tool has its place.
            return (), options
        tools = tuple(self._tool(Fields(our), our is ours[-1]) for our in ours)
        if any(tool.strict is not None for tool in tools):
            self.quirks["supports_strict_mode"] = True
        fields.take("tools")
        if others:
            fields.left["tools"] = others  # what the vendor runs itself goes as it is
        choice = dict(fields.left.get("tool_choice", {}))
        serial = choice.pop("disable_parallel_tool_use", False)
        wanted = _tool_choice(choice)
        offers = {tool.name for tool in tools}
        if wanted is not None and (not isinstance(wanted, NamedTool) or wanted.name in offers):
            fields.take("tool_choice")
            options["tool_choice"] = wanted
            if wanted not in (ToolChoiceMode.AUTO, ToolChoiceMode.NONE):
                self.quirks["forced_tools"] = True
            if serial:
                options["parallel_tool_calls"] = False
                self.quirks["parallel_tools"] = True
        return tools, options

    def _tool(self, fields: Fields, last: bool) -> ToolSpec:
        fields.take("type")
        mark = fields.take("cache_control")
        if mark is not None:
            if not last:
                raise NotExpressible("a cache mark on a tool that is not the last one")
            self._history.marks.append((ToolsEnd(), mark))
        name, description = fields.take("name"), fields.take("description", "")
        schema, strict = fields.take("input_schema"), fields.take("strict")
        metadata: dict[str, Any] = {f"{API}.tool": fields.left} if fields.left else {}
        return ToolSpec(name, description, schema, strict=strict, metadata=metadata)

    def _cache(self) -> dict[str, Any]:
        marks = self._history.marks
        if not marks:
            return {}
        if len(marks) > _MOST_MARKS:
            raise NotExpressible(f"more than {_MOST_MARKS} cache marks, which the vendor refuses")
        self.quirks["cache_control"] = True
        times = {mark.get("ttl") for _, mark in marks}
        if len(times) > 1:
            raise NotExpressible("cache marks of several lifetimes in one request")
        if times == {"1h"}:
            self.quirks["cache_1h"] = True
        retention = CacheRetention.EXTENDED if times == {"1h"} else CacheRetention.DEFAULT
        places = tuple(place for place, _ in marks)
        return {"cache": CacheRequest(marks=places, retention=retention)}


_MOST_MARKS: Final = 4
_LEAST_BUDGET: Final = 1024
"""The vendor refuses smaller ones."""
_LEVELS: Final[Mapping[Any, ThinkingLevel]] = {
    level.value: level for level in ThinkingLevel if level is not ThinkingLevel.OFF
}


def _tool_choice(choice: Body) -> ToolChoice | None:
    match choice:
        case {"type": "auto" | "none" as word, **rest} if not rest:
            return ToolChoiceMode(word)
        case {"type": "any", **rest} if not rest:
            return ToolChoiceMode.REQUIRED
        case {"type": "tool", "name": name, **rest} if not rest:
            return NamedTool(name)
        case _:
            return None
