"""The content of media and files: inline, or a reference to where it is."""

from __future__ import annotations

from agentkit_core._ids import ArtifactId
from agentkit_core.values import Record, StringEnum


class Modality(StringEnum):
    """What kind of media a part holds."""

    AUDIO = "audio"
    IMAGE = "image"
    VIDEO = "video"
    BINARY = "binary"


class _DataRef(Record, frozen=True, tag_field="type"):
    pass


class InlineText(_DataRef, frozen=True, tag="text"):
    """The content itself, as text.

    Attributes:
        text: The content; may be empty.
    """

    text: str


class InlineBytes(_DataRef, frozen=True, tag="bytes"):
    """The content itself, as bytes.

    Attributes:
        data: The content; base64 in JSON.
    """

    data: bytes


class Uri(_DataRef, frozen=True, tag="uri"):
    """A reference to the content; this library never fetches it.

    Attributes:
        uri: `https:…`, `data:…`, a provider's file id, …
    """

    uri: str


class Handle(_DataRef, frozen=True, tag="handle"):
    """The id of content in an artifact store; the application loads it before a request.

    Attributes:
        artifact_id: The id in the store.
    """

    artifact_id: ArtifactId


DataRef = InlineText | InlineBytes | Uri | Handle
"""The content of a part, or where it is. The core never loads content."""
