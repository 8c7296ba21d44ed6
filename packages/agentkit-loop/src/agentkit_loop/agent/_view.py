"""A view of a session as it stands at one moment, for user interfaces."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
from agentkit_core.values import Record
from agentkit_loop._result import TurnResult
from agentkit_loop.kernel._state import State
from agentkit_loop.kernel._table import Phase

if TYPE_CHECKING:  # the drivers are imported only where they are used
    from agentkit_loop.drivers._engine import Engine


class SessionView(Record, frozen=True, kw_only=True):
    """A session as it stands at one moment.

    Attributes:
        session_id: The session's id.
        phase: What the session is doing.
        model: The name of the model that is called.
        options: The options of the next model call: thinking level, tool choice and so on.
        instructions: The items before the transcript in each request; often empty.
        tools: The names of the tools that the model is offered, in order.
        transcript: The items of the conversation so far.
        turn_id: The running turn; None if none runs.
        usage: What that turn has used so far; zero if none runs.
        session_usage: What all turns of the session have used so far, over stores as well.
        answer: The response that is being read, as far as it has come; None if none is.
        pending_calls: Calls of the running round that have no result yet, in call order.
        background_calls: Calls that go on in the background, oldest first.
        pending_approvals: Requests that wait for an answer: of background calls, then in call
            order.
        queued: Items that wait for the next turn, oldest first.
        steering: Items that wait for the running turn's next model call, oldest first.
        last: The result of the last turn that ended since the session was opened; None if none
            did.
        reporter_failures: How often reporters have failed, all reporters together.
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
    session_usage: Usage
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
        """How hard the model thinks; None leaves it to the model."""
        return self.options.thinking

    @property
    def error(self) -> str | None:
        """What went wrong in the last turn; None if nothing did, or a turn runs again."""
        if self.last is None or self.is_running:
            return None
        if self.last.failure is not None:
            return self.last.failure.message
        return self.last.error


def view_of(engine: Engine) -> SessionView:
    """Build the view of an engine's session."""
    state, reading = engine.state, engine.runner.reading
    calls = () if state.turn is None else state.turn.calls
    return SessionView(
        session_id=state.session_id,
        phase=state.phase,
        model=state.model,
        options=state.once or state.options,
        instructions=state.instructions,
        tools=tuple(spec.name for spec in engine.executor.specs(state.added_tools)),
        transcript=state.transcript.items,
        turn_id=engine.turn_id,
        usage=Usage() if state.turn is None else state.turn.usage,
        session_usage=session_usage(state),
        answer=None if reading is None else reading.fold.partial(),
        pending_calls=tuple(call.id for call in calls if call.result is None),
        background_calls=tuple(state.background),
        pending_approvals=state.pending_approvals,
        queued=tuple(item for batch in state.inputs for item in batch),
        steering=tuple(item for batch in state.steer for item in batch),
        last=engine.host_queue.last_result,
        reporter_failures=engine.events.failures,
    )


def session_usage(state: State) -> Usage:
    """Sum up what all turns of a session have used so far."""
    running = Usage() if state.turn is None else state.turn.usage
    return state.spent.usage + running + state.owed
