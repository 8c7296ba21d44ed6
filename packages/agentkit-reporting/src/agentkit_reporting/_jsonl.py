"""A run as JSON lines, for programs.

One event is one line:

    {"v":1,"seq":7,"ts":…,"session_id":"s","turn_id":"turn-1","event":{"type":…},"number":6}

Readers have to ignore events with an unknown `type`, and unknown fields. The version `v` changes
only if that is not enough.
"""

from __future__ import annotations

import os
import re
from io import TextIOBase
from pathlib import Path
from threading import RLock
from typing import IO, Any, BinaryIO, Final

from agentkit_core import SessionId, TurnId, to_json
from agentkit_core.values import Record
from agentkit_loop.events import Envelope, Event
from agentkit_reporting._closable import Closable

RECORD_VERSION: Final = 1
_RAW: Final = re.compile(b"\x7f|\xc2[\x80-\x9f]|\xe2\x80[\xa8-\xae]|\xe2\x81[\xa6-\xa9]")
"""Characters that JSON allows unescaped, but that can control a terminal or end a line: U+007F to
U+009F, U+2028 to U+202E, U+2066 to U+2069."""


class JsonlLine(Record, frozen=True, omit_defaults=True):
    """One line of the file.

    Attributes:
        v: The version of the format.
        seq: The sequence number of the event in its session.
        ts: When the event happened, in milliseconds since the Unix epoch.
        session_id: The session of the event.
        turn_id: The turn of the event; None between turns.
        event: The event.
        number: The number of the event in the history of its session; None for deltas and progress,
            and in records of earlier versions. See `Envelope.number`.
    """

    v: int
    seq: int
    ts: int
    session_id: SessionId
    turn_id: TurnId | None
    event: Event
    number: int | None = None


class JsonlReporter(Closable):
    """Writes each event immediately as a line of JSON in UTF-8.

    A line is written completely or not at all, and always begins at the start of a line. Control
    characters, line separators and characters that change the direction of text are escaped;
    nothing is removed. Sessions on several threads may write to one file.
    """

    __slots__ = ("__weakref__", "_file", "_lock", "_owned", "_path")

    def __init__(self, target: str | os.PathLike[str] | IO[Any]) -> None:
        """Write to a file.

        Args:
            target: A path: the file is opened for appending with the first event, and closed by
                `close`; its folder must exist, and a new file can be read by its owner only. Or an
                open file, binary or text: it is flushed after each line and not closed.
        """
        self._path: Path | None = None
        self._file: Any = None
        self._owned: BinaryIO | None = None
        self._lock = RLock()  # a session may end while another is reported
        if isinstance(target, (str, os.PathLike)):
            self._path = Path(target)
        else:
            self._file = target

    def __call__(self, envelope: Envelope) -> None:
        """Write one event.

        Raises:
            TypeError: The event contains something that is not JSON.
            OSError: The file cannot be opened or written; then the line is not in it.
        """
        line = to_json(
            JsonlLine(
                RECORD_VERSION,
                envelope.seq,
                envelope.at,
                envelope.session_id,
                envelope.turn_id,
                envelope.event,
                envelope.number,
            )
        )
        if not line.isascii() or b"\x7f" in line:
            line = _RAW.sub(_escape, line)
        with self._lock:
            if self._path is not None:
                self._append(self._path, line + b"\n")
            elif self._file is not None:
                is_text = isinstance(self._file, TextIOBase)
                self._file.write(line.decode() + "\n" if is_text else line + b"\n")
                self._file.flush()

    def close(self) -> None:
        """Close the file if this reporter opened it; a later event opens it again."""
        if self._owned is not None:
            self._owned.close()
            self._owned = None

    def _append(self, path: Path, line: bytes) -> None:
        if self._owned is None:
            self._owned = _open_to_append(path)
        file = self._owned
        end = file.seek(0, os.SEEK_END)
        left = memoryview(line)
        try:
            while left:
                # Unbuffered: on a full disk, `write` returns how much was written.
                left = left[file.write(left) :]
        except OSError:
            file.truncate(end)
            raise


def _escape(match: re.Match[bytes]) -> bytes:
    return b"\\u%04x" % ord(match[0].decode())


def _open_to_append(path: Path) -> BinaryIO:
    """Open a file for appending; end an incomplete line that an earlier process has left."""
    if not path.exists():
        # What was said is for its owner only. A file that exists keeps the mode that people set.
        path.touch(0o600)
    file = path.open("a+b", buffering=0)
    try:
        if file.seek(0, os.SEEK_END):
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                file.write(b"\n")
    except BaseException:
        file.close()
        raise
    return file
