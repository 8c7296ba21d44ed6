"""Records of every version are read for ever, and replay into the transcript of their session."""

from __future__ import annotations

import io
from pathlib import Path
from typing import get_args

import msgspec
import pytest

from agentkit_core import Item, SessionId
from agentkit_loop.events import Event
from agentkit_reporting import JsonlReporter, TextReporter, UsageReporter
from agentkit_reporting.replay import RecordProblem, diff, read_record, transcript_of
from agentkit_reporting.spans import spans_of

GOLDEN = Path(__file__).with_name("golden")
RECORDS = sorted(GOLDEN.glob("*.jsonl"))
"""What `JsonlReporter` has written in each version; these files are never written again."""


@pytest.fixture(params=RECORDS, ids=lambda path: path.stem)
def record(request: pytest.FixtureRequest) -> Path:
    path: Path = request.param
    return path


def test_a_kept_record_is_read_without_a_problem_and_has_all_events(record: Path) -> None:
    problems: list[RecordProblem] = []
    envelopes = [*read_record(record, on_problem=problems.append)]

    assert problems == []
    kinds = {type(envelope.event) for envelope in envelopes}
    assert kinds == set(get_args(Event))


def test_a_kept_record_replays_into_the_transcript_that_its_session_had(record: Path) -> None:
    kept = record.with_suffix(".transcript.json").read_bytes()
    expected = msgspec.json.decode(kept, type=tuple[Item, ...])

    assert transcript_of(read_record(record)) == expected
    rewritten = transcript_of(read_record(record), SessionId("session-of-all-events"))
    assert [item.text for item in rewritten] == ["hi"]


def test_a_kept_record_is_written_again_as_it_is(record: Path) -> None:
    file = io.BytesIO()
    report = JsonlReporter(file)
    for envelope in read_record(record):
        report(envelope)

    assert file.getvalue() == record.read_bytes()


def test_reporters_take_a_record_as_they_take_a_run(record: Path) -> None:
    usage, text = UsageReporter(), io.StringIO()
    show = TextReporter(text)
    for envelope in read_record(record):
        usage(envelope)
        show(envelope)

    assert usage.summary().total.requests == 6
    assert "< look: seen häuser" in text.getvalue()
    # The outer session with its inner agent, and two runs of the session with all events.
    assert [len([*run.walk()]) for run in spans_of(read_record(record))] == [15, 4, 1]


def test_records_of_the_same_run_do_not_differ() -> None:
    first, *others = RECORDS

    for other in others:
        assert diff(read_record(first), read_record(other)) is None
