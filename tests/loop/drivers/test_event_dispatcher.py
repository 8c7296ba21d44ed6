"""Telling: in order, to everyone, whatever a reporter does."""

import logging
from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest

from agentkit_core import SessionId, TurnId
from agentkit_loop import Agent, ReporterFailed
from agentkit_loop.drivers._event_dispatcher import EventDispatcher
from agentkit_loop.events import (
    Envelope,
    Event,
    RunFinished,
    RunStarted,
    RunSuspended,
    TurnStarted,
)
from agentkit_loop.testing import ManualClock, ScriptedModel
from support.counted_lines import counting

EVENTS: tuple[Event, ...] = (RunStarted(), TurnStarted(), RunFinished())


def tell_all(dispatcher: EventDispatcher) -> None:
    for event in EVENTS:
        dispatcher.dispatch(event, TurnId("turn-1"))


def test_envelopes_are_numbered_without_gaps_and_their_time_never_goes_back() -> None:
    clock = ManualClock(1_000)
    told: list[Envelope] = []
    dispatcher = EventDispatcher(SessionId("s"), clock.now_ms, [told.append])

    dispatcher.dispatch(RunStarted(), None)
    clock.advance(-0.5)
    dispatcher.dispatch(TurnStarted(), TurnId("turn-1"))
    clock.advance(2)
    dispatcher.dispatch(RunFinished(), None)

    assert [one.seq for one in told] == [1, 2, 3]
    assert [one.at for one in told] == [1_000, 1_000, 2_500]
    assert [one.turn_id for one in told] == [None, "turn-1", None]


def test_o03_a_reporter_that_raises_stops_nobody_and_is_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    told: list[Envelope] = []

    def broken(envelope: Envelope) -> None:
        raise BrokenPipeError("stdout is gone")

    dispatcher = EventDispatcher(SessionId("s"), ManualClock().now_ms, [broken, told.append])
    with caplog.at_level(logging.ERROR, logger="agentkit_loop"):
        tell_all(dispatcher)

    assert [one.event for one in told] == list(EVENTS)
    assert len(caplog.records) == 1
    assert dispatcher.failures == 3
    assert dispatcher.stopped_by is None


@dataclass
class Counting:
    """A reporter that cannot be hashed, and is equal to any other like it."""

    told: int = 0

    def __call__(self, envelope: Envelope) -> None:
        self.told += 1
        raise ValueError("broken")


def test_o03_reporters_that_raise_need_not_be_hashable_and_each_is_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    reporters = [Counting(), Counting()]
    dispatcher = EventDispatcher(SessionId("s"), ManualClock().now_ms, reporters)
    with caplog.at_level(logging.ERROR, logger="agentkit_loop"):
        tell_all(dispatcher)

    assert [one.told for one in reporters] == [3, 3]
    assert len(caplog.records) == 2
    assert dispatcher.failures == 6


def test_a_reporter_that_wants_the_run_to_stop_is_remembered_and_the_others_are_told() -> None:
    told: list[Envelope] = []

    def strict(envelope: Envelope) -> None:
        raise ReporterFailed(f"disk full at {envelope.seq}")

    dispatcher = EventDispatcher(SessionId("s"), ManualClock().now_ms, [strict, told.append])
    tell_all(dispatcher)

    assert len(told) == 3
    assert str(dispatcher.stopped_by) == "disk full at 1"


def test_what_happens_while_a_reporter_is_told_is_told_to_all_afterwards() -> None:
    told: list[tuple[str, int]] = []

    def first(envelope: Envelope) -> None:
        told.append(("first", envelope.seq))
        if envelope.seq == 1:
            dispatcher.dispatch(RunFinished(), None)

    def second(envelope: Envelope) -> None:
        told.append(("second", envelope.seq))

    dispatcher = EventDispatcher(SessionId("s"), ManualClock().now_ms, [first, second])
    dispatcher.dispatch(RunStarted(), None)

    assert told == [("first", 1), ("second", 1), ("first", 2), ("second", 2)]


def test_a_subscriber_is_told_from_then_on_and_until_it_leaves() -> None:
    told: list[Envelope] = []
    dispatcher = EventDispatcher(SessionId("s"), ManualClock().now_ms, [])

    dispatcher.dispatch(RunStarted(), None)
    leave = dispatcher.subscribe(told.append)
    dispatcher.dispatch(TurnStarted(), None)
    leave()
    dispatcher.dispatch(RunFinished(), None)

    assert [one.event for one in told] == [TurnStarted()]


async def later(envelope: Envelope) -> None:
    """Would be a coroutine that nobody runs."""


class Later:
    async def __call__(self, envelope: Envelope) -> None:
        """Would be a coroutine that nobody runs."""


@pytest.mark.parametrize("reporter", [later, Later(), partial(later), "later"])
def test_what_would_be_told_nothing_is_refused_where_it_is_given(reporter: Any) -> None:
    model = ScriptedModel("hi")
    with pytest.raises(TypeError, match="reporter"):
        Agent(model=model, reporters=[reporter])
    with pytest.raises(TypeError, match="reporter"):
        EventDispatcher(SessionId("s"), ManualClock().now_ms, []).subscribe(reporter)


def test_what_waited_when_a_ctrl_c_struck_is_told_before_what_comes_next() -> None:
    told: list[Event] = []

    def report(envelope: Envelope) -> None:
        told.append(envelope.event)
        if envelope.event == RunStarted():
            dispatcher.dispatch(TurnStarted(), None)
            raise KeyboardInterrupt

    dispatcher = EventDispatcher(SessionId("s"), ManualClock().now_ms, [report])
    with pytest.raises(KeyboardInterrupt):
        dispatcher.dispatch(RunStarted(), None)
    dispatcher.dispatch(RunFinished(), None)

    assert told == [RunStarted(), TurnStarted(), RunFinished()]


def test_a_reporter_that_was_given_twice_and_removed_once_is_told_once() -> None:
    told: list[Event] = []

    def report(envelope: Envelope) -> None:
        told.append(envelope.event)

    dispatcher = EventDispatcher(SessionId("s"), ManualClock().now_ms, [report])
    leave = dispatcher.subscribe(report)
    leave()
    leave()
    dispatcher.dispatch(RunStarted(), None)

    assert told == [RunStarted()]


def test_o02_that_a_session_is_left_is_told_once_if_anything_was() -> None:
    told: list[Event] = []
    dispatcher = EventDispatcher(
        SessionId("s"), ManualClock().now_ms, [lambda envelope: told.append(envelope.event)]
    )

    dispatcher.leave(None, is_closed=False)
    assert told == []
    dispatcher.dispatch(RunStarted(), None)
    dispatcher.leave(None, is_closed=True)
    assert told == [RunStarted()]
    dispatcher.leave(None, is_closed=False)
    dispatcher.leave(None, is_closed=False)
    assert told == [RunStarted(), RunSuspended()]


def test_reporters_that_fail_cost_no_more_when_many_of_them_do() -> None:
    def work(count: int) -> int:
        class Failing:
            def __eq__(self, other: object) -> bool:
                raise AssertionError("reporters are known by identity")

            __hash__ = None  # type: ignore[assignment]

            def __call__(self, envelope: Envelope) -> None:
                raise ValueError

        dispatcher = EventDispatcher(SessionId("s"), lambda: 0, [Failing() for _ in range(count)])
        lines = Counter[str]()
        dispatcher.dispatch(RunStarted(), None)
        with counting(lines):
            dispatcher.dispatch(RunFinished(), None)
        assert dispatcher.failures == 2 * count
        return lines.total()

    assert work(80) < 4.2 * work(20)
