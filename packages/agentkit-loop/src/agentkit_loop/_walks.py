"""Random walks: legal inputs in random order, to try the kernel's laws on.

What comes out depends on the seed alone. Answers are given to effects that are out, host inputs
come at any moment, and some inputs fit nothing: late answers, approvals that nobody asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import NamedTuple

from agentkit_core import (
    ApprovalId,
    FailureKind,
    FinishReason,
    Item,
    ModelResponse,
    ProviderFailure,
    Reasoning,
    SessionId,
    Text,
    TextOutput,
    TokenUsage,
    ToolCall,
    ToolCallId,
    ToolFailure,
    ToolResult,
    Usage,
)
from agentkit_loop._config import BusyInput, Execution, LoopConfig, QueueMode
from agentkit_loop._effects import CallModel, Effect, EffectId, Preflight, StartTimer, StartTool
from agentkit_loop._inputs import (
    Cancel,
    Close,
    Continue,
    Input,
    Lane,
    ModelFailed,
    ModelResponded,
    PreflightAllowed,
    PreflightAsked,
    PreflightRefused,
    Resolve,
    Submit,
    TimerFired,
    ToolDone,
    ToolProgressed,
)
from agentkit_loop._kernel import start, step
from agentkit_loop._limits import Limits
from agentkit_loop._state import State
from agentkit_loop._steps import ApprovalAsk, ApprovalDecision
from agentkit_loop._table import Phase


class Walked(NamedTuple):
    """One step of a walk; the first has no state before it and no input."""

    before: State | None
    given: Input | None
    now: int
    after: State
    effects: tuple[Effect, ...]


def walk(seed: int, *, length: int = 60, settle: bool = True) -> Iterator[Walked]:
    """Walk at random, with a configuration that is random as well.

    Args:
        seed: Which walk.
        length: How many inputs at random.
        settle: Whether a host follows that answers everything well and lets the run go on, until
            it is idle or closed and nothing is queued.
    """
    chance = Random(seed)  # noqa: S311
    now = 1_000
    state, effects = start(
        SessionId(f"walk-{seed}"), model="walker", config=_config(chance), now=now
    )
    yield Walked(None, None, now, state, effects)
    for at in range(length):
        # The clock may stand still, and may be set back.
        now += chance.choice((-3, 0, 1, 7, 100))
        given = _input(state, chance, at)
        before = state
        state, effects = step(before, given, now)
        yield Walked(before, given, now, state, effects)
    while settle and not is_settled(state):
        now += 1
        given = _cooperative(state, chance)
        before = state
        state, effects = step(before, given, now)
        yield Walked(before, given, now, state, effects)


def is_settled(state: State) -> bool:
    """Whether nothing more happens unless a host says something."""
    return state.phase is Phase.CLOSED or (state.phase is Phase.IDLE and not state.inputs)


def _config(chance: Random) -> LoopConfig:
    return LoopConfig(
        execution=chance.choice(list(Execution)),
        max_parallel=chance.choice((None, 1, 2)),
        queue_mode=chance.choice(list(QueueMode)),
        busy_input=chance.choice(list(BusyInput)),
        yield_after_round=chance.random() < 0.3,
        keep_failed=chance.random() < 0.5,
        limits=Limits(max_model_calls=chance.choice((None, 2, 5))),
    )


def _input(state: State, chance: Random, at: int) -> Input:
    draw = chance.random()
    if draw < 0.12:
        lane = chance.choice(list(Lane))
        kinds = (Item.user, Item.user, Item.user, Item.context, Item.notification, Item.assistant)
        return Submit((chance.choice(kinds)(f"said-{at}"),), lane)
    if draw < 0.30:
        return Continue(redrive=chance.random() < 0.3)
    if draw < 0.34:
        return Cancel(_partial(state, chance))
    if draw < 0.36:
        return TimerFired(EffectId(f"e{chance.randint(1, 40)}"))
    if draw < 0.38:
        return ToolDone(EffectId("e0"), _result(ToolCallId("nobody")))
    if draw < 0.382:
        return Close(_partial(state, chance))
    if draw < 0.55 and state.asks:
        return _resolution(state, chance)
    if draw < 0.56:
        return Resolve(ApprovalId("nobody"), ApprovalDecision(approve=True))
    return _answer(state, chance, well=False) or Continue()


def _cooperative(state: State, chance: Random) -> Input:
    answer = _answer(state, chance, well=True)
    if answer is not None:
        return answer
    if state.asks:
        ask = state.asks[0]
        return Resolve(ask.id, ApprovalDecision(approve=True), ask.call_id)
    return Continue()


def _partial(state: State, chance: Random) -> ModelResponse | None:
    if state.phase is not Phase.CALLING or chance.random() < 0.3:
        return None
    return ModelResponse(_answer_item(state, chance, calls=chance.choice((0, 0, 1, 2))))


def _resolution(state: State, chance: Random) -> Resolve:
    ask = chance.choice(state.asks)
    patched = {"patched": chance.randint(0, 9)} if chance.random() < 0.2 else None
    decision = ApprovalDecision(approve=chance.random() < 0.7, input=dict(patched or {}) or None)
    return Resolve(ask.id, decision, ask.call_id)


def _answer(state: State, chance: Random, *, well: bool) -> Input | None:
    if not state.out:
        return None
    effect = state.out[chance.choice(sorted(state.out))]
    match effect:
        case CallModel():
            return _model_answer(state, effect, chance, well=well)
        case Preflight():
            return _verdict(effect, chance, well=well)
        case StartTool():
            if not well and chance.random() < 0.2:
                return ToolProgressed(effect.id, "half done")
            result = _result(effect.call_id, is_error=chance.random() < 0.2)
            return ToolDone(effect.id, result, stop=chance.random() < 0.1)
        case StartTimer():
            return TimerFired(effect.id)


def _model_answer(state: State, effect: CallModel, chance: Random, *, well: bool) -> Input:
    if not well and chance.random() < 0.25:
        failure = ProviderFailure(
            kind=FailureKind.SERVER, message="down", retryable=chance.random() < 0.7
        )
        item = _answer_item(state, chance, calls=chance.choice((0, 1)))
        if chance.random() < 0.3:
            item = Item.assistant()
        return ModelFailed(effect.id, ModelResponse(item, failure), chance.random())
    calls = 0 if well and chance.random() < 0.6 else chance.choice((0, 1, 2, 3))
    return ModelResponded(effect.id, ModelResponse(_answer_item(state, chance, calls=calls)))


def _answer_item(state: State, chance: Random, *, calls: int) -> Item:
    # Few ids, so that providers seem to repeat them; and some that are empty.
    made = [
        ToolCall(
            id=ToolCallId(chance.choice(("", f"c{chance.randint(0, 30)}"))),
            name=chance.choice(("read", "write")),
            input_error="not valid JSON" if chance.random() < 0.1 else None,
        )
        for _ in range(calls)
    ]
    reasons = [one for one in FinishReason if one not in (FinishReason.ERROR,)]
    reason = chance.choice(reasons)
    if reason is FinishReason.PAUSED and state.turn is not None and state.turn.model_calls > 20:
        reason = FinishReason.COMPLETED
    return Item(
        Item.assistant().kind,
        (Reasoning(summary="hm"), Text(text="well"), *made),
        finish_reason=reason,
        usage=Usage(tokens=TokenUsage(input=3, output=1), requests=1, reported_requests=1),
    )


def _verdict(effect: Preflight, chance: Random, *, well: bool) -> Input:
    draw = chance.random()
    if not well and draw < 0.15:
        refusal = _result(effect.call_id, is_error=True, failure=ToolFailure.PERMISSION_DENIED)
        return PreflightRefused(effect.id, refusal)
    kinds = [kind for kind in ("read", "write", "send") if chance.random() < 0.5]
    asks = tuple(
        ApprovalAsk(
            ApprovalId(f"{kind}:{effect.input.get('patched', 0)}"),
            effect.call_id,
            effect.name,
            effect.input,
            kind,
            f"{kind} something",
        )
        for kind in kinds
    )
    if draw < 0.4 and asks:
        return PreflightAsked(effect.id, asks)
    return PreflightAllowed(effect.id)


def _result(
    call_id: ToolCallId, *, is_error: bool = False, failure: ToolFailure | None = None
) -> ToolResult:
    return ToolResult(
        call_id=call_id,
        output=TextOutput("done"),
        is_error=is_error,
        failure=failure,
        started=failure is None,
    )
