"""Random walks through the kernel: inputs in random order, on which its laws are checked.

A walk depends on its seed alone. It answers the effects that are out, lets the host do something at
any moment, and has inputs that do not apply: late answers, decisions on unknown requests.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import NamedTuple

from msgspec.structs import replace

from agentkit_core import ApprovalId, Item, ModelOptions, SessionId, ToolCallId
from agentkit_loop.kernel._config import (
    BackgroundDone,
    BusyInput,
    Execution,
    LoopConfig,
    LostTool,
    MutatorFailure,
    QueueMode,
    SteerPolicy,
)
from agentkit_loop.kernel._effects import (
    Effect,
    EffectId,
)
from agentkit_loop.kernel._inputs import (
    Cancel,
    CancelCall,
    Close,
    Configure,
    Continue,
    EffectLost,
    FinishChecked,
    Input,
    Lane,
    MutatorsDone,
    Prepared,
    Reset,
    Resolve,
    Submit,
    TimerFired,
    ToolDone,
    ToolsOffered,
    ToolStarted,
    Unqueue,
)
from agentkit_loop.kernel._limits import Limits
from agentkit_loop.kernel._state import HookPoints, State
from agentkit_loop.kernel._status import ApprovalDecision, GrantScope
from agentkit_loop.kernel._step import start, step
from agentkit_loop.kernel._table import Phase
from agentkit_loop.testing._walk_answers import (
    Temper,
    any_answer,
    odd_answer,
    partial_answer,
    result_of,
)


class WalkStep(NamedTuple):
    """One step of a walk. The first one is the start of the session, without an input.

    Attributes:
        before: The state before the step; None for the start.
        input: The input; None for the start.
        now: The time that the kernel was kernel_input, in milliseconds.
        after: The state after the step.
        effects: What the step asks for, in order.
    """

    before: State | None
    input: Input | None
    now: int
    after: State
    effects: tuple[Effect, ...]


def walk(seed: int, *, length: int = 60, settle: bool = True) -> Iterator[WalkStep]:
    """Walk through the kernel at random, with a random configuration.

    Args:
        seed: Determines the walk.
        length: How many random inputs.
        settle: Whether the walk ends with a host that answers everything well and lets the session
            go on, until it is closed, or idle with nothing queued.

    Yields:
        Each step, from the start of the session on.
    """
    chance = Random(seed)  # noqa: S311
    temper = Temper(
        loss=chance.choice((0.02, 0.08, 0.3)),
        detaches=chance.choice((0.0, 0.2, 0.6)),
        patience=chance.choice((0.5, 0.75, 0.9)),
    )
    now = 1_000
    state, effects = start(
        SessionId(f"walk-{seed}"),
        model="walker",
        config=_config(chance),
        hooks=HookPoints(
            mutators=chance.random() < 0.5,
            request=chance.random() < 0.5,
            finish=chance.random() < 0.5,
        ),
        now=now,
    )
    yield WalkStep(None, None, now, state, effects)
    for at in range(length):
        if state.phase is Phase.CLOSED and chance.random() < 0.2:
            break
        # The clock may stand still, and may be set back.
        now += chance.choice((-3, 0, 1, 7, 100))
        kernel_input = _input(state, chance, temper, at)
        before = state
        state, effects = step(before, kernel_input, now)
        yield WalkStep(before, kernel_input, now, state, effects)
    while settle and not is_settled(state):
        now += 1
        kernel_input = _cooperative(state, chance, temper)
        before = state
        state, effects = step(before, kernel_input, now)
        yield WalkStep(before, kernel_input, now, state, effects)


def is_settled(state: State) -> bool:
    """Whether nothing more happens unless the host does something."""
    if state.phase is Phase.CLOSED:
        return True
    idle = state.phase is Phase.IDLE and not state.inputs
    return idle and not state.notices and not state.background


def _config(chance: Random) -> LoopConfig:
    return LoopConfig(
        execution=chance.choice(list(Execution)),
        max_parallel=chance.choice((None, 1, 2)),
        queue_mode=chance.choice(list(QueueMode)),
        steer_mode=chance.choice((None, *QueueMode)),
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
    )


def _other_config(config: LoopConfig, chance: Random) -> LoopConfig:
    """Change the settings that may change while calls run without breaking a law about them."""
    return replace(
        config,
        queue_mode=chance.choice(list(QueueMode)),
        steer_mode=chance.choice((None, *QueueMode)),
        busy_input=chance.choice(list(BusyInput)),
        steer_policy=chance.choice(list(SteerPolicy)),
        yield_after_round=chance.random() < 0.3,
        background_done=chance.choice(list(BackgroundDone)),
        lost_tool=chance.choice(list(LostTool)),
    )


def _input(state: State, chance: Random, temper: Temper, at: int) -> Input:
    if state.phase is Phase.IDLE and chance.random() < 0.3:
        return Continue(redrive=chance.random() < 0.3)
    if state.phase is Phase.CALLING and chance.random() < 0.2:
        return _offer(chance)
    if chance.random() < temper.patience:
        if state.pending_approvals and chance.random() < 0.4:
            return _resolution(state, chance)
        answer = any_answer(state, chance, temper, well=False)
        if answer is not None:
            return answer
    draw = chance.random()
    if draw < 0.40:
        lane = chance.choice(list(Lane))
        kinds = (Item.user, Item.user, Item.user, Item.context, Item.notification, Item.assistant)
        return Submit((chance.choice(kinds)(f"said-{at}"),), lane, chance.random() < 0.3)
    if draw < 0.65:
        return Continue(redrive=chance.random() < 0.3)
    if draw < 0.66:
        return Close(partial_answer(state, chance))
    if draw < 0.68:
        return Resolve(ApprovalId("nobody"), ApprovalDecision(approve=True))
    if draw < 0.69:
        return _offer(chance)
    return _odd_input(state, chance)


def _offer(chance: Random) -> ToolsOffered:
    return ToolsOffered({name: chance.choice("12") for name in ("read", "write")})


def _odd_input(state: State, chance: Random) -> Input:
    draw = chance.random()
    if draw < 0.15:
        return Cancel(partial_answer(state, chance))
    if draw < 0.40:
        return CancelCall(ToolCallId(chance.choice((*_calls(state), "nobody"))))
    if draw < 0.48:
        return Unqueue(chance.choice((None, *Lane)))
    if draw < 0.52:
        return Reset()
    if draw < 0.60:
        return Configure(
            model=chance.choice((None, "another")),
            once=chance.choice((None, ModelOptions(seed=1))),
            config=chance.choice((None, _other_config(state.config, chance))),
        )
    if draw < 0.75:
        # From a process that was thought to be lost, or for an effect that never was.
        late = EffectId(f"e{chance.randint(0, state.effects + 3)}")
        kinds = (TimerFired, ToolStarted, EffectLost, Prepared, MutatorsDone, FinishChecked)
        return chance.choice(kinds)(late)
    if draw < 0.80:
        return ToolDone(EffectId("e0"), result_of(ToolCallId("nobody")))
    if state.out:
        return odd_answer(chance.choice(sorted(state.out)), chance)
    return Continue()


def _calls(state: State) -> tuple[str, ...]:
    calls = () if state.turn is None else state.turn.calls
    return (*state.background, *(call.id for call in calls))


def _cooperative(state: State, chance: Random, temper: Temper) -> Input:
    answer = any_answer(state, chance, temper, well=True)
    if answer is not None:
        return answer
    if state.pending_approvals:
        ask = state.pending_approvals[0]
        return Resolve(ask.id, ApprovalDecision(approve=True), ask.call.id)
    return Continue()


def _resolution(state: State, chance: Random) -> Resolve:
    ask = chance.choice(state.pending_approvals)
    patched = {"patched": chance.randint(0, 9)} if chance.random() < 0.2 else None
    decision = ApprovalDecision(
        approve=chance.random() < 0.7,
        input=dict(patched or {}) or None,
        answer="an answer",
        scope=chance.choice(list(GrantScope)),
    )
    return Resolve(ask.id, decision, ask.call.id)
