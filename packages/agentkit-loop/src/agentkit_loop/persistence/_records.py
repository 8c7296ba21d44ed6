"""What is stored of a session, and the port to a store.

A session is stored in two pieces: a small head, which every save replaces, and a log of the changes
of the transcript, which only grows. So a save costs what is new, never what is old.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from agentkit_core import AgentkitError, Item, RecordError, SessionId
from agentkit_core.values import Record


class LogEntry(Record, frozen=True, omit_defaults=True):
    """One change of a session's transcript.

    Attributes:
        revision: The transcript's revision after the change; from 1, without gaps.
        items: The items that are new, or all items if the transcript was rewritten.
        rewrite: Whether the items replace the whole transcript; else they are appended.
    """

    revision: int
    items: tuple[Item, ...]
    rewrite: bool = False


class Saved(Record, frozen=True):
    """What a store has of a session.

    Attributes:
        seq: The number of the last save; 1 for the first.
        head: All of the state except the transcript.
        log: All changes of the transcript, oldest first.
    """

    seq: int
    head: bytes
    log: tuple[LogEntry, ...]


class StaleSave(AgentkitError):
    """Another process has saved this session meanwhile; nothing was written.

    Args:
        session_id: The session.
        seq: The number of the save that was refused.
        stored: The number of the last save in the store; 0 means none.

    Attributes:
        session_id: The session.
        seq: The number of the save that was refused.
        stored: The number of the last save in the store; 0 means none.
    """

    def __init__(self, session_id: SessionId, seq: int, *, stored: int) -> None:
        super().__init__(
            f"save {seq} of session {session_id!r} does not follow save {stored}, the last one in "
            f"the store; load the session again and continue from there"
        )
        self.session_id = session_id
        self.seq = seq
        self.stored = stored


class SessionInUse(AgentkitError):
    """Somebody else works on this stored session; nothing of it was changed.

    Args:
        session_id: The session.

    Attributes:
        session_id: The session.
    """

    def __init__(self, session_id: SessionId) -> None:
        super().__init__(
            f"somebody else works on session {session_id!r}, in this process or in another one; "
            f"wait until that is over, or look at the session with `read_session`"
        )
        self.session_id = session_id


class RevisionGap(AgentkitError):
    """The log entries of a save do not follow those in the store; nothing was written.

    Args:
        session_id: The session.
        revision: The revision of the entry that does not fit.
        expected: The revision that the entry should have.

    Attributes:
        session_id: The session.
        revision: The revision of the entry that does not fit.
        expected: The revision that the entry should have.
    """

    def __init__(self, session_id: SessionId, revision: int, *, expected: int) -> None:
        super().__init__(
            f"session {session_id!r}: a log entry has revision {revision}, but {expected} comes "
            f"next; save every change of the transcript once, in order"
        )
        self.session_id = session_id
        self.revision = revision
        self.expected = expected


class Salvage(Record, frozen=True):
    """What can still be read of a damaged session.

    Attributes:
        session_id: The session.
        seq: The number of the last save; None if it cannot be read.
        head: The head; None if it cannot be read.
        log: The changes of the transcript that can be read, oldest first. Where some are missing,
            their revisions have gaps.
        problems: What is wrong, place by place; empty if nothing is.
    """

    session_id: SessionId
    seq: int | None
    head: bytes | None
    log: tuple[LogEntry, ...]
    problems: tuple[str, ...]

    @property
    def items(self) -> tuple[Item, ...]:
        """The items of the transcript that can be read.

        Some may be missing between them: `repair` makes them a valid history for a new session.
        """
        items: list[Item] = []
        for entry in self.log:
            if entry.rewrite:
                items.clear()
            items.extend(entry.items)
        return tuple(items)


class StoreLocked(AgentkitError):
    """Another process or thread has held the lock of a session for too long; nothing was written.

    Attributes:
        path: Where the session is stored.
        waited_s: How long the store waited, in seconds.
    """

    def __init__(self, path: str, waited_s: float) -> None:
        super().__init__(
            f"{path} has been locked by another process or thread for {waited_s:g} s; try again "
            f"when it has finished, or give the store a longer `lock_timeout_s`"
        )
        self.path = path
        self.waited_s = waited_s


class DamagedSave(RecordError):
    """What is stored of a session cannot be read; the store leaves it as it is.

    `entries` has what can still be read of the transcript; the `salvage` methods of the stores
    return it with the head and with all that is wrong.

    Args:
        session_id: The session; None if the store as a whole cannot be read.
        path: Where it is stored.
        reason: What is wrong with it.
        line: The first line that is wrong, from 1; None if it has no lines.
        byte: Where that line begins, from 0; None if it has no lines.
        entries: The entries that can be read, oldest first.

    Attributes:
        session_id: The session; None if the store as a whole cannot be read.
        path: Where it is stored.
        line: The first line that is wrong, from 1; None if it has no lines.
        byte: Where that line begins, from 0; None if it has no lines.
        entries: The entries of the log that can be read, oldest first; empty if there are none.
    """

    def __init__(
        self,
        session_id: SessionId | None,
        path: str,
        reason: str,
        *,
        line: int | None = None,
        byte: int | None = None,
        entries: tuple[LogEntry, ...] = (),
    ) -> None:
        where = path if line is None else f"{path}, line {line}"
        where = where if byte is None else f"{where} (at byte {byte})"
        super().__init__(
            "session" if session_id is None else f"session {session_id!r}", f"{where}: {reason}"
        )
        self.session_id = session_id
        self.path = path
        self.line = line
        self.byte = byte
        self.entries = entries


@runtime_checkable
class BlockingStore(Protocol):
    """Keeps sessions, for callers without an event loop.

    Any number of threads may use it at the same time. Several stores may share one storage, also
    from several processes.
    """

    def load_blocking(self, session_id: SessionId, /) -> Saved | None:
        """Read everything that is stored of a session.

        A save that did not return counts only if it is complete in the storage.

        Returns:
            What is stored; None if the session was never saved.

        Raises:
            DamagedSave: What is stored cannot be read; it is left as it is.
        """
        ...

    def save_blocking(
        self, session_id: SessionId, /, *, seq: int, head: bytes, log: Sequence[LogEntry]
    ) -> None:
        """Replace the head and append to the log: both, or neither.

        After it has returned, the save outlives a crash of the process and of the machine. If it
        raises anything other than the errors below (such as for a full disk), the session is either
        as it was or as it should be; `load` says which.

        Args:
            session_id: Any string, including the empty one.
            seq: The number of this save: one more than that of the last, 1 for the first.
            head: Any bytes; `load` returns them unchanged.
            log: The entries since the last save, oldest first; often empty. What JSON cannot
                express is stored as `to_json` writes it.

        Raises:
            StaleSave: The number does not follow the stored one. This is checked and written in one
                step, so of several savers with the same number exactly one succeeds.
            RevisionGap: A revision does not follow the one before it, or the stored ones.
            DamagedSave: What is stored cannot be read, so nothing can follow it.
            StoreLocked: Another process or thread has not released the session in time.
            TypeError: An entry cannot be written as JSON.
        """
        ...


class Lease(Protocol):
    """The right to work on one stored session; one holder has it at a time."""

    def release(self) -> None:
        """Let others have the session; calling it again does nothing."""
        ...


@runtime_checkable
class LeasingStore(Protocol):
    """A store that says whether somebody works on a session, for both kinds of callers.

    A store without this is safe too: of two who work on a session at once, the later one to save
    gets `StaleSave`.
    """

    def lease(self, session_id: SessionId, /) -> Lease:
        """Take the lease of a session, stored or not; it never waits.

        The lease ends with its `release`, and with the process that holds it.

        Raises:
            SessionInUse: Somebody else has it, in this process or in another one.
        """
        ...


@runtime_checkable
class CancellableStore(Protocol):
    """A store whose `save` can be cancelled while it waits for others.

    It writes nothing then. A save that has begun to write is finished, before `save` raises the
    cancellation. The saves of other stores are waited for, for some seconds.

    Attributes:
        save_is_cancellable: Whether this is so.
    """

    save_is_cancellable: bool


@runtime_checkable
class Store(Protocol):
    """Keeps sessions, for asyncio and trio. An object may be a `BlockingStore` as well."""

    async def load(self, session_id: SessionId, /) -> Saved | None:
        """Read everything that is stored of a session; see `BlockingStore.load_blocking`."""
        ...

    async def save(
        self, session_id: SessionId, /, *, seq: int, head: bytes, log: Sequence[LogEntry]
    ) -> None:
        """Save; see `BlockingStore.save_blocking`.

        A save that has begun to write is completed even if the task is cancelled; while it waits
        for a lock, it ends and writes nothing.
        """
        ...
