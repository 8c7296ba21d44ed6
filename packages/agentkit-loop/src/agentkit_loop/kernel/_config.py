"""Config: how a run behaves. Part of the state, so that a saved run goes on as it began."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from agentkit_core import RetryPolicy
from agentkit_loop.kernel._limits import Limits


class Execution(StrEnum):
    """How the calls of a round are run. A tool that is `exclusive` runs alone either way."""

    PARALLEL = "parallel"
    """Side by side, once all of the round are checked."""
    READS_PARALLEL = "reads_parallel"
    """The same for tools that are `read_only`; any other runs alone, in call order."""
    SEQUENTIAL = "sequential"
    """One after another, in call order; each is checked when its turn comes."""


class QueueMode(StrEnum):
    """How much of what is queued goes in at a safe point."""

    ALL = "all"
    ONE = "one"
    """The oldest submission only."""


class BusyInput(StrEnum):
    """What becomes of input for the next turn while a turn runs."""

    QUEUE = "queue"
    """It waits for the next turn."""
    STEER = "steer"
    """It joins the running turn."""
    REJECT = "reject"
    """It is refused."""


class SteerPolicy(StrEnum):
    """What becomes of a round when steering arrives."""

    AFTER_ROUND = "after_round"
    """All of its calls are run; then the model reads what was said."""
    SKIP_UNSTARTED = "skip_unstarted"
    """Calls that do not run yet are answered as skipped."""


class BackgroundDone(StrEnum):
    """What becomes of a background call that is over."""

    NOTIFY = "notify"
    """The model is told at the start of the next turn, or after the next round."""
    CONTINUE = "continue"
    """The same, but a turn that would end goes on with it, and one begins where none runs."""


class MutatorFailure(StrEnum):
    """What becomes of a turn whose mutators fail, or make a transcript that breaks a rule."""

    FAIL_TURN = "fail_turn"
    SKIP = "skip"
    """The model is asked with the transcript as it was."""


class LostTool(StrEnum):
    """What becomes of a call that was started by somebody who is gone.

    Calls that may be repeated (tools that are `read_only` or `idempotent`) are run again.
    """

    UNKNOWN = "unknown"
    """All others: the model is told that the outcome is unknown."""
    ASK = "ask"
    """All others: someone is asked whether to run it again."""
    NEVER_REPEAT = "never_repeat"
    """Not even those are run again: the outcome of all is unknown."""


class LoopConfig(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a run behaves. All defaults are what most chat agents want.

    Raises:
        ValueError: No tool could ever run, or a guard would end every turn.

    Attributes:
        max_parallel: How many tools may run at a time, at least 1; None means all of a round.
        steer_mode: The same for input that steers the running turn; None means as `queue_mode`.
        yield_after_round: Whether the host gets the word after each round of tools.
        keep_failed: Whether what came of an answer that failed for good is kept in the transcript,
            without its tool calls; the turn's result has it either way.
        reset_tool_choice: Whether a tool choice that forces a call applies to the first model call
            of a turn only; otherwise the model is forced for ever, and the turn ends by a limit.
        deny_ends_turn: Whether a turn ends after a round in which someone denied a call.
        max_identical_failures: After how many calls in a row that fail in the very same way (tool,
            arguments and error) a turn ends by the limit of this name, at least 2; None means
            never.
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
    max_identical_failures: int | None = None
    limits: Limits = Limits()
    retry: RetryPolicy = RetryPolicy()

    def __post_init__(self) -> None:
        if self.max_parallel is not None and self.max_parallel < 1:
            raise ValueError(f"max_parallel is at least 1, or None, and not {self.max_parallel}")
        guard = self.max_identical_failures
        if guard is not None and guard < 2:
            raise ValueError(f"max_identical_failures is at least 2, or None, and not {guard}")
