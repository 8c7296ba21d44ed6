"""The kernel asks only where there is somebody to ask; and turns that begin with their prompt."""

from typing import Any

import pytest

from agentkit_core import Item, SessionId
from agentkit_loop import AwaitingInput, LoopConfig
from agentkit_loop.events import InputRejected, ToolCatalogChanged
from agentkit_loop.kernel import (
    CallModel,
    HookPoints,
    Phase,
    Prepare,
    Prepared,
    Submit,
    ToolsOffered,
    Yield,
    fork,
    resume,
    start,
)
from support.rig import Rig

ALL = HookPoints(mutators=True, request=True, finish=True)


@pytest.mark.parametrize(
    ("hooks", "phase"),
    [
        (HookPoints(), Phase.CALLING),
        (HookPoints(request=True), Phase.PREPARING),
        (HookPoints(mutators=True), Phase.MUTATING),
        (HookPoints(finish=True), Phase.CALLING),
    ],
)
def test_a_turn_stops_first_where_there_is_somebody_to_ask(hooks: HookPoints, phase: Phase) -> None:
    rig = Rig(hooks=hooks)
    rig.prepares = False

    assert rig.ask().state.phase is phase


def test_without_hooks_a_prompt_is_one_step_and_each_answer_is_one() -> None:
    rig = Rig().give(Submit((Item.user("hi"),), begin=True))
    assert [type(effect) for effect in rig.state.out.values()] == [CallModel]

    rig.answer("a").allow("a").done("a")
    assert [type(effect) for effect in rig.state.out.values()] == [CallModel]
    assert rig.answer().now == 5


def test_a_retry_and_a_lost_call_need_no_preparing_either() -> None:
    rig = Rig().ask().fail().forget().ring()
    assert rig.trace == "model_call_started !call_model"

    rig.forget().crash()
    assert rig.state.phase is Phase.CALLING
    assert rig.turn.attempt == 3


def test_whoever_resumes_a_session_says_whom_there_is_to_ask() -> None:
    state, _ = start(SessionId("s"), model="m", hooks=ALL)

    assert resume(state)[0].hooks == ALL
    assert resume(state, hooks=HookPoints())[0].hooks == HookPoints()
    assert fork(state, SessionId("other")).hooks == ALL


def test_a_request_that_is_being_prepared_when_hooks_go_is_prepared_to_the_end() -> None:
    rig = Rig(prepares=False).ask()
    state, _ = resume(rig.state, hooks=HookPoints())
    rig = Rig(state=state, prepares=True)
    effect = rig.out(Prepare)

    assert rig.give(Prepared(effect.id)).state.phase is Phase.CALLING
    assert rig.answer().result.text == "t"


# a prompt that begins a turn


def test_a_prompt_begins_a_turn_only_where_none_runs() -> None:
    rig = Rig().ask("one").give(Submit((Item.user("two"),), begin=True))

    assert (rig.state.turns, len(rig.state.inputs)) == (1, 1)
    assert rig.state.phase is Phase.CALLING


@pytest.mark.parametrize("items", [(), (Item.assistant("I am no host"),)])
def test_a_prompt_that_says_nothing_begins_no_turn_and_says_so(items: tuple[Item, ...]) -> None:
    rig = Rig().give(Submit(items, begin=True))

    assert rig.state.phase is Phase.IDLE
    assert [effect.status for effect in rig.effects if isinstance(effect, Yield)] == [
        AwaitingInput()
    ]
    assert any(isinstance(event, InputRejected) for event in rig.events) == bool(items)


def test_a_prompt_takes_along_what_was_queued_before_it() -> None:
    rig = Rig().say("first").give(Submit((Item.user("second"),), begin=True))

    assert [item.text for item in rig.state.transcript] == ["first", "second"]


# the tools on offer


def offered(rig: Rig, **tools: str) -> list[Any]:
    rig.forget().give(ToolsOffered(tools))
    return [event for event in rig.events if isinstance(event, ToolCatalogChanged)]


def test_what_is_different_of_the_tools_is_reported_and_the_first_offer_is_not() -> None:
    rig = Rig().ask()
    assert offered(rig, read="1", write="1") == []
    assert offered(rig, read="1", write="1") == []
    assert offered(rig, read="2", send="1") == [
        ToolCatalogChanged(added=("send",), removed=("write",), changed=("read",))
    ]
    assert rig.state.tools == {"read": "2", "send": "1"}
    assert rig.answer().result.text == "t"


def test_tools_that_hooks_prepared_and_tools_that_a_driver_offers_are_compared() -> None:
    rig = Rig(LoopConfig(), prepares=False).ask()
    rig.give(Prepared(rig.out(Prepare).id, tools={"read": "1"}))

    assert offered(rig, write="1") == [ToolCatalogChanged(added=("write",), removed=("read",))]
