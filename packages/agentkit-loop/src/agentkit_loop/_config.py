"""Config: how a run behaves. Part of the state, so that a saved run goes on as it began."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from agentkit_core import RetryPolicy
from agentkit_loop._limits import Limits


class Execution(StrEnum):
    """How the calls of a round are run."""

    PARALLEL = "parallel"
    """Side by side, once all of the round are checked."""
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


class LoopConfig(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a run behaves. All defaults are what most chat agents want.

    Raises:
        ValueError: No tool could ever run.
    """

    execution: Execution = Execution.PARALLEL
    max_parallel: int | None = None
    """How many tools may run at a time, at least 1; None means all of a round."""
    queue_mode: QueueMode = QueueMode.ALL
    busy_input: BusyInput = BusyInput.QUEUE
    yield_after_round: bool = False
    """Whether the host gets the word after each round of tools."""
    keep_failed: bool = False
    """Whether what came of an answer that failed for good is kept in the transcript, without its
    tool calls; the turn's result has it either way."""
    reset_tool_choice: bool = True
    """Whether a tool choice that forces a call applies to the first model call of a turn only;
    otherwise the model is forced for ever, and the turn ends by a limit."""
    limits: Limits = Limits()
    retry: RetryPolicy = RetryPolicy()

    def __post_init__(self) -> None:
        if self.max_parallel is not None and self.max_parallel < 1:
            raise ValueError(f"max_parallel is at least 1, or None, and not {self.max_parallel}")
