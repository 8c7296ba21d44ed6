"""What is saved of a session, and the port of whoever keeps it.

A session is saved in two pieces: a small head, written anew each time, and a log of what changed
in the transcript, which only grows. So a save costs what is new, never what is old.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from msgspec import Struct

from agentkit_core import AgentkitError, Item, RecordError, SessionId


class LogEntry(Struct, frozen=True, omit_defaults=True):
    """One change of a session's transcript.

    Attributes:
        revision: The transcript's revision after it; from 1, without gaps.
        rewrite: Whether the items take the place of the whole transcript; else they are appended.
    """

    revision: int
    items: tuple[Item, ...]
    rewrite: bool = False


class Saved(Struct, frozen=True):
    """A session as a store has it.

    Attributes:
        seq: The number of the last save; 1 for the first.
        head: All of the state but the transcript.
        log: All changes of the transcript, oldest first.
    """

    seq: int
    head: bytes
    log: tuple[LogEntry, ...]


class StaleSave(AgentkitError):
    """Someone else has saved this session meanwhile; nothing was written."""

    def __init__(self, session_id: SessionId, seq: int, *, stored: int) -> None:
        super().__init__(
            f"save {seq} of session {session_id!r} does not follow save {stored}, which is the "
            f"last one in the store; load the session again and go on from there"
        )
        self.session_id = session_id
        self.seq = seq
        """The save that was refused."""
        self.stored = stored
        """The save that is there; 0 means none."""


class RevisionGap(AgentkitError):
    """The entries of a save do not follow those that are stored; nothing was written."""

    def __init__(self, session_id: SessionId, revision: int, *, expected: int) -> None:
        super().__init__(
            f"session {session_id!r}: an entry of revision {revision} stands where revision "
            f"{expected} has to come; save every change of the transcript once, in order"
        )
        self.session_id = session_id
        self.revision = revision
        self.expected = expected


class DamagedSave(RecordError):
    """What is stored of a session cannot be read; it was left as it is."""

    def __init__(
        self,
        session_id: SessionId | None,
        path: str,
        reason: str,
        *,
        line: int | None = None,
        byte: int | None = None,
    ) -> None:
        where = path if line is None else f"{path}, line {line}"
        where = where if byte is None else f"{where} (at byte {byte})"
        super().__init__(
            "session" if session_id is None else f"session {session_id!r}", f"{where}: {reason}"
        )
        self.session_id = session_id
        """None where the store as a whole cannot be read."""
        self.path = path
        self.line = line
        """The first line that is wrong, from 1; None where there are no lines."""
        self.byte = byte
        """Where that line begins, from 0; None where there are no lines."""


@runtime_checkable
class BlockingStore(Protocol):
    """Keeps sessions, for callers without an event loop.

    May be used from several threads, and several stores may share one storage, also from
    several processes.
    """

    def load_blocking(self, session_id: SessionId, /) -> Saved | None:
        """Read all that is stored of a session; None when it was never saved.

        What a save that did not return has left behind is no part of it, unless that save was
        complete.

        Raises:
            DamagedSave: What is stored cannot be read; it is left as it is.
        """
        ...

    def save_blocking(
        self, session_id: SessionId, /, *, seq: int, head: bytes, log: Sequence[LogEntry]
    ) -> None:
        """Put a new head in the place of the old one and append to the log, both or neither.

        When it returns, all of it outlives a crash of the process and of the machine. Where
        anything else than the errors below is raised (a full disk), the session is as it was,
        or as it was to be: `load` says which.

        Args:
            session_id: Any string, the empty one too.
            seq: The number of this save: one more than that of the last, 1 for the first.
            head: Any bytes; they come back as they are.
            log: The entries that are new since the last save, oldest first; often empty. What
                JSON cannot express is stored as `to_json` writes it.

        Raises:
            StaleSave: The number does not follow the stored one. That is checked and written as
                one step, so of several savers with the same number exactly one succeeds.
            RevisionGap: A revision does not follow the one before it, or the stored ones.
            DamagedSave: What is stored cannot be read, so nothing can be put after it.
            TypeError: An entry cannot be written as JSON.
        """
        ...


@runtime_checkable
class Store(Protocol):
    """Keeps sessions, for asyncio and trio; one object may be a `BlockingStore` as well."""

    async def load(self, session_id: SessionId, /) -> Saved | None:
        """Read all that is stored of a session; see `BlockingStore.load_blocking`."""
        ...

    async def save(
        self, session_id: SessionId, /, *, seq: int, head: bytes, log: Sequence[LogEntry]
    ) -> None:
        """Save; see `BlockingStore.save_blocking`.

        A save that has begun is finished even when it is cancelled.
        """
        ...
