"""State: all that a run knows, as data that can be written as JSON at any moment.

Nothing here is ever changed in place: a step makes a new state and leaves the old one alone. The
transcript is shared by the states of a session, so that a step costs what is new.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from msgspec import Struct, field

from agentkit_core import (
    ApprovalId,
    ApprovalRequest,
    Item,
    JsonValue,
    ModelOptions,
    SessionId,
    ToolCall,
    ToolCallId,
    ToolResult,
    Transcript,
    TurnId,
    Usage,
)
from agentkit_loop.kernel._config import LoopConfig
from agentkit_loop.kernel._effects import AnsweredEffect, EffectId
from agentkit_loop.kernel._table import Phase
from agentkit_loop.kernel._tool_run import Resumption, RunRules

STATE_VERSION: Final = 3
"""Grows when the meaning of a stored state changes; `_snapshot` upgrades older ones."""

Batch = tuple[Item, ...]
"""What came with one submission."""


class CallStatus(StrEnum):
    """How far a call is.

        new ─► preflight ─► ready ─► running ─► done
                     │       ▲  ▲       │
                     └► asking ─┘  └── asking again, in the middle of its run

    `done` may follow on any of them. A call in the background is running or asking.
    """

    NEW = "new"
    PREFLIGHT = "preflight"
    ASKING = "asking"
    READY = "ready"
    RUNNING = "running"
    DONE = "done"


class CallState(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One call of the running round, or one that runs in the background.

    Attributes:
        call: The call. Its `input` is what it runs with; hooks, or the person who approved it, may
            have changed the model's own.
        status: How far the call is.
        rules: How the call may run, as its last preflight said.
        effect_id: The effect that the call waits for: its preflight, or the tool itself. None when
            it waits for neither.
        timeout_id: The timer that stops the call, while it runs; None if there is none.
        detach_id: The timer that sends the call to the background, while it runs; None if there is
            none.
        started: Whether the tool has run, even if it has stopped to ask since.
        pending_approvals: What a person still has to decide.
        granted: The approvals that this call has.
        vouched: Kinds of permission that nobody is asked about again, because a person gave the
            input that the call runs with when asked for them.
        resume: For a tool that has stopped to ask: what it gets when it runs again. None before.
        takes_denials: Whether the tool that has stopped runs again after a denial too.
        spent: What the tool has used of models by itself so far. It counts only if the loop has to
            answer the call; a tool's own result says what it used in all.
        result: The result; None until the call is done.
    """

    call: ToolCall
    status: CallStatus = CallStatus.NEW
    rules: RunRules = RunRules()
    effect_id: EffectId | None = None
    timeout_id: EffectId | None = None
    detach_id: EffectId | None = None
    started: bool = False
    pending_approvals: tuple[ApprovalRequest, ...] = ()
    granted: tuple[ApprovalId, ...] = ()
    vouched: tuple[str, ...] = ()
    resume: Resumption | None = None
    takes_denials: bool = False
    spent: Usage = Usage()
    result: ToolResult | None = None

    @property
    def id(self) -> ToolCallId:
        """The id of the call."""
        return self.call.id

    @property
    def name(self) -> str:
        """The name of the tool."""
        return self.call.name


class Failing(Struct, frozen=True):
    """Calls in a row that failed in the very same way.

    Attributes:
        result: What the model was told.
    """

    name: str
    input: dict[str, JsonValue]
    result: str
    times: int = 1


class TurnState(Struct, frozen=True, omit_defaults=True):
    """The turn that runs.

    Attributes:
        started_at: Milliseconds since the Unix epoch.
        model_calls: Answers so far.
        tool_calls: Calls asked for so far.
        attempt: The attempt at the model call that is under way, from 1; 0 when none is.
        called: Whether that attempt was made: not while it is being prepared.
        prepared: Whether the driver has the request of that attempt, and need not prepare it again.
        resumed: Whether the last item is an answer that the provider wants to go on with.
        tools_closed: Whether the model is asked without tools, because it may call no more.
        unreported: Whether an answer came without token counts.
        unpriced: Whether an answer came without a price.
        first: Where in the transcript the turn's items begin, those in `produced` aside.
        produced: Assistant and tool items from before the transcript was rewritten within the turn.
        calls: The running round, in call order.
        stop: Whether something in the running round wants the turn to end.
        failing: How the last call failed, if it did.
        effect_id: What the turn itself waits for: mutators, a request, an answer, a timer, hooks.
    """

    id: TurnId
    started_at: int = 0
    model_calls: int = 0
    tool_calls: int = 0
    attempt: int = 0
    called: bool = False
    prepared: bool = False
    resumed: bool = False
    tools_closed: bool = False
    usage: Usage = Usage()
    unreported: bool = False
    unpriced: bool = False
    first: int = 0
    produced: tuple[Item, ...] = ()
    calls: tuple[CallState, ...] = ()
    stop: bool = False
    failing: Failing | None = None
    effect_id: EffectId | None = None


class HookPoints(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where a turn stops for code of the host: at the effects that have somebody to ask.

    Whoever drives the session says so when it starts or resumes; it is no setting of the run.

    Attributes:
        mutators: Whether `RunMutators` comes before each model call.
        request: Whether `Prepare` comes before each model call. Without it the driver builds the
            request when it performs `CallModel`.
        finish: Whether `CheckFinish` comes before a turn ends.
    """

    mutators: bool = False
    request: bool = False
    finish: bool = False


class State(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A session as it stands. Make one with `start`.

    Attributes:
        version: The version of the stored form; `STATE_VERSION` for new ones.
        session_id: The session's name.
        model: The model's id, for requests.
        options: How the model should answer.
        once: Options for the turn that runs, or else the next one, in place of `options`.
        instructions: What stands before the transcript in each request, and is no part of it.
        config: How the run behaves.
        hooks: Where a turn stops for code of the host.
        phase: The phase that the session is in.
        transcript: The history so far.
        revision: How often the transcript has changed.
        retired_calls: Ids of calls that rewriting took out of the transcript; no call gets them
            again.
        turn: The turn that runs; None exactly when idle or closed.
        turns: How many turns there have been.
        calls: How many calls there have been; for ids of our own.
        effects: How many effects that are answered have been asked for.
        events: How many events there have been.
        clock: The latest time that was told; never goes back.
        inputs: Submissions for the next turn, oldest first.
        steer: Submissions for the running turn, oldest first; empty when none runs.
        notices: Notifications of background calls that are over, for the next safe point.
        background: Calls that go on whatever turns do, oldest first.
        owed: What background calls used while no turn ran; the next turn's.
        grants: What is approved for the whole session.
        tools: What the model was offered last: each tool's name, and a digest of what is said of
            it.
        added_tools: Names of tools that results have added to what the model is offered.
        out: Effects that were asked for and are not answered.
    """

    version: int
    session_id: SessionId
    model: str
    options: ModelOptions = ModelOptions()
    once: ModelOptions | None = None
    instructions: tuple[Item, ...] = ()
    config: LoopConfig = LoopConfig()
    hooks: HookPoints = HookPoints()
    phase: Phase = Phase.IDLE
    transcript: Transcript = field(default_factory=Transcript)
    revision: int = 0
    retired_calls: frozenset[ToolCallId] = frozenset()
    turn: TurnState | None = None
    turns: int = 0
    calls: int = 0
    effects: int = 0
    events: int = 0
    clock: int = 0
    inputs: tuple[Batch, ...] = ()
    steer: tuple[Batch, ...] = ()
    notices: tuple[Item, ...] = ()
    background: dict[ToolCallId, CallState] = field(default_factory=dict)
    owed: Usage = Usage()
    grants: tuple[ApprovalId, ...] = ()
    tools: dict[str, str] | None = None
    added_tools: tuple[str, ...] = ()
    out: dict[EffectId, AnsweredEffect] = field(default_factory=dict)

    @property
    def pending_approvals(self) -> tuple[ApprovalRequest, ...]:
        """What a person has to answer: for background calls, then for the turn in call order."""
        calls = () if self.turn is None else self.turn.calls
        if not self.background and not calls:
            return ()
        return tuple(
            request
            for call in (*self.background.values(), *calls)
            for request in call.pending_approvals
        )
