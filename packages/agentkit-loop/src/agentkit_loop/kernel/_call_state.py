"""The state of one tool call, from the model's request to its result."""

from __future__ import annotations

from agentkit_core import ApprovalId, ApprovalRequest, ToolCall, ToolCallId, ToolResult, Usage
from agentkit_core.values import Record, StringEnum
from agentkit_loop.kernel._effects import EffectId
from agentkit_loop.kernel._tool_run import Resumption, RunRules


class CallStatus(StringEnum):
    """How far a call is.

        new ─► preflight ─► ready ─► running ─► done
                     │       ▲  ▲       │
                     └► asking ─┘  └── asking again, in the middle of its run

    `done` may follow any of them. A call in the background is running or asking.
    """

    NEW = "new"
    """Nothing has been done for it yet."""
    PREFLIGHT = "preflight"
    """It is being checked."""
    ASKING = "asking"
    """It waits for a person."""
    READY = "ready"
    """It may run as soon as other calls let it."""
    RUNNING = "running"
    """Its tool runs."""
    DONE = "done"
    """It has its result."""


class CallState(Record, frozen=True, kw_only=True, omit_defaults=True):
    """One call of the running round, or one that runs in the background.

    Attributes:
        call: The call. Its `input` is what it runs with: after the preflight converted and with
            defaults, and perhaps changed by hooks or by the person who approved it.
        status: How far the call is.
        rules: How the call may run, as its last preflight said.
        revision: A digest of the tool that the last preflight has checked. The call runs only with
            that tool. None before, and if nobody knows.
        effect_id: The effect that the call waits for: its preflight, or the tool itself. None when
            it waits for neither.
        timeout_id: The timer that stops the call, while it runs; None if there is none.
        detach_id: The timer that sends the call to the background, while it runs; None if there is
            none.
        started: Whether the tool has run, even if it has stopped to ask since.
        pending_approvals: What a person still has to decide.
        granted: The approvals that this call has.
        vouched: Kinds of permission that nobody is asked about again, because a person gave the
            input that the call runs with when asked for them.
        resume: For a tool that has stopped to ask: what it gets when it runs again. None before.
        asks: How often the call has stopped to ask, before it ran or in the middle of a run.
        takes_denials: Whether the tool that has stopped runs again after a denial too.
        spent: What the tool has used of models by itself so far. It counts only if the loop has to
            answer the call; a tool's own result says what it used in all.
        result: The result; None until the call is done.
    """

    call: ToolCall
    status: CallStatus = CallStatus.NEW
    rules: RunRules = RunRules()
    revision: str | None = None
    effect_id: EffectId | None = None
    timeout_id: EffectId | None = None
    detach_id: EffectId | None = None
    started: bool = False
    pending_approvals: tuple[ApprovalRequest, ...] = ()
    granted: tuple[ApprovalId, ...] = ()
    vouched: tuple[str, ...] = ()
    resume: Resumption | None = None
    asks: int = 0
    takes_denials: bool = False
    spent: Usage = Usage()
    result: ToolResult | None = None

    @property
    def id(self) -> ToolCallId:
        """The id of the call."""
        return self.call.id

    @property
    def name(self) -> str:
        """The name of the tool."""
        return self.call.name
