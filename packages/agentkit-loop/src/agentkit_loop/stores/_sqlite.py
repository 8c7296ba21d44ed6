"""A store in one SQLite file, with Python's own `sqlite3`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self
from zlib import crc32

from agentkit_core import RecordError, SessionId
from agentkit_loop.persistence._records import (
    DamagedSave,
    Lease,
    LogEntry,
    Salvage,
    Saved,
    StaleSave,
    StoreLocked,
)
from agentkit_loop.stores._async_wrapper import AsyncWrapper
from agentkit_loop.stores._disk import LOCK_TIMEOUT_S, lock_file, make_folder, open_file
from agentkit_loop.stores._leases import lease_file
from agentkit_loop.stores._log_codec import decode_entry, encode_entries, quote_id, unquote_id
from agentkit_loop.stores._salvage import salvage_entries
from agentkit_loop.stores._sqlite_rows import (
    TABLES,
    VERSION,
    add_checksums,
    as_bytes,
    first_checksum,
    head_checksum,
    is_busy,
    translated,
)
from agentkit_loop.stores._waiting import wait_until

if TYPE_CHECKING:  # imported only where it is used
    from sqlite3 import Connection

_FIND: Final = "SELECT number, session_id, seq, head, crc32 FROM sessions WHERE session_id = ?"
_LOST: Final = "SELECT 1 FROM sessions NOT INDEXED WHERE session_id = ?"
_LOG: Final = "SELECT revision, entry, crc32 FROM log WHERE session = ? ORDER BY revision"


class SqliteStore(AsyncWrapper):
    """Keeps sessions in an SQLite file; several processes may work in it at the same time.

    The file is opened at first use and accessible to its owner only. Threads take turns. After a
    fork, the new process has to make a store of its own. Every row has a checksum. Damage is a
    `DamagedSave`, and what the file system refuses an `OSError`, as with `FileStore`.

    Args:
        path: The file; it is made at first use, with its missing folders. While it is open, SQLite
            has two more files beside it; the three together are the store.
        durable: Whether a save waits until everything is on the disk. Without that, a session
            survives a crash of the process; a crash of the machine may lose the last saves, but
            never a part of one.
        lock_timeout_s: For how long to wait, in seconds, while another process or thread saves;
            then `StoreLocked` is raised.
    """

    __slots__ = ("_connection", "_durable", "_lock", "_lock_timeout_s", "_path")

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        durable: bool = True,
        lock_timeout_s: float = LOCK_TIMEOUT_S,
    ) -> None:
        self._path = Path(path).absolute()
        self._durable = durable
        self._lock_timeout_s = lock_timeout_s
        self._lock = Lock()
        self._connection: Connection | None = None

    def load_blocking(self, session_id: SessionId, /) -> Saved | None:
        """Read all that is stored of a session; see `BlockingStore.load_blocking`."""
        row, lines = self._read(session_id)
        if row is None:
            return None
        _, _, seq, head, _ = row
        name, entries = quote_id(session_id), []
        crc = first_checksum(name)
        for expected, (revision, entry, recorded) in enumerate(lines, 1):
            try:
                if revision != expected:
                    raise RecordError("log", f"revision {expected} is missing")
                data = as_bytes(entry)
                entries.append(decode_entry(data))
                crc = crc32(data, crc)
                if crc != recorded:
                    raise RecordError("log", "it was changed (its checksum differs)")
            except (RecordError, ValueError) as error:
                why = error.reason if isinstance(error, RecordError) else str(error)
                raise self._damaged(session_id, f"revision {expected}: {why}", lines) from error
        if not _is_whole(name, row, len(lines), crc):
            raise self._damaged(session_id, "its row was changed (its checksum differs)", lines)
        return Saved(seq, head, tuple(entries))

    def salvage_blocking(self, session_id: SessionId, /) -> Salvage | None:
        """Read what can be read of a session, damaged or not; None if there is none.

        Raises:
            DamagedSave: The file cannot be read.
        """
        row, lines = self._read(session_id)
        if row is None:
            return None
        name, (_, _, seq, head, _) = quote_id(session_id), row
        entries, bad = _salvage(name, lines)
        problems = [f"entry {at + 1} cannot be read" for at in bad]
        last = lines[-1] if lines else (0, b"", first_checksum(name))
        if not _is_whole(name, row, last[0], last[2]):
            problems.append("its row was changed, or entries are missing at the end")
            return Salvage(session_id, None, None, entries, tuple(problems))
        return Salvage(session_id, seq, head, entries, tuple(problems))

    def save_blocking(
        self, session_id: SessionId, /, *, seq: int, head: bytes, log: Sequence[LogEntry]
    ) -> None:
        """Save a session; see `BlockingStore.save_blocking`."""
        name, head = quote_id(session_id), bytes(head)
        with self._transaction("BEGIN IMMEDIATE", session_id) as database:
            row = self._find(database, session_id)
            stored = 0 if row is None else row[2]
            revision, crc = 0, first_checksum(name)
            if row is not None:
                last = database.execute(
                    "SELECT revision, crc32 FROM log WHERE session = ? "
                    "ORDER BY revision DESC LIMIT 1",
                    (row[0],),
                ).fetchone()
                revision, crc = last or (revision, crc)
                if not _is_whole(name, row, revision, crc):
                    reason = "its row was changed (its checksum differs)"
                    raise DamagedSave(session_id, str(self._path), reason)
            if seq != stored + 1:
                raise StaleSave(session_id, seq, stored=stored)
            if row is None:
                number = database.execute(
                    "INSERT INTO sessions (session_id, seq, head) VALUES (?, 1, ?)", (name, head)
                ).lastrowid
            else:
                number = row[0]
            for at, entry in enumerate(encode_entries(session_id, log, after=revision), 1):
                crc = crc32(entry, crc)
                database.execute(
                    "INSERT INTO log (session, revision, entry, crc32) VALUES (?, ?, ?, ?)",
                    (number, revision + at, entry, crc),
                )
            total = head_checksum(name, seq, revision + len(log), crc, head)
            database.execute(
                "UPDATE sessions SET seq = ?, head = ?, crc32 = ? WHERE number = ?",
                (seq, head, total, number),
            )

    def lease(self, session_id: SessionId, /) -> Lease:
        """Take the lease of a session; see `LeasingStore.lease`.

        It is a file in a folder beside the store's, which is there while somebody has a lease.
        """
        name = sha256(quote_id(session_id).encode()).hexdigest()[:32]
        folder = self._path.with_name(f"{self._path.name}-leases")
        return lease_file(session_id, folder / name)

    def session_ids_blocking(self) -> tuple[SessionId, ...]:
        """Return the ids of all saved sessions, sorted."""
        with self._transaction("BEGIN", None) as database:
            names = database.execute("SELECT session_id FROM sessions").fetchall()
        try:
            return tuple(sorted(unquote_id(name) for (name,) in names))
        except (ValueError, TypeError) as error:
            raise DamagedSave(None, str(self._path), f"a name cannot be read: {error}") from error

    def delete_blocking(self, session_id: SessionId, /) -> None:
        """Delete a session if there is one; its next save has the number 1."""
        with self._transaction("BEGIN IMMEDIATE", session_id) as database:
            row = database.execute(_FIND, (quote_id(session_id),)).fetchone()
            if row is not None:
                number = row[0]
                database.execute("DELETE FROM log WHERE session = ?", (number,))
                database.execute("DELETE FROM sessions WHERE number = ?", (number,))

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _read(self, session_id: SessionId) -> tuple[tuple[Any, ...] | None, list[tuple[Any, ...]]]:
        with self._transaction("BEGIN", session_id) as database:
            row = self._find(database, session_id)
            if row is None:
                return None, []
            return row, database.execute(_LOG, (row[0],)).fetchall()

    def _find(self, database: Connection, session_id: SessionId) -> tuple[Any, ...] | None:
        name = (quote_id(session_id),)
        row: tuple[Any, ...] | None = database.execute(_FIND, name).fetchone()
        # The index may be damaged: without it, another session would begin under this id.
        if row is None and database.execute(_LOST, name).fetchone() is not None:
            raise DamagedSave(session_id, str(self._path), "its index does not fit its table")
        return row

    def _damaged(
        self, session_id: SessionId, reason: str, lines: Sequence[tuple[Any, ...]]
    ) -> DamagedSave:
        entries, _ = _salvage(quote_id(session_id), lines)
        return DamagedSave(session_id, str(self._path), reason, entries=entries)

    @contextmanager
    def _transaction(self, begin: str, session_id: SessionId | None) -> Iterator[Connection]:
        import sqlite3

        self._wait_until(lambda: self._lock.acquire(blocking=False))
        try:
            if self._connection is None:
                self._connection = self._open_locked()
            database = self._connection
            with self._commit_or_roll_back(database, begin):
                yield database
        except sqlite3.Error as error:
            if is_busy(error):
                raise StoreLocked(str(self._path), self._lock_timeout_s) from error
            raise translated(error, session_id, self._path) from error
        except UnicodeDecodeError as error:  # a damaged text, even in a message of SQLite
            raise DamagedSave(session_id, str(self._path), str(error)) from error
        finally:
            self._lock.release()

    def _wait_until(self, attempt: Callable[[], bool]) -> None:
        wait_until(attempt, path=str(self._path), timeout_s=self._lock_timeout_s)

    def _open_locked(self) -> Connection:
        make_folder(self._path.parent, durable=self._durable)
        # SQLite fails, instead of waiting, when two processes switch a new file to WAL mode.
        lock = self._path.with_name(f"{self._path.name}-opening")
        with lock_file(lock, durable=False, timeout_s=self._lock_timeout_s):
            try:
                return self._open()
            finally:
                with suppress(OSError):  # on Windows, while another process waits for it
                    lock.unlink()

    def _open(self) -> Connection:
        import sqlite3

        with open_file(self._path):
            pass  # SQLite would make it readable for everyone
        database = sqlite3.connect(
            self._path, timeout=0, isolation_level=None, check_same_thread=False
        )
        try:
            self._execute(database, "PRAGMA journal_mode = WAL")
            database.execute(f"PRAGMA synchronous = {'FULL' if self._durable else 'NORMAL'}")
            database.execute("PRAGMA fullfsync = 1")
            with self._commit_or_roll_back(database, "BEGIN IMMEDIATE"):
                (version,) = database.execute("PRAGMA user_version").fetchone()
                if version == 0:
                    for statement in TABLES:
                        database.execute(statement)
                elif version == 1:
                    add_checksums(database)
                elif version != VERSION:
                    reason = f"its tables have version {version}, and only {VERSION} can be read"
                    raise DamagedSave(None, str(self._path), reason)
        except BaseException:
            database.close()
            raise
        return database

    def _execute(self, database: Connection, statement: str) -> None:
        """Execute a statement, as soon as no other process holds the lock that it needs."""
        import sqlite3

        def attempt() -> bool:
            try:
                database.execute(statement).fetchone()
            except sqlite3.OperationalError as error:
                if is_busy(error):
                    return False
                raise
            return True

        self._wait_until(attempt)

    @contextmanager
    def _commit_or_roll_back(self, database: Connection, begin: str) -> Iterator[None]:
        """Commit everything that the block does, or nothing of it."""
        try:
            self._execute(database, begin)
            self._execute(database, "SELECT 1 FROM sqlite_master")  # takes the lock for reading
            yield
            self._execute(database, "COMMIT")
        finally:
            if database.in_transaction:
                database.execute("ROLLBACK")


def _is_whole(name: str, row: tuple[Any, ...], revision: int, crc: int) -> bool:
    """Whether a session's row is as it was written, with a log that ends at this checksum."""
    _, session_id, seq, head, recorded = row
    if session_id != name or not isinstance(seq, int) or not isinstance(head, bytes):
        return False
    return bool(head_checksum(name, seq, revision, crc, head) == recorded)


def _salvage(name: str, lines: Sequence[tuple[Any, ...]]) -> tuple[tuple[LogEntry, ...], list[int]]:
    records = [(as_bytes(entry), crc) for _, entry, crc in lines]
    return salvage_entries(records, start=first_checksum(name), end=None)
