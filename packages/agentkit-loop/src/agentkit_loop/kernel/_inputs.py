"""Inputs: what can happen to a run. A host says something, or an effect is answered.

    from the host            answers, with the id of the effect they answer
    Submit     Unqueue       MutatorsDone
    Continue   Configure     Prepared
    Resolve    Reset         ModelResponded    ModelFailed
    Cancel     CancelCall    PreflightAllowed  PreflightRefused  PreflightAsked
    Close                    ToolStarted  ToolProgressed  ToolSpent  ToolAsked  ToolDone
    from the driver
    ToolsOffered             TimerFired
                             FinishChecked
                             EffectLost, which answers any effect

Each is legal in any phase; what does not fit changes nothing.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct, field

from agentkit_core import (
    ApprovalId,
    ApprovalRequest,
    Item,
    JsonValue,
    ModelOptions,
    ModelResponse,
    ToolCallId,
    ToolResult,
    Usage,
)
from agentkit_loop.kernel._config import LoopConfig
from agentkit_loop.kernel._effects import EffectId
from agentkit_loop.kernel._status import ApprovalDecision
from agentkit_loop.kernel._tool_run import RunRules


class Lane(StrEnum):
    """Where input waits for a safe point."""

    NEXT = "next"
    """For the next turn."""
    STEER = "steer"
    """For the running turn: it reaches the model with the next call."""


class _Input(Struct, frozen=True, omit_defaults=True, tag_field="type"):
    pass


class Submit(_Input, frozen=True, tag="submit"):
    """The host says something.

    Items of assistants and tools are rejected: they come from models and tools.

    Attributes:
        items: What the host says; empty means nothing.
        lane: Which queue the items wait in. While no turn runs, both are the same.
        begin: Whether a turn begins with what is queued, if none runs; like `Continue` after it.
    """

    items: tuple[Item, ...]
    lane: Lane = Lane.NEXT
    begin: bool = False


class Unqueue(_Input, frozen=True, tag="unqueue"):
    """The host takes back what it has queued and what has not reached the transcript.

    Attributes:
        lane: Which queue; None means both.
    """

    lane: Lane | None = None


class Continue(_Input, frozen=True, tag="continue"):
    """The host lets the run go on, or wants to know what it waits for.

    Attributes:
        redrive: Whether a turn may begin without new input, when the transcript's last item asks
            for an answer: after a failure or a limit.
    """

    redrive: bool = False


class Configure(_Input, frozen=True, tag="configure"):
    """The host changes how the model is asked, from the next call on, and how the loop behaves.

    What is None is not changed.

    Attributes:
        model: Another model's id.
        config: Other limits, queue modes, …; counts at once.
        once: Options in place of all others, for the turn that runs, or else the next one, only.
    """

    model: str | None = None
    options: ModelOptions | None = None
    instructions: tuple[Item, ...] | None = None
    config: LoopConfig | None = None
    once: ModelOptions | None = None


class Reset(_Input, frozen=True, tag="reset"):
    """The host forgets the conversation: transcript, queues, grants and background calls.

    Instructions, options and limits stay. Only while no turn runs.
    """


class Resolve(_Input, frozen=True, tag="resolve"):
    """The host answers an ask.

    Attributes:
        call_id: Which call is meant, when several ask for the same; None means the first in call
            order.
    """

    approval_id: ApprovalId
    decision: ApprovalDecision
    call_id: ToolCallId | None = None


class Cancel(_Input, frozen=True, tag="cancel"):
    """The host wants the turn to stop now. Calls in the background go on.

    Attributes:
        partial: What came of the answer that is being streamed, as `ResponseFold.cancel` gives it.
    """

    partial: ModelResponse | None = None


class CancelCall(_Input, frozen=True, tag="cancel_call"):
    """The host wants one call to stop, of the round or in the background; the turn goes on."""

    call_id: ToolCallId


class Close(_Input, frozen=True, tag="close"):
    """The host is done with the session; a turn that runs and background calls are cancelled.

    Attributes:
        partial: See `Cancel`.
    """

    partial: ModelResponse | None = None


class ToolsOffered(_Input, frozen=True, tag="tools_offered"):
    """The driver offers the model these tools with the call that was just asked for.

    For drivers that build a request when they perform `CallModel`; `Prepared` says the same. Give
    it before the model is called. The kernel reports what is different from the call before.

    Attributes:
        tools: Each tool's name, and a digest of all that the model is told of it.
    """

    tools: dict[str, str]


class _Answer(_Input, frozen=True):
    effect_id: EffectId


class MutatorsDone(_Answer, frozen=True, tag="mutators_done"):
    """`RunMutators`: all have been asked, or one has failed.

    Attributes:
        items: The transcript as they want it; None leaves it as it is.
        mutators: The names of those that changed something, in order.
        error: Why nothing must be changed.
    """

    items: tuple[Item, ...] | None = None
    mutators: tuple[str, ...] = ()
    error: str | None = None


class Prepared(_Answer, frozen=True, tag="prepared"):
    """`Prepare`: the request is ready to be sent.

    Attributes:
        tools: What the model is offered: each tool's name, and a digest of what is said of it.
        stop: Whether the turn should end here, without this call.
        error: Why the model cannot be asked.
    """

    tools: dict[str, str] = field(default_factory=dict)
    stop: bool = False
    error: str | None = None


class ModelResponded(_Answer, frozen=True, tag="model_responded"):
    """`CallModel`: the model has answered, and the answer is whole.

    Attributes:
        retry_items: What the model is told if its answer will not do; then it is asked again.
    """

    response: ModelResponse
    retry_items: tuple[Item, ...] = ()


class ModelFailed(_Answer, frozen=True, tag="model_failed"):
    """`CallModel`: the call failed.

    Attributes:
        response: What came before, with its `failure` set.
        jitter: A random number between 0 and 1, for the length of a wait.
    """

    response: ModelResponse
    jitter: float = 1.0


class PreflightAllowed(_Answer, frozen=True, tag="preflight_allowed"):
    """`Preflight`: the call may run.

    Attributes:
        effect_id: The id of the effect that this answers.
        rules: How the call may run.
        input: Arguments to run with instead; None means those that were checked.
    """

    rules: RunRules = RunRules()
    input: dict[str, JsonValue] | None = None


class PreflightRefused(_Answer, frozen=True, tag="preflight_refused"):
    """`Preflight`: the call must not run.

    Attributes:
        result: What the model is told.
        stop: Whether the turn should end after this round.
    """

    result: ToolResult
    stop: bool = False


class PreflightAsked(_Answer, frozen=True, kw_only=True, tag="preflight_asked"):
    """`Preflight`: a person has to decide first; once all requests are approved the call may run.

    Attributes:
        effect_id: The id of the effect that this answers.
        requests: What the person has to decide. With none, the call may run at once.
        rules: How the call may run then.
        input: Arguments to run with instead; None means those that were checked.
    """

    requests: tuple[ApprovalRequest, ...]
    rules: RunRules = RunRules()
    input: dict[str, JsonValue] | None = None


class ToolStarted(_Answer, frozen=True, tag="started"):
    """`StartTool`: the tool is about to run; the effect stays unanswered.

    A driver with a store says so, and saves it, before it runs the tool: from then on the call
    is never begun a second time unless it is `repeatable`.
    """


class ToolProgressed(_Answer, frozen=True, tag="tool_progressed"):
    """`StartTool`: the tool says how far it is; the effect stays unanswered."""

    message: str
    data: JsonValue = None


class ToolSpent(_Answer, frozen=True, tag="tool_spent"):
    """`StartTool`: the tool has used a model by itself; the effect stays unanswered.

    Counts only if the loop has to answer the call itself (it is cancelled, stopped or lost): the
    tool's own result says what it used in all.
    """

    usage: Usage


class ToolAsked(_Answer, frozen=True, kw_only=True, tag="tool_asked"):
    """`StartTool`: the tool has stopped to ask a person; with the answers it runs again.

    Attributes:
        effect_id: The id of the effect that this answers.
        requests: What the person has to decide or to answer. With none, the tool runs again at
            once.
        token: What the tool gets back when it runs again; None means nothing.
        takes_denials: Whether the tool runs again after a denial too; otherwise a denial ends the
            call.
    """

    requests: tuple[ApprovalRequest, ...]
    token: JsonValue = None
    takes_denials: bool = False


class ToolDone(_Answer, frozen=True, tag="tool_done"):
    """`StartTool`: the tool is done, well or badly.

    Attributes:
        stop: Whether the turn should end after this round.
    """

    result: ToolResult
    stop: bool = False


class TimerFired(_Answer, frozen=True, tag="timer_fired"):
    """`StartTimer`: the time has come."""


class FinishChecked(_Answer, frozen=True, tag="finish_checked"):
    """`CheckFinish`: the turn may end, unless there is more to say.

    Attributes:
        items: What the model is told instead of ending the turn.
    """

    items: tuple[Item, ...] = ()


class EffectLost(_Answer, frozen=True, tag="lost"):
    """Any effect: whoever carried it out is gone, and nobody else will answer.

    What may be done again is asked for again, under a new id; of a tool that had been started,
    `LoopConfig.lost_tool` decides.
    """


HostInput = Submit | Unqueue | Continue | Configure | Reset | Resolve | Cancel | CancelCall | Close
"""What a host can say."""

Answer = (
    MutatorsDone
    | Prepared
    | ModelResponded
    | ModelFailed
    | PreflightAllowed
    | PreflightRefused
    | PreflightAsked
    | ToolStarted
    | ToolProgressed
    | ToolSpent
    | ToolAsked
    | ToolDone
    | TimerFired
    | FinishChecked
    | EffectLost
)
"""What an effect can be answered with."""

Input = HostInput | ToolsOffered | Answer
"""Anything that can happen to a run."""
