"""Views: a session as it stands at one moment, for whoever shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from agentkit_core import (
    ApprovalRequest,
    Item,
    ModelOptions,
    ModelResponse,
    SessionId,
    ThinkingLevel,
    ToolCallId,
    TurnId,
    Usage,
)
from agentkit_loop._result import TurnResult
from agentkit_loop.kernel._table import Phase

if TYPE_CHECKING:  # neither driver is loaded before it is used
    from agentkit_loop.drivers._engine import Stepper


class SessionView(Struct, frozen=True, kw_only=True):
    """A session as it stands at one moment.

    Attributes:
        options: How the model is asked: thinking level, tool choice, …
        tools: The names of the tools that the model is offered, in order.
        turn_id: The turn that runs.
        usage: What that turn has used so far; nothing where none runs.
        answer: The answer that is being streamed, as far as it has come.
        pending_calls: Calls of the running round that have no result yet, in call order.
        background_calls: Calls that go on in the background, oldest first.
        pending_approvals: What waits for a person: of background calls, then in call order.
        queued: What waits for the next turn, oldest first.
        steering: What waits for the running turn's next model call, oldest first.
        last: What the last turn came to, of those that ended since the session was opened.
        reporter_failures: How often reporters have failed.
    """

    session_id: SessionId
    phase: Phase
    model: str
    options: ModelOptions
    instructions: tuple[Item, ...]
    tools: tuple[str, ...]
    transcript: tuple[Item, ...]
    turn_id: TurnId | None
    usage: Usage
    answer: ModelResponse | None
    pending_calls: tuple[ToolCallId, ...]
    background_calls: tuple[ToolCallId, ...]
    pending_approvals: tuple[ApprovalRequest, ...]
    queued: tuple[Item, ...]
    steering: tuple[Item, ...]
    last: TurnResult | None
    reporter_failures: int

    @property
    def is_running(self) -> bool:
        """Whether a turn runs."""
        return self.turn_id is not None

    @property
    def thinking(self) -> ThinkingLevel | None:
        """How hard the model is told to think; None leaves it to the model."""
        return self.options.thinking

    @property
    def error(self) -> str | None:
        """What went wrong with the last turn; None if nothing did, or a turn runs again."""
        if self.last is None or self.is_running:
            return None
        if self.last.failure is not None:
            return self.last.failure.message
        return self.last.error


def view_of(driver: Stepper) -> SessionView:
    """Look at what a driver drives."""
    state, reading = driver.state, driver.answering
    calls = () if state.turn is None else state.turn.calls
    return SessionView(
        session_id=state.session_id,
        phase=state.phase,
        model=state.model,
        options=state.once or state.options,
        instructions=state.instructions,
        tools=tuple(spec.name for spec in driver.executor.specs(state.added_tools)),
        transcript=state.transcript.items,
        turn_id=None if state.turn is None else state.turn.id,
        usage=Usage() if state.turn is None else state.turn.usage,
        answer=None if reading is None else reading.fold.partial(),
        pending_calls=tuple(call.id for call in calls if call.result is None),
        background_calls=tuple(state.background),
        pending_approvals=state.pending_approvals,
        queued=tuple(item for batch in state.inputs for item in batch),
        steering=tuple(item for batch in state.steer for item in batch),
        last=driver.last_result,
        reporter_failures=driver.teller.failures,
    )
