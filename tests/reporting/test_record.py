"""A record is read line by line, whatever else is in it, and every odd line is told of."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit_loop.events import Diagnostic, Envelope, RunStarted, TurnStarted
from agentkit_reporting import JsonlReporter
from agentkit_reporting.replay import RecordProblem, read_record
from support.examples import examples
from support.runs import SESSION, enveloped, walked


def recorded(envelopes: list[Envelope]) -> bytes:
    file = io.BytesIO()
    report = JsonlReporter(file)
    for envelope in envelopes:
        report(envelope)
    return file.getvalue()


THREE = enveloped([RunStarted(), TurnStarted(), Diagnostic("x")])
LINES = recorded(THREE).splitlines(keepends=True)


def changed(line: bytes, **changes: Any) -> bytes:
    return json.dumps({**json.loads(line), **changes}).encode() + b"\n"


def read(lines: list[bytes]) -> tuple[list[Envelope], list[tuple[str, int, str]]]:
    problems: list[RecordProblem] = []
    envelopes = [*read_record(lines, on_problem=problems.append)]
    return envelopes, [(problem.kind, problem.line, problem.message) for problem in problems]


@examples(20)
@given(st.integers(0, 2**32))
def test_what_was_written_is_read_back(seed: int) -> None:
    envelopes = walked(seed)

    assert read(recorded(envelopes).splitlines(keepends=True)) == (envelopes, [])


def test_a_path_a_file_and_text_are_read_alike(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(b"".join(LINES) + b"\n")

    assert [*read_record(path)] == [*read_record(str(path))] == THREE
    with path.open("rb") as file:
        assert [*read_record(file)] == THREE
    with path.open(encoding="utf-8", newline="") as text:
        assert [*read_record(text)] == THREE
    with pytest.raises(FileNotFoundError):
        next(read_record(tmp_path / "other.jsonl"))


def test_a_record_is_read_lazily() -> None:
    taken: list[bytes] = []

    def lines() -> Iterator[bytes]:
        for line in LINES:
            taken.append(line)
            yield line

    record = read_record(lines())
    assert taken == []
    next(record)
    assert len(taken) == 1


def test_w02_an_unknown_event_is_skipped_and_an_unknown_field_is_left_out() -> None:
    event = {"type": "of_tomorrow", "x": 1}
    lines = [
        LINES[0],
        changed(LINES[1], event=event),
        changed(LINES[2], more=1, event={"type": "diagnostic", "message": "x", "level": 3}),
    ]

    assert read(lines) == (
        [THREE[0], THREE[2]],
        [
            ("unknown_event", 2, "unknown type of event 'of_tomorrow'"),
            ("unknown_field", 3, "unknown field 'more'"),
            ("unknown_field", 3, "unknown field 'level' of 'diagnostic'"),
        ],
    )


def test_p01_a_torn_line_loses_itself_only() -> None:
    for cut in range(1, len(LINES[2]) - 1):
        torn = LINES[2][:cut]
        assert read([*LINES[:2], torn]) == (
            THREE[:2],
            [("incomplete", 3, "it is incomplete: the process that wrote it ended in the middle")],
        )
        # Another process has gone on with the file.
        envelopes, problems = read([*LINES[:2], torn + b"\n", LINES[2]])
        assert envelopes == THREE
        assert [kind for kind, *_ in problems] == ["incomplete"]


@pytest.mark.parametrize(
    "line",
    [
        b"not json\n",
        b"[1]\n",
        b"{}\n",
        b"\xff\xfe\n",
        b'{"v":1,"event":{}}\n',
        b'{"v":"1","event":{"type":"turn_started"}}\n',
        b'{"v":1,"event":{"type":"turn_started"}}\n',
        changed(LINES[1], seq="two"),
        changed(LINES[1], event={"type": 5}),
        changed(LINES[1], event={"type": "mutation_started", "point": "of_tomorrow"}),
        changed(LINES[1], event={"type": "items_appended", "revision": 1}),
    ],
)
def test_p01_a_damaged_line_loses_itself_only(line: bytes) -> None:
    envelopes, problems = read([LINES[0], line, b"\n", LINES[2]])

    assert envelopes == [THREE[0], THREE[2]]
    assert [problem[:2] for problem in problems] == [("unreadable", 2), ("missing_events", 4)]


def test_events_that_were_dropped_are_told_of() -> None:
    envelopes = enveloped([TurnStarted() for _ in range(9)])
    lines = recorded([envelopes[3], envelopes[4], envelopes[6], envelopes[8]])
    _, problems = read(lines.splitlines(keepends=True))

    assert problems == [
        ("missing_events", 3, f"events 6 of session {SESSION!r} are missing before it"),
        ("missing_events", 4, f"events 8 of session {SESSION!r} are missing before it"),
    ]


def test_a_line_of_a_newer_format_is_read_as_far_as_it_can_be() -> None:
    envelopes, problems = read([changed(LINES[0], v=2)])

    assert envelopes == [THREE[0]]
    assert problems == [("newer_version", 1, "its format has version 2, newer than 1")]


def test_problems_are_logged_if_nobody_takes_them(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "agentkit_reporting"):
        assert [*read_record([b"x\n", LINES[0]])] == [THREE[0]]

    assert [record.getMessage()[:45] for record in caplog.records] == [
        "line 1 of a record: it cannot be read: JSON i"
    ]


@pytest.mark.parametrize(
    "event",
    [
        {"type": "diagnostic", "message": "x", "more": "DEEP"},
        {"type": "tool_execution_started", "call_id": "c", "name": "t", "input": {"a": "DEEP"}},
        {"type": "not_known_yet", "more": "DEEP"},
        "DEEP",
    ],
)
def test_p01_a_line_that_is_nested_too_deeply_loses_itself_only(event: Any) -> None:
    deep = b"[" * 200_000 + b"]" * 200_000
    line = changed(LINES[1], event=event).replace(b'"DEEP"', deep)

    envelopes, problems = read([LINES[0], line, LINES[2]])
    assert envelopes == [THREE[0], THREE[2]]
    assert (problems[0][0], problems[0][1]) == ("unreadable", 2)
