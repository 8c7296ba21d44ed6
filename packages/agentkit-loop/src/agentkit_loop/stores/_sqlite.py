"""A store in one SQLite file, with what Python brings along."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from agentkit_core import RecordError, SessionId
from agentkit_loop.persistence._records import DamagedSave, LogEntry, Saved, StaleSave
from agentkit_loop.stores._async_wrapper import BothForms
from agentkit_loop.stores._disk import locked, make_folder, opened
from agentkit_loop.stores._log_codec import decode_entry, encode_entries, quoted, unquoted

if TYPE_CHECKING:  # who keeps sessions elsewhere never loads it
    from sqlite3 import Connection

_VERSION: Final = 1
_BUSY_S: Final = 60.0
"""How long to wait for another process; a save takes milliseconds."""
_TABLES: Final = (
    """
    CREATE TABLE sessions (
        number INTEGER PRIMARY KEY,
        session_id TEXT NOT NULL UNIQUE, -- quoted, which keeps what UTF-8 cannot express
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


class SqliteStore(BothForms):
    """Keeps sessions in an SQLite file; several processes may work in it at the same time.

    The file is opened when it is first used and belongs to its owner alone. Threads take turns.
    A store that was used must not be used on in a process forked from this one: make another
    there. Errors of SQLite are raised as they are (`sqlite3.Error`) where there is no better one.

    Args:
        path: The file; it is made, with the folders above it, where there is none. SQLite keeps
            two more beside it while it is open; together they are the store.
        durable: Whether a save waits until all is on the disk. Without, a session outlives a
            crash of the process; one of the machine may take the last saves, but not half of one.
    """

    def __init__(self, path: str | os.PathLike[str], *, durable: bool = True) -> None:
        self._path = Path(path).absolute()
        self._durable = durable
        self._lock = Lock()
        self._connection: Connection | None = None

    def load_blocking(self, session_id: SessionId, /) -> Saved | None:
        """Read all that is stored of a session; see `BlockingStore.load_blocking`."""
        with self._transaction("BEGIN", session_id) as database:
            row = database.execute(
                "SELECT number, seq, head FROM sessions WHERE session_id = ?", (quoted(session_id),)
            ).fetchone()
            if row is None:
                return None
            number, seq, head = row
            lines = database.execute(
                "SELECT revision, entry FROM log WHERE session = ? ORDER BY revision", (number,)
            ).fetchall()
        return Saved(seq, head, self._decoded(session_id, lines))

    def save_blocking(
        self, session_id: SessionId, /, *, seq: int, head: bytes, log: Sequence[LogEntry]
    ) -> None:
        """Save a session; see `BlockingStore.save_blocking`."""
        name = quoted(session_id)
        with self._transaction("BEGIN IMMEDIATE", session_id) as database:
            if seq == 1:
                made = database.execute(
                    "INSERT OR IGNORE INTO sessions (session_id, seq, head) VALUES (?, 1, ?)",
                    (name, bytes(head)),
                )
            else:
                made = database.execute(
                    "UPDATE sessions SET seq = ?, head = ? WHERE session_id = ? AND seq = ?",
                    (seq, bytes(head), name, seq - 1),
                )
            number, stored = database.execute(_FIND, (name,)).fetchone() or (0, 0)
            if made.rowcount != 1:
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

    def session_ids_blocking(self) -> tuple[SessionId, ...]:
        """Name all sessions that were saved, sorted."""
        with self._transaction("BEGIN", None) as database:
            names = database.execute("SELECT session_id FROM sessions").fetchall()
        return tuple(sorted(unquoted(name) for (name,) in names))

    def delete_blocking(self, session_id: SessionId, /) -> None:
        """Forget a session, or do nothing when there is none; its next save is number 1."""
        with self._transaction("BEGIN IMMEDIATE", session_id) as database:
            row = database.execute(_FIND, (quoted(session_id),)).fetchone()
            if row is not None:
                number, _ = row
                database.execute("DELETE FROM log WHERE session = ?", (number,))
                database.execute("DELETE FROM sessions WHERE number = ?", (number,))

    def close(self) -> None:
        """Close the file; whatever is asked after that opens it again."""
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
                    self._connection = self._opened()
                database = self._connection
                with _ending(database, begin):
                    yield database
            except sqlite3.DatabaseError as error:
                if type(error) is not sqlite3.DatabaseError:
                    raise  # the others are about a busy or full disk, or about us
                raise DamagedSave(session_id, str(self._path), str(error)) from error

    def _opened(self) -> Connection:
        make_folder(self._path.parent, durable=self._durable)
        # SQLite does not wait where two turn a new file to WAL at the same time, but fails.
        lock = self._path.with_name(f"{self._path.name}-opening")
        with locked(lock, durable=False):
            try:
                return self._made()
            finally:
                with suppress(OSError):  # Windows keeps it for whoever waits
                    lock.unlink()

    def _made(self) -> Connection:
        import sqlite3

        with opened(self._path):
            pass  # SQLite would make it for everyone to read
        database = sqlite3.connect(
            self._path, timeout=_BUSY_S, isolation_level=None, check_same_thread=False
        )
        try:
            database.execute("PRAGMA journal_mode = WAL").fetchone()
            database.execute(f"PRAGMA synchronous = {'FULL' if self._durable else 'NORMAL'}")
            database.execute("PRAGMA fullfsync = 1")
            with _ending(database, "BEGIN IMMEDIATE"):
                (version,) = database.execute("PRAGMA user_version").fetchone()
                if version == 0:
                    for statement in _TABLES:
                        database.execute(statement)
                elif version != _VERSION:
                    reason = f"its tables are of version {version}, only {_VERSION} is known here"
                    raise DamagedSave(None, str(self._path), reason)
        except BaseException:
            database.close()
            raise
        return database

    def _decoded(
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
def _ending(database: Connection, begin: str) -> Iterator[None]:
    """Commit what is done in the block, or none of it."""
    try:
        database.execute(begin)
        yield
        database.execute("COMMIT")
    finally:
        if database.in_transaction:
            database.execute("ROLLBACK")
