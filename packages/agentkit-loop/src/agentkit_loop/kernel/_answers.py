"""Answers: the outcomes of effects, as a driver feeds them back to the kernel."""

from __future__ import annotations

from msgspec import field

from agentkit_core import (
    ApprovalRequest,
    Item,
    JsonValue,
    ModelOptions,
    ModelResponse,
    ToolResult,
    Usage,
)
from agentkit_core.values import Record
from agentkit_loop.kernel._effects import EffectId
from agentkit_loop.kernel._tool_run import RunRules


class _Answer(Record, frozen=True, omit_defaults=True, tag_field="type"):
    effect_id: EffectId


class MutatorsDone(_Answer, frozen=True, kw_only=True, tag="mutators_done"):
    """Answers `RunMutators`: all mutators have run, or one has failed.

    Attributes:
        effect_id: The effect that this answers.
        items: The transcript that they made; None leaves it as it is.
        mutators: The names of those that changed something, in order.
        error: What failed, so that nothing is changed; None if nothing did.
    """

    items: tuple[Item, ...] | None = None
    mutators: tuple[str, ...] = ()
    error: str | None = None


class Prepared(_Answer, frozen=True, kw_only=True, tag="prepared"):
    """Answers `Prepare`: the request can be sent.

    Attributes:
        effect_id: The effect that this answers.
        tools: The tools that the model is offered: each tool's name, and a digest of all that the
            model is told of it.
        callable_tools: The names of the tools that the answer may call, if the request forbids some
            of those that there are; None if it forbids none.
        model: The id of the model that is called, if a hook chose another one; else None.
        options: The options of the request, if a hook changed them; else None.
        stop: Whether the turn ends here, without this model call.
        error: Why the request could not be built, so that the turn ends; None if it could.
    """

    tools: dict[str, str] = field(default_factory=dict)
    callable_tools: tuple[str, ...] | None = None
    model: str | None = None
    options: ModelOptions | None = None
    stop: bool = False
    error: str | None = None


class ModelResponded(_Answer, frozen=True, tag="model_responded"):
    """Answers `CallModel`: the model's response is complete.

    Attributes:
        effect_id: The effect that this answers.
        response: The response.
        retry_items: What the model is told before it is called again, because a hook does not
            accept the response; empty if it does.
    """

    response: ModelResponse
    retry_items: tuple[Item, ...] = ()


class ModelFailed(_Answer, frozen=True, tag="model_failed"):
    """Answers `CallModel`: the call has failed.

    Attributes:
        effect_id: The effect that this answers.
        response: What came before the failure, with its `failure` set.
        jitter: A random number between 0 and 1, which varies the wait before the next attempt.
        is_rejected: Whether a hook failed to check the response, so that it is never kept.
    """

    response: ModelResponse
    jitter: float = 1.0
    is_rejected: bool = False


class PreflightAllowed(_Answer, frozen=True, tag="preflight_allowed"):
    """Answers `Preflight`: the call may run.

    Attributes:
        effect_id: The effect that this answers.
        rules: How the call may run.
        input: Arguments to run with instead; None means those that were checked.
        revision: Which tool was checked; see `CallState.revision`.
    """

    rules: RunRules = RunRules()
    input: dict[str, JsonValue] | None = None
    revision: str | None = None


class PreflightRefused(_Answer, frozen=True, tag="preflight_refused"):
    """Answers `Preflight`: the call must not run.

    Attributes:
        effect_id: The effect that this answers.
        result: The result of the call, which tells the model why.
        stop: Whether the turn ends after this round.
    """

    result: ToolResult
    stop: bool = False


class PreflightAsked(_Answer, frozen=True, kw_only=True, tag="preflight_asked"):
    """Answers `Preflight`: the call may run once a person has approved all requests.

    Attributes:
        effect_id: The effect that this answers.
        requests: What the person has to decide. With none, the call may run at once.
        rules: How the call may run then.
        input: Arguments to run with instead; None means those that were checked.
        revision: Which tool was checked; see `CallState.revision`.
    """

    requests: tuple[ApprovalRequest, ...]
    rules: RunRules = RunRules()
    input: dict[str, JsonValue] | None = None
    revision: str | None = None


class ToolStarted(_Answer, frozen=True, tag="tool_started"):
    """`StartTool`: the tool is about to run. The effect stays unanswered.

    A driver with a store saves this before it runs the tool. From then on the kernel does not start
    the call a second time unless its rules say that it is `repeatable`.

    Attributes:
        effect_id: The effect that this belongs to.
    """


class ToolProgressed(_Answer, frozen=True, tag="tool_progressed"):
    """`StartTool`: the tool reports its progress. The effect stays unanswered.

    Attributes:
        effect_id: The effect that this belongs to.
        message: The progress, for people, one line.
        data: The same for programs; None if there is nothing more.
    """

    message: str
    data: JsonValue = None


class ToolSpent(_Answer, frozen=True, tag="tool_spent"):
    """`StartTool`: the tool has called a model by itself. The effect stays unanswered.

    It counts only if the loop has to answer the call because it was cancelled, stopped or lost. The
    tool's own result contains all of its usage.

    Attributes:
        effect_id: The effect that this belongs to.
        usage: What the tool has used since it reported last.
    """

    usage: Usage


class ToolAsked(_Answer, frozen=True, kw_only=True, tag="tool_asked"):
    """Answers `StartTool`: the tool has stopped to ask a person; with the answers it runs again.

    Attributes:
        effect_id: The effect that this answers.
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
    """Answers `StartTool`: the tool has ended, with or without success.

    Attributes:
        effect_id: The effect that this answers.
        result: The result of the call.
        stop: Whether the turn ends after this round.
        stop_unless_failed: The same, unless a call of the round fails.
    """

    result: ToolResult
    stop: bool = False
    stop_unless_failed: bool = False


class TimerFired(_Answer, frozen=True, tag="timer_fired"):
    """Answers `StartTimer`: the moment has come.

    Attributes:
        effect_id: The effect that this answers.
    """


class FinishChecked(_Answer, frozen=True, tag="finish_checked"):
    """Answers `CheckFinish`: the turn may end, or the model gets more to do.

    Attributes:
        effect_id: The effect that this answers.
        items: What the model is told instead of ending the turn; empty lets it end.
        error: Which hook failed and how, so that the turn ends as an error; None if none did.
    """

    items: tuple[Item, ...] = ()
    error: str | None = None


class EffectLost(_Answer, frozen=True, tag="effect_lost"):
    """Answers any effect: the process that performed it is gone, and no answer will come.

    The kernel asks again for what may be done again, under a new id. For a tool that had started,
    `LoopConfig.lost_tool` decides.

    Attributes:
        effect_id: The effect that is lost.
    """


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
"""What answers an effect."""
