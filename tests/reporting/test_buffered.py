"""A buffered reporter gets every event once and in order, when a batch is full or on `flush`."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit_loop.events import Diagnostic, Envelope
from agentkit_reporting import BufferedReporter
from support.runs import enveloped

EVENTS = enveloped(Diagnostic(str(n)) for n in range(10))


def test_r05_events_are_held_until_there_are_enough() -> None:
    received: list[Envelope] = []
    report = BufferedReporter(received.append, capacity=2)
    for envelope in EVENTS[:3]:
        report(envelope)
    assert received == EVENTS[:2]

    report.close()
    assert received == EVENTS[:3]


def test_r05_without_a_capacity_only_flushing_hands_on() -> None:
    received: list[Envelope] = []
    with BufferedReporter(received.append) as report:
        for envelope in EVENTS:
            report(envelope)
        assert received == []
        report.flush()
        assert received == EVENTS
    assert received == EVENTS


@given(st.integers(0, 12), st.integers(0, 10))
def test_r05_each_event_is_told_once_and_in_order(capacity: int, count: int) -> None:
    received: list[Envelope] = []
    with BufferedReporter(received.append, capacity) as report:
        for envelope in EVENTS[:count]:
            report(envelope)

    assert received == EVENTS[:count]


def test_an_event_at_which_the_reporter_fails_is_not_told_again() -> None:
    received: list[int] = []

    def picky(envelope: Envelope) -> None:
        received.append(envelope.seq)
        if envelope.seq == 2:
            raise ValueError

    report = BufferedReporter(picky)
    for envelope in EVENTS[:3]:
        report(envelope)
    with pytest.raises(ValueError):  # noqa: PT011
        report.flush()
    report.flush()

    assert received == [1, 2, 3]
