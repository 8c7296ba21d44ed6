"""A part while it is streamed: how it began, and what has been appended since.

Chunks are collected and joined once, so that a long part costs only in proportion to its length.
"""

from __future__ import annotations

from typing import Any, Final

from msgspec.structs import replace

from agentkit_core._data_ref import DataRef, InlineBytes, InlineText
from agentkit_core._json import JsonValue, without_lone_surrogates
from agentkit_core._metadata import MetadataMap
from agentkit_core._part import Custom, File, Media, Part, Reasoning, Structured, Text, ToolCall
from agentkit_core._streaming._call_arguments import complete_call
from agentkit_core._streaming._partial_json import PartialJson

INCOMPLETE_KEY: Final = "agentkit.incomplete"
"""Metadata key of a part that was still open when its stream ended early; its value is True."""

TAKES_TEXT: Final = (Text, Reasoning, ToolCall)
"""Classes of parts that text can be appended to."""

TAKES_BYTES: Final = (Media, File, Reasoning, Custom)
"""Classes of parts that bytes can be appended to."""

TAKES_VALUE: Final = (Structured, Custom, ToolCall)
"""Classes of parts whose value can be replaced."""

_UNSET: Final[Any] = object()
_LONG: Final = 4096
"""The characters of a text above which copying it at every look costs more than a `+=`."""


class OpenPart:
    """A part that can still grow.

    Args:
        part: The part as it began; it is not changed.
    """

    __slots__ = (
        "_arguments_reader",
        "_chunks_read",
        "_metadata_shown",
        "bytes",
        "metadata",
        "part",
        "text",
        "value",
    )

    def __init__(self, part: Part) -> None:
        self.part = part
        self.text: list[str] = []
        """The text appended so far, in chunks."""
        self.bytes: list[bytes] = []
        """The bytes appended so far, in chunks."""
        self.metadata: MetadataMap | None = None
        """All metadata of the part, once some were set; None means those of `part`."""
        self._metadata_shown = False  # so that they must not be changed in place any more
        self.value: JsonValue = _UNSET
        """The value that replaced the one of `part`."""
        self._arguments_reader: PartialJson | None = None
        self._chunks_read = 0

    def set_value(self, value: JsonValue) -> None:
        """Replace the value, and any text of arguments that came before."""
        self.text.clear()
        self._arguments_reader, self._chunks_read = None, 0
        self.value = value

    def merge_metadata(self, metadata: MetadataMap) -> None:
        """Merge metadata key by key; a value of None deletes its key."""
        if self.metadata is None or self._metadata_shown:
            self.metadata = dict(self.part.metadata if self.metadata is None else self.metadata)
            self._metadata_shown = False
        for key, value in metadata.items():
            if value is None:
                self.metadata.pop(key, None)
            else:
                self.metadata[key] = value

    def snapshot(self) -> Part:
        """Return the part as far as it is known.

        The input of a tool call is what can be read of its arguments so far; see `PartialJson`.
        """
        part, changes = self.part, self._changes()
        if type(part) is ToolCall and self.text and (arguments := self._partial_arguments()):
            changes["input"] = arguments
        return replace(part, **changes) if changes else part

    def close(self, *, cut: bool) -> Part:
        """Return the part as it is when nothing more comes.

        Args:
            cut: Whether the stream ended early. Then the part is marked as incomplete, and a tool
                call is marked so that it is never run.
        """
        part, changes = self.part, self._changes()
        if cut:
            metadata = changes.get("metadata", part.metadata)
            changes["metadata"] = {**metadata, INCOMPLETE_KEY: True}
        if changes:
            part = replace(part, **changes)
        if type(part) is ToolCall and part.input_error is None:
            return complete_call(part, "".join(self.text), cut=cut)
        return part

    def _changes(self) -> dict[str, Any]:
        """The fields that changed since the part began, except the arguments of a call."""
        part, changes = self.part, dict[str, Any]()
        if self.metadata is not None:
            changes["metadata"] = self.metadata
            self._metadata_shown = True
        if self.value is not _UNSET:
            changes["input" if type(part) is ToolCall else "value"] = self.value
        if self.text:
            match part:
                case Text():
                    changes["text"] = part.text + self._joined_text()
                case Reasoning():
                    changes["summary"] = (part.summary or "") + self._joined_text()
                case _:
                    pass
        if self.bytes:
            match part:
                case Media() | File() | Reasoning() | Custom():
                    changes["data"] = InlineBytes(_bytes_of(part.data) + self._joined_bytes())
                case _:
                    pass
        return changes

    def _joined_text(self) -> str:
        # The joined text replaces its chunks, so that frequent snapshots do not join them again.
        chunks = self.text
        text = chunks[0]
        if len(chunks) > 1:
            if len(text) > _LONG and 8 * (sum(map(len, chunks)) - len(text)) < len(text):
                # Extended in place where nobody keeps the last snapshot, and copied otherwise.
                chunks[0] = ""
                text += "".join(chunks)
            else:
                text = "".join(chunks)
            chunks[:] = [text]
        return text

    def _joined_bytes(self) -> bytes:
        self.bytes[:] = [b"".join(self.bytes)]
        return self.bytes[0]

    def _partial_arguments(self) -> dict[str, JsonValue]:
        if self._arguments_reader is None:
            self._arguments_reader = PartialJson()
        self._arguments_reader.feed("".join(self.text[self._chunks_read :]))
        self._chunks_read = len(self.text)
        return self._arguments_reader.value()


def _bytes_of(data: DataRef | None) -> bytes:
    match data:
        case InlineBytes(data=content):
            return content
        case InlineText(text=text):
            return without_lone_surrogates(text).encode()
        case _:
            return b""
