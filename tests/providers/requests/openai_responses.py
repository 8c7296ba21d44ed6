"""Bodies of Responses requests, read back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from msgspec.structs import replace

from agentkit_core import (
    Custom,
    File,
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
    Text,
    TextOutput,
    ThinkingLevel,
    ToolCall,
    ToolChoice,
    ToolChoiceMode,
    ToolResult,
    ToolSpec,
    Uri,
)
from agentkit_providers.endpoints import default_registry
from agentkit_providers.openai_responses import OpenAIResponses, Quirks, ReasoningReplay
from providers.requests.history import refuse_mended
from providers.requests.reading import (
    MENDED,
    Body,
    Fields,
    NotExpressible,
    Reading,
    laid_over,
    needed,
    one_text,
    vendor_row,
)

API: Final = "openai_responses"
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
        items = tuple(self._items(fields.take("input")))
        self.quirks["supports_store"] = fields.left.get("store") is False
        if self.quirks["supports_store"]:
            fields.take("store")
        include = fields.take("include", [])
        self.quirks["encrypted_reasoning"] = _ENCRYPTED in include
        if _ENCRYPTED in include or "reasoning" in fields.left:
            self.quirks["thinking_level_map"] = {}
            self.quirks["supports_reasoning_effort"] = True
        if any(one != _ENCRYPTED for one in include):
            fields.left["include"] = [one for one in include if one != _ENCRYPTED]
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
            one for one in offered if one.get("type") == "function" and one.keys() <= _TOOL_FIELDS
        ]
        if 0 < sum("strict" in one for one in ours) < len(ours):
            ours = []  # we say of all tools whether they are strict, or of none
        others = [one for one in offered if one not in ours]
        if not offered:
            return (), options
        fields.take("tools")
        if others:
            fields.left["tools"] = others  # what our specifications have no field for
        tools = tuple(_tool(Fields(one)) for one in ours)
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

    # The history.

    def _items(self, entries: Sequence[Body]) -> Iterator[Item]:
        _refuse_torn(entries)
        kind, parts = ItemKind.USER, list[Part]()
        for entry in entries:
            of, found = self._entry(entry)
            goes_on = of is kind and of in (ItemKind.ASSISTANT, ItemKind.TOOL)
            if goes_on and isinstance(parts[-1], Text) and isinstance(found[0], Text):
                goes_on = any(isinstance(part, ToolCall) for part in parts)  # or another message
            if parts and not goes_on:
                yield self._item(kind, parts)
                parts = []
            kind = of
            parts += found
        if parts:
            yield self._item(kind, parts)

    def _item(self, kind: ItemKind, parts: Sequence[Part]) -> Item:
        origin = self._origin if kind is ItemKind.ASSISTANT else None
        return Item(kind, tuple(parts), provenance=origin)

    def _entry(self, entry: Body) -> tuple[ItemKind, list[Part]]:
        """Whose voice an entry of the input is, and what it says."""
        fields = Fields(entry)
        match fields.take("type", "message"):
            case "message":
                return self._message(fields)
            case "function_call":
                call = ToolCall(
                    fields.take("call_id"), fields.take("name"), _object(fields.take("arguments"))
                )
                if "id" in fields.left:
                    self.quirks["item_ids"] = True
                return ItemKind.ASSISTANT, [_with_item(call, {"type": "function_call"}, fields)]
            case "function_call_output":
                return ItemKind.TOOL, [self._result(fields)]
            case "reasoning":
                if not any(map(entry.get, ("encrypted_content", "content", "summary"))):
                    raise NotExpressible("reasoning by its id alone, which we do not have stored")
                if entry.get("encrypted_content"):
                    self.quirks.setdefault("reasoning_replay", ReasoningReplay.ENCRYPTED)
                else:
                    self.quirks["reasoning_replay"] = ReasoningReplay.ANY
                texts = [one["text"] for one in entry.get("summary", ())]
                metadata: dict[str, Any] = {f"{API}.item": entry}
                return ItemKind.ASSISTANT, [
                    Reasoning(summary="\n\n".join(texts) or None, metadata=metadata)
                ]
            case kind:
                self.quirks["custom_items"] = True
                return ItemKind.ASSISTANT, [Custom(f"{API}.{kind}", entry)]

    def _message(self, fields: Fields) -> tuple[ItemKind, list[Part]]:
        role = fields.take("role")
        if role not in ("system", "developer", "user", "assistant"):
            raise NotExpressible(f"a message of the role {role!r}, which is none of ours")
        if role == "developer":
            self.quirks["developer_role"] = True
        kind = ItemKind(role)
        parts = [_part(Fields(one)) for one in fields.take("content")]
        if any(isinstance(part, Media) for part in parts):
            self.quirks["media"] = self._own.media | {Modality.IMAGE}
        if any(isinstance(part, File) for part in parts):
            self.quirks["files"] = True
        if kind is ItemKind.ASSISTANT:
            if "id" in fields.left:
                self.quirks["item_ids"] = True
            else:
                one_text(parts, "an answer without an id")
                if "phase" in fields.left:
                    self.quirks["assistant_text_in_list"] = False
                if any(part.metadata for part in parts):
                    raise NotExpressible("an answer without an id that is more than its text")
            more = {"type": "message"} if fields.left else {}
            parts = [_with_item(part, more, fields) for part in parts]
        else:
            if kind is not ItemKind.USER:
                one_text(parts, "instructions")
            fields.end(f"a message of the role {role!r}")
        return kind, parts

    def _result(self, fields: Fields) -> ToolResult:
        call_id = fields.take("call_id")
        parts = tuple(_part(Fields(one)) for one in fields.take("output"))
        fields.end("a call's output")
        if any(isinstance(part, Media | File) for part in parts):
            self.quirks["tool_images"] = True
        else:
            one_text(parts, "a result")
        match parts:
            case (Text(text=text),):
                return ToolResult(call_id, TextOutput(text))
            case _:
                return ToolResult(call_id, PartsOutput(parts))


_LEVELS: Final[Mapping[Any, ThinkingLevel]] = {
    level.value: level for level in ThinkingLevel if level is not ThinkingLevel.OFF
} | {"none": ThinkingLevel.OFF}
_ENCRYPTED: Final = "reasoning.encrypted_content"
_AWAITED: Final = {
    "apply_patch_call": "call_id",
    "computer_call": "call_id",
    "local_shell_call": "call_id",
    "shell_call": "call_id",
    "mcp_approval_request": "id",
}
"""The vendor's own tools that the client answers, and by which field."""
_TOOL_FIELDS: Final = {"type", "name", "description", "parameters", "strict"}


def _refuse_torn(entries: Sequence[Body]) -> None:
    """Check that what belongs together is there.

    Raises:
        NotExpressible: Something is missing.
    """
    kinds = [entry.get("role", entry.get("type")) for entry in entries]
    for kind, following in pairwise([*kinds, None]):
        if kind == "reasoning" and following in (None, "user", "system", "developer"):
            raise NotExpressible(MENDED + "what was thought stands without what came of it")
    given = {
        entry.get(name)
        for entry in entries
        if str(entry.get("type")).endswith(("_output", "_response"))
        for name in ("call_id", "id", "approval_request_id")
    }
    for entry in entries:
        name = _AWAITED.get(entry.get("type", "message"))
        if name is not None and entry.get(name) not in given:
            raise NotExpressible(MENDED + "a call of the vendor's own tool waits for an answer")


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise NotExpressible("the arguments of a call are no JSON object")
    return value


def _with_item(part: Any, item: Body, fields: Fields) -> Any:
    """A part that remembers what its entry says beyond it."""
    if not fields.left:
        return part
    return replace(part, metadata={**part.metadata, f"{API}.item": {**item, **fields.left}})


def _part(fields: Fields) -> Part:
    kind = fields.take("type")
    part: Part
    match kind:
        case "input_text" | "output_text":
            cited = fields.take("annotations")
            kept = {} if cited is None else {f"{API}.annotations": cited}
            part = Text(fields.take("text"), metadata=kept)
        case "input_image" if "image_url" in fields.left:
            detail = fields.take("detail")
            metadata = {} if detail is None else {f"{API}.detail": detail}
            part = Media(Modality.IMAGE, "", Uri(fields.take("image_url")), metadata=metadata)
        case "input_image" if str(fields.left.get("file_id")).startswith("file-"):
            part = Media(Modality.IMAGE, "", Uri(fields.take("file_id")))
        case "input_file" if str(fields.left.get("file_id")).startswith("file-"):
            part = File(Uri(fields.take("file_id")))
        case "input_file" if "file_url" in fields.left:
            part = File(Uri(fields.take("file_url")))
        case "input_file" if "filename" not in fields.left:
            raise NotExpressible("a document without a name: OpenAI wants one, so we send one")
        case "input_file" if str(fields.left.get("file_data")).startswith("data:"):
            part = File(Uri(fields.take("file_data")), name=fields.take("filename"))
        case "refusal":
            part = Text(fields.take("refusal"), metadata={f"{API}.refusal": True})
        case _:
            raise NotExpressible(f"a content of type {kind!r} in a form that our types have not")
    fields.end(f"a content of type {kind!r}")
    return part


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
