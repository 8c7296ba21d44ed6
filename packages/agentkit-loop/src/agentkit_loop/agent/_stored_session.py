"""Looks at a stored session without opening it, so that whoever works on it is not disturbed."""

from __future__ import annotations

from agentkit_core import ApprovalRequest, Item, ModelOptions, SessionId, ToolCallId, TurnId, Usage
from agentkit_core.values import Record
from agentkit_loop.agent._open_session import load_saved, load_saved_blocking
from agentkit_loop.agent._view import session_usage
from agentkit_loop.kernel._state import State
from agentkit_loop.kernel._table import Phase
from agentkit_loop.persistence._records import Saved
from agentkit_loop.persistence._snapshot import decode_head, decode_state
from agentkit_loop.ports import BlockingStore, Store


class StoredSession(Record, frozen=True, kw_only=True):
    """A session as it was saved last.

    Attributes:
        session_id: The session's id.
        saves: The number of the last save, from 1; 0 for a snapshot.
        phase: What the session was doing.
        model: The name of the model that was called.
        options: The options of the next model call.
        instructions: The items before the transcript in each request; empty if a function works
            them out.
        transcript: The items of the conversation so far.
        turn_id: The turn that is under way; None if none is.
        usage: What that turn has used so far; zero if none is under way.
        session_usage: What all turns of the session have used so far.
        pending_calls: Calls of the running round that have no result yet, in call order.
        background_calls: Calls that go on in the background, oldest first.
        pending_approvals: Requests that wait for an answer: of background calls, then in call
            order.
        queued: Items that wait for the next turn, oldest first.
        steering: Items that wait for the turn's next model call, oldest first.
    """

    session_id: SessionId
    saves: int
    phase: Phase
    model: str
    options: ModelOptions
    instructions: tuple[Item, ...]
    transcript: tuple[Item, ...]
    turn_id: TurnId | None
    usage: Usage
    session_usage: Usage
    pending_calls: tuple[ToolCallId, ...]
    background_calls: tuple[ToolCallId, ...]
    pending_approvals: tuple[ApprovalRequest, ...]
    queued: tuple[Item, ...]
    steering: tuple[Item, ...]

    @property
    def is_running(self) -> bool:
        """Whether a turn is under way."""
        return self.turn_id is not None


async def read_session(store: Store, session_id: SessionId) -> StoredSession | None:
    """Read a stored session without opening it: nothing is written and nobody is disturbed.

    Returns:
        The session as it was saved last, also while somebody works on it; None if it was never
        saved.

    Raises:
        RecordError: What is stored cannot be read.
        WrongStoreForm: The store has no `save`; use `read_session_blocking`.
    """
    return _stored_session(session_id, await load_saved(store, session_id))


def read_session_blocking(store: BlockingStore, session_id: SessionId) -> StoredSession | None:
    """Read a stored session without opening it and without an event loop; see `read_session`."""
    return _stored_session(session_id, load_saved_blocking(store, session_id))


def read_snapshot(snapshot: bytes) -> StoredSession:
    """Read the snapshot of a session without resuming it.

    Raises:
        RecordError: The bytes are not a valid snapshot, or one of a newer version.
    """
    return _view(decode_state(snapshot), 0)


def _stored_session(session_id: SessionId, saved: Saved | None) -> StoredSession | None:
    return None if saved is None else _view(decode_head(saved).state, saved.seq)


def _view(state: State, saves: int) -> StoredSession:
    turn = state.turn
    calls = () if turn is None else turn.calls
    return StoredSession(
        session_id=state.session_id,
        saves=saves,
        phase=state.phase,
        model=state.model,
        options=state.once or state.options,
        instructions=state.instructions,
        transcript=state.transcript.items,
        turn_id=None if turn is None else turn.id,
        usage=Usage() if turn is None else turn.usage,
        session_usage=session_usage(state),
        pending_calls=tuple(call.id for call in calls if call.result is None),
        background_calls=tuple(state.background),
        pending_approvals=state.pending_approvals,
        queued=tuple(item for batch in state.inputs for item in batch),
        steering=tuple(item for batch in state.steer for item in batch),
    )
