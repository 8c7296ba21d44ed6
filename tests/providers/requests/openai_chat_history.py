"""Messages of Chat Completions requests, read back into items."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from msgspec.structs import replace

from agentkit_core import (
    File,
    InlineBytes,
    Item,
    ItemKind,
    Media,
    Modality,
    Part,
    PartsOutput,
    Provenance,
    Reasoning,
    Text,
    TextOutput,
    ToolCall,
    ToolCallId,
    ToolResult,
    Uri,
)
from agentkit_providers.openai_chat import Quirks
from providers.requests.reading import Body, Fields, NotExpressible, bytes_or_address, one_text

API: Final = "openai_chat"
_REASONING_FIELDS: Final = ("reasoning_content", "reasoning", "reasoning_details")


class HistoryReader:
    """Reads the messages of one body, and notes which quirks they show.

    Args:
        origin: Who made what is said in the model's name.
        own: The quirks of the vendor's row.
        quirks: Where those that are shown are noted.
    """

    def __init__(self, origin: Provenance, own: Quirks, quirks: dict[str, Any]) -> None:
        self._origin = origin
        self._own = own
        self._quirks = quirks

    def items(self, messages: Sequence[Body]) -> Iterator[Item]:
        """Give the items that the messages are; results of one round are one item."""
        said = [entry for entry in messages if entry["role"] == "assistant"]
        if said and not all("reasoning_content" in entry for entry in said):
            self._quirks["requires_reasoning_content_on_assistant"] = False
        roles = [entry["role"] for entry in messages]
        if ("tool", "user") in pairwise(roles):
            self._quirks["requires_assistant_after_tool_result"] = False
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
                        self._quirks["developer_role"] = True
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
            self._quirks["reasoning_field_out"] = name
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
            self._quirks["imported_call_signature"] = None
        return replace(Item.assistant(*parts), provenance=self._origin)

    def _result(self, fields: Fields, names: Mapping[str, str]) -> ToolResult:
        call_id, name = fields.take("tool_call_id"), fields.take("name")
        if name is not None and name != names.get(call_id):
            raise NotExpressible("a result names another tool than its call")
        self._quirks["requires_tool_result_name"] = name is not None
        parts = tuple(self._parts(fields))
        if any(isinstance(part, Media) for part in parts):
            self._quirks["tool_images"] = True
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
                self._quirks["files"] = True
            yield part

    def _reads(self, modality: Modality) -> None:
        self._quirks["media"] = self._quirks.get("media", self._own.media) | {modality}


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
