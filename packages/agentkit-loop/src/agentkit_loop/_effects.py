"""Effects: what the kernel asks a driver to do, in one ordered list per step.

    answered    CallModel     ModelResponded or ModelFailed
                Preflight     PreflightAllowed, PreflightRefused or PreflightAsked
                StartTool     ToolProgressed*, then ToolDone
                StartTimer    TimerFired
    not         Abort, Emit, Persist, Yield

An effect that is answered has an id and stands in `State.out` until it is answered or aborted;
an answer to any other id is late and changes nothing.
"""

from __future__ import annotations

from typing import NewType

from msgspec import Struct, field

from agentkit_core import ApprovalId, Item, JsonValue, MetadataMap, ToolCallId, TurnId
from agentkit_loop._steps import Step
from agentkit_loop.events import Event

EffectId = NewType("EffectId", str)
"""One effect that is answered: `e1`, `e2`, … in a session."""


class _Effect(Struct, frozen=True, omit_defaults=True, tag_field="type"):
    pass


class CallModel(_Effect, frozen=True, tag="call_model"):
    """Ask the model; `model_request` makes the request from the state."""

    id: EffectId


class Preflight(_Effect, frozen=True, tag="preflight"):
    """Find out whether a call may run: look up, check arguments, ask policies. Runs nothing."""

    id: EffectId
    call_id: ToolCallId
    name: str
    input: dict[str, JsonValue]
    granted: tuple[ApprovalId, ...] = ()
    """What someone has approved for this call already."""
    metadata: MetadataMap = field(default_factory=dict)
    """The metadata of the call's part."""


class StartTool(_Effect, frozen=True, tag="start_tool"):
    """Run a call; must not be done twice."""

    id: EffectId
    call_id: ToolCallId
    name: str
    input: dict[str, JsonValue]
    granted: tuple[ApprovalId, ...] = ()
    metadata: MetadataMap = field(default_factory=dict)


class StartTimer(_Effect, frozen=True, tag="start_timer"):
    """Say when a moment has come; at once, if it has passed."""

    id: EffectId
    at: int
    """Milliseconds, on the clock that `step` is told."""


class Abort(_Effect, frozen=True, tag="abort"):
    """Stop an effect that was asked for; nobody waits for its answer any more."""

    id: EffectId


class Emit(_Effect, frozen=True, tag="emit"):
    """Tell the reporters."""

    event: Event
    turn_id: TurnId | None = None


class Persist(_Effect, frozen=True, tag="persist"):
    """Store items at the end of the stored transcript, where there is one.

    Carrying out all of a session's, in order, gives its transcript.
    """

    items: tuple[Item, ...]
    revision: int
    """The transcript's revision after it; grows by one each time."""


class Yield(_Effect, frozen=True, tag="yield"):
    """Give the host the word."""

    step: Step


AnsweredEffect = CallModel | Preflight | StartTool | StartTimer
"""An effect that is answered by an input."""

Effect = AnsweredEffect | Abort | Emit | Persist | Yield
"""Anything that a driver is asked to do."""
