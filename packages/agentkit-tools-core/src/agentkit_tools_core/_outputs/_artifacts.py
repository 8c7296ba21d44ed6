"""Artifacts: texts that are too long for a model, stored so that it can read them in slices.

Offsets and sizes are in bytes of UTF-8. A slice begins and ends between two characters.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Final, Protocol

from agentkit_core import AgentkitError, ArtifactId, SessionId, ToolCallId
from agentkit_core.json import canonical_json, without_lone_surrogates
from agentkit_core.values import Record

_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,160}")
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_-]")
_WORD_LENGTH: Final = 40
_DIGEST_LENGTH: Final = 16
_LONGEST_CHARACTER: Final = 4


class UnknownArtifact(AgentkitError):
    """A store has no text with this id."""

    def __init__(self, artifact_id: str) -> None:
        super().__init__(f"there is no stored text {artifact_id!r}; use the id in a tool result")
        self.artifact_id = artifact_id


class InvalidOffset(AgentkitError):
    """A slice would begin inside a character, or after the end of the text."""

    def __init__(self, artifact_id: str, offset: int, reason: str) -> None:
        super().__init__(
            f"offset {offset} of {artifact_id!r} {reason}; begin with 0, then use next_offset"
        )
        self.artifact_id = artifact_id
        self.offset = offset
        self.reason = reason


class ArtifactSlice(Record, frozen=True):
    """A slice of a stored text. All sizes are in bytes of UTF-8.

    Attributes:
        id: The id of the text.
        offset: Where the slice begins.
        next_offset: Where the next slice begins; `original_bytes` at the end.
        original_bytes: The length of the whole text.
        eof: Whether the slice reaches the end.
        content: The text of the slice; empty only at the end.
    """

    id: ArtifactId
    offset: int
    next_offset: int
    original_bytes: int
    eof: bool
    content: str


class ArtifactStore(Protocol):
    """Stores texts. It may be used from any thread, and must not wait for long.

    The store decides how long it keeps texts; for a text that is gone it raises `UnknownArtifact`.
    """

    def put(self, session_id: SessionId | None, call_id: ToolCallId, text: str, /) -> ArtifactId:
        """Store a text.

        Args:
            session_id: The session that it belongs to; None without sessions.
            call_id: The call whose output it is.
            text: The text; may be empty. Lone surrogates become U+FFFD.

        Returns:
            The id of the text: the same for the same session, call and text, so that a call that is
            run again gives the same id.

        Raises:
            OSError: The text cannot be stored.
        """
        ...

    def read(self, artifact_id: ArtifactId, offset: int, max_bytes: int, /) -> ArtifactSlice:
        """Read a slice of a text.

        Args:
            artifact_id: An id that `put` returned. A model chooses it, so it must be checked.
            offset: Where the slice begins: between two characters, or at the end.
            max_bytes: The greatest length of the slice, at least 1. The slice contains at least one
                character, even a longer one, so that reading always advances.

        Raises:
            UnknownArtifact: There is no text with this id.
            InvalidOffset: A slice cannot begin at `offset`.
            ValueError: `max_bytes` is less than 1.
            OSError: The text cannot be read.
        """
        ...


class MemoryArtifacts:
    """Stores texts in memory, until the process ends."""

    __slots__ = ("__weakref__", "_texts")

    def __init__(self) -> None:
        self._texts: dict[ArtifactId, bytes] = {}

    def put(self, session_id: SessionId | None, call_id: ToolCallId, text: str, /) -> ArtifactId:
        """Store a text; see `ArtifactStore.put`."""
        data = _encode(text)
        artifact_id = _id_of(session_id, call_id, data)
        self._texts[artifact_id] = data
        return artifact_id

    def read(self, artifact_id: ArtifactId, offset: int, max_bytes: int, /) -> ArtifactSlice:
        """Read a slice; see `ArtifactStore.read`."""
        data = self._texts.get(artifact_id)
        if data is None:
            raise UnknownArtifact(artifact_id)
        return _slice(
            artifact_id, len(data), offset, max_bytes, lambda size: data[offset : offset + size]
        )


class FileArtifacts:
    """Stores texts in files of one folder; each is written completely or not at all.

    Only the owner of the folder may read the files. Nothing is ever deleted; the application has to
    do that.
    """

    __slots__ = ("__weakref__", "_folder")

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        """Use a folder; it is made with the first text."""
        self._folder = Path(folder)

    def put(self, session_id: SessionId | None, call_id: ToolCallId, text: str, /) -> ArtifactId:
        """Store a text; see `ArtifactStore.put`."""
        import tempfile  # takes long to import, and few outputs are that long

        data = _encode(text)
        artifact_id = _id_of(session_id, call_id, data)
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=self._folder, prefix=".", suffix=".part")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
            Path(name).replace(self._path(artifact_id))
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
        return artifact_id

    def read(self, artifact_id: ArtifactId, offset: int, max_bytes: int, /) -> ArtifactSlice:
        """Read a slice; see `ArtifactStore.read`."""
        # The id comes from a model and must not lead to other files.
        if not _ID.fullmatch(artifact_id):
            raise UnknownArtifact(artifact_id)
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        try:
            descriptor = os.open(self._path(artifact_id), flags)
        except FileNotFoundError:
            raise UnknownArtifact(artifact_id) from None
        with os.fdopen(descriptor, "rb") as file:

            def read(size: int) -> bytes:
                file.seek(offset)
                return file.read(size)

            size = os.fstat(descriptor).st_size
            return _slice(artifact_id, size, offset, max_bytes, read)

    def _path(self, artifact_id: ArtifactId) -> Path:
        return self._folder / f"{artifact_id}.txt"


def _encode(text: str) -> bytes:
    return without_lone_surrogates(text).encode()


def _id_of(session_id: SessionId | None, call_id: ToolCallId, data: bytes) -> ArtifactId:
    # The words are for people; the digest makes the id unique.
    facts = canonical_json([session_id, call_id, sha256(data).hexdigest()])
    digest = sha256(facts).hexdigest()[:_DIGEST_LENGTH]
    words = [_UNSAFE.sub("_", name)[:_WORD_LENGTH] for name in (session_id or "none", call_id)]
    return ArtifactId("-".join([*words, digest]))


def _slice(
    artifact_id: ArtifactId, size: int, offset: int, max_bytes: int, read: Callable[[int], bytes]
) -> ArtifactSlice:
    if max_bytes < 1:
        raise ValueError(f"max_bytes={max_bytes} is not valid; use at least 1")
    if not 0 <= offset <= size:
        raise InvalidOffset(artifact_id, offset, f"is not between 0 and {size}")
    data = read(max(max_bytes, _LONGEST_CHARACTER))
    if data and data[0] & 0xC0 == 0x80:
        raise InvalidOffset(artifact_id, offset, "is inside a character")
    # Only the character at the cut can be incomplete.
    content = data[:max_bytes].decode("utf-8", "ignore") or data.decode("utf-8", "ignore")[:1]
    end = offset + len(content.encode())
    return ArtifactSlice(artifact_id, offset, end, size, end >= size, content)
