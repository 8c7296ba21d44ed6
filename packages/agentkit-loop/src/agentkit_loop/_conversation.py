"""Conversations: what sessions of either kind can do without waiting for anything."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from msgspec import Struct

from agentkit_core import (
    ApprovalId,
    Item,
    JsonValue,
    ModelResponse,
    SessionId,
    ToolCallId,
    TurnId,
    Usage,
)
from agentkit_loop._errors import (
    ApprovalNeeded,
    NothingToContinue,
    SessionClosed,
    TurnRunning,
    UnknownApproval,
)
from agentkit_loop._inputs import Continue, Input, Lane, Resolve, Submit
from agentkit_loop._state import encode_state
from agentkit_loop._steps import (
    AfterRound,
    ApprovalAsk,
    ApprovalDecision,
    ApprovalRequested,
    AwaitingInput,
    Busy,
    Closed,
    Finished,
    Step,
)
from agentkit_loop._table import Phase
from agentkit_loop.events import TurnEnd, TurnResult
from agentkit_loop.ports import Reporter

if TYPE_CHECKING:  # neither driver is loaded before it is used
    from agentkit_loop.drivers._stepping import Stepper

Prompt = str | Item | Sequence[Item]
"""What a host says: a text becomes a user item."""

OnApproval = Callable[[ApprovalAsk], bool | ApprovalDecision]
"""Answers an ask, not asynchronously; called on the thread of the run. If it raises, or answers
anything else, the call is denied."""


class SessionView(Struct, frozen=True, kw_only=True):
    """A session as it stands at one moment, for whoever shows it."""

    session_id: SessionId
    phase: Phase
    model: str
    transcript: tuple[Item, ...]
    turn_id: TurnId | None
    """The turn that runs."""
    answer: ModelResponse | None
    """The answer that is being streamed, as far as it has come."""
    pending_calls: tuple[ToolCallId, ...]
    """Calls that have no result yet, in call order."""
    asks: tuple[ApprovalAsk, ...]
    """What waits for an approval, in call order."""
    queued: tuple[Item, ...]
    """What waits for the next turn, oldest first."""
    steering: tuple[Item, ...]
    """What waits for the running turn's next model call, oldest first."""
    reporter_failures: int
    """How often reporters have failed."""


def items_of(prompt: Prompt) -> tuple[Item, ...]:
    """Make items of what a host says, none of a blank text; the caller's list is not kept."""
    match prompt:
        case str():
            # No provider takes a blank message, so there would be nothing to answer.
            return (Item.user(prompt),) if prompt.strip() else ()
        case Item():
            return (prompt,)
        case _:
            return tuple(prompt)


class Conversation:
    """What both kinds of session share: everything that needs no waiting.

    All of it may be called from any thread, also while the session works.
    """

    _driver: Stepper

    def __init__(self, driver: Stepper, *, on_approval: OnApproval | None) -> None:
        self._driver = driver
        self._on_approval = on_approval
        self._working = False

    @property
    def id(self) -> SessionId:
        """The session's name."""
        return self._driver.state.session_id

    @property
    def transcript(self) -> tuple[Item, ...]:
        """The history so far; instructions are no part of it."""
        return self._driver.state.transcript

    @property
    def asks(self) -> tuple[ApprovalAsk, ...]:
        """What waits for an approval, in call order."""
        return self._driver.state.asks

    @property
    def view(self) -> SessionView:
        """The session as it stands now."""
        state, reading = self._driver.state, self._driver.answering
        calls = () if state.turn is None else state.turn.calls
        return SessionView(
            session_id=state.session_id,
            phase=state.phase,
            model=state.model,
            transcript=state.transcript,
            turn_id=self._driver.turn_id,
            answer=None if reading is None else reading.fold.partial(),
            pending_calls=tuple(call.id for call in calls if call.result is None),
            asks=state.asks,
            queued=tuple(item for batch in state.inputs for item in batch),
            steering=tuple(item for batch in state.steer for item in batch),
            reporter_failures=self._driver.teller.failures,
        )

    def state_json(self) -> bytes:
        """Write the session's whole state as JSON."""
        return encode_state(self._driver.state)

    def subscribe(self, reporter: Reporter) -> Callable[[], None]:
        """Tell a reporter what happens from now on; returns how to stop that.

        Raises:
            TypeError: The reporter is async, or cannot be called.
        """
        return self._driver.teller.subscribe(reporter)

    def submit(self, prompt: Prompt, *, lane: Lane = Lane.NEXT) -> None:
        """Queue input without waiting for anything.

        Raises:
            SessionClosed: The session is over.
        """
        self._post(Submit(items_of(prompt), lane))

    def steer(self, prompt: Prompt) -> None:
        """Say something to the running turn: the model reads it with its next call."""
        self.submit(prompt, lane=Lane.STEER)

    def follow_up(self, prompt: Prompt) -> None:
        """Say something for the next turn, which begins when the running one is over."""
        self.submit(prompt, lane=Lane.NEXT)

    def approve(
        self,
        approval_id: ApprovalId,
        *,
        call_id: ToolCallId | None = None,
        input: dict[str, JsonValue] | None = None,  # noqa: A002  (a tool call's word)
    ) -> None:
        """Let a call run, as far as this ask is concerned.

        Args:
            approval_id: The ask.
            call_id: Which call, if several ask for the same; else the first in call order.
            input: Arguments to run with instead of the model's.

        Raises:
            UnknownApproval: No call waits for it.
        """
        self._resolve(approval_id, call_id, ApprovalDecision(approve=True, input=input))

    def deny(
        self,
        approval_id: ApprovalId,
        *,
        call_id: ToolCallId | None = None,
        reason: str | None = None,
    ) -> None:
        """Keep a call from running; the model is told the reason.

        Raises:
            UnknownApproval: No call waits for it.
        """
        self._resolve(approval_id, call_id, ApprovalDecision(approve=False, reason=reason))

    def cancel(self) -> None:
        """Stop the running turn: no more is awaited, what came so far is kept.

        Does nothing when no turn runs. What is queued stays queued.
        """
        self._driver.on_thread(self._driver.cancel)

    def raise_for_asks(self) -> None:
        """Raise if a call waits for approval.

        Raises:
            ApprovalNeeded: One does.
        """
        if self.asks:
            raise self._approval_needed(self.asks)

    def _resolve(
        self, approval_id: ApprovalId, call_id: ToolCallId | None, decision: ApprovalDecision
    ) -> None:
        for ask in self.asks:
            if ask.id == approval_id and call_id in (None, ask.call_id):
                return self._post(Resolve(approval_id, decision, call_id))
        raise UnknownApproval(approval_id)

    def _post(self, given: Input) -> None:
        if self._driver.state.phase is Phase.CLOSED:
            raise SessionClosed
        self._driver.on_thread(lambda: self._driver.feed(given))
        if not self._working:
            # Otherwise whoever works on the session raises it.
            self._driver.raise_failure()

    # the host's side of a run

    def _begin(self, prompt: Prompt, action: str) -> None:
        """Begin a turn with what the host says."""
        if self._driver.state.turn is not None:
            raise TurnRunning(action)
        self._driver.drop_steps()
        self.submit(prompt)
        self._post(Continue())

    def _redrive(self) -> None:
        if self._driver.state.turn is not None:
            raise TurnRunning("continue")
        self._driver.drop_steps()
        self._post(Continue(redrive=True))

    def _nudge(self) -> None:
        """Give the loop the word, unless it has it or has something to hand over."""
        if not self._driver.has_word:
            self._post(Continue())

    def _go_on(self, step: Step) -> TurnResult | None:
        """Do what a step asks for.

        Returns:
            The result of the last turn, when there is nothing more to do; else None.
        """
        match step:
            case ApprovalRequested(asks=asks):
                self._decide(asks)
            case AfterRound():
                self._post(Continue())
            case Finished(result=result):
                stopped = result.end in (TurnEnd.CANCELLED, TurnEnd.ERROR)
                if stopped or not self._driver.state.inputs:
                    return result
                self._post(Continue())
            case AwaitingInput() | Busy():
                raise NothingToContinue
            case Closed():
                raise SessionClosed
        return None

    def _ends_stream(self, step: Step) -> bool:
        """Do what a step asks for; whether the host has the word, or all is done."""
        if isinstance(step, ApprovalRequested) and self._on_approval is None:
            return True
        return self._go_on(step) is not None

    def _decide(self, asks: tuple[ApprovalAsk, ...]) -> None:
        if self._on_approval is None:
            raise self._approval_needed(asks)
        for ask in asks:
            # An earlier answer may have withdrawn it: one no is enough for a call.
            if ask in self.asks:
                self._post(Resolve(ask.id, _decision(self._on_approval, ask), ask.call_id))

    def _approval_needed(self, asks: tuple[ApprovalAsk, ...]) -> ApprovalNeeded:
        turn = self._driver.state.turn
        usage = Usage() if turn is None else turn.usage
        return ApprovalNeeded(asks, transcript=self.transcript, usage=usage)

    @contextmanager
    def _alone(self, action: str) -> Iterator[None]:
        """Keep a second caller from working on the session at the same time."""
        if self._working:
            raise TurnRunning(action)
        self._working = True
        try:
            yield
        finally:
            self._working = False


def _decision(on_approval: OnApproval, ask: ApprovalAsk) -> ApprovalDecision:
    try:
        answer = on_approval(ask)
        if isinstance(answer, bool):
            return ApprovalDecision(approve=answer)
        if isinstance(answer, ApprovalDecision):
            return answer
        # "no", or the coroutine of an async function, must not pass for a yes.
        raise TypeError(f"it answers yes or no at once, not with {type(answer).__name__}")
    except Exception as error:
        # Whoever guards a call must not let it through by failing.
        import logging  # takes long to load, and a run without a fault needs none

        logging.getLogger("agentkit_loop").error(
            "on_approval failed for %s; the call is denied", ask.id, exc_info=error
        )
        return ApprovalDecision(approve=False, reason=f"Approval could not be asked for: {error}")
