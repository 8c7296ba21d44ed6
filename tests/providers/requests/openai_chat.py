"""Bodies of Chat Completions requests, read back.

The vendor's row says how a vendor wants it; where the sender chose otherwise, the body shows
it, and the row's quirks are replaced by what it shows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from msgspec.structs import replace

from agentkit_core import (
    CacheRequest,
    CacheRetention,
    File,
    InlineBytes,
    Item,
    ItemKind,
    JsonFormat,
    JsonSchemaFormat,
    Media,
    Modality,
    ModelOptions,
    ModelRequest,
    NamedTool,
    Part,
    PartsOutput,
    Provenance,
    Reasoning,
    ResponseFormat,
    Text,
    TextOutput,
    ThinkingLevel,
    ToolCall,
    ToolCallId,
    ToolChoice,
    ToolChoiceMode,
    ToolResult,
    ToolSpec,
    Uri,
)
from agentkit_providers.endpoints import default_registry
from agentkit_providers.openai_chat import OpenAIChat, Quirks, ThinkingFormat
from providers.requests.history import refuse_mended
from providers.requests.reading import (
    Body,
    Fields,
    NotExpressible,
    Reading,
    bytes_or_address,
    laid_over,
    needed,
    one_text,
    vendor_row,
)

API: Final = "openai_chat"
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
        self.quirks: dict[str, Any] = {"extra": {}, "empty_tools_with_history": False}

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
        options |= self._cache(messages)
        items = tuple(self._items(messages))
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
        if not offered or any(one.get("type") != "function" for one in offered):
            # None, or some that the vendor runs itself: they go as they are, whole.
            return (), options
        tools = tuple(_tool(Fields(one)) for one in fields.take("tools"))
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

    # The history.

    def _items(self, messages: Sequence[Body]) -> Iterator[Item]:
        said = [one for one in messages if one["role"] == "assistant"]
        if said and not all("reasoning_content" in one for one in said):
            self.quirks["requires_reasoning_content_on_assistant"] = False
        roles = [one["role"] for one in messages]
        if ("tool", "user") in pairwise(roles):
            self.quirks["requires_assistant_after_tool_result"] = False
        names = dict[str, str]()
        results: list[ToolResult] = []
        for message in messages:
            fields = Fields({key: one for key, one in message.items() if key != "cache_control"})
            role = fields.take("role")
            if results and role != "tool":
                yield Item.tool(*results)
                results = []
            match role:
                case "system" | "developer":
                    parts = tuple(self._parts(fields))
                    one_text(parts, "instructions")
                    if role == "developer":
                        self.quirks["developer_role"] = True
                    yield Item(ItemKind(role), parts)
                case "user":
                    yield Item.user(*self._parts(fields))
                case "assistant":
                    item = self._assistant(fields)
                    names |= {call.id: call.name for call in item.tool_calls}
                    yield item
                case "tool":
                    results.append(self._result(fields, names))
                case _:
                    raise NotExpressible(f"a message of the role {role!r}, which is none of ours")
            fields.end(f"a message of the role {role!r}")
        if results:
            yield Item.tool(*results)

    def _assistant(self, fields: Fields) -> Item:
        parts: list[Part] = []
        thought = [name for name in _REASONING_FIELDS if fields.left.get(name)]
        if len(thought) > 1:
            raise NotExpressible(f"reasoning sent back in several fields: {', '.join(thought)}")
        for name in thought:
            value = fields.take(name)
            self.quirks["reasoning_field_out"] = name
            if isinstance(value, str):
                parts.append(Reasoning(summary=value))
            else:
                parts.append(Reasoning(metadata={f"{API}.reasoning_details": value}))
        said = tuple(self._parts(fields))
        one_text(said, "an answer")
        parts += said
        match fields.left.get("audio"):
            case {"id": str(audio_id), **rest} if not rest:
                fields.take("audio")
                metadata: dict[str, Any] = {f"{API}.audio_id": audio_id}
                self._reads(Modality.AUDIO)
                parts.append(Media(Modality.AUDIO, "", InlineBytes(b""), metadata=metadata))
        for call in fields.take("tool_calls", ()):
            parts.append(_call(Fields(call)))
        if any(isinstance(part, ToolCall) for part in parts):
            self.quirks["imported_call_signature"] = None
        return replace(Item.assistant(*parts), provenance=self._origin)

    def _result(self, fields: Fields, names: Mapping[str, str]) -> ToolResult:
        call_id, name = fields.take("tool_call_id"), fields.take("name")
        if name is not None and name != names.get(call_id):
            raise NotExpressible("a result names another tool than its call")
        self.quirks["requires_tool_result_name"] = name is not None
        parts = tuple(self._parts(fields))
        if any(isinstance(part, Media) for part in parts):
            self.quirks["tool_images"] = True
        else:
            one_text(parts, "a result")
        match parts:
            case (Text(text=text),):
                return ToolResult(call_id, TextOutput(text))
            case ():
                return ToolResult(call_id, TextOutput(""))
            case _:
                return ToolResult(call_id, PartsOutput(parts))

    def _parts(self, fields: Fields) -> Iterator[Part]:
        for entry in fields.take("content", ()):
            part = _part(Fields({key: one for key, one in entry.items() if key != "cache_control"}))
            if isinstance(part, Media):
                self._reads(part.modality)
            elif isinstance(part, File):
                self.quirks["files"] = True
            yield part

    def _reads(self, modality: Modality) -> None:
        self.quirks["media"] = self.quirks.get("media", self._own.media) | {modality}

    # Cache marks.

    def _cache(self, messages: Sequence[Body]) -> dict[str, Any]:
        """The cache request that places the marks as they are; nothing where there are none."""
        entries = {
            (at, place): entry.get("cache_control")
            for at, message in enumerate(messages)
            for place, entry in enumerate(message.get("content", ()))
        }
        tools = dict(enumerate(tool.get("cache_control") for tool in self._body.get("tools", ())))
        beside = {
            at: one["cache_control"] for at, one in enumerate(messages) if "cache_control" in one
        }
        marks = [one for one in (*entries.values(), *tools.values(), *beside.values()) if one]
        if not marks:
            return {}
        last = [
            [at for at, one in enumerate(messages) if one["role"] in roles and one.get("content")][
                -1:
            ]
            for roles in (("system", "developer"), ("user", "assistant"))
        ]
        planned = {(at, len(messages[at]["content"]) - 1) for group in last for at in group}
        placed = {place for place, one in entries.items() if one}
        on_tools = [at for at, one in tools.items() if one]
        ours = placed == planned and on_tools == list(tools)[-1:] and not beside
        if not ours or any(one != marks[0] for one in marks):
            raise NotExpressible(
                "cache marks at places of the sender's choice; this protocol's encoder has a plan"
            )
        self.quirks["cache_control"] = True
        ttl = marks[0].get("ttl")
        if ttl not in (None, "1h"):
            raise NotExpressible(f"a cache that is to be kept for {ttl}")
        retention = CacheRetention.EXTENDED if ttl == "1h" else CacheRetention.DEFAULT
        return {"cache": CacheRequest(retention=retention)}


_LEVELS: Final[Mapping[Any, ThinkingLevel]] = {
    level.value: level for level in ThinkingLevel if level is not ThinkingLevel.OFF
} | {"none": ThinkingLevel.OFF}
_SWITCH: Final = {True: "medium", False: "none"}
"""What a bare switch stands for; on is any level, for none of them is sent."""
_REASONING_FIELDS: Final = ("reasoning_content", "reasoning", "reasoning_details")


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


def _call(fields: Fields) -> ToolCall:
    function = Fields(fields.take("function"))
    fields.take("type")
    arguments = function.take("arguments")
    if not isinstance(arguments, dict):
        raise NotExpressible("the arguments of a call are no JSON object")
    extra = fields.take("extra_content")
    metadata = {} if extra is None else {f"{API}.extra_content": extra}
    call = ToolCall(
        ToolCallId(fields.take("id")), function.take("name"), arguments, metadata=metadata
    )
    function.end("a call's function")
    fields.end("a call")
    return call


def _part(fields: Fields) -> Part:
    kind = fields.take("type")
    content = fields.take(kind)
    fields.end(f"a content of type {kind!r}")
    match kind, content:
        case "text", str(text):
            return Text(text)
        case "image_url", {"url": url, "detail": str(detail), **rest} if not rest:
            return Media(Modality.IMAGE, "", Uri(url), metadata={f"{API}.detail": detail})
        case "image_url", {"url": url, **rest} if not rest:
            return Media(Modality.IMAGE, "", Uri(url))
        case "video_url", {"url": url, **rest} if not rest:
            return Media(Modality.VIDEO, "", Uri(url))
        case "input_audio", {"data": data, "format": form, **rest} if not rest:
            mime_type = f"audio/{form}"
            return Media(Modality.AUDIO, mime_type, bytes_or_address(data, mime_type))
        case "file", {"file_id": str(file_id), **rest} if not rest and file_id.startswith("file-"):
            return File(Uri(file_id))
        case "file", {"filename": name, "file_data": data, **rest} if not rest:
            return File(Uri(data), name=name)
        case "file", {"file_data": _, **rest} if not rest:
            raise NotExpressible("a document without a name: OpenAI wants one, so we send one")
        case _:
            raise NotExpressible(f"a content of type {kind!r} in a form of its vendor's own")
