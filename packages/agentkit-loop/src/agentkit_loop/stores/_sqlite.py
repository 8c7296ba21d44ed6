"""A store in one SQLite file, with Python's own `sqlite3`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from agentkit_core import RecordError, SessionId
from agentkit_loop.persistence._records import DamagedSave, Lease, LogEntry, Saved, StaleSave
from agentkit_loop.stores._async_wrapper import AsyncWrapper
from agentkit_loop.stores._disk import lock_file, make_folder, open_file
from agentkit_loop.stores._leases import lease_file
from agentkit_loop.stores._log_codec import decode_entry, encode_entries, quote_id, unquote_id

if TYPE_CHECKING:  # imported only where it is used
    from sqlite3 import Connection

_VERSION: Final = 1
_BUSY_S: Final = 60.0
"""How long to wait for another process that is saving; a save takes milliseconds."""
_TABLES: Final = (
    """
    CREATE TABLE sessions (
        number INTEGER PRIMARY KEY,
        session_id TEXT NOT NULL UNIQUE, -- as `quote_id` writes it: some are not valid UTF-8
        seq INTEGER NOT NULL,
        head BLOB NOT NULL
    )
    """,
    """
    CREATE TABLE log (
        session INTEGER NOT NULL REFERENCES sessions (number),
        revision INTEGER NOT NULL,
        entry BLOB NOT NULL, -- JSON
        PRIMARY KEY (session, revision)
    )
    """,
    f"PRAGMA user_version = {_VERSION}",
)
_FIND: Final = "SELECT number, seq FROM sessions WHERE session_id = ?"


class SqliteStore(AsyncWrapper):
    """Keeps sessions in an SQLite file; several processes may work in it at the same time.

    The file is opened at first use and accessible to its owner only. Threads take turns. After a
    fork, the new process has to make a store of its own. Errors of SQLite are raised as they are
    (`sqlite3.Error`), except damage, which is a `DamagedSave`.

    Args:
        path: The file; it is made at first use, with its missing folders. While it is open, SQLite
            has two more files beside it; the three together are the store.
        durable: Whether a save waits until everything is on the disk. Without that, a session
            survives a crash of the process; a crash of the machine may lose the last saves, but
            never a part of one.
    """

    __slots__ = ("_connection", "_durable", "_lock", "_path")

    def __init__(self, path: str | os.PathLike[str], *, durable: bool = True) -> None:
        self._path = Path(path).absolute()
        self._durable = durable
        self._lock = Lock()
        self._connection: Connection | None = None

    def load_blocking(self, session_id: SessionId, /) -> Saved | None:
        """Read all that is stored of a session; see `BlockingStore.load_blocking`."""
        with self._transaction("BEGIN", session_id) as database:
            row = database.execute(
                "SELECT number, seq, head FROM sessions WHERE session_id = ?",
                (quote_id(session_id),),
            ).fetchone()
            if row is None:
                return None
            number, seq, head = row
            lines = database.execute(
                "SELECT revision, entry FROM log WHERE session = ? ORDER BY revision", (number,)
            ).fetchall()
        return Saved(seq, head, self._decode(session_id, lines))

    def save_blocking(
        self, session_id: SessionId, /, *, seq: int, head: bytes, log: Sequence[LogEntry]
    ) -> None:
        """Save a session; see `BlockingStore.save_blocking`."""
        name = quote_id(session_id)
        with self._transaction("BEGIN IMMEDIATE", session_id) as database:
            if seq == 1:
                written = database.execute(
                    "INSERT OR IGNORE INTO sessions (session_id, seq, head) VALUES (?, 1, ?)",
                    (name, bytes(head)),
                )
            else:
                written = database.execute(
                    "UPDATE sessions SET seq = ?, head = ? WHERE session_id = ? AND seq = ?",
                    (seq, bytes(head), name, seq - 1),
                )
            number, stored = database.execute(_FIND, (name,)).fetchone() or (0, 0)
            if written.rowcount != 1:
                raise StaleSave(session_id, seq, stored=stored)
            if log:
                (last,) = database.execute(
                    "SELECT coalesce(max(revision), 0) FROM log WHERE session = ?", (number,)
                ).fetchone()
                entries = encode_entries(session_id, log, after=last)
                database.executemany(
                    "INSERT INTO log (session, revision, entry) VALUES (?, ?, ?)",
                    ((number, at, entry) for at, entry in enumerate(entries, last + 1)),
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
        return tuple(sorted(unquote_id(name) for (name,) in names))

    def delete_blocking(self, session_id: SessionId, /) -> None:
        """Delete a session if there is one; its next save has the number 1."""
        with self._transaction("BEGIN IMMEDIATE", session_id) as database:
            row = database.execute(_FIND, (quote_id(session_id),)).fetchone()
            if row is not None:
                number, _ = row
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

    @contextmanager
    def _transaction(self, begin: str, session_id: SessionId | None) -> Iterator[Connection]:
        import sqlite3

        with self._lock:
            try:
                if self._connection is None:
                    self._connection = self._open_locked()
                database = self._connection
                with _commit_or_roll_back(database, begin):
                    yield database
            except sqlite3.DatabaseError as error:
                if type(error) is not sqlite3.DatabaseError:
                    raise  # subclasses report a busy or full disk, or a fault of this code
                raise DamagedSave(session_id, str(self._path), str(error)) from error

    def _open_locked(self) -> Connection:
        make_folder(self._path.parent, durable=self._durable)
        # SQLite fails, instead of waiting, when two processes switch a new file to WAL mode.
        lock = self._path.with_name(f"{self._path.name}-opening")
        with lock_file(lock, durable=False):
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
            self._path, timeout=_BUSY_S, isolation_level=None, check_same_thread=False
        )
        try:
            database.execute("PRAGMA journal_mode = WAL").fetchone()
            database.execute(f"PRAGMA synchronous = {'FULL' if self._durable else 'NORMAL'}")
            database.execute("PRAGMA fullfsync = 1")
            with _commit_or_roll_back(database, "BEGIN IMMEDIATE"):
                (version,) = database.execute("PRAGMA user_version").fetchone()
                if version == 0:
                    for statement in _TABLES:
                        database.execute(statement)
                elif version != _VERSION:
                    reason = f"its tables have version {version}, and only {_VERSION} can be read"
                    raise DamagedSave(None, str(self._path), reason)
        except BaseException:
            database.close()
            raise
        return database

    def _decode(
        self, session_id: SessionId, lines: list[tuple[int, bytes]]
    ) -> tuple[LogEntry, ...]:
        entries = []
        for expected, (revision, entry) in enumerate(lines, 1):
            try:
                if revision != expected:
                    raise RecordError("log", f"revision {expected} is missing")
                entries.append(decode_entry(entry))
            except RecordError as error:
                reason = f"revision {expected}: {error.reason}"
                raise DamagedSave(session_id, str(self._path), reason) from error
        return tuple(entries)


@contextmanager
def _commit_or_roll_back(database: Connection, begin: str) -> Iterator[None]:
    """Commit everything that the block does, or nothing of it."""
    try:
        database.execute(begin)
        yield
        database.execute("COMMIT")
    finally:
        if database.in_transaction:
            database.execute("ROLLBACK")
