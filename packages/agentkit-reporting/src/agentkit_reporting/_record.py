"""Reads the records that `JsonlReporter` writes, of this version and of earlier ones."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, get_args

import msgspec

from agentkit_core import SessionId
from agentkit_core.values import Record, StringEnum
from agentkit_loop.events import Envelope, Event, RunStarted
from agentkit_reporting._jsonl import RECORD_VERSION, JsonlLine

RecordSource = str | os.PathLike[str] | Iterable[str | bytes]
"""A path, or the lines themselves: an open file, a list."""

_log: Final = logging.getLogger("agentkit_reporting")
_EVENTS: Final[dict[str, frozenset[str]]] = {
    str(kind.__struct_config__.tag): frozenset((*kind.__struct_fields__, "type"))
    for kind in get_args(Event)
}
"""The types of events that are known, and the fields of each."""
_FIELDS: Final = frozenset(JsonlLine.__struct_fields__)
_OBJECT: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_LINE: Final = msgspec.json.Decoder(JsonlLine)
_WORD: Final = msgspec.json.Decoder(str)
_NUMBER: Final = msgspec.json.Decoder(int)
_UNREADABLE: Final = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""What a line raises that is damaged; the last one if its values are nested too deeply."""
_TRUNCATED: Final = "Input data was truncated"


class RecordProblemKind(StringEnum):
    """What is odd about a line of a record."""

    UNREADABLE = "unreadable"
    """It is not a line of a record; its event is skipped."""
    INCOMPLETE = "incomplete"
    """The process that wrote it ended in the middle of it; it is skipped."""
    UNKNOWN_EVENT = "unknown_event"
    """Its event is of a type that this version does not know, and is skipped."""
    UNKNOWN_FIELD = "unknown_field"
    """It has a field that this version does not know; the rest of it is read."""
    NEWER_VERSION = "newer_version"
    """Its format is newer; what can be read of it is read."""
    MISSING_EVENTS = "missing_events"
    """Events before it are missing: a reporter dropped them, or could not write them."""


class RecordProblem(Record, frozen=True):
    """Something odd in a record, which reading goes on after.

    Attributes:
        kind: What it is.
        line: The number of the line, from 1.
        message: What is odd, for people.
    """

    kind: RecordProblemKind
    line: int
    message: str


def read_record(
    source: RecordSource, *, on_problem: Callable[[RecordProblem], object] | None = None
) -> Iterator[Envelope]:
    """Read the events of a record, one line at a time.

    A record may have several sessions, one after another or mixed. Blank lines are ignored.

    Args:
        source: The path of the record, or its lines.
        on_problem: Called with each problem, before the envelope of its line; `list.append`
            collects them. None logs them as warnings.

    Yields:
        The envelopes, in the order of the lines.

    Raises:
        OSError: The file cannot be read.
    """
    report = on_problem or _log_problem
    if isinstance(source, (str, os.PathLike)):
        with Path(source).open("rb") as file:
            yield from _read(file, report)
    else:
        yield from _read(source, report)


def _log_problem(problem: RecordProblem) -> None:
    _log.warning("line %d of a record: %s", problem.line, problem.message)


def _read(
    lines: Iterable[str | bytes], report: Callable[[RecordProblem], object]
) -> Iterator[Envelope]:
    reader = _LineReader(report)
    for number, line in enumerate(lines, start=1):
        data = line.encode("utf-8", "surrogatepass") if isinstance(line, str) else line
        data = data.strip()
        reader.line = number
        if data and (envelope := reader.read(data)) is not None:
            yield envelope


class _LineReader:
    """Reads lines of one record.

    Attributes:
        line: The number of the present line, from 1.
    """

    def __init__(self, report: Callable[[RecordProblem], object]) -> None:
        self.line = 0
        self._report = report
        self._last_seq: dict[SessionId, int] = {}

    def read(self, data: bytes) -> Envelope | None:
        try:
            fields = _OBJECT.decode(data)
            version = _NUMBER.decode(fields["v"])
            event = _OBJECT.decode(fields["event"])
            kind = _WORD.decode(event["type"])
        except KeyError as error:
            self._skip(f"it has no field {error.args[0]!r}")
            return None
        except _UNREADABLE as error:
            self._skip(str(error))
            return None
        if version > RECORD_VERSION:
            text = f"its format has version {version}, newer than {RECORD_VERSION}"
            self._tell(RecordProblemKind.NEWER_VERSION, text)
        if kind not in _EVENTS:
            self._note_seq(fields)
            self._tell(RecordProblemKind.UNKNOWN_EVENT, f"unknown type of event {kind!r}")
            return None
        for name in sorted(fields.keys() - _FIELDS):
            self._tell(RecordProblemKind.UNKNOWN_FIELD, f"unknown field {name!r}")
        for name in sorted(event.keys() - _EVENTS[kind]):
            self._tell(RecordProblemKind.UNKNOWN_FIELD, f"unknown field {name!r} of {kind!r}")
        try:
            line = _LINE.decode(data)
        except _UNREADABLE as error:
            self._skip(str(error))
            return None
        self._check_seq(line)
        return Envelope(
            seq=line.seq,
            session_id=line.session_id,
            at=line.ts,
            event=line.event,
            turn_id=line.turn_id,
            number=line.number,
        )

    def _check_seq(self, line: JsonlLine) -> None:
        # A run that goes on elsewhere may begin at a lower number, but leaves none out.
        last = self._last_seq.get(line.session_id)
        self._last_seq[line.session_id] = line.seq
        if last is None or line.seq <= last + 1 or isinstance(line.event, RunStarted):
            return
        missing = f"{last + 1}" if line.seq == last + 2 else f"{last + 1} to {line.seq - 1}"
        text = f"events {missing} of session {line.session_id!r} are missing before it"
        self._tell(RecordProblemKind.MISSING_EVENTS, text)

    def _note_seq(self, fields: dict[str, Any]) -> None:
        with suppress(KeyError, *_UNREADABLE):
            session_id = SessionId(_WORD.decode(fields["session_id"]))
            self._last_seq[session_id] = _NUMBER.decode(fields["seq"])

    def _skip(self, why: str) -> None:
        if why != _TRUNCATED:
            return self._tell(RecordProblemKind.UNREADABLE, f"it cannot be read: {why}")
        text = "it is incomplete: the process that wrote it ended in the middle"
        return self._tell(RecordProblemKind.INCOMPLETE, text)

    def _tell(self, kind: RecordProblemKind, message: str) -> None:
        self._report(RecordProblem(kind, self.line, message))
