"""Conversations: what sessions of either kind can do without waiting for anything."""

from __future__ import annotations

from _thread import allocate_lock  # `threading` takes long to load, and some hosts have none
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from agentkit_core import (
    ApprovalId,
    ApprovalRequest,
    Item,
    JsonValue,
    ModelOptions,
    SessionId,
    ThinkingLevel,
    ToolCallId,
    Usage,
)
from agentkit_loop._errors import (
    ApprovalRequiredError,
    SessionClosed,
    TurnRunning,
    UnknownApproval,
    UnknownCall,
)
from agentkit_loop.agent._on_approval import OnApproval
from agentkit_loop.agent._view import SessionView, view_of
from agentkit_loop.kernel._config import LoopConfig
from agentkit_loop.kernel._inputs import (
    CancelCall,
    Configure,
    Input,
    Lane,
    Reset,
    Resolve,
    Submit,
    Unqueue,
)
from agentkit_loop.kernel._status import ApprovalDecision, GrantScope
from agentkit_loop.kernel._step import fork
from agentkit_loop.kernel._table import Phase
from agentkit_loop.persistence._snapshot import encode_state
from agentkit_loop.ports import Reporter
from agentkit_tools_core import CombinedTools, Tool, ToolSource

if TYPE_CHECKING:  # neither driver is loaded before it is used
    from agentkit_loop.drivers._engine import Stepper

Prompt = str | Item | Sequence[Item]
"""What a host says: a text becomes a user item."""


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


def instructions_of(given: Prompt | None) -> tuple[Item, ...]:
    """Make instructions of what a host says: a text becomes a system item."""
    if isinstance(given, str):
        return (Item.system(given),)
    return () if given is None else items_of(given)


class Conversation:
    """What both kinds of session share: everything that needs no waiting.

    All of it may be called from any thread, also while the session works.
    """

    _driver: Stepper

    def __init__(self, driver: Stepper, *, on_approval: OnApproval | None) -> None:
        self._driver = driver
        self._on_approval = on_approval
        self._work = allocate_lock()
        self._tools: ToolSource = driver.executor.source
        self._more_tools: ToolSource | None = None
        """What the model is offered besides, until a result of a type has come."""

    @property
    def id(self) -> SessionId:
        """The session's name."""
        return self._driver.state.session_id

    @property
    def transcript(self) -> tuple[Item, ...]:
        """The history so far; instructions are no part of it."""
        return self._driver.state.transcript.items

    @property
    def pending_approvals(self) -> tuple[ApprovalRequest, ...]:
        """What waits for a person: of background calls, then in call order."""
        return self._driver.state.pending_approvals

    @property
    def view(self) -> SessionView:
        """The session as it stands now."""
        driver = self._driver
        if driver.answering is None:
            return view_of(driver)
        found: list[SessionView] = []
        # What has come of an answer cannot be looked at while more comes.
        driver.on_thread(lambda: found.append(view_of(driver)))
        return found[0]

    def snapshot(self) -> bytes:
        """Write the whole session as JSON, for `Agent.resume`, in this process or another.

        Whoever resumes it goes on from here; this session goes on as well, and the two know
        nothing of each other. A tool that runs at this moment is not run again there: see
        `LoopConfig.lost_tool`.
        """
        return encode_state(self._driver.snapshot())

    def fork(self, session_id: SessionId | None = None) -> bytes:
        """Write a snapshot from which another conversation goes on; this one stays as it is.

        There, a turn that runs here is cancelled and its calls are answered as interrupted.

        Args:
            session_id: The other's name; None makes one of this one's.
        """
        state = self._driver.state
        return encode_state(fork(state, session_id or SessionId(f"{state.session_id}-fork")))

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

    def unqueue(self, lane: Lane | None = None) -> tuple[Item, ...]:
        """Take back what is queued and has not reached the transcript.

        Args:
            lane: Steering, or input for the next turn; None means both.

        Returns:
            What was taken back, steering first.
        """
        taken: list[Item] = []

        def take() -> None:
            # Looked up where nobody steps meanwhile: what a turn takes first is not given back.
            state = self._driver.state
            for batch in state.steer if lane is not Lane.NEXT else ():
                taken.extend(batch)
            for batch in state.inputs if lane is not Lane.STEER else ():
                taken.extend(batch)
            self._post(Unqueue(lane))

        self._driver.on_thread(take)
        return tuple(taken)

    # how the model is asked; changes count from the next model call on

    @property
    def options(self) -> ModelOptions:
        """How the model is asked."""
        return self._driver.state.options

    @options.setter
    def options(self, options: ModelOptions) -> None:
        self._post(Configure(options=options))

    @property
    def thinking(self) -> ThinkingLevel | None:
        """How hard the model is told to think; None leaves it to the model."""
        return self.options.thinking

    @thinking.setter
    def thinking(self, level: ThinkingLevel | None) -> None:
        self.options = replace(self.options, thinking=level)

    @property
    def instructions(self) -> tuple[Item, ...]:
        """What stands before the transcript in each request."""
        return self._driver.state.instructions

    @instructions.setter
    def instructions(self, instructions: Prompt) -> None:
        self._post(Configure(instructions=instructions_of(instructions)))

    @property
    def tools(self) -> ToolSource:
        """Where the model's tools come from."""
        return self._tools

    @tools.setter
    def tools(self, tools: Iterable[Tool] | ToolSource) -> None:
        self._offer(self._driver.executor.with_tools(tools).source, self._more_tools)

    def _offer(self, tools: ToolSource, more: ToolSource | None) -> None:
        offered = tools if more is None else CombinedTools(more, tools)
        self._driver.executor = self._driver.executor.with_tools(offered)
        self._tools, self._more_tools = tools, more

    @property
    def config(self) -> LoopConfig:
        """How the loop behaves: limits, queue modes, …; a change counts at once."""
        return self._driver.state.config

    @config.setter
    def config(self, config: LoopConfig) -> None:
        self._post(Configure(config=config))

    def use_once(self, options: ModelOptions) -> None:
        """Ask the model with other options, in the turn that runs or else the next one only."""
        self._post(Configure(once=options))

    # answers to what is asked

    def approve(
        self,
        approval_id: ApprovalId,
        *,
        call_id: ToolCallId | None = None,
        input: dict[str, JsonValue] | None = None,  # noqa: A002  (a tool call's word)
        answer: JsonValue = None,
        scope: GrantScope = GrantScope.ONCE,
    ) -> None:
        """Let a call run, as far as this ask is concerned.

        Args:
            approval_id: The ask.
            call_id: Which call, if several ask for the same; else the first in call order.
            input: Arguments to run with instead of the model's.
            answer: For a question or a login: what was asked for.
            scope: For how much the yes counts.

        Raises:
            UnknownApproval: No call waits for it.
        """
        decision = ApprovalDecision(approve=True, input=input, answer=answer, scope=scope)
        self._resolve(approval_id, call_id, decision)

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

        Does nothing when no turn runs. What is queued stays queued, and calls in the background
        go on.
        """
        self._driver.on_thread(self._driver.cancel)

    def cancel_call(self, call_id: ToolCallId) -> None:
        """Stop one call, of the running round or in the background; everything else goes on.

        Raises:
            UnknownCall: No such call is under way.
        """
        state = self._driver.state
        calls = () if state.turn is None else state.turn.calls
        under_way = {call.id for call in calls if call.result is None} | state.background.keys()
        if call_id not in under_way:
            raise UnknownCall(call_id)
        self._post(CancelCall(call_id))

    def reset(self) -> None:
        """Forget the conversation: transcript, queues, grants and background calls.

        Instructions, model, options and tools stay.

        Raises:
            TurnRunning: A turn is running.
        """
        if self._driver.state.turn is not None:
            raise TurnRunning("reset")
        self._driver.drop_steps()
        self._driver.last_result = None
        self._post(Reset())

    def raise_for_approvals(self) -> None:
        """Raise if a call waits for approval.

        Raises:
            ApprovalRequiredError: One does.
        """
        if self.pending_approvals:
            raise self._approval_needed(self.pending_approvals)

    def _resolve(
        self, approval_id: ApprovalId, call_id: ToolCallId | None, decision: ApprovalDecision
    ) -> None:
        for ask in self.pending_approvals:
            if ask.id == approval_id and call_id in (None, ask.call.id):
                return self._post(Resolve(approval_id, decision, call_id))
        raise UnknownApproval(approval_id)

    def _post(self, given: Input) -> None:
        self._require_open()
        self._driver.on_thread(lambda: self._driver.post(given))
        if not self._working:
            # Otherwise whoever works on the session raises it.
            self._driver.raise_failure()

    def _require_open(self) -> None:
        if self._driver.state.phase is Phase.CLOSED or self._driver.is_over:
            raise SessionClosed

    def _approval_needed(self, asks: tuple[ApprovalRequest, ...]) -> ApprovalRequiredError:
        turn = self._driver.state.turn
        usage = Usage() if turn is None else turn.usage
        return ApprovalRequiredError(asks, transcript=self.transcript, usage=usage)

    @property
    def _working(self) -> bool:
        """Whether somebody works on the session."""
        return self._work.locked()

    def _offer_more(self, more: ToolSource | None) -> None:
        if more is not self._more_tools:
            self._offer(self._tools, more)
