"""The files of one session in a `FileStore`: reads and checks them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final
from zlib import crc32

from agentkit_core import RecordError, SessionId, from_json
from agentkit_core.values import Record
from agentkit_loop.persistence._records import DamagedSave, LogEntry, Salvage
from agentkit_loop.stores import _salvage
from agentkit_loop.stores._checksummed_lines import remove_checksum, split_checksum
from agentkit_loop.stores._log_codec import decode_entry, quote_id, unquote_id

VERSION: Final = 1
_LINE_BEGIN: Final = b'{"revision":'
_JOINED_LINES: Final = re.compile(rb'(?<="\})[^\n](?=\{"revision":)')
"""A damaged line end: the last character of one line, and the first ones of the next."""


class Top(Record, frozen=True):
    """The first line of `head.json`.

    Attributes:
        version: The version of the format.
        session_id: The session's id, as `quote_id` writes it.
        seq: The number of the last save, from 1.
        revision: How many entries of the log are valid.
        log_bytes: How many bytes of the log are valid.
        log_crc32: The checksum of the last valid line; 0 if there is none.
    """

    version: int
    session_id: str
    seq: int
    revision: int
    log_bytes: int
    log_crc32: int


def bytes_of(path: Path) -> bytes | None:
    """Return the content of a file; None if there is no such file."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def read_head(session_id: SessionId | None, folder: Path, data: bytes) -> tuple[Top, bytes]:
    """Read `head.json`.

    Args:
        session_id: The session that was asked for; None takes any.
        folder: The folder of the session.
        data: The content of the file.

    Raises:
        DamagedSave: It cannot be read, or is that of another session.
    """
    line, end, head = data.partition(b"\n")
    try:
        body, _ = remove_checksum(line + end, crc32(head))
        top = from_json(body, Top)
        if top.version != VERSION:
            raise ValueError(f"it has version {top.version}, and only {VERSION} can be read")
        if session_id is not None and top.session_id != quote_id(session_id):
            raise ValueError(f"it is that of another session, {unquote_id(top.session_id)!r}")
    except (ValueError, RecordError) as error:
        path = str(folder / "head.json")
        raise DamagedSave(session_id, path, _reason(error), line=1, byte=0) from error
    return top, head


def read_log(session_id: SessionId, folder: Path, top: Top) -> tuple[LogEntry, ...]:
    """Read the valid part of `log.jsonl`.

    Raises:
        DamagedSave: It cannot be read, or is not the log that the head was written with.
    """
    path = folder / "log.jsonl"
    entries: list[LogEntry] = []
    at = crc = 0
    try:
        with path.open("rb") as log:
            while at < top.log_bytes:
                line = log.readline(top.log_bytes - at)
                if not line:
                    raise too_short(session_id, path, at, top.log_bytes)
                body, crc = remove_checksum(line, crc)
                entries.append(decode_entry(body))
                at += len(line)
    except FileNotFoundError:
        if top.log_bytes:
            raise too_short(session_id, path, 0, top.log_bytes) from None
    except DamagedSave:
        raise
    except (ValueError, RecordError) as error:
        reason, line_number = _reason(error), len(entries) + 1
        raise DamagedSave(session_id, str(path), reason, line=line_number, byte=at) from error
    if crc != top.log_crc32 or len(entries) != top.revision:
        reason = "it is not the log that head.json was written with"
        raise DamagedSave(session_id, str(path), reason)
    return tuple(entries)


def salvage(session_id: SessionId, folder: Path) -> Salvage:
    """Read what can be read of a session.

    Raises:
        DamagedSave: It is another session.
    """
    problems: list[str] = []
    top: Top | None = None
    head: bytes | None = None
    data = bytes_of(folder / "head.json")
    try:
        top, head = read_head(None, folder, data or b"")
    except DamagedSave as error:
        problems.append(error.reason)
    if top is not None and top.session_id != quote_id(session_id):
        read_head(session_id, folder, data or b"")  # raises
    path = folder / "log.jsonl"
    log = bytes_of(path) or b""
    if top is not None:
        if len(log) < top.log_bytes:
            problems.append(too_short(session_id, path, len(log), top.log_bytes).reason)
        log = log[: top.log_bytes]
    lines = [piece for line in log.splitlines(keepends=True) for piece in _split(line)]
    entries, bad = _salvage.salvage_entries(
        map(split_checksum, lines), start=0, end=None if top is None else top.log_crc32
    )
    problems += [f"{path}, line {at + 1}: it cannot be read" for at in bad]
    seq = None if top is None else top.seq
    return Salvage(session_id, seq, head, entries, tuple(problems))


def too_short(session_id: SessionId, path: Path, length: int, counted: int) -> DamagedSave:
    """Make the error for a log that is shorter than its head says."""
    reason = f"it has {length} bytes, but {counted} were saved"
    return DamagedSave(session_id, str(path), reason, byte=length)


def _split(line: bytes) -> list[bytes]:
    pieces = _JOINED_LINES.split(line)
    at = pieces[0].find(_LINE_BEGIN)
    if at > 0:  # what was there before has lost its line end
        pieces[:1] = [pieces[0][:at], pieces[0][at:]]
    return [piece.rstrip(b"\n") + b"\n" for piece in pieces]


def _reason(error: ValueError | RecordError) -> str:
    return error.reason if isinstance(error, RecordError) else str(error)
