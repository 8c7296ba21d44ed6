"""What both session classes offer without waiting: inputs, approvals, settings, snapshots."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, TypeVar

from agentkit_core import ApprovalId, ApprovalRequest, Item, JsonValue, SessionId, ToolCallId
from agentkit_loop._errors import TurnRunning, UnknownCall
from agentkit_loop.agent._access import SessionAccess
from agentkit_loop.agent._host_loop import approval_required
from agentkit_loop.agent._prompt import Prompt
from agentkit_loop.agent._settings import ModelChanger, SessionSettings
from agentkit_loop.agent._tool_offer import ToolOffer
from agentkit_loop.agent._view import SessionView, view_of
from agentkit_loop.kernel._inputs import CancelCall, Lane, Reset, Unqueue
from agentkit_loop.kernel._status import ApprovalDecision, GrantScope
from agentkit_loop.kernel._step import fork
from agentkit_loop.persistence._snapshot import encode_state
from agentkit_loop.ports import Reporter

if TYPE_CHECKING:  # the drivers are imported only where they are used
    from agentkit_loop.drivers._engine import Engine

T = TypeVar("T")


class _ReadOnly(Generic[T]):
    """An attribute that cannot be set: setting it would have no effect."""

    def __init__(self, slot: str) -> None:
        self._slot = slot

    def __get__(self, owner: object, kind: type) -> T:
        value: T = self if owner is None else getattr(owner, self._slot)  # type: ignore[assignment]
        return value

    def __set__(self, owner: object, value: object) -> None:
        raise AttributeError(f"`{self._slot.removeprefix('_')}` of a session cannot be set")


class Conversation:
    """A conversation with a model: what both session classes offer without waiting.

    All of it may be used from any thread, also while the session works.

    Attributes:
        id: The session's id.
        settings: Model, options, instructions, tools and configuration; all may be changed.
    """

    # A misspelt attribute, or a setting that is set here instead of on `settings`, is an error.
    __slots__ = ("__weakref__", "_access", "_engine", "_id", "_offer", "_settings")

    id = _ReadOnly[SessionId]("_id")
    settings = _ReadOnly[SessionSettings]("_settings")

    def __init__(self, engine: Engine, changer: ModelChanger) -> None:
        self._engine = engine
        self._access = SessionAccess(engine)
        self._offer = ToolOffer(engine)
        self._id: SessionId = engine.state.session_id
        self._settings = SessionSettings(engine, self._access, self._offer, changer)

    @property
    def transcript(self) -> tuple[Item, ...]:
        """The items of the conversation so far, without the instructions."""
        return self._engine.state.transcript.items

    @property
    def pending_approvals(self) -> tuple[ApprovalRequest, ...]:
        """The requests that wait for an answer: of background calls, then in call order."""
        return self._engine.state.pending_approvals

    @property
    def view(self) -> SessionView:
        """The session as it stands now."""
        engine = self._engine
        if engine.runner.reading is None:
            return view_of(engine)
        views: list[SessionView] = []
        # A partial response cannot be built while more of it comes.
        engine.runner.call(lambda: views.append(view_of(engine)))
        return views[0]

    def snapshot(self) -> bytes:
        """Write the whole session as JSON, for `Agent.resume` in this process or another.

        The resumed session goes on from here, and so does this one, independently. A tool that
        runs at this moment is not run again there; see `LoopConfig.lost_tool`.
        """
        state = self._engine.state  # read once: another thread may step meanwhile
        return encode_state(self._engine.tools.mark_started(state))

    def fork(self, session_id: SessionId | None = None) -> bytes:
        """Write a snapshot from which another conversation goes on; this one stays as it is.

        There, a turn that runs here is cancelled and its calls are answered as interrupted.

        Args:
            session_id: The other session's id; None derives one from this one's.
        """
        return encode_state(fork(self._engine.state, session_id or SessionId(f"{self.id}-fork")))

    def subscribe(self, reporter: Reporter) -> Callable[[], None]:
        """Add a reporter for all events from now on.

        Returns:
            A function that removes it.

        Raises:
            TypeError: The reporter is async, or cannot be called.
        """
        return self._engine.events.subscribe(reporter)

    def submit(self, prompt: Prompt) -> None:
        """Queue a prompt for the next turn, which begins when the running one is over.

        If no turn runs, `Session.next` begins one.

        Raises:
            SessionClosed: The session is over.
        """
        self._access.queue(prompt, Lane.NEXT)

    def steer(self, prompt: Prompt) -> None:
        """Add a prompt to the running turn: the model reads it with its next call.

        Raises:
            SessionClosed: The session is over.
        """
        self._access.queue(prompt, Lane.STEER)

    def unqueue(self, lane: Lane | None = None) -> tuple[Item, ...]:
        """Take back prompts that are queued and have not reached the transcript.

        Args:
            lane: Those of `steer` (`Lane.STEER`) or of `submit` (`Lane.NEXT`); None means both.

        Returns:
            The items that were taken back, those of `steer` first.

        Raises:
            SessionClosed: The session is over.
        """
        taken: list[Item] = []

        def take() -> None:
            # Read where no other thread steps: what a turn has just taken is not returned.
            state = self._engine.state
            for batch in state.steer if lane is not Lane.NEXT else ():
                taken.extend(batch)
            for batch in state.inputs if lane is not Lane.STEER else ():
                taken.extend(batch)
            self._access.post(Unqueue(lane))

        self._engine.runner.call(take)
        return tuple(taken)

    def approve(
        self,
        approval_id: ApprovalId,
        *,
        call_id: ToolCallId | None = None,
        input: dict[str, JsonValue] | None = None,  # noqa: A002  (a tool call's word)
        answer: JsonValue = None,
        scope: GrantScope = GrantScope.ONCE,
    ) -> None:
        """Approve a call. It runs when all its approvals are given.

        Args:
            approval_id: The approval.
            call_id: Which call, if several wait for the same approval; None means the first.
            input: Arguments to run the call with, instead of the model's.
            answer: For a question or a login: what the tool asked for.
            scope: How long the approval counts.

        Raises:
            UnknownApproval: No call waits for it.
            SessionClosed: The session is over.
        """
        decision = ApprovalDecision(approve=True, input=input, answer=answer, scope=scope)
        self._access.resolve(approval_id, call_id, decision)

    def deny(
        self,
        approval_id: ApprovalId,
        *,
        call_id: ToolCallId | None = None,
        reason: str | None = None,
    ) -> None:
        """Deny a call; it does not run.

        Args:
            approval_id: The approval.
            call_id: Which call, if several wait for the same approval; None means the first.
            reason: For the model; None tells it only that the call was denied.

        Raises:
            UnknownApproval: No call waits for it.
            SessionClosed: The session is over.
        """
        decision = ApprovalDecision(approve=False, reason=reason)
        self._access.resolve(approval_id, call_id, decision)

    def cancel(self) -> None:
        """Stop the running turn and keep what has come so far; do nothing if none runs.

        Queued prompts stay queued, and background calls go on.
        """
        self._engine.runner.call(self._engine.cancel)

    def cancel_call(self, call_id: ToolCallId) -> None:
        """Stop one call, of the running turn or in the background; everything else goes on.

        Raises:
            UnknownCall: The call does not exist, or has its result.
            SessionClosed: The session is over.
        """
        state = self._engine.state
        calls = () if state.turn is None else state.turn.calls
        running = {call.id for call in calls if call.result is None} | state.background.keys()
        if call_id not in running:
            raise UnknownCall(call_id)
        self._access.post(CancelCall(call_id))

    def reset(self) -> None:
        """Forget the conversation: transcript, queues, approvals for the session, background calls.

        The settings stay.

        Raises:
            TurnRunning: A turn is running.
            SessionClosed: The session is over.
        """
        self._access.require_open()
        if self._engine.state.turn is not None:
            raise TurnRunning("reset")
        self._engine.host_queue.clear()
        self._engine.host_queue.last_result = None
        self._access.post(Reset())


def require_no_approvals(conversation: Conversation) -> None:
    """Check that no call waits for approval.

    Raises:
        ApprovalRequiredError: A call does.
    """
    if conversation.pending_approvals:
        raise approval_required(conversation.pending_approvals, conversation._engine.state)
