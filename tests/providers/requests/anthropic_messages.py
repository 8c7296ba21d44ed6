"""Bodies of Messages requests, read back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from agentkit_core import (
    CacheMark,
    CacheRequest,
    CacheRetention,
    Custom,
    File,
    InlineText,
    Item,
    ItemKind,
    JsonSchemaFormat,
    Media,
    Modality,
    ModelOptions,
    ModelRequest,
    NamedTool,
    Part,
    PartEnd,
    PartsOutput,
    Provenance,
    Reasoning,
    Text,
    TextOutput,
    ThinkingLevel,
    ToolCall,
    ToolChoice,
    ToolChoiceMode,
    ToolOutput,
    ToolResult,
    ToolsEnd,
    ToolSpec,
    Uri,
)
from agentkit_providers.anthropic_messages import AnthropicMessages, Quirks, ThinkingStyle
from agentkit_providers.endpoints import default_registry
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
    one_text,
    vendor_row,
)

API: Final = "anthropic_messages"
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
    _refuse_unpaired(request.items)
    return Reading(request, projection, shown)


def _refuse_unpaired(items: Sequence[Item]) -> None:
    """Check that what the vendor ran has its results, and they what began it.

    Raises:
        NotExpressible: Something is missing, and it is not the end of a turn that goes on.
    """
    begun = set[object]()
    for at, item in enumerate(items):
        blocks: list[Any] = [one.value for one in item.parts if isinstance(one, Custom)]
        uses = {one.get("id") for one in blocks if str(one.get("type")).endswith("_tool_use")}
        results = {one["tool_use_id"] for one in blocks if "tool_use_id" in one}
        begun |= uses
        goes_on = items[at + 1 : at + 2] in ((), []) or items[at + 1].kind is not ItemKind.USER
        if not results <= begun or (uses - results and not goes_on):
            raise NotExpressible(
                MENDED + "a tool that the vendor ran lacks its result, or its call"
            )


class _Reader:
    """Reads one body, and notes which quirks it shows."""

    def __init__(self, body: Body, origin: Provenance, own: Quirks) -> None:
        self._fields = Fields(body)
        self._origin = origin
        self._own = own
        self._marks: list[tuple[CacheMark, Body]] = []
        self.quirks: dict[str, Any] = {}

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
        if all(one.strip() for one in fields.left.get("stop_sequences") or [""]):
            options["stop_sequences"] = tuple(fields.take("stop_sequences"))
        options |= self._output(options["max_output_tokens"])
        tools, choices = self._tools()
        options |= choices
        items = tuple(self._items())
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
        ours = [one for one in offered if one.get("type", "custom") == "custom"]
        others = [one for one in offered if one not in ours]
        if not ours or (others and any("cache_control" in one for one in offered)):
            # Nothing of ours, or a marked prefix in which each tool has its place.
            return (), options
        tools = tuple(self._tool(Fields(one), one is ours[-1]) for one in ours)
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
            self._marks.append((ToolsEnd(), mark))
        name, description = fields.take("name"), fields.take("description", "")
        schema, strict = fields.take("input_schema"), fields.take("strict")
        metadata: dict[str, Any] = {f"{API}.tool": fields.left} if fields.left else {}
        return ToolSpec(name, description, schema, strict=strict, metadata=metadata)

    # The history.

    def _items(self) -> Iterator[Item]:
        at = 0
        if "system" in self._fields.left:
            yield Item.system(*self._parts(self._fields.take("system"), at))
            at += 1
        for message in self._fields.take("messages"):
            fields = Fields(message)
            role, blocks = fields.take("role"), fields.take("content")
            fields.end(f"a message of the role {role!r}")
            if role == "assistant":
                yield replace(Item.assistant(*self._parts(blocks, at)), provenance=self._origin)
                at += 1
            elif role == "user":
                count = sum(block["type"] == "tool_result" for block in blocks)
                if any(block["type"] != "tool_result" for block in blocks[:count]):
                    raise NotExpressible("a result stands after what the user says")
                if count:
                    results = enumerate(map(Fields, blocks[:count]))
                    yield Item.tool(*(self._result(one, PartEnd(at, n)) for n, one in results))
                    at += 1
                if blocks[count:]:
                    yield Item.user(*self._parts(blocks[count:], at))
                    at += 1
            else:
                raise NotExpressible(f"a message of the role {role!r}, which is none of ours")

    def _parts(self, blocks: Sequence[Body], item: int) -> Iterator[Part]:
        for at, block in enumerate(blocks):
            fields = Fields(block)
            mark = fields.take("cache_control")
            if mark is not None:
                self._marks.append((PartEnd(item, at), mark))
            yield self._part(fields)

    def _part(self, fields: Fields) -> Part:
        part = _part(fields)
        if isinstance(part, Media):
            self.quirks["media"] = self._own.media | {part.modality}
        elif isinstance(part, File):
            self.quirks["files"] = True
        return part

    def _result(self, fields: Fields, place: PartEnd) -> ToolResult:
        fields.take("type")
        mark = fields.take("cache_control")
        if mark is not None:
            self._marks.append((place, mark))
        call_id, blocks = fields.take("tool_use_id"), fields.take("content", [])
        is_error = fields.take("is_error", False)
        more: dict[str, Any] = {f"{API}.block": fields.left} if fields.left else {}
        parts = tuple(self._part(Fields(block)) for block in blocks)
        if any(part.metadata for part in parts):
            raise NotExpressible("a block inside a result has fields that only others may have")
        if not any(isinstance(part, Media | File) for part in parts):
            one_text(parts, "a result")
        elif all(isinstance(part, Media) for part in parts):
            raise NotExpressible("a result of images alone, before which we say that they are")
        output: ToolOutput = PartsOutput(parts)
        if len(parts) == 1 and isinstance(parts[0], Text):
            output = TextOutput(parts[0].text)
        return ToolResult(call_id, output, is_error=is_error, metadata=more)

    def _cache(self) -> dict[str, Any]:
        if not self._marks:
            return {}
        if len(self._marks) > _MOST_MARKS:
            raise NotExpressible(f"more than {_MOST_MARKS} cache marks, which the vendor refuses")
        self.quirks["cache_control"] = True
        times = {mark.get("ttl") for _, mark in self._marks}
        if len(times) > 1:
            raise NotExpressible("cache marks of several lifetimes in one request")
        if times == {"1h"}:
            self.quirks["cache_1h"] = True
        retention = CacheRetention.EXTENDED if times == {"1h"} else CacheRetention.DEFAULT
        marks = tuple(place for place, _ in self._marks)
        return {"cache": CacheRequest(marks=marks, retention=retention)}


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


def _part(fields: Fields) -> Part:
    """A block as a part; what it says beyond that goes into the part's metadata."""
    left = fields.left
    kind = fields.take("type")
    part: Part
    match kind:
        case "text":
            part = Text(fields.take("text"), metadata=_kept(fields, "citations", "citations"))
        case "thinking":
            text, metadata = fields.take("thinking"), _kept(fields, "signature", "signature")
            if not metadata.get(f"{API}.signature"):
                raise NotExpressible("thinking without its signature")
            part = Reasoning(summary=text or None, metadata=metadata)
        case "redacted_thinking":
            part = Reasoning(redacted=True, metadata=_kept(fields, "data", "redacted_data"))
        case "tool_use":
            part = ToolCall(fields.take("id"), fields.take("name"), fields.take("input"))
        case "image":
            mime_type, data = _source(Fields(fields.take("source")))
            part = Media(Modality.IMAGE, mime_type or "", data)
        case "document":
            mime_type, data = _source(Fields(fields.take("source")))
            part = File(data, mime_type, fields.take("title"))
        case _:
            return Custom(f"{API}.{kind}", {"type": kind, **left})
    if left:
        return replace(part, metadata={**part.metadata, f"{API}.block": left})
    return part


def _kept(fields: Fields, name: str, key: str) -> dict[str, Any]:
    value = fields.take(name)
    return {} if value is None else {f"{API}.{key}": value}


def _source(fields: Fields) -> tuple[str | None, Any]:
    """The MIME type, and where the content is."""
    kind, mime_type = fields.take("type"), fields.take("media_type")
    match kind:
        case "base64":
            data: Any = bytes_or_address(fields.take("data"), mime_type)
        case "text":
            data = InlineText(fields.take("data"))
        case "url":
            data = Uri(fields.take("url"))
        case "file":
            data = Uri(fields.take("file_id"))
        case _:
            raise NotExpressible(f"content from a source of type {kind!r}")
    fields.end("a source")
    return mime_type, data
