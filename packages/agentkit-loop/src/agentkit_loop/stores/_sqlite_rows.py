"""The tables of a `SqliteStore`, the checksums of its rows, and what its errors mean."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from zlib import crc32

from agentkit_core import SessionId
from agentkit_loop.persistence._records import DamagedSave

if TYPE_CHECKING:  # imported only where it is used
    from sqlite3 import Connection, Error

VERSION: Final = 2
TABLES: Final = (
    """
    CREATE TABLE sessions (
        number INTEGER PRIMARY KEY,
        session_id TEXT NOT NULL UNIQUE, -- as `quote_id` writes it: some are not valid UTF-8
        seq INTEGER NOT NULL,
        head BLOB NOT NULL,
        crc32 INTEGER -- of the id, the number of the save, the last checksum of the log, the head
    )
    """,
    """
    CREATE TABLE log (
        session INTEGER NOT NULL REFERENCES sessions (number),
        revision INTEGER NOT NULL,
        entry BLOB NOT NULL, -- JSON
        crc32 INTEGER, -- of the entry, continued from the entry before, the first from the id
        PRIMARY KEY (session, revision)
    )
    """,
    f"PRAGMA user_version = {VERSION}",
)
_ERRNOS: Final = {
    3: errno.EACCES,
    8: errno.EROFS,
    10: errno.EIO,
    13: errno.ENOSPC,
    14: errno.EACCES,
}
"""SQLite's codes for what the file system refuses: PERM, READONLY, IOERR, FULL, CANTOPEN."""
_BUSY: Final = frozenset({5, 6})


def first_checksum(name: str) -> int:
    """Return what the checksum of a session's first entry continues from."""
    return crc32(name.encode())


def head_checksum(name: str, seq: int, revision: int, log_crc: int, head: bytes) -> int:
    """Return the checksum of a session's row."""
    return crc32(head, crc32(f"{name} {seq} {revision} {log_crc}".encode()))


def add_checksums(database: Connection) -> None:
    """Give the tables of version 1 the checksums of their rows."""
    for table in ("sessions", "log"):
        database.execute(f"ALTER TABLE {table} ADD COLUMN crc32 INTEGER")
    sessions = database.execute("SELECT number, session_id, seq, head FROM sessions").fetchall()
    for number, name, seq, head in sessions:
        crc, revision = first_checksum(name), 0
        rows = database.execute(
            "SELECT revision, entry FROM log WHERE session = ? ORDER BY revision", (number,)
        ).fetchall()
        for revision, entry in rows:
            crc = crc32(as_bytes(entry), crc)
            database.execute(
                "UPDATE log SET crc32 = ? WHERE session = ? AND revision = ?",
                (crc, number, revision),
            )
        total = head_checksum(name, seq, revision, crc, as_bytes(head))
        database.execute("UPDATE sessions SET crc32 = ? WHERE number = ?", (total, number))
    database.execute(f"PRAGMA user_version = {VERSION}")


def as_bytes(value: Any) -> bytes:
    """Return a value of a column as bytes, whatever damage has made of it."""
    if isinstance(value, bytes):
        return value
    return str(value).encode("utf-8", "replace")


def is_busy(error: Error) -> bool:
    """Whether another process or thread holds the lock."""
    code = getattr(error, "sqlite_errorcode", None)
    return isinstance(code, int) and code & 0xFF in _BUSY


def translated(error: Exception, session_id: SessionId | None, path: Path) -> Exception:
    """Return the error that a store raises for one of SQLite: an `OSError`, or damage."""
    code = getattr(error, "sqlite_errorcode", None)
    number = _ERRNOS.get(code & 0xFF) if isinstance(code, int) else None
    if number is not None:
        return OSError(number, str(error), str(path))
    return DamagedSave(session_id, str(path), str(error))
