"""Bodies of Chat Completions requests, read back.

The vendor's row says how a vendor wants it; where the sender chose otherwise, the body shows
it, and the row's quirks are replaced by what it shows.
"""

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
    ResponseFormat,
    ThinkingLevel,
    ToolChoice,
    ToolChoiceMode,
    ToolSpec,
)
from agentkit_providers.endpoints import default_registry
from agentkit_providers.openai_chat import OpenAIChat, Quirks, ThinkingFormat
from providers.requests.history import refuse_mended
from providers.requests.openai_chat_history import API, HistoryReader
from providers.requests.openai_chat_marks import planned_cache
from providers.requests.reading import (
    Body,
    Fields,
    NotExpressible,
    Reading,
    laid_over,
    needed,
    vendor_row,
)

_ROWS: Final = {"vercel-gateway": "vercel", "google": "google-openai", "": "compatible"}
"""Vendors that the recordings call otherwise than our rows."""


def read(exchange: Mapping[str, Any], body: Body) -> Reading:
    """Read a body in normal form.

    Raises:
        NotExpressible: It has what a request has no place for.
    """
    for legacy in ("functions", "function_call"):
        if legacy in body:
            raise NotExpressible(f"`{legacy}`: how functions were offered before there were tools")
    needed(body, "model", "messages")
    row = vendor_row(exchange["vendor"], API, _ROWS)
    own = default_registry.projection(row.for_model(body["model"]))
    assert isinstance(own, OpenAIChat)
    reader = _Reader(body, Provenance(row.name, API, body["model"]), own.quirks)
    request = reader.request()
    quirks, shown = laid_over(own.quirks, reader.quirks)
    projection = OpenAIChat(row.name, quirks)
    refuse_mended(request.items, projection.target(request.model))
    return Reading(request, projection, shown)


class _Reader:
    """Reads one body, and notes which quirks it shows."""

    def __init__(self, body: Body, origin: Provenance, own: Quirks) -> None:
        self._body = body
        self._fields = Fields(body)
        self._origin = origin
        self._own = own
        # A body shows all that is said in it, and that nothing else is.
        self.quirks: dict[str, Any] = {"extra": {}, "tools_with_history": False}

    def request(self) -> ModelRequest:
        fields = self._fields
        model, messages = fields.take("model"), fields.take("messages")
        streamed = fields.take("stream", False)
        if streamed:
            self._shows_usage()
        self.quirks["supports_store"] = fields.left.get("store") is False
        if self.quirks["supports_store"]:
            fields.take("store")
        tools, options = self._tools()
        options |= self._options()
        cache = planned_cache(self._body)
        if cache is not None:
            options["cache"] = cache
            self.quirks["cache_control"] = True
        items = tuple(HistoryReader(self._origin, self._own, self.quirks).items(messages))
        if fields.left:
            options["extra"] = {API: fields.left}
        return ModelRequest(
            model=model,
            items=items,
            tools=tools,
            options=ModelOptions(**options),
            streamed=streamed,
        )

    def _shows_usage(self) -> None:
        asked = self._fields.left.get("stream_options") == {"include_usage": True}
        self.quirks["supports_usage_in_streaming"] = asked
        if asked:
            self._fields.take("stream_options")

    # Options.

    def _options(self) -> dict[str, Any]:
        fields, options = self._fields, dict[str, Any]()
        for name in ("max_completion_tokens", "max_tokens"):
            if name in fields.left and "max_output_tokens" not in options:
                options["max_output_tokens"] = fields.take(name)
                self.quirks["max_tokens_field"] = name
        for name in ("temperature", "top_p", "seed"):
            if name in fields.left:
                options[name] = fields.take(name)
        if "temperature" in options or "top_p" in options:
            self.quirks["sampling"] = True
        if "seed" in options:
            self.quirks["supports_seed"] = True
        if fields.left.get("stop"):
            options["stop_sequences"] = tuple(fields.take("stop"))
        wanted = _response_format(fields.left.get("response_format"))
        if wanted is not None:
            options["response_format"] = wanted
            fields.take("response_format")
            if isinstance(wanted, JsonSchemaFormat):
                self.quirks["json_schema"] = True
                if wanted.strict is not None:
                    self.quirks["supports_strict_mode"] = True
        level = self._thinking()
        return options if level is None else {**options, "thinking": level}

    def _thinking(self) -> ThinkingLevel | None:
        """The level that the fields of some vendor's manner ask for; None leaves them."""
        left = self._fields.left
        effort, reasoning, thinking = map(left.get, ("reasoning_effort", "reasoning", "thinking"))
        match reasoning, thinking:
            case None, None if effort in _LEVELS:
                found, level = ThinkingFormat.OPENAI, _LEVELS[effort]
            case {"effort": word, **rest}, None if word in _LEVELS and not rest:
                found, level = ThinkingFormat.OPENROUTER, _LEVELS[word]
            case {"enabled": bool(on), **rest}, None if not rest:
                found, level = ThinkingFormat.TOGETHER, _LEVELS[effort or _SWITCH[on]]
            case None, {"type": "enabled" | "disabled" as switch, "clear_thinking": False}:
                found, level = ThinkingFormat.ZAI, _LEVELS[effort or _SWITCH[switch == "enabled"]]
            case None, {"type": "enabled" | "disabled" as switch, **rest} if not rest:
                on = switch == "enabled"
                found, level = ThinkingFormat.DEEPSEEK, _LEVELS[effort or _SWITCH[on]]
            case _:
                return None
        for name in ("reasoning_effort", "reasoning", "thinking"):
            self._fields.take(name)
        self.quirks["thinking_format"] = found
        word = reasoning["effort"] if reasoning and "effort" in reasoning else effort
        self._shows_word(level, word)
        if found is not ThinkingFormat.OPENROUTER and (level is not ThinkingLevel.OFF or effort):
            self.quirks["supports_reasoning_effort"] = effort is not None
        return level

    def _shows_word(self, level: ThinkingLevel, word: str | None) -> None:
        """Note a level whose word is not the usual one, or not that of the vendor's row."""
        known = self._own.thinking_level_map
        usual = level not in (ThinkingLevel.OFF, ThinkingLevel.XHIGH, ThinkingLevel.MAX)
        if level in known or not usual:
            self.quirks["thinking_level_map"] = {} if word is None else {level: word}

    # Tools.

    def _tools(self) -> tuple[tuple[ToolSpec, ...], dict[str, Any]]:
        """The tools, and the options that belong to them."""
        fields, options = self._fields, dict[str, Any]()
        offered = fields.left.get("tools") or []
        if not offered or any(entry.get("type") != "function" for entry in offered):
            # None, or some that the vendor runs itself: they go as they are, whole.
            return (), options
        tools = tuple(_tool(Fields(entry)) for entry in fields.take("tools"))
        if any(tool.strict is not None for tool in tools):
            self.quirks["supports_strict_mode"] = True
        choice = fields.left.get("tool_choice")
        wanted = _tool_choice(choice)
        offers = {tool.name for tool in tools}
        if wanted is not None and (not isinstance(wanted, NamedTool) or wanted.name in offers):
            options["tool_choice"] = wanted
            fields.take("tool_choice")
            if wanted is ToolChoiceMode.REQUIRED:
                self.quirks["required_tool_choice"] = choice
        if "parallel_tool_calls" in fields.left:
            options["parallel_tool_calls"] = fields.take("parallel_tool_calls")
            self.quirks["parallel_tools"] = True
        return tools, options


_LEVELS: Final[Mapping[Any, ThinkingLevel]] = {
    level.value: level for level in ThinkingLevel if level is not ThinkingLevel.OFF
} | {"none": ThinkingLevel.OFF}
_SWITCH: Final = {True: "medium", False: "none"}
"""What a bare switch stands for; on is any level, for none of them is sent."""


def _response_format(value: Any) -> ResponseFormat | None:
    match value:
        case {"type": "json_object", **rest} if not rest:
            return JsonFormat()
        case {"type": "json_schema", "json_schema": {"name": _, "schema": _}, **rest} if not rest:
            if value["json_schema"].keys() <= set(JsonSchemaFormat.__struct_fields__):
                return JsonSchemaFormat(**value["json_schema"])
    return None


def _tool(fields: Fields) -> ToolSpec:
    function = Fields(fields.take("function"))
    fields.take("type")
    fields.take("cache_control")
    fields.end("a tool")
    spec = ToolSpec(
        function.take("name"),
        function.take("description", ""),
        function.take("parameters"),
        strict=function.take("strict"),
    )
    function.end("a function that is offered")
    return spec


def _tool_choice(value: Any) -> ToolChoice | None:
    match value:
        case "auto" | "none":
            return ToolChoiceMode(value)
        case "required" | "any":
            return ToolChoiceMode.REQUIRED
        case {"type": "function", "function": {"name": name, **rest}} if not rest:
            return NamedTool(name)
        case _:
            return None
