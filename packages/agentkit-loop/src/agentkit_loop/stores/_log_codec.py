"""Converts log entries to bytes and back, and session ids to file names and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from urllib.parse import unquote

from agentkit_core import SessionId, from_json, to_json
from agentkit_loop.persistence._records import LogEntry, RevisionGap

_PLAIN: Final = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789-_")


def encode_entries(session_id: SessionId, log: Sequence[LogEntry], *, after: int) -> list[bytes]:
    """Encode entries as JSON objects without line breaks; check their revisions first.

    Args:
        session_id: The session, for the error.
        log: The entries, oldest first.
        after: The last revision that is stored; 0 if none is.

    Raises:
        RevisionGap: A revision does not follow the one before it.
        TypeError: An entry cannot be written as JSON.
    """
    encoded = []
    for expected, entry in enumerate(log, after + 1):
        if entry.revision != expected:
            raise RevisionGap(session_id, entry.revision, expected=expected)
        encoded.append(to_json(entry))
    return encoded


def decode_entry(data: bytes) -> LogEntry:
    """Decode an entry.

    Raises:
        RecordError: The bytes are not a valid entry.
    """
    return from_json(data, LogEntry)


def quote_id(session_id: SessionId) -> str:
    """Convert a session id to a name of lower-case letters, digits, `-`, `_` and `%`.

    Different ids get different names, also on file systems that ignore case. Every id is possible,
    lone surrogates included.
    """
    encoded = session_id.encode("utf-8", "surrogatepass")
    return "".join(chr(byte) if byte in _PLAIN else f"%{byte:02x}" for byte in encoded)


def unquote_id(text: str) -> SessionId:
    """Convert a name from `quote_id` back to the session id."""
    return SessionId(unquote(text, "utf-8", "surrogatepass"))
