"""Inputs that answer no effect: what the host wants, and which tools the driver offers."""

from __future__ import annotations

from agentkit_core import ApprovalId, Item, ModelOptions, ModelResponse, ToolCallId
from agentkit_core.settings import Settings
from agentkit_core.values import StringEnum
from agentkit_loop.kernel._config import LoopConfig
from agentkit_loop.kernel._status import ApprovalDecision


class Lane(StringEnum):
    """Which queue input waits in until a safe point."""

    NEXT = "next"
    """For the next turn."""
    STEER = "steer"
    """For the running turn: the model reads it with its next call."""


class _HostInput(Settings, frozen=True, omit_defaults=True, tag_field="type"):
    pass


class Submit(_HostInput, frozen=True, tag="submit"):
    """Queue input of the host.

    Items of assistants and tools are rejected: they come from models and tools.

    Attributes:
        items: What the host says; empty means nothing.
        lane: Which queue the items wait in. While no turn runs, both are the same.
        begin: Whether a turn begins with what is queued, if none runs; like `Continue` after it.
    """

    items: tuple[Item, ...]
    lane: Lane = Lane.NEXT
    begin: bool = False


class Unqueue(_HostInput, frozen=True, tag="unqueue"):
    """Take back what is queued and has not reached the transcript.

    Attributes:
        lane: Which queue; None means both.
    """

    lane: Lane | None = None


class Continue(_HostInput, frozen=True, tag="continue"):
    """Let the session go on, or find out what it waits for.

    Attributes:
        redrive: Whether a turn may begin without new input if the last item of the transcript
            wants an answer: after a failure or a limit.
    """

    redrive: bool = False


class Configure(_HostInput, frozen=True, kw_only=True, tag="configure"):
    """Change settings; what is None stays as it is.

    Attributes:
        model: The id of another model, from the next model call on.
        provider: The name of that model's provider; None if it does not say.
        options: How the model should answer, from the next model call on.
        instructions: What stands before the transcript in each request, from the next one on.
        config: How the run behaves, from now on.
        once: Options that replace all others in the running turn, or else in the next one only.
    """

    model: str | None = None
    provider: str | None = None
    options: ModelOptions | None = None
    instructions: tuple[Item, ...] | None = None
    config: LoopConfig | None = None
    once: ModelOptions | None = None


class Reset(_HostInput, frozen=True, tag="reset"):
    """Forget the conversation: transcript, queues, approvals and background calls.

    Instructions, options and configuration stay. Allowed only while no turn runs.
    """


class Resolve(_HostInput, frozen=True, tag="resolve"):
    """Approve or deny a request, or answer a question.

    Attributes:
        approval_id: The id of the request.
        decision: What the person decided.
        call_id: Which call is meant if several wait for the same; None means the first in call
            order.
    """

    approval_id: ApprovalId
    decision: ApprovalDecision
    call_id: ToolCallId | None = None


class Cancel(_HostInput, frozen=True, tag="cancel"):
    """Stop the running turn now. Background calls go on.

    Attributes:
        partial: What has come of the response that is being read, as `ResponseFold.cancel` returns
            it; None if nothing is being read.
    """

    partial: ModelResponse | None = None


class CancelCall(_HostInput, frozen=True, tag="cancel_call"):
    """Stop one call, of the round or in the background; the turn goes on.

    Attributes:
        call_id: The call.
    """

    call_id: ToolCallId


class Close(_HostInput, frozen=True, tag="close"):
    """End the session; a running turn and background calls are cancelled.

    Attributes:
        partial: See `Cancel`.
    """

    partial: ModelResponse | None = None


class ToolsOffered(_HostInput, frozen=True, tag="tools_offered"):
    """The driver offers the model these tools with the call that was just asked for.

    For drivers that build a request when they perform `CallModel`; `Prepared` says the same. Give
    it before the model is called. The kernel reports what is different from the call before.

    Attributes:
        tools: Each tool's name, and a digest of all that the model is told of it.
        callable_tools: The names of the tools that the answer may call, if the request forbids some
            of those that there are; None if it forbids none.
    """

    tools: dict[str, str]
    callable_tools: tuple[str, ...] | None = None


HostInput = Submit | Unqueue | Continue | Configure | Reset | Resolve | Cancel | CancelCall | Close
"""What a host may want."""
