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
    ItemKind,
    ModelOptions,
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
    Want,
)
from agentkit_loop._config import (
    BackgroundDone,
    BusyInput,
    Execution,
    LoopConfig,
    LostTool,
    MutatorFailure,
    QueueMode,
    SteerPolicy,
)
from agentkit_loop._effects import (
    AnsweredEffect,
    CallModel,
    CheckFinish,
    Effect,
    EffectId,
    Preflight,
    Prepare,
    RunMutators,
    StartTimer,
    StartTool,
)
from agentkit_loop._inputs import (
    Cancel,
    CancelCall,
    Close,
    Configure,
    Continue,
    FinishChecked,
    Input,
    Lane,
    Lost,
    ModelFailed,
    ModelResponded,
    MutatorsDone,
    PreflightAllowed,
    PreflightAsked,
    PreflightRefused,
    Prepared,
    Reset,
    Resolve,
    Started,
    Submit,
    TimerFired,
    ToolAsked,
    ToolDone,
    ToolProgressed,
    Unqueue,
)
from agentkit_loop._kernel import start, step
from agentkit_loop._limits import Limits
from agentkit_loop._state import State
from agentkit_loop._steps import ApprovalAsk, ApprovalDecision, GrantScope
from agentkit_loop._table import Phase


class _Temper(NamedTuple):
    """What is likely in one walk: each leans to something else, so that together they go far."""

    loss: float
    """How often an effect is lost."""
    detaches: float
    """How often a call goes on in the background."""
    patience: float
    """How often the host waits for an answer rather than saying something."""


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
    temper = _Temper(
        loss=chance.choice((0.02, 0.08, 0.3)),
        detaches=chance.choice((0.0, 0.2, 0.6)),
        patience=chance.choice((0.5, 0.75, 0.9)),
    )
    now = 1_000
    state, effects = start(
        SessionId(f"walk-{seed}"), model="walker", config=_config(chance), now=now
    )
    yield Walked(None, None, now, state, effects)
    for at in range(length):
        if state.phase is Phase.CLOSED and chance.random() < 0.2:
            break
        # The clock may stand still, and may be set back.
        now += chance.choice((-3, 0, 1, 7, 100))
        given = _input(state, chance, temper, at)
        before = state
        state, effects = step(before, given, now)
        yield Walked(before, given, now, state, effects)
    while settle and not is_settled(state):
        now += 1
        given = _cooperative(state, chance, temper)
        before = state
        state, effects = step(before, given, now)
        yield Walked(before, given, now, state, effects)


def is_settled(state: State) -> bool:
    """Whether nothing more happens unless a host says something."""
    if state.phase is Phase.CLOSED:
        return True
    idle = state.phase is Phase.IDLE and not state.inputs
    return idle and not state.notices and not state.background


def _config(chance: Random) -> LoopConfig:
    return LoopConfig(
        execution=chance.choice(list(Execution)),
        max_parallel=chance.choice((None, 1, 2)),
        queue_mode=chance.choice(list(QueueMode)),
        busy_input=chance.choice(list(BusyInput)),
        steer_policy=chance.choice(list(SteerPolicy)),
        yield_after_round=chance.random() < 0.3,
        keep_failed=chance.random() < 0.5,
        deny_ends_turn=chance.random() < 0.2,
        background_done=chance.choice(list(BackgroundDone)),
        lost_tool=chance.choice(list(LostTool)),
        on_mutator_error=chance.choice(list(MutatorFailure)),
        max_identical_failures=chance.choice((None, 2, 3)),
        limits=Limits(
            max_model_calls=chance.choice((None, None, 2, 5)),
            max_tool_calls=chance.choice((None, None, None, 3)),
            max_tokens=chance.choice((None, None, None, 40)),
            max_duration_s=chance.choice((None, None, 0.4)),
        ),
        mutate=chance.random() < 0.5,
        check_finish=chance.random() < 0.5,
    )


def _input(state: State, chance: Random, temper: _Temper, at: int) -> Input:
    if state.phase is Phase.IDLE and chance.random() < 0.3:
        return Continue(redrive=chance.random() < 0.3)
    if chance.random() < temper.patience:
        if state.asks and chance.random() < 0.4:
            return _resolution(state, chance)
        answer = _answer(state, chance, temper, well=False)
        if answer is not None:
            return answer
    draw = chance.random()
    if draw < 0.40:
        lane = chance.choice(list(Lane))
        kinds = (Item.user, Item.user, Item.user, Item.context, Item.notification, Item.assistant)
        return Submit((chance.choice(kinds)(f"said-{at}"),), lane)
    if draw < 0.65:
        return Continue(redrive=chance.random() < 0.3)
    if draw < 0.66:
        return Close(_partial(state, chance))
    if draw < 0.68:
        return Resolve(ApprovalId("nobody"), ApprovalDecision(approve=True))
    return _odd_input(state, chance)


def _odd_input(state: State, chance: Random) -> Input:
    draw = chance.random()
    if draw < 0.15:
        return Cancel(_partial(state, chance))
    if draw < 0.40:
        return CancelCall(ToolCallId(chance.choice((*_calls(state), "nobody"))))
    if draw < 0.48:
        return Unqueue(chance.choice((None, *Lane)))
    if draw < 0.52:
        return Reset()
    if draw < 0.60:
        return Configure(
            model=chance.choice((None, "another")), once=chance.choice((None, ModelOptions(seed=1)))
        )
    if draw < 0.75:
        # Of somebody who was thought to be lost, or never was.
        late = EffectId(f"e{chance.randint(0, state.effects + 3)}")
        kinds = (TimerFired, Started, Lost, Prepared, MutatorsDone, FinishChecked)
        return chance.choice(kinds)(late)
    if draw < 0.80:
        return ToolDone(EffectId("e0"), _result(ToolCallId("nobody")))
    if state.out:
        return _hostile(chance.choice(sorted(state.out)), chance)
    return Continue()


def _hostile(effect_id: EffectId, chance: Random) -> Input:
    """An answer that does not go with its effect, or not with its call."""
    odd = Item(ItemKind.USER, (Text("I am no answer"),))
    return chance.choice(
        (
            ToolDone(effect_id, _result(ToolCallId("nobody"))),
            ModelResponded(effect_id, ModelResponse(odd)),
            ModelResponded(effect_id, ModelResponse(Item.assistant("ok")), (Item.assistant("no"),)),
            FinishChecked(effect_id, (Item.tool(_result(ToolCallId("nobody"))),)),
            PreflightRefused(effect_id, _result(ToolCallId("nobody"), is_error=True)),
            PreflightAsked(effect_id, ()),
            ToolAsked(effect_id, ()),
            TimerFired(effect_id),
        )
    )


def _calls(state: State) -> tuple[str, ...]:
    calls = () if state.turn is None else state.turn.calls
    return (*state.background, *(call.id for call in calls))


def _cooperative(state: State, chance: Random, temper: _Temper) -> Input:
    answer = _answer(state, chance, temper, well=True)
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
    decision = ApprovalDecision(
        approve=chance.random() < 0.7,
        input=dict(patched or {}) or None,
        answer="an answer",
        scope=chance.choice(list(GrantScope)),
    )
    return Resolve(ask.id, decision, ask.call_id)


def _answer(state: State, chance: Random, temper: _Temper, *, well: bool) -> Input | None:
    if not state.out:
        return None
    effect = state.out[chance.choice(sorted(state.out))]
    if not well and chance.random() < temper.loss:
        return Lost(effect.id)
    return _of_effect(state, effect, chance, temper, well=well)


def _of_effect(
    state: State, effect: AnsweredEffect, chance: Random, temper: _Temper, *, well: bool
) -> Input:
    match effect:
        case RunMutators():
            return _mutation(state, effect, chance, well=well)
        case Prepare():
            if not well and chance.random() < 0.08:
                return chance.choice(
                    (Prepared(effect.id, error="no"), Prepared(effect.id, stop=True))
                )
            return Prepared(effect.id, {"read": chance.choice("ab"), "write": "c"})
        case CallModel():
            return _model_answer(state, effect, chance, well=well)
        case Preflight():
            return _verdict(effect, chance, temper, well=well)
        case StartTool():
            return _tool_answer(effect, chance, well=well)
        case StartTimer():
            return TimerFired(effect.id)
        case CheckFinish():
            more = (Item.user("go on"),) if not well and chance.random() < 0.4 else ()
            return FinishChecked(effect.id, more)


def _mutation(state: State, effect: RunMutators, chance: Random, *, well: bool) -> Input:
    draw = chance.random()
    items = state.transcript.items
    if well or draw < 0.5:
        return MutatorsDone(effect.id)
    if draw < 0.6:
        return MutatorsDone(effect.id, error="a mutator failed")
    if draw < 0.65:
        return MutatorsDone(effect.id, items)
    # Cut anywhere: in between a call and its result as well.
    return MutatorsDone(effect.id, items[chance.randint(0, len(items)) :], ("cut",))


def _tool_answer(effect: StartTool, chance: Random, *, well: bool) -> Input:
    draw = chance.random()
    if not well and draw < 0.1:
        return ToolProgressed(effect.id, "half done")
    if not well and draw < 0.3 and not effect.started:
        return Started(effect.id)
    if draw < (0.1 if well else 0.35):
        return _tool_asks(effect, chance)
    usage = _usage() if chance.random() < 0.2 else None
    result = _result(effect.call_id, is_error=chance.random() < 0.2, usage=usage)
    return ToolDone(effect.id, result, stop=chance.random() < 0.1)


def _tool_asks(effect: StartTool, chance: Random) -> ToolAsked:
    want = chance.choice(list(Want))
    ask = ApprovalAsk(
        ApprovalId(f"{want}:{len(effect.answers) + len(effect.granted) + len(effect.denied)}"),
        effect.call_id,
        effect.name,
        effect.input,
        str(want),
        "asks in the middle",
        want=want,
    )
    return ToolAsked(effect.id, (ask,), {"at": 1}, takes_denials=chance.random() < 0.3)


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
    again = () if well or chance.random() < 0.9 else (Item.user("that will not do"),)
    return ModelResponded(effect.id, ModelResponse(_answer_item(state, chance, calls=calls)), again)


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
        ItemKind.ASSISTANT,
        (Reasoning(summary="hm"), Text(text="well"), *made),
        finish_reason=reason,
        usage=_usage(),
    )


def _usage() -> Usage:
    return Usage(tokens=TokenUsage(input=3, output=1), requests=1, reported_requests=1)


def _verdict(effect: Preflight, chance: Random, temper: _Temper, *, well: bool) -> Input:
    draw = chance.random()
    if not well and draw < 0.15:
        refusal = _result(effect.call_id, is_error=True, failure=ToolFailure.PERMISSION_DENIED)
        return PreflightRefused(effect.id, refusal, stop=chance.random() < 0.1)
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
        # Now and then someone is asked for what is granted.
        if ApprovalId(f"{kind}:{effect.input.get('patched', 0)}") not in effect.granted
        or chance.random() < 0.2
    )
    how = {
        "exclusive": chance.random() < 0.2,
        "repeatable": chance.random() < 0.3,
        "timeout_s": chance.choice((None, None, 0.05)),
        "detach_after_s": chance.choice((0.0, 0.02)) if chance.random() < temper.detaches else None,
    }
    if draw < 0.4 and asks:
        return PreflightAsked(effect.id, asks, None, **how)  # type: ignore[arg-type]
    changed = {**effect.input, "changed": True} if chance.random() < 0.1 else None
    return PreflightAllowed(effect.id, changed, **how)  # type: ignore[arg-type]


def _result(
    call_id: ToolCallId,
    *,
    is_error: bool = False,
    failure: ToolFailure | None = None,
    usage: Usage | None = None,
) -> ToolResult:
    return ToolResult(
        call_id=call_id,
        output=TextOutput("done"),
        is_error=is_error,
        failure=failure,
        started=failure is None,
        usage=usage,
    )
