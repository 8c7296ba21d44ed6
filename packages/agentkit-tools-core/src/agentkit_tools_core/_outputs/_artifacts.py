"""Texts that are too long for a model, kept so that it can read them piece by piece.

Offsets and sizes are bytes of UTF-8. A piece begins and ends between two characters.
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
    """A store has no text of that id."""

    def __init__(self, artifact_id: str) -> None:
        super().__init__(
            f"nothing is stored under {artifact_id!r}; use an id that a tool result gave"
        )
        self.artifact_id = artifact_id


class InvalidOffset(AgentkitError):
    """A piece was to begin inside a character, or beyond the end of a text."""

    def __init__(self, artifact_id: str, offset: int, reason: str) -> None:
        super().__init__(
            f"offset {offset} of {artifact_id!r} {reason}; begin at 0 and go on at next_offset"
        )
        self.artifact_id = artifact_id
        self.offset = offset
        self.reason = reason


class ArtifactSlice(Record, frozen=True):
    """A piece of a stored text.

    Attributes:
        offset: Where it begins.
        next_offset: Where the next one begins; `original_bytes` at the end.
        original_bytes: How long the whole text is.
        eof: Whether it reaches the end.
        content: Empty only at the end.
    """

    id: ArtifactId
    offset: int
    next_offset: int
    original_bytes: int
    eof: bool
    content: str


class ArtifactStore(Protocol):
    """Keeps texts; may be used from any thread, and must not wait for long.

    For how long it keeps them is its own affair; asked for what is gone, it says
    `UnknownArtifact`.
    """

    def put(self, session_id: SessionId | None, call_id: ToolCallId, text: str, /) -> ArtifactId:
        """Keep a text.

        Args:
            session_id: Whose it is; None where there are no sessions.
            call_id: The call whose output it is.
            text: The text, maybe empty. Lone surrogates become U+FFFD.

        Returns:
            Its id, the same for the same session, call and text: a call that is played again
            finds what it found before.

        Raises:
            OSError: It cannot be kept.
        """
        ...

    def read(self, artifact_id: ArtifactId, offset: int, max_bytes: int, /) -> ArtifactSlice:
        """Read a piece.

        Args:
            artifact_id: What `put` returned; anything else, from a model, does no harm.
            offset: Where it begins: between two characters, and at the latest at the end.
            max_bytes: How long it may be, at least 1. It has one whole character even where
                that is longer, so that reading always gets on.

        Raises:
            UnknownArtifact: There is none of that id.
            InvalidOffset: `offset` is no place where a piece can begin.
            ValueError: `max_bytes` is less than 1.
            OSError: It cannot be read.
        """
        ...


class MemoryArtifacts:
    """Texts in memory, until the process ends."""

    def __init__(self) -> None:
        self._texts: dict[ArtifactId, bytes] = {}

    def put(self, session_id: SessionId | None, call_id: ToolCallId, text: str, /) -> ArtifactId:
        """Keep a text; see `ArtifactStore.put`."""
        data = _encoded(text)
        artifact_id = _id_of(session_id, call_id, data)
        self._texts[artifact_id] = data
        return artifact_id

    def read(self, artifact_id: ArtifactId, offset: int, max_bytes: int, /) -> ArtifactSlice:
        """Read a piece; see `ArtifactStore.read`."""
        data = self._texts.get(artifact_id)
        if data is None:
            raise UnknownArtifact(artifact_id)
        return _slice(
            artifact_id, len(data), offset, max_bytes, lambda size: data[offset : offset + size]
        )


class FileArtifacts:
    """Texts in the files of one folder, each written whole or not at all.

    Only the owner may read them. Nothing is ever deleted: that is up to whoever has the folder.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        """Use a folder; it is made when the first text comes."""
        self._folder = Path(folder)

    def put(self, session_id: SessionId | None, call_id: ToolCallId, text: str, /) -> ArtifactId:
        """Keep a text; see `ArtifactStore.put`."""
        import tempfile  # takes long to load, and few outputs are so long

        data = _encoded(text)
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
        """Read a piece; see `ArtifactStore.read`."""
        # The id comes from a model: it must not be a way to other files.
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


def _encoded(text: str) -> bytes:
    return without_lone_surrogates(text).encode()


def _id_of(session_id: SessionId | None, call_id: ToolCallId, data: bytes) -> ArtifactId:
    # The words are for people; what tells two apart is the digest, of all there is to tell.
    whole = canonical_json([session_id, call_id, sha256(data).hexdigest()])
    digest = sha256(whole).hexdigest()[:_DIGEST_LENGTH]
    words = [_UNSAFE.sub("_", one)[:_WORD_LENGTH] for one in (session_id or "none", call_id)]
    return ArtifactId("-".join([*words, digest]))


def _slice(
    artifact_id: ArtifactId, size: int, offset: int, max_bytes: int, read: Callable[[int], bytes]
) -> ArtifactSlice:
    if max_bytes < 1:
        raise ValueError(f"max_bytes is at least 1, not {max_bytes}")
    if not 0 <= offset <= size:
        raise InvalidOffset(artifact_id, offset, f"is not between 0 and {size}")
    data = read(max(max_bytes, _LONGEST_CHARACTER))
    if data and data[0] & 0xC0 == 0x80:
        raise InvalidOffset(artifact_id, offset, "is inside a character")
    # Only a character that the cut goes through can be undecodable.
    content = data[:max_bytes].decode("utf-8", "ignore") or data.decode("utf-8", "ignore")[:1]
    end = offset + len(content.encode())
    return ArtifactSlice(artifact_id, offset, end, size, end >= size, content)
