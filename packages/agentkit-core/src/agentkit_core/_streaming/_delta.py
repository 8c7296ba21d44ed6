"""Deltas: how parts come into being while a response is streamed.

A part is opened with what is fixed from the start (its kind, a call's id and name, a
MIME type), grows, and is committed. Parts may grow by turns, in any interleaving. Deltas
are for the moment; what lasts are the parts that `agentkit_core._streaming._fold` makes of them.
"""

from __future__ import annotations

from agentkit_core._ids import PartId
from agentkit_core._json import JsonValue
from agentkit_core._metadata import MetadataMap
from agentkit_core._part import KIND_OF_PART, Part, PartKind
from agentkit_core.values import Record


class BeginPart(Record, frozen=True, tag="begin_part", tag_field="type"):
    """A part begins; its place in the response is where it begins.

    Attributes:
        part: The part as it opens, with what is known and nothing of what will grow: `Text("")`,
            `ToolCall(id, name)`, `Media(Modality.AUDIO, "audio/wav", InlineBytes(b""))`.
    """

    part_id: PartId
    part: Part

    @property
    def kind(self) -> PartKind:
        """What kind of part it is."""
        return KIND_OF_PART[type(self.part)]


class AppendText(Record, frozen=True, gc=False, tag="append_text", tag_field="type"):
    """More text: of a text, of reasoning, of a tool call's arguments (as JSON text)."""

    part_id: PartId
    chunk: str


class AppendBytes(Record, frozen=True, gc=False, tag="append_bytes", tag_field="type"):
    """More bytes: of media, a file, reasoning data, a custom part."""

    part_id: PartId
    chunk: bytes


class ReplaceStructured(Record, frozen=True, tag="replace_structured", tag_field="type"):
    """The JSON value so far: of a structured or custom part, or of a tool call's input.

    It takes the place of what the part held before; for a tool call it is an object.
    """

    part_id: PartId
    value: JsonValue


class SetMetadata(Record, frozen=True, tag="set_metadata", tag_field="type"):
    """Entries for the part's metadata, merged key by key; a value of None deletes its key."""

    part_id: PartId
    metadata: MetadataMap


class CommitPart(Record, frozen=True, tag="commit_part", tag_field="type"):
    """A part is finished, and this is all of it.

    With the id of an open part it takes that part's place; without one it is a further
    part, complete at once.
    """

    part: Part
    part_id: PartId | None = None


Delta = BeginPart | AppendText | AppendBytes | ReplaceStructured | SetMetadata | CommitPart
"""One step of a response that is being streamed."""
