"""The kernel: a pure function from a state and an input to the next state and effects.

It has no clock, no randomness and no I/O. Everything it decides depends on its arguments alone, so
a run can be saved after any step, replayed, and tested without a model.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from msgspec.structs import replace

from agentkit_core import Item, ModelOptions, SessionId, Transcript, UnansweredToolCall
from agentkit_loop.events import RunStarted
from agentkit_loop.kernel._approvals import insert_approvals
from agentkit_loop.kernel._config import LoopConfig
from agentkit_loop.kernel._draft import Draft, stamp
from agentkit_loop.kernel._effects import (
    AnsweredEffect,
    CallModel,
    CheckFinish,
    Effect,
    Preflight,
    Prepare,
    RunMutators,
    StartTimer,
    StartTool,
)
from agentkit_loop.kernel._inputs import (
    Answer,
    Close,
    Configure,
    EffectLost,
    FinishChecked,
    Input,
    ModelFailed,
    ModelResponded,
    MutatorsDone,
    PreflightAllowed,
    PreflightAsked,
    PreflightRefused,
    Prepared,
    TimerFired,
    ToolAsked,
    ToolDone,
    ToolProgressed,
    ToolSpent,
    ToolStarted,
)
from agentkit_loop.kernel._phases import HANDLERS
from agentkit_loop.kernel._resuming import adopt_settings
from agentkit_loop.kernel._state import STATE_VERSION, HookPoints, ParentCall, State
from agentkit_loop.kernel._table import EDGES, Phase
from agentkit_loop.kernel._table_errors import IllegalTransition

_NO_OPTIONS: Final = ModelOptions()
_NO_HOOKS: Final = HookPoints()

ANSWERS: Final[Mapping[type[Input], tuple[type[AnsweredEffect], ...]]] = {
    MutatorsDone: (RunMutators,),
    Prepared: (Prepare,),
    ModelResponded: (CallModel,),
    ModelFailed: (CallModel,),
    PreflightAllowed: (Preflight,),
    PreflightRefused: (Preflight,),
    PreflightAsked: (Preflight,),
    ToolStarted: (StartTool,),
    ToolProgressed: (StartTool,),
    ToolSpent: (StartTool,),
    ToolAsked: (StartTool,),
    ToolDone: (StartTool,),
    TimerFired: (StartTimer,),
    FinishChecked: (CheckFinish,),
    EffectLost: (RunMutators, Prepare, CallModel, Preflight, StartTool, StartTimer, CheckFinish),
}
"""The types of effect that a type of answer answers."""

_NOT_LAST: Final = frozenset({ToolStarted, ToolProgressed, ToolSpent})
"""Answers that leave their effect unanswered: another one follows."""

Effects = tuple[Effect, ...]
"""What a step asks a driver to do, in order."""


def start(
    session_id: SessionId,
    *,
    model: str,
    options: ModelOptions | None = None,
    instructions: Iterable[Item] = (),
    history: Iterable[Item] = (),
    config: LoopConfig | None = None,
    hooks: HookPoints | None = None,
    provider: str | None = None,
    parent: ParentCall | None = None,
    now: int = 0,
) -> tuple[State, Effects]:
    """Begin a session.

    Args:
        session_id: The session's id.
        model: The model's id, for requests.
        options: How the model should answer; None leaves it to the model.
        instructions: What stands before the transcript in each request.
        history: The transcript so far; the model is not called for it.
        config: How the run behaves; None means the defaults.
        hooks: Where a turn stops for code of the host; None means nowhere.
        provider: The name of the model's provider; None if it is not known.
        parent: The tool call that the session answers; None for a session of its own.
        now: Milliseconds since the Unix epoch.

    Returns:
        The first state, and what a driver has to do, in order.

    Raises:
        TranscriptError: The history breaks a rule, or ends with calls that have no result;
            `repair` makes a valid one.
    """
    items = Transcript(stamp(history, now))
    if items.open_calls:
        raise UnansweredToolCall(tuple(call.id for call in items.open_calls), at=len(items))
    state = State(
        version=STATE_VERSION,
        session_id=session_id,
        model=model,
        provider=provider,
        parent=parent,
        options=options or _NO_OPTIONS,
        instructions=tuple(instructions),
        config=config or LoopConfig(),
        hooks=hooks or _NO_HOOKS,
        calls=items.call_count,
        clock=now,
    )
    draft = Draft(state, now=now)
    draft.emit(_run_started(state, resumed=False))
    draft.begin_with(items)
    return draft.freeze(), tuple(draft.effects)


def resume(
    state: State,
    *,
    hooks: HookPoints | None = None,
    present: Configure | None = None,
    now: int = 0,
) -> tuple[State, Effects]:
    """Continue a session that was saved, in this process or another.

    Afterwards answer every effect in `State.out` with `EffectLost`, except a `StartTool` that has
    not started: perform that one.

    Args:
        state: What was saved.
        hooks: Where a turn stops for code of the host from here on; None means where it did.
        present: What the agent says now, perhaps in another version of it. It counts from here on,
            except for settings that the host has changed for this session; what is different is
            reported. None leaves everything as it was.
        now: Milliseconds since the Unix epoch.

    Returns:
        The state to go on from, and what a driver has to do, in order.
    """
    draft = Draft(state if hooks is None else replace(state, hooks=hooks), now=now)
    draft.emit(_run_started(state, resumed=True))
    if present is not None:
        adopt_settings(draft, present)
    return draft.freeze(), tuple(draft.effects)


def _run_started(state: State, *, resumed: bool) -> RunStarted:
    if state.parent is None:
        return RunStarted(resumed)
    return RunStarted(resumed, state.parent.session_id, state.parent.call_id)


def fork(state: State, session_id: SessionId) -> State:
    """Make another session that begins with the same conversation.

    What is under way stays with the first session. In the fork, a running turn is cancelled, its
    calls and those in the background get results that say that they were interrupted, and no effect
    is out.

    Args:
        state: The first session; it is not changed.
        session_id: The id of the other session.
    """
    if state.phase is not Phase.CLOSED:
        state, _ = step(state, Close(), state.clock)
    return replace(state, session_id=session_id, phase=Phase.IDLE, grants=(), kind_grants=())


def step(
    state: State,
    input: Input,  # noqa: A002  (the field's word)
    now: int,
) -> tuple[State, Effects]:
    """Take one input.

    Every input is allowed in every state. One that does not apply changes nothing but the clock,
    and is reported as a `Diagnostic`.

    Args:
        state: The session; it is not changed.
        input: What has happened.
        now: Milliseconds since the Unix epoch. A time before the state's clock counts as that.

    Returns:
        The next state, and what a driver has to do, in order.

    Raises:
        IllegalTransition: A handler chose a transition that the table does not have; this is a bug
            of this library.
    """
    return step_all(state, (input,), now)


def step_all(state: State, inputs: Iterable[Input], now: int) -> tuple[State, Effects]:
    """Take several inputs that have come together, in order.

    The next state and the effects are those of single steps, one for each input, but nothing is
    made for what lies between: the answers to all calls of a round cost little more than one. So
    the host is shown the pending approvals once, as they are in the next state.

    Args:
        state: The session; it is not changed.
        inputs: What has happened.
        now: Milliseconds since the Unix epoch, as for `step`.

    Raises:
        IllegalTransition: As for `step`.
    """
    draft = Draft(state, now=now)
    for each in inputs:
        _take(draft, each)
    insert_approvals(draft)
    return draft.freeze(), tuple(draft.effects)


def _take(draft: Draft, given: Input) -> None:
    kind, phase = type(given), draft.phase
    draft.answered = None
    answered_types = ANSWERS.get(kind)
    if answered_types is not None and _is_late(draft, given, answered_types):  # type: ignore[arg-type]
        return
    targets = EDGES[phase].get(kind)
    if targets is None:
        return draft.diagnose(f"{kind.__name__} does not apply while the session is {phase}")
    if answered_types is not None:
        effect_id = given.effect_id  # type: ignore[union-attr]
        draft.answered = draft.out[effect_id]
        if kind not in _NOT_LAST:
            del draft.out[effect_id]
    draft.phase = HANDLERS[phase][kind](draft, given)
    if draft.phase not in targets:
        raise IllegalTransition(phase, kind.__name__, draft.phase)


def _is_late(
    draft: Draft, answer: Answer, answered_types: tuple[type[AnsweredEffect], ...]
) -> bool:
    if isinstance(draft.out.get(answer.effect_id), answered_types):
        return False
    # Nobody needs to know the progress of a call that has its result already.
    if not isinstance(answer, ToolProgressed):
        draft.diagnose(f"{type(answer).__name__} answers {answer.effect_id}, which is not out")
    return True
