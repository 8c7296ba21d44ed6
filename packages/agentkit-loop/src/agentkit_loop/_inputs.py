"""Inputs: what can happen to a run. A host says something, or an effect is answered.

    from the host          answers, with the id of the effect they answer
    Submit                 ModelResponded  ModelFailed
    Continue               PreflightAllowed  PreflightRefused  PreflightAsked
    Resolve                ToolProgressed  ToolDone
    Cancel                 TimerFired
    Close

Each is legal in any phase; what does not fit changes nothing.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from agentkit_core import ApprovalId, Item, JsonValue, ModelResponse, ToolCallId, ToolResult
from agentkit_loop._effects import EffectId
from agentkit_loop._steps import ApprovalAsk, ApprovalDecision


class Lane(StrEnum):
    """Where input waits for a safe point."""

    NEXT = "next"
    """For the next turn."""
    STEER = "steer"
    """For the running turn: it reaches the model with the next call."""


class _Input(Struct, frozen=True, omit_defaults=True, tag_field="type"):
    pass


class Submit(_Input, frozen=True, tag="submit"):
    """The host has something to say.

    Assistant and tool items are refused: they come from models and tools. While no turn runs,
    both lanes are the same. An empty list does nothing.
    """

    items: tuple[Item, ...]
    lane: Lane = Lane.NEXT


class Continue(_Input, frozen=True, tag="continue"):
    """The host lets the run go on, or wants to know what it waits for."""

    redrive: bool = False
    """Whether a turn may begin without new input, when the transcript's last item asks for an
    answer: after a failure or a limit."""


class Resolve(_Input, frozen=True, tag="resolve"):
    """The host answers an ask."""

    approval_id: ApprovalId
    decision: ApprovalDecision
    call_id: ToolCallId | None = None
    """Which call is meant, when several ask for the same; None means the first in call order."""


class Cancel(_Input, frozen=True, tag="cancel"):
    """The host wants the turn to stop now."""

    partial: ModelResponse | None = None
    """What came of the answer that is being streamed, as `ResponseFold.cancel` gives it."""


class Close(_Input, frozen=True, tag="close"):
    """The host is done with the session; a turn that runs is cancelled."""

    partial: ModelResponse | None = None
    """See `Cancel`."""


class _Answer(_Input, frozen=True):
    effect_id: EffectId


class ModelResponded(_Answer, frozen=True, tag="model_responded"):
    """`CallModel`: the model has answered, and the answer is whole."""

    response: ModelResponse


class ModelFailed(_Answer, frozen=True, tag="model_failed"):
    """`CallModel`: the call failed."""

    response: ModelResponse
    """What came before, with its `failure` set."""
    jitter: float = 1.0
    """A random number between 0 and 1, for the length of a wait."""


class PreflightAllowed(_Answer, frozen=True, tag="preflight_allowed"):
    """`Preflight`: the call may run."""


class PreflightRefused(_Answer, frozen=True, tag="preflight_refused"):
    """`Preflight`: the call must not run."""

    result: ToolResult
    """What the model is told."""


class PreflightAsked(_Answer, frozen=True, tag="preflight_asked"):
    """`Preflight`: someone has to be asked first."""

    asks: tuple[ApprovalAsk, ...]


class ToolProgressed(_Answer, frozen=True, tag="tool_progressed"):
    """`StartTool`: the tool says how far it is; the effect stays unanswered."""

    message: str
    data: JsonValue = None


class ToolDone(_Answer, frozen=True, tag="tool_done"):
    """`StartTool`: the tool is done, well or badly."""

    result: ToolResult
    stop: bool = False
    """Whether the turn should end after this round."""


class TimerFired(_Answer, frozen=True, tag="timer_fired"):
    """`StartTimer`: the time has come."""


HostInput = Submit | Continue | Resolve | Cancel | Close
"""What a host can say."""

Answer = (
    ModelResponded
    | ModelFailed
    | PreflightAllowed
    | PreflightRefused
    | PreflightAsked
    | ToolProgressed
    | ToolDone
    | TimerFired
)
"""What an effect can be answered with."""

Input = HostInput | Answer
"""Anything that can happen to a run."""
