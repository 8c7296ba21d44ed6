"""A background reporter gets every event, in order, or says how many were dropped."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from agentkit_loop import ReporterFailed
from agentkit_loop.events import Diagnostic, Envelope
from agentkit_reporting import BackgroundReporter, FailurePolicy, QueueOverflow
from support.runs import enveloped

EVENTS = enveloped(Diagnostic(str(n)) for n in range(10))


class Gate:
    """A reporter that waits at its first event until it is let through."""

    def __init__(self) -> None:
        self.received: list[Envelope] = []
        self.waiting = threading.Event()
        self.open = threading.Event()

    def __call__(self, envelope: Envelope) -> None:
        self.waiting.set()
        assert self.open.wait(10)
        self.received.append(envelope)


def test_o03_a_slow_reporter_is_told_everything_in_a_thread_of_its_own() -> None:
    threads: set[str] = set()
    received: list[Envelope] = []

    def slow(envelope: Envelope) -> None:
        time.sleep(0.001)
        threads.add(threading.current_thread().name)
        received.append(envelope)

    with BackgroundReporter(slow) as report:
        for envelope in EVENTS:
            report(envelope)

    assert received == EVENTS
    assert threads == {"agentkit-reporter"}
    assert report.dropped == 0


def test_o03_the_run_does_not_wait_for_it() -> None:
    gate = Gate()
    report = BackgroundReporter(gate)
    for envelope in EVENTS:
        report(envelope)
    assert gate.received == []

    gate.open.set()
    report.close()
    assert gate.received == EVENTS


@pytest.mark.parametrize(
    ("overflow", "remaining"),
    [(QueueOverflow.DROP_OLDEST, [1, 8, 9, 10]), (QueueOverflow.DROP_NEWEST, [1, 2, 3, 4])],
)
def test_o03_the_queue_is_bounded_and_says_what_it_dropped(
    overflow: QueueOverflow, remaining: list[int]
) -> None:
    gate = Gate()
    report = BackgroundReporter(gate, capacity=3, overflow=overflow)
    report(EVENTS[0])
    assert gate.waiting.wait(10)
    for envelope in EVENTS[1:]:
        report(envelope)
    gate.open.set()
    report.close()

    assert [envelope.seq for envelope in gate.received] == remaining
    assert report.dropped == 6


def test_r07_who_must_not_lose_anything_waits() -> None:
    gate = Gate()
    report = BackgroundReporter(gate, capacity=1, overflow=QueueOverflow.BLOCK)
    threading.Timer(0.05, gate.open.set).start()
    for envelope in EVENTS:
        report(envelope)
    assert gate.open.is_set(), "the third event had to wait until there was room"
    report.close()

    assert gate.received == EVENTS
    assert report.dropped == 0


def fail(envelope: Envelope) -> None:
    raise ValueError("no")


def test_o03_a_failure_in_the_background_is_counted() -> None:
    with BackgroundReporter(fail, policy=FailurePolicy.ACCUMULATE) as report:
        for envelope in EVENTS:
            report(envelope)

    assert report.failures == len(report.take_errors()) == 10


def test_o03_fail_fast_stops_the_run_at_the_next_event() -> None:
    report = BackgroundReporter(fail, policy=FailurePolicy.FAIL_FAST)
    report(EVENTS[0])
    report.close()

    with pytest.raises(ReporterFailed):
        report(EVENTS[1])


def test_closing_ends_the_thread_and_later_events_are_dropped() -> None:
    received: list[Envelope] = []
    report = BackgroundReporter(received.append)
    report(EVENTS[0])
    report.close()
    report.close()
    report(EVENTS[1])

    assert received == EVENTS[:1]
    assert report.dropped == 1


def test_a_reporter_that_was_closed_before_anything_was_told_starts_no_thread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    started: list[threading.Thread] = []
    monkeypatch.setattr(threading.Thread, "start", started.append)
    report = BackgroundReporter(fail)
    report.close()
    report(EVENTS[0])

    assert started == []


@pytest.fixture(autouse=True)
def no_thread_stays() -> Iterator[None]:
    yield
    assert not [value for value in threading.enumerate() if value.name == "agentkit-reporter"]
