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

from msgspec import Struct, field

from agentkit_core import ApprovalId, Item, JsonValue, MetadataMap, ToolCallId, TurnId
from agentkit_loop.events import Event, MutationPoint
from agentkit_loop.kernel._status import SessionStatus

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


class Preflight(_Effect, frozen=True, tag="preflight"):
    """Find out whether a call may run: look up, check arguments, ask policies. Runs nothing.

    Attributes:
        granted: What someone has approved for this call already, or for the session.
        metadata: The metadata of the call's part.
    """

    id: EffectId
    call_id: ToolCallId
    name: str
    input: dict[str, JsonValue]
    granted: tuple[ApprovalId, ...] = ()
    metadata: MetadataMap = field(default_factory=dict)


class StartTool(_Effect, frozen=True, tag="start_tool"):
    """Run a call; must not be done twice.

    Attributes:
        answers: What people have answered to the tool's own questions.
        denied: Which of the tool's own asks were denied, and why.
        token: What the tool left when it stopped to ask; None when it runs for the first time.
        detaches: Whether it may go on in the background, and so outlive the turn.
        started: In `State.out`: whether somebody has begun to run it; see `Started`.
    """

    id: EffectId
    call_id: ToolCallId
    name: str
    input: dict[str, JsonValue]
    granted: tuple[ApprovalId, ...] = ()
    metadata: MetadataMap = field(default_factory=dict)
    answers: dict[ApprovalId, JsonValue] = field(default_factory=dict)
    denied: dict[ApprovalId, str | None] = field(default_factory=dict)
    token: JsonValue = None
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
