"""Input of Responses requests, read back into items."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, Final

from msgspec.structs import replace

from agentkit_core import (
    Custom,
    File,
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
    ToolResult,
    Uri,
)
from agentkit_providers.openai_responses import Quirks, ReasoningReplay
from providers.requests.reading import MENDED, Body, Fields, NotExpressible, one_text

API: Final = "openai_responses"
_AWAITED: Final = {
    "apply_patch_call": "call_id",
    "computer_call": "call_id",
    "local_shell_call": "call_id",
    "shell_call": "call_id",
    "mcp_approval_request": "id",
}
"""The vendor's own tools that the client answers, and by which field."""


class HistoryReader:
    """Reads the input of one body, and notes which quirks it shows.

    Args:
        origin: Who made what is said in the model's name.
        own: The quirks of the vendor's row.
        quirks: Where those that are shown are noted.
    """

    def __init__(self, origin: Provenance, own: Quirks, quirks: dict[str, Any]) -> None:
        self._origin = origin
        self._own = own
        self._quirks = quirks

    def items(self, entries: Sequence[Body]) -> Iterator[Item]:
        """Give the items that the entries are; neighbours of the model's are one."""
        _refuse_torn(entries)
        kind, parts = ItemKind.USER, list[Part]()
        for entry in entries:
            of, found = self._entry(entry)
            goes_on = of is kind and of in (ItemKind.ASSISTANT, ItemKind.TOOL)
            if goes_on and all(isinstance(entry, Text) for entry in (*parts[-1:], *found[:1])):
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
                    self._quirks["item_ids"] = True
                return ItemKind.ASSISTANT, [_with_item(call, {"type": "function_call"}, fields)]
            case "function_call_output":
                return ItemKind.TOOL, [self._result(fields)]
            case "reasoning":
                if not any(map(entry.get, ("encrypted_content", "content", "summary"))):
                    raise NotExpressible("reasoning by its id alone, which we do not have stored")
                if entry.get("encrypted_content"):
                    self._quirks.setdefault("reasoning_replay", ReasoningReplay.ENCRYPTED)
                else:
                    self._quirks["reasoning_replay"] = ReasoningReplay.ANY
                texts = [element["text"] for element in entry.get("summary", ())]
                metadata: dict[str, Any] = {f"{API}.item": entry}
                return ItemKind.ASSISTANT, [
                    Reasoning(summary="\n\n".join(texts) or None, metadata=metadata)
                ]
            case kind:
                self._quirks["custom_items"] = True
                return ItemKind.ASSISTANT, [Custom(f"{API}.{kind}", entry)]

    def _message(self, fields: Fields) -> tuple[ItemKind, list[Part]]:
        role = fields.take("role")
        if role not in ("system", "developer", "user", "assistant"):
            raise NotExpressible(f"a message of the role {role!r}, which is none of ours")
        if role == "developer":
            self._quirks["developer_role"] = True
        kind = ItemKind(role)
        parts = [_part(Fields(entry)) for entry in fields.take("content")]
        if any(isinstance(part, Media) for part in parts):
            self._quirks["media"] = self._own.media | {Modality.IMAGE}
        if any(isinstance(part, File) for part in parts):
            self._quirks["files"] = True
        if kind is ItemKind.ASSISTANT:
            if "id" in fields.left:
                self._quirks["item_ids"] = True
            else:
                one_text(parts, "an answer without an id")
                if "phase" in fields.left:
                    self._quirks["assistant_text_in_list"] = False
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
        parts = tuple(_part(Fields(entry)) for entry in fields.take("output"))
        fields.end("a call's output")
        if any(isinstance(part, Media | File) for part in parts):
            self._quirks["tool_images"] = True
        else:
            one_text(parts, "a result")
        match parts:
            case (Text(text=text),):
                return ToolResult(call_id, TextOutput(text))
            case _:
                return ToolResult(call_id, PartsOutput(parts))


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
