"""What both kinds of session do about a status, as a table; no session and no driver is needed."""

from typing import Any

import pytest
from msgspec.structs import replace

from agentkit_core import (
    ApprovalId,
    ApprovalRequest,
    Item,
    SessionId,
    ToolCall,
    ToolCallId,
    TurnId,
)
from agentkit_loop import (
    AfterRound,
    ApprovalRequiredError,
    AwaitingInput,
    BackgroundDone,
    Busy,
    Closed,
    Finished,
    LoopConfig,
    NothingToContinue,
    SessionClosed,
    SessionStatus,
    TurnEnd,
    TurnResult,
    WaitingForApproval,
)
from agentkit_loop.agent._host_loop import (
    Ask,
    Decision,
    Done,
    HostLoop,
    Post,
    Raise,
    Unanswered,
    Wait,
)
from agentkit_loop.kernel import Continue, State, start
from agentkit_loop.kernel._call_state import CallState

GOES_ON = Post(Continue())


def request(call_id: str) -> ApprovalRequest:
    call = ToolCall(ToolCallId(call_id), "pay")
    return ApprovalRequest(id=ApprovalId("a"), call=call, kind="tool.pay", summary="pays")


IN_TURN, IN_BACKGROUND = request("c1"), request("c2")
BOTH = WaitingForApproval((IN_BACKGROUND, IN_TURN), (ToolCallId("c2"),))
ONLY_BACKGROUND = WaitingForApproval((IN_BACKGROUND,), (ToolCallId("c2"),))


def finished(end: TurnEnd = TurnEnd.COMPLETED) -> Finished:
    return Finished(TurnResult(turn_id=TurnId("t"), end=end, model_calls=1))


def state(
    *,
    running_call: bool = False,
    queued: bool = False,
    notices: bool = False,
    background_done: BackgroundDone = BackgroundDone.CONTINUE,
) -> State:
    config = LoopConfig(background_done=background_done)
    fresh, _ = start(SessionId("s"), model="m", config=config)
    call = CallState(call=IN_BACKGROUND.call)
    return replace(
        fresh,
        background={ToolCallId("c2"): call} if running_call else {},
        inputs=((Item.user("more"),),) if queued else (),
        notices=(Item.user("c2 has ended"),) if notices else (),
    )


def loop(**options: Any) -> HostLoop:
    return HostLoop(**{"has_on_approval": False, "can_wait": True, **options})


ASKS: Any = {"has_on_approval": True}
RETURNS: Any = {"unanswered": Unanswered.RETURN}
BLOCKS: Any = {"can_wait": False}
TELLS_LATER: Any = {"background_done": BackgroundDone.NOTIFY}

TABLE: list[tuple[str, dict[str, Any], SessionStatus | None, dict[str, Any], Decision]] = [
    ("no status: begin or go on", {}, None, {}, GOES_ON),
    ("no status, queued input", {}, None, {"queued": True}, GOES_ON),
    ("no status, a background call", {}, None, {"running_call": True}, Wait()),
    ("no status, a background call, blocking", BLOCKS, None, {"running_call": True}, GOES_ON),
    (
        "no status, a background call that the next turn reports",
        {},
        None,
        {"running_call": True, **TELLS_LATER},
        GOES_ON,
    ),
    ("after a round", {}, AfterRound(), {}, GOES_ON),
    ("finished", {}, finished(), {}, Done(finished())),
    ("finished, queued input", {}, finished(), {"queued": True}, GOES_ON),
    ("finished, a call to report", {}, finished(), {"notices": True}, GOES_ON),
    (
        "finished, a call to report in the next turn",
        {},
        finished(),
        {"notices": True, **TELLS_LATER},
        Done(finished()),
    ),
    ("finished, a background call", {}, finished(), {"running_call": True}, Wait()),
    (
        "finished, a background call, blocking",
        BLOCKS,
        finished(),
        {"running_call": True},
        Done(finished()),
    ),
    *(
        (
            f"{end}, whatever could follow",
            {},
            finished(end),
            {"queued": True, "running_call": True, "notices": True},
            Done(finished(end)),
        )
        for end in (TurnEnd.CANCELLED, TurnEnd.ERROR)
    ),
    ("approval, asked of the host", ASKS, BOTH, {}, Ask(BOTH.requests)),
    ("approval, asked of the host, any way", {**ASKS, **RETURNS}, BOTH, {}, Ask(BOTH.requests)),
    ("approval, left to the host", RETURNS, BOTH, {}, Done(BOTH)),
    (
        "approval of a background call, left to the host",
        RETURNS,
        ONLY_BACKGROUND,
        {},
        Done(ONLY_BACKGROUND),
    ),
    ("approval of a background call alone", {}, ONLY_BACKGROUND, {}, Wait()),
]  # fmt: skip


@pytest.mark.parametrize(
    ("options", "status", "facts", "decision"),
    [row[1:] for row in TABLE],
    ids=[row[0] for row in TABLE],
)
def test_what_is_done_about_a_status(
    options: dict[str, Any],
    status: SessionStatus | None,
    facts: dict[str, Any],
    decision: Decision,
) -> None:
    assert loop(**options).decide(status, state(**facts)) == decision


@pytest.mark.parametrize(
    ("status", "error"),
    [(AwaitingInput(), NothingToContinue), (Busy(), NothingToContinue), (Closed(), SessionClosed)],
    ids=["awaiting input", "busy", "closed"],
)
def test_a_status_that_leaves_nothing_to_do_is_an_error(
    status: SessionStatus, error: type[Exception]
) -> None:
    decision = loop().decide(status, state())

    assert isinstance(decision, Raise)
    assert type(decision.error) is error


@pytest.mark.parametrize(
    ("options", "status", "requests"),
    [
        ({}, BOTH, (IN_TURN,)),  # the turn can wait for the other one
        (BLOCKS, BOTH, (IN_BACKGROUND, IN_TURN)),
        (BLOCKS, ONLY_BACKGROUND, (IN_BACKGROUND,)),  # it could only wait for ever
    ],
)
def test_approvals_that_nobody_can_give_are_an_error_that_names_them(
    options: dict[str, Any],
    status: WaitingForApproval,
    requests: tuple[ApprovalRequest, ...],
) -> None:
    decision = loop(**options).decide(status, state())

    assert isinstance(decision, Raise)
    assert isinstance(decision.error, ApprovalRequiredError)
    assert decision.error.requests == requests


def test_a_background_call_that_leaves_nothing_to_report_ends_the_wait_with_the_last_turn() -> None:
    host_loop = loop()

    assert host_loop.decide(finished(), state(running_call=True)) == Wait()
    assert host_loop.decide(None, state(running_call=True)) == Wait()
    assert host_loop.decide(None, state()) == Done(finished())


def test_a_background_call_that_ends_with_a_report_is_followed_by_a_turn() -> None:
    host_loop = loop()

    assert host_loop.decide(finished(), state(running_call=True)) == Wait()
    assert host_loop.decide(None, state(notices=True)) == GOES_ON
    assert host_loop.decide(finished(), state()) == Done(finished())
    assert host_loop.results == [finished().result] * 2


def test_a_session_that_is_over_is_not_waited_for() -> None:
    assert loop().decide(finished(), state(running_call=True), is_over=True) == Done(finished())
    assert loop().decide(None, state(running_call=True), is_over=True) == GOES_ON
