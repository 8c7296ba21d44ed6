"""The kernel: a pure function from a state and an input to the next state and effects.

It owns no clock, no chance and no I/O. Everything it decides depends on its arguments alone, so a
run can be saved after any step, replayed, and tested without a model.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from msgspec.structs import replace

from agentkit_core import Item, ModelOptions, SessionId, Transcript, UnansweredToolCall
from agentkit_loop.events import RunStarted
from agentkit_loop.kernel._config import LoopConfig
from agentkit_loop.kernel._draft import Draft
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
from agentkit_loop.kernel._state import STATE_VERSION, HookPoints, State
from agentkit_loop.kernel._table import EDGES, Phase
from agentkit_loop.kernel._table_errors import IllegalTransition

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
"""Type of answer to the types of effect that it answers."""

_LEAVES_IT_OPEN: Final = frozenset({ToolStarted, ToolProgressed, ToolSpent})
"""Answers after which the effect still waits for its last one."""

Effects = tuple[Effect, ...]
"""What a step asks for, in order."""


def start(
    session_id: SessionId,
    *,
    model: str,
    options: ModelOptions | None = None,
    instructions: Iterable[Item] = (),
    history: Iterable[Item] = (),
    config: LoopConfig | None = None,
    hooks: HookPoints | None = None,
    now: int = 0,
) -> tuple[State, Effects]:
    """Begin a session.

    Args:
        session_id: Its name.
        model: The model's id, for requests.
        options: How the model should answer.
        instructions: What stands before the transcript in each request.
        history: The transcript so far; no answer is asked for it.
        config: How the run behaves.
        hooks: Where a turn stops for code of the host; None means nowhere.
        now: Milliseconds since the Unix epoch.

    Raises:
        TranscriptError: The history breaks a rule, or ends with calls that have no result;
            `repair` makes one that does not.
    """
    items = Transcript(history)
    if items.open_calls:
        raise UnansweredToolCall(tuple(call.id for call in items.open_calls), at=len(items))
    state = State(
        version=STATE_VERSION,
        session_id=session_id,
        model=model,
        options=options or ModelOptions(),
        instructions=tuple(instructions),
        config=config or LoopConfig(),
        hooks=hooks or HookPoints(),
        calls=sum(len(item.tool_calls) for item in items),
        clock=now,
    )
    draft = Draft(state, now=now)
    draft.emit(RunStarted())
    draft.append(*items)
    return draft.frozen(), tuple(draft.effects)


def resume(state: State, *, hooks: HookPoints | None = None, now: int = 0) -> tuple[State, Effects]:
    """Go on with a session that was saved, as whoever drives it from here on.

    Afterwards, answer every effect in `State.out` with `EffectLost`, except a `StartTool` that
    nobody has started: carry that one out.

    Args:
        state: What was saved.
        hooks: Where a turn stops for code of the host from here on; None means where it did.
        now: Milliseconds since the Unix epoch.
    """
    draft = Draft(state if hooks is None else replace(state, hooks=hooks), now=now)
    draft.emit(RunStarted(resumed=True))
    return draft.frozen(), tuple(draft.effects)


def fork(state: State, session_id: SessionId) -> State:
    """Begin another conversation where one stands.

    What is under way stays with the first: in the fork a turn that runs is cancelled, its calls
    and those in the background are answered as interrupted, and nothing is out.

    Args:
        state: The one; it stays as it is.
        session_id: The other's name.
    """
    if state.phase is not Phase.CLOSED:
        state, _ = step(state, Close(), state.clock)
    return replace(state, session_id=session_id, phase=Phase.IDLE, grants=())


def step(state: State, given: Input, now: int) -> tuple[State, Effects]:
    """Take one input.

    Total: any input is legal in any state. One that does not fit changes nothing but the clock and
    is told as a diagnostic. `state` stays as it is.

    Args:
        state: The session so far.
        given: What happened.
        now: Milliseconds since the Unix epoch; a time before the state's clock counts as that.

    Returns:
        The next state, and what is to be done, in order.

    Raises:
        IllegalTransition: A phase took an edge that the table does not have; a bug of this library.
    """
    draft = Draft(state, now=now)
    kind = type(given)
    answers = ANSWERS.get(kind)
    if answers is not None and _is_late(draft, given, answers):  # type: ignore[arg-type]
        return draft.frozen(), tuple(draft.effects)
    targets = EDGES[state.phase].get(kind)
    if targets is None:
        draft.diagnose(f"{kind.__name__} means nothing while the session is {state.phase}")
        return draft.frozen(), tuple(draft.effects)
    if answers is not None:
        effect_id = given.effect_id  # type: ignore[union-attr]
        draft.answered = draft.out[effect_id]
        if kind not in _LEAVES_IT_OPEN:
            del draft.out[effect_id]
    draft.phase = HANDLERS[state.phase][kind](draft, given)
    if draft.phase not in targets:
        raise IllegalTransition(state.phase, kind.__name__, draft.phase)
    return draft.frozen(), tuple(draft.effects)


def _is_late(draft: Draft, given: Answer, answers: tuple[type[AnsweredEffect], ...]) -> bool:
    if isinstance(draft.out.get(given.effect_id), answers):
        return False
    # Progress of a call that has its result already is of no interest to anyone.
    if not isinstance(given, ToolProgressed):
        draft.diagnose(f"{type(given).__name__} answers {given.effect_id}, which nobody waits for")
    return True
