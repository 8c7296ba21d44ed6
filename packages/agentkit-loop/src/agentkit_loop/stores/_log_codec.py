"""Entries of a log as bytes and back, and session ids as plain names and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from urllib.parse import unquote

from agentkit_core import SessionId, from_json, to_json
from agentkit_loop.persistence._records import LogEntry, RevisionGap

_PLAIN: Final = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789-_")


def encode_entries(session_id: SessionId, log: Sequence[LogEntry], *, after: int) -> list[bytes]:
    """Write entries as JSON objects without line breaks, after checking their revisions.

    Args:
        session_id: Whose they are.
        log: The entries, oldest first.
        after: The last revision that is stored; 0 when there is none.

    Raises:
        RevisionGap: A revision is not the one that has to come.
        TypeError: An entry cannot be written as JSON.
    """
    written = []
    for expected, entry in enumerate(log, after + 1):
        if entry.revision != expected:
            raise RevisionGap(session_id, entry.revision, expected=expected)
        written.append(to_json(entry))
    return written


def decode_entry(data: bytes) -> LogEntry:
    """Read an entry.

    Raises:
        RecordError: The bytes are no entry.
    """
    return from_json(data, LogEntry)


def quoted(session_id: SessionId) -> str:
    """Write a session id in small letters, digits, `-`, `_` and `%` alone.

    Different ids give names that differ even where capitals do not count. No id is refused:
    lone surrogates are kept too.
    """
    given = session_id.encode("utf-8", "surrogatepass")
    return "".join(chr(byte) if byte in _PLAIN else f"%{byte:02x}" for byte in given)


def unquoted(text: str) -> SessionId:
    """Read what `quoted` wrote."""
    return SessionId(unquote(text, "utf-8", "surrogatepass"))
