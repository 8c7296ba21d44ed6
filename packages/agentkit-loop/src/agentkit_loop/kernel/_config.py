"""Configuration: how a run behaves. Part of the state, so a resumed run keeps its behaviour."""

from __future__ import annotations

from typing import Final

from agentkit_core import RetryPolicy
from agentkit_core.settings import Settings
from agentkit_core.values import StringEnum
from agentkit_loop.kernel._limits import Limits, SessionLimits


class Execution(StringEnum):
    """How the tool calls of one round run. A tool that is `exclusive` always runs alone."""

    PARALLEL = "parallel"
    """All at the same time, once the kernel has checked all of them."""
    READS_PARALLEL = "reads_parallel"
    """Tools that are `read_only` at the same time; every other tool alone, in call order."""
    SEQUENTIAL = "sequential"
    """One after another, in call order; each is checked when its turn comes."""


class QueueMode(StringEnum):
    """How many queued submissions enter the transcript at a safe point."""

    ALL = "all"
    """All of them."""
    ONE = "one"
    """Only the oldest one."""


class BusyInput(StringEnum):
    """What happens to input for the next turn that comes while a turn runs."""

    QUEUE = "queue"
    """It waits for the next turn."""
    STEER = "steer"
    """It joins the running turn."""
    REJECT = "reject"
    """It is rejected."""


class SteerPolicy(StringEnum):
    """What happens to the tool calls of a round when steering arrives."""

    AFTER_ROUND = "after_round"
    """All of them run; then the model reads the steering."""
    SKIP_UNSTARTED = "skip_unstarted"
    """Calls that are not running yet are skipped; the model is told so."""


class BackgroundDone(StringEnum):
    """What happens when a background call ends."""

    NOTIFY = "notify"
    """The model is notified at the start of the next turn, or after the next round."""
    CONTINUE = "continue"
    """In addition, a turn that would end continues, and a turn begins if none runs."""


class MutatorFailure(StringEnum):
    """What happens to a turn if a mutator raises, or returns a transcript that is not valid."""

    FAIL_TURN = "fail_turn"
    """The turn ends with an error."""
    SKIP = "skip"
    """The turn continues with the transcript as it was."""


class LostTool(StringEnum):
    """What happens to a call that had started when its process was lost.

    By default, calls that may be repeated (tools that are `read_only` or `idempotent`) run again.
    """

    UNKNOWN = "unknown"
    """Other calls do not run again; the model is told that their outcome is unknown."""
    ASK = "ask"
    """For other calls, a person decides whether they run again."""
    NEVER_REPEAT = "never_repeat"
    """No call runs again, not even one that may be repeated; the outcome of all is unknown."""


_LEAST: Final = {
    "max_parallel": 1,
    "max_identical_failures": 2,
    "max_identical_calls": 2,
    "max_asks_per_call": 1,
    "max_agent_depth": 0,
    "max_follow_up_turns": 0,
}
"""The least value of each setting that counts something."""


class LoopConfig(Settings, frozen=True, kw_only=True, omit_defaults=True):
    """How a run behaves. The defaults suit most chat agents.

    Raises:
        ValueError: `max_parallel` or `max_asks_per_call` is less than 1, `max_identical_calls` or
            `max_identical_failures` less than 2, or `max_agent_depth` or `max_follow_up_turns` less
            than 0.

    Attributes:
        execution: How the tool calls of one round run.
        max_parallel: How many tools may run at the same time, at least 1; None means no limit.
        queue_mode: How many queued submissions a new turn takes.
        steer_mode: How many queued submissions the running turn takes at a safe point; None means
            as `queue_mode`.
        busy_input: What happens to input for the next turn that comes while a turn runs.
        steer_policy: What happens to the tool calls of a round when steering arrives.
        yield_after_round: Whether control returns to the host after each round of tools.
        keep_failed: Whether the transcript keeps what came of an answer that failed for good,
            without its tool calls. The result of the turn has it in any case.
        reset_tool_choice: Whether a tool choice that forces a call applies only to the first model
            call of a turn. Otherwise every answer has to be a tool call, and the turn can only end
            by a limit.
        deny_ends_turn: Whether a turn ends after a round in which a person denied a call.
        background_done: What happens when a background call ends.
        lost_tool: What happens to a call that had started when its process was lost.
        on_mutator_error: What happens to a turn if a mutator fails.
        max_identical_failures: How many calls in a row may fail in the same way (same tool, same
            arguments, same error), at least 2. Then the turn ends by the limit of this name. None
            means any number.
        max_identical_calls: The same for calls in a row with the same tool, arguments and result,
            whether they fail or not.
        max_asks_per_call: How often one tool call may stop to ask a person, at least 1. Then the
            call fails, with an error that names this setting. None means any number.
        max_agent_depth: How many runs may stand around one of this agent, each of them the tool of
            another, at least 0. Beyond it, opening a session raises `AgentsTooDeep`. None means any
            number.
        max_follow_up_turns: How many turns in a row may begin by themselves because background
            calls have ended, with `BackgroundDone.CONTINUE`, at least 0. The next one ends by the
            limit of this name, without a model call; input of the host, or its wish to continue,
            begins anew. None means any number.
        limits: How much one turn may use.
        session_limits: How much all turns of the session may use together, over stores as well.
        retry: When a failed model call is tried again.
    """

    execution: Execution = Execution.PARALLEL
    max_parallel: int | None = None
    queue_mode: QueueMode = QueueMode.ALL
    steer_mode: QueueMode | None = None
    busy_input: BusyInput = BusyInput.QUEUE
    steer_policy: SteerPolicy = SteerPolicy.AFTER_ROUND
    yield_after_round: bool = False
    keep_failed: bool = False
    reset_tool_choice: bool = True
    deny_ends_turn: bool = False
    background_done: BackgroundDone = BackgroundDone.NOTIFY
    lost_tool: LostTool = LostTool.UNKNOWN
    on_mutator_error: MutatorFailure = MutatorFailure.FAIL_TURN
    max_identical_failures: int | None = 10
    max_identical_calls: int | None = 100
    max_asks_per_call: int | None = 100
    max_agent_depth: int | None = 16
    max_follow_up_turns: int | None = 100
    limits: Limits = Limits()
    session_limits: SessionLimits = SessionLimits()
    retry: RetryPolicy = RetryPolicy()

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, least in _LEAST.items():
            value = getattr(self, name)
            if value is not None and value < least:
                raise ValueError(f"{name} is {value}; use {least} or more, or None")
