"""Deltas: the steps by which parts grow while a response is streamed.

`BeginPart` opens a part with what is known from the start (its kind, a call's id and name, a MIME
type), further deltas extend it, and `CommitPart` may close it. Several parts may grow at the same
time. Deltas are not stored: `Fold` turns them into parts.
"""

from __future__ import annotations

from agentkit_core._ids import PartId
from agentkit_core._json import JsonValue
from agentkit_core._metadata import MetadataMap
from agentkit_core._part import KIND_OF_PART, Part, PartKind
from agentkit_core.values import Record


class BeginPart(Record, frozen=True, tag="begin_part", tag_field="type"):
    """Opens a part, after the parts that began before it.

    Attributes:
        part_id: The id by which later deltas of this response name the part.
        part: The part with what is known at the start: `Text("")`, `ToolCall(id, name)`,
            `Media(Modality.AUDIO, "audio/wav", InlineBytes(b""))`.
    """

    part_id: PartId
    part: Part

    @property
    def kind(self) -> PartKind:
        """The kind of the part."""
        return KIND_OF_PART[type(self.part)]


class AppendText(Record, frozen=True, gc=False, tag="append_text", tag_field="type"):
    """Appends text to a text, to reasoning, or to the JSON text of a call's arguments.

    Attributes:
        part_id: The part that grows.
        chunk: The text to append.
    """

    part_id: PartId
    chunk: str


class AppendBytes(Record, frozen=True, gc=False, tag="append_bytes", tag_field="type"):
    """Appends bytes to media, a file, reasoning data or a custom part.

    Attributes:
        part_id: The part that grows.
        chunk: The bytes to append.
    """

    part_id: PartId
    chunk: bytes


class ReplaceStructured(Record, frozen=True, tag="replace_structured", tag_field="type"):
    """Replaces the JSON value of a structured or custom part, or the input of a tool call.

    Attributes:
        part_id: The part whose value is replaced.
        value: The whole value so far; an object for a tool call.
    """

    part_id: PartId
    value: JsonValue


class SetMetadata(Record, frozen=True, tag="set_metadata", tag_field="type"):
    """Merges entries into a part's metadata.

    Attributes:
        part_id: The part that the metadata belong to.
        metadata: Entries by key; a value of None deletes the key.
    """

    part_id: PartId
    metadata: MetadataMap


class CommitPart(Record, frozen=True, tag="commit_part", tag_field="type"):
    """Sets the final state of a part, or adds a part that is complete.

    Attributes:
        part: The complete part.
        part_id: The open part that it replaces; None adds a further part at the end.
    """

    part: Part
    part_id: PartId | None = None


Delta = BeginPart | AppendText | AppendBytes | ReplaceStructured | SetMetadata | CommitPart
"""One step by which the parts of a streamed response grow."""
