"""Effects: what the kernel asks a driver to do, as one ordered list per step.

    with an answer      answered by
    RunMutators         MutatorsDone
    Prepare             Prepared
    CallModel           ModelResponded or ModelFailed
    Preflight           PreflightAllowed, PreflightRefused or PreflightAsked
    StartTool           ToolStarted?, ToolProgressed*, ToolSpent*, then ToolDone or ToolAsked
    StartTimer          TimerFired
    CheckFinish         FinishChecked

    without an answer   Abort, Emit, Persist, Yield

An effect with an answer has an id, and is in `State.out` until it is answered or aborted. An answer
to any other id is late and changes nothing. After a crash all of them may be performed again,
except a tool that has started.
"""

from __future__ import annotations

from typing import NewType

from agentkit_core import ApprovalId, Item, ToolCall, ToolCallId, TurnId
from agentkit_core.values import Record, StringEnum
from agentkit_loop.events import Event, MutationPoint
from agentkit_loop.kernel._status import SessionStatus
from agentkit_loop.kernel._tool_run import Resumption

EffectId = NewType("EffectId", str)
"""The id of an effect with an answer: `e1`, `e2`, … in each session."""


class _Effect(Record, frozen=True, omit_defaults=True, tag_field="type"):
    pass


class RunMutators(_Effect, frozen=True, tag="run_mutators"):
    """Run the mutators, one after another; each gets the transcript that the one before returned.

    Attributes:
        id: The id of this effect, for its answer.
        point: Where in the turn they run.
    """

    id: EffectId
    point: MutationPoint


class Prepare(_Effect, frozen=True, tag="prepare"):
    """Build the next model request, starting from `model_request`, and run the hooks on it.

    Attributes:
        id: The id of this effect, for its answer.
    """

    id: EffectId


class CallModel(_Effect, frozen=True, tag="call_model"):
    """Send the request to the model and read the response.

    Attributes:
        id: The id of this effect, for its answer.
    """

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
    """Run a call. A driver must not run it twice.

    Attributes:
        id: The id of this effect, for its answer.
        call: The call, with the arguments that it runs with.
        granted: The approvals that this call has, by itself or for the whole session.
        resume: The answers and the token of a tool that runs again because it stopped to ask;
            None for a tool that runs for the first time.
        revision: Which tool may run; see `CallState.revision`.
        detaches: Whether the call may go on in the background, and so outlive the turn.
        started: In `State.out`: whether the tool has started; see `ToolStarted`.
    """

    resume: Resumption | None = None
    revision: str | None = None
    detaches: bool = False
    started: bool = False


class TimerKind(StringEnum):
    """What a timer is for."""

    RETRY = "retry"
    """The next attempt at a model call."""
    TIMEOUT = "timeout"
    """A call is stopped, because it has run for as long as it may."""
    DETACH = "detach"
    """A call goes on in the background from then on."""


class StartTimer(_Effect, frozen=True, kw_only=True, tag="start_timer"):
    """Answer when a moment has come; at once if it has passed.

    Attributes:
        id: The id of this effect, for its answer.
        at: The moment, in milliseconds on the clock that `step` gets as `now`.
        why: What the timer is for.
        call_id: The call that it is about; None for a retry.
        wait_ms: How many milliseconds to wait from when the call runs, which may be later than the
            step that asked for both: a host may approve a call and go on after an hour. None means
            until `at`.
    """

    id: EffectId
    at: int
    why: TimerKind = TimerKind.RETRY
    call_id: ToolCallId | None = None
    wait_ms: int | None = None


class CheckFinish(_Effect, frozen=True, tag="check_finish"):
    """Ask the hooks whether the turn may end; the model has nothing more to do.

    Attributes:
        id: The id of this effect, for its answer.
    """

    id: EffectId


class Abort(_Effect, frozen=True, tag="abort"):
    """Stop an effect; its answer is no longer wanted.

    Attributes:
        id: The effect to stop.
    """

    id: EffectId


class Emit(_Effect, frozen=True, tag="emit"):
    """Report an event.

    Attributes:
        event: The event.
        turn_id: The turn that it belongs to; None between turns.
        number: The event's sequence number in the session, from 1. 0 for the progress of a tool,
            which leaves no trace in the state.
    """

    event: Event
    turn_id: TurnId | None = None
    number: int = 0


class Persist(_Effect, frozen=True, tag="persist"):
    """Store a change of the transcript.

    All changes of a session, in order, make up its transcript.

    Attributes:
        items: The items that are new, or all items if the transcript was rewritten.
        revision: The transcript's revision after the change; grows by one each time.
        rewrite: Whether the items replace the whole transcript; else they are appended.
    """

    items: tuple[Item, ...]
    revision: int
    rewrite: bool = False


class Yield(_Effect, frozen=True, tag="yield"):
    """Return control to the host.

    Attributes:
        status: Why.
    """

    status: SessionStatus


AnsweredEffect = (
    RunMutators | Prepare | CallModel | Preflight | StartTool | StartTimer | CheckFinish
)
"""An effect that an input answers."""

Effect = AnsweredEffect | Abort | Emit | Persist | Yield
"""Anything that the kernel asks a driver to do."""
