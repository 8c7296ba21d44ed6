"""What many calls in one answer cost grows with their number; counted in executed lines."""

import pickle
from collections import Counter
from collections.abc import Callable, Sequence
from copy import deepcopy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit_core import (
    ApprovalId,
    ApprovalRequest,
    FinishReason,
    Item,
    ItemKind,
    ModelResponse,
    SessionId,
    TextOutput,
    ToolCall,
    ToolCallId,
    ToolResult,
)
from agentkit_loop import (
    ApprovalDecision,
    Execution,
    GrantScope,
    Limits,
    LoopConfig,
    WaitingForApproval,
)
from agentkit_loop.kernel import (
    Cancel,
    EffectLost,
    Input,
    ModelResponded,
    Phase,
    Preflight,
    PreflightAllowed,
    PreflightAsked,
    Resolve,
    RunRules,
    StartTool,
    State,
    Submit,
    ToolDone,
    Yield,
    start,
    step,
)
from agentkit_loop.kernel._open_approvals import find_approval, is_open, next_approval
from agentkit_loop.kernel._step import step_all
from support.counted_lines import counting

FEW, MANY = 50, 200
MOST_GROWTH = 4.2
"""How much more work four times as many calls may be."""

PLAIN, DETACHED = RunRules(), RunRules(detach_after_s=0)


def called(count: int, config: LoopConfig) -> State:
    """A session whose model has just called so many tools."""
    state, _ = start(SessionId("s"), model="m", config=config)
    state, _ = step(state, Submit((Item.user("go"),), begin=True), 0)
    calls = [ToolCall(ToolCallId(f"c{at}"), "t", {}) for at in range(count)]
    item = Item(ItemKind.ASSISTANT, tuple(calls), finish_reason=FinishReason.TOOL_CALL)
    (effect_id,) = state.out
    state, _ = step(state, ModelResponded(effect_id, ModelResponse(item)), 0)
    return state


def checked(state: State, rules: RunRules) -> list[Input]:
    effects = [each for each in state.out.values() if isinstance(each, Preflight)]
    return [PreflightAllowed(each.id, rules) for each in effects]


def answered(state: State) -> list[Input]:
    effects = [each for each in state.out.values() if isinstance(each, StartTool)]
    return [ToolDone(each.id, ToolResult(each.call.id, TextOutput("x"))) for each in effects]


def lost(state: State) -> list[Input]:
    return [EffectLost(each) for each in state.out]


def cancelled(state: State) -> list[Input]:
    return [Cancel()]


Take = Callable[[State], Sequence[Input]]


@pytest.mark.parametrize(
    "take",
    [
        [lambda state: checked(state, PLAIN), answered],
        [lambda state: checked(state, PLAIN), lost],
        [lambda state: checked(state, PLAIN), cancelled],
        [lambda state: checked(state, DETACHED), answered],
        [lost],
        [cancelled],
    ],
    ids=["done", "lost tools", "cancelled tools", "background", "lost checks", "cancelled checks"],
)
def test_vs07_what_comes_together_for_many_calls_is_work_in_proportion(
    take: Sequence[Take],
) -> None:
    def work(count: int) -> int:
        state, lines = called(count, LoopConfig()), Counter[str]()
        for each in take:
            inputs = each(state)
            with counting(lines):
                state, _ = step_all(state, inputs, 0)
        return lines.total()

    assert work(MANY) < MOST_GROWTH * work(FEW)


@pytest.mark.parametrize("limits", [Limits(), Limits(max_tool_calls=10)], ids=["run", "refused"])
def test_vs07_an_answer_with_many_calls_is_work_in_proportion(limits: Limits) -> None:
    def work(count: int) -> int:
        lines = Counter[str]()
        with counting(lines):
            state = called(count, LoopConfig(limits=limits))
        assert state.phase is Phase.ROUND
        return lines.total()

    assert work(MANY) < MOST_GROWTH * work(FEW)


@pytest.mark.parametrize(
    "config",
    [
        LoopConfig(),
        LoopConfig(max_parallel=4),
        LoopConfig(execution=Execution.SEQUENTIAL),
        LoopConfig(execution=Execution.READS_PARALLEL),
    ],
    ids=["parallel", "four at once", "sequential", "writes alone"],
)
def test_vs07_answers_that_come_one_by_one_are_work_in_proportion(config: LoopConfig) -> None:
    def work(count: int) -> int:
        state, lines = called(count, config), Counter[str]()
        with counting(lines):
            while inputs := (*checked(state, PLAIN)[:1], *answered(state)[:1]):
                for each in inputs:
                    state, _ = step(state, each, 0)
        assert state.phase is not Phase.ROUND
        return sum(lines[each] for each in lines if each.startswith("agentkit_loop.kernel"))

    assert work(MANY) < MOST_GROWTH * work(FEW)


def test_a_state_is_the_same_however_often_and_in_which_copy_it_is_stepped() -> None:
    state, _ = step_all(called(3, LoopConfig()), checked(called(3, LoopConfig()), PLAIN), 0)
    first, *others = answered(state)

    once = step(state, first, 0)
    again = step(state, first, 0)
    of_copies = [
        step(each, first, 0) for each in (deepcopy(state), pickle.loads(pickle.dumps(state)))
    ]

    assert once == again == of_copies[0] == of_copies[1]
    assert step_all(once[0], others, 0) == step_all(again[0], others, 0)


def asked(state: State, *, same: bool) -> list[Input]:
    effects = [each for each in state.out.values() if isinstance(each, Preflight)]
    inputs: list[Input] = []
    for effect in effects:
        approval_id = ApprovalId("a" if same else f"a:{effect.call.id}")
        request = ApprovalRequest(id=approval_id, call=effect.call, kind="send", summary="Send it.")
        inputs.append(PreflightAsked(effect.id, requests=(request,)))
    return inputs


@pytest.mark.parametrize("config", [LoopConfig(), LoopConfig(max_parallel=2)], ids=["all", "two"])
@pytest.mark.parametrize("named", [False, True], ids=["first", "named"])
@pytest.mark.parametrize(
    ("same", "decision"),
    [
        (False, ApprovalDecision(approve=True)),
        (True, ApprovalDecision(approve=True)),
        (False, ApprovalDecision(approve=True, scope=GrantScope.SESSION)),
        (False, ApprovalDecision(approve=True, input={"a": 1})),
        (False, ApprovalDecision(approve=False)),
    ],
    ids=["others", "same", "for the session", "with arguments", "denied"],
)
def test_vs07_approvals_that_are_asked_together_and_answered_one_by_one_are_work_in_proportion(
    same: bool, decision: ApprovalDecision, named: bool, config: LoopConfig
) -> None:
    def work(count: int) -> int:
        state, lines = called(count, config), Counter[str]()
        with counting(lines):
            state, _ = step_all(state, asked(state, same=same), 0)
        for request in state.pending_approvals:
            with counting(lines):
                call_id = request.call.id if named else None
                state, _ = step(state, Resolve(request.id, decision, call_id), 0)
                assert find_approval(state, request.id, request.call.id) is None
                next_approval(state)
        assert not state.pending_approvals
        return lines.total()

    assert work(MANY // 2) < MOST_GROWTH * work(FEW // 2)


def test_what_is_pending_is_shown_once_for_all_calls_that_ask_together() -> None:
    state, effects = step_all(called(3, LoopConfig()), asked(called(3, LoopConfig()), same=True), 0)

    (status,) = (each.status for each in effects if isinstance(each, Yield))
    assert isinstance(status, WaitingForApproval)
    assert status.requests == state.pending_approvals
    assert [request.call.id for request in status.requests] == ["c0", "c1", "c2"]


@given(asking=st.permutations(range(4)), answering=st.permutations(range(4)), same=st.booleans())
def test_approvals_are_found_in_the_order_of_calls_whatever_the_order_of_asking(
    asking: list[int], answering: list[int], same: bool
) -> None:
    state = called(4, LoopConfig())
    questions = asked(state, same=same)
    for at in asking:
        state, _ = step(state, questions[at], 0)
    for at in answering:
        first, *_ = pending = state.pending_approvals
        assert next_approval(state) == first
        assert find_approval(state, first.id) == first
        assert [each.call.id for each in pending] == sorted(each.call.id for each in pending)
        assert all(is_open(state, each) for each in pending)
        ask = next(each for each in pending if each.call.id == f"c{at}")
        once, effects = step(state, Resolve(ask.id, ApprovalDecision(approve=True), ask.call.id), 0)
        assert not is_open(once, ask)
        shown = [each.status for each in effects if isinstance(each, Yield)]
        left = tuple(each for each in pending if each is not ask)
        assert once.pending_approvals == left
        assert [each.requests for each in shown if isinstance(each, WaitingForApproval)] == [
            left
        ] * bool(left)
        state = once
