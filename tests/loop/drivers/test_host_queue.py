"""The host queue: which status a host gets, and when."""

import pytest

from agentkit_core import TurnId
from agentkit_loop import (
    AfterRound,
    AwaitingInput,
    Busy,
    Closed,
    Finished,
    SessionStatus,
    TurnEnd,
    TurnResult,
)
from agentkit_loop.drivers._host_queue import HostQueue

FIRST, SECOND = (
    Finished(TurnResult(turn_id=TurnId(name), end=TurnEnd.COMPLETED)) for name in ("t1", "t2")
)


def queue_of(*statuses: SessionStatus) -> HostQueue:
    queue = HostQueue()
    for status in statuses:
        queue.put(status)
    return queue


def test_the_end_of_a_turn_is_returned_while_there_is_work() -> None:
    queue = queue_of(FIRST)

    assert queue.take(is_at_work=True) == FIRST
    assert not queue


@pytest.mark.parametrize("status", [AwaitingInput(), AfterRound(), Busy(), Closed()])
def test_any_other_status_waits_until_there_is_no_work(status: SessionStatus) -> None:
    queue = queue_of(status)

    assert queue.take(is_at_work=True) is None
    assert queue
    assert queue.take(is_at_work=False) == status
    assert queue.take(is_at_work=False) is None


def test_a_newer_status_replaces_one_of_a_session_at_rest() -> None:
    queue = queue_of(AwaitingInput(), Busy(), AfterRound())

    assert queue.take(is_at_work=False) == AfterRound()
    assert not queue


def test_no_end_of_a_turn_is_replaced() -> None:
    queue = queue_of(FIRST, SECOND, AwaitingInput(notices=1))

    taken = [queue.take(is_at_work=False) for _ in range(4)]

    assert taken == [FIRST, SECOND, AwaitingInput(notices=1), None]


def test_the_last_result_outlives_the_queue() -> None:
    queue = queue_of(FIRST, SECOND)
    queue.clear()

    assert not queue
    assert queue.last_result == SECOND.result


def test_input_takes_back_that_there_is_nothing_to_do_and_nothing_else() -> None:
    for statuses in ([FIRST, AwaitingInput()], [FIRST], [FIRST, AfterRound()], [AwaitingInput()]):
        queue = queue_of(*statuses)
        queue.drop_awaiting_input()

        taken = [queue.take(is_at_work=False) for _ in statuses]
        left = [status for status in statuses if not isinstance(status, AwaitingInput)]
        assert [status for status in taken if status is not None] == left
