"""Effects: what the kernel asks a driver to do, in one ordered list per step.

    answered    RunMutators   MutatorsDone
                Prepare       Prepared
                CallModel     ModelResponded or ModelFailed
                Preflight     PreflightAllowed, PreflightRefused or PreflightAsked
                StartTool     Started?, ToolProgressed*, ToolSpent*, then ToolDone or ToolAsked
                StartTimer    TimerFired
                CheckFinish   FinishChecked
    not         Abort, Emit, Persist, Yield

An effect that is answered has an id and stands in `State.out` until it is answered or aborted;
an answer to any other id is late and changes nothing. All of them may be carried out again
after a crash, except a tool that was started.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NewType

from msgspec import Struct

from agentkit_core import ApprovalId, Item, ToolCall, ToolCallId, TurnId
from agentkit_loop.events import Event, MutationPoint
from agentkit_loop.kernel._status import SessionStatus
from agentkit_loop.kernel._tool_run import Resumption

EffectId = NewType("EffectId", str)
"""One effect that is answered: `e1`, `e2`, … in a session."""


class _Effect(Struct, frozen=True, omit_defaults=True, tag_field="type"):
    pass


class RunMutators(_Effect, frozen=True, tag="run_mutators"):
    """Show the transcript to the mutators, one after another, each what the last one made."""

    id: EffectId
    point: MutationPoint


class Prepare(_Effect, frozen=True, tag="prepare"):
    """Make the next request: look at the tools, run the hooks; `model_request` is its ground."""

    id: EffectId


class CallModel(_Effect, frozen=True, tag="call_model"):
    """Send the request that was prepared, and read the answer."""

    id: EffectId


class _CallEffect(_Effect, frozen=True):
    id: EffectId
    call: ToolCall
    granted: tuple[ApprovalId, ...] = ()


class Preflight(_CallEffect, frozen=True, tag="preflight"):
    """Find out whether a call may run: find the tool, check arguments, ask policies. Runs nothing.

    Attributes:
        id: The id of this effect, for its answer.
        call: The call, with the arguments that it would run with.
        granted: The approvals that this call has, by itself or for the whole session.
    """


class StartTool(_CallEffect, frozen=True, kw_only=True, tag="start_tool"):
    """Run a call; a driver must not do it twice.

    Attributes:
        id: The id of this effect, for its answer.
        call: The call, with the arguments that it runs with.
        granted: The approvals that this call has, by itself or for the whole session.
        resume: The answers and the token of a tool that runs again because it stopped to ask;
            None for a tool that runs for the first time.
        detaches: Whether the call may go on in the background, and so outlive the turn.
        started: In `State.out`: whether the tool has been started; see `ToolStarted`.
    """

    resume: Resumption | None = None
    detaches: bool = False
    started: bool = False


class TimerKind(StrEnum):
    """What a timer is for."""

    RETRY = "retry"
    """The next attempt at a model call."""
    TIMEOUT = "timeout"
    """A call has run for as long as it may."""
    DETACH = "detach"
    """A call goes on in the background from here."""


class StartTimer(_Effect, frozen=True, tag="start_timer"):
    """Say when a moment has come; at once, if it has passed.

    Attributes:
        at: Milliseconds, on the clock that `step` is told.
        call_id: The call that is timed; None for a retry.
    """

    id: EffectId
    at: int
    why: TimerKind = TimerKind.RETRY
    call_id: ToolCallId | None = None


class CheckFinish(_Effect, frozen=True, tag="check_finish"):
    """Ask whether the turn may end: the model has nothing more to do."""

    id: EffectId


class Abort(_Effect, frozen=True, tag="abort"):
    """Stop an effect that was asked for; nobody waits for its answer any more."""

    id: EffectId


class Emit(_Effect, frozen=True, tag="emit"):
    """Tell the reporters.

    Attributes:
        number: The session's how-manieth event it is, from 1; 0 for what leaves no trace in the
            state, which is the progress of a tool.
    """

    event: Event
    turn_id: TurnId | None = None
    number: int = 0


class Persist(_Effect, frozen=True, tag="persist"):
    """Store a change of the transcript, where it is stored.

    Carrying out all of a session's, in order, gives its transcript.

    Attributes:
        revision: The transcript's revision after it; grows by one each time.
        rewrite: Whether the items take the place of the whole transcript; else they are appended.
    """

    items: tuple[Item, ...]
    revision: int
    rewrite: bool = False


class Yield(_Effect, frozen=True, tag="yield"):
    """Give the host the word."""

    step: SessionStatus


AnsweredEffect = (
    RunMutators | Prepare | CallModel | Preflight | StartTool | StartTimer | CheckFinish
)
"""An effect that is answered by an input."""

Effect = AnsweredEffect | Abort | Emit | Persist | Yield
"""Anything that a driver is asked to do."""
