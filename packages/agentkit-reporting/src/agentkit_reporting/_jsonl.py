"""A run as JSON lines, to be read by programs.

One event is one line:

    {"v":1,"seq":7,"ts":1767225600000,"session_id":"s","turn_id":"turn-1","event":{"type":…}}

`ts` is in milliseconds since the Unix epoch, `turn_id` is null between turns. Readers pass over
events whose `type` they do not know; `v` changes only if that is not enough.
"""

from __future__ import annotations

import os
import re
from io import TextIOBase
from pathlib import Path
from types import TracebackType
from typing import IO, Any, BinaryIO, Final, Self

from agentkit_core import SessionId, TurnId, to_json
from agentkit_core.values import Record
from agentkit_loop.events import Envelope, Event

_VERSION: Final = 1
_RAW: Final = re.compile(b"\x7f|\xc2[\x80-\x9f]|\xe2\x80[\xa8-\xae]|\xe2\x81[\xa6-\xa9]")
"""What JSON may hold unescaped, but a terminal may obey, or a reader take for the end of a line:
U+007F to U+009F, U+2028 to U+202E, U+2066 to U+2069."""


class JsonlLine(Record, frozen=True):
    """One line, as it is written."""

    v: int
    seq: int
    ts: int
    session_id: SessionId
    turn_id: TurnId | None
    event: Event


class JsonlReporter:
    """Writes each event as a line of JSON, in UTF-8, as soon as it is told.

    A line is written whole or not at all, and never behind the half of another. Control
    characters, line separators and marks that turn the direction of writing are escaped;
    nothing is taken out.
    """

    def __init__(self, target: str | os.PathLike[str] | IO[Any]) -> None:
        """Write to `target`.

        Args:
            target: A path: the file is opened at the first event, appended to, and closed by
                `close`; folders are not made. Or an open file, binary or text: it is flushed
                after each line and left open.
        """
        self._path: Path | None = None
        self._file: Any = None
        self._owned: BinaryIO | None = None
        if isinstance(target, (str, os.PathLike)):
            self._path = Path(target)
        else:
            self._file = target

    def __call__(self, envelope: Envelope) -> None:
        """Write one event.

        Raises:
            TypeError: The event holds something that is not JSON.
            OSError: The file cannot be opened or written; the line is not in it then.
        """
        line = to_json(
            JsonlLine(
                _VERSION,
                envelope.seq,
                envelope.at,
                envelope.session_id,
                envelope.turn_id,
                envelope.event,
            )
        )
        if not line.isascii() or b"\x7f" in line:
            line = _RAW.sub(_escaped, line)
        if self._path is not None:
            self._append(self._path, line + b"\n")
        elif self._file is not None:
            is_text = isinstance(self._file, TextIOBase)
            self._file.write(line.decode() + "\n" if is_text else line + b"\n")
            self._file.flush()

    def close(self) -> None:
        """Close the file if it was opened here; an event after that opens it again."""
        if self._owned is not None:
            self._owned.close()
            self._owned = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _append(self, path: Path, line: bytes) -> None:
        if self._owned is None:
            self._owned = _opened(path)
        file = self._owned
        end = file.seek(0, os.SEEK_END)
        left = memoryview(line)
        try:
            while left:
                # Unbuffered: a full disk takes what fits and says how much that was.
                left = left[file.write(left) :]
        except OSError:
            file.truncate(end)
            raise


def _escaped(found: re.Match[bytes]) -> bytes:
    return b"\\u%04x" % ord(found[0].decode())


def _opened(path: Path) -> BinaryIO:
    """Open a file to append to; whoever wrote it last may have died in the middle of a line."""
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
