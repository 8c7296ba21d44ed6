"""The state of a session: everything that the kernel knows, as data that can be written as JSON.

Nothing in it is ever changed in place: a step makes a new state and leaves the old one alone. The
states of a session share its transcript, so a step costs only what is new.
"""

from __future__ import annotations

from typing import Final

from msgspec import field

from agentkit_core import (
    ApprovalId,
    ApprovalRequest,
    Item,
    JsonValue,
    ModelOptions,
    SessionId,
    ToolCallId,
    Transcript,
    TurnId,
    Usage,
)
from agentkit_core.settings import Settings
from agentkit_core.values import Record
from agentkit_loop.kernel._call_state import CallState
from agentkit_loop.kernel._config import LoopConfig
from agentkit_loop.kernel._effects import AnsweredEffect, EffectId
from agentkit_loop.kernel._limits import Spent
from agentkit_loop.kernel._table import Phase

STATE_VERSION: Final = 3
"""Grows when the stored form of a state changes; `persistence/_upgrades` reads older versions."""

Batch = tuple[Item, ...]
"""The items of one submission."""


class RepeatedCall(Record, frozen=True, kw_only=True, omit_defaults=True):
    """Calls in a row that were the same and ended in the same way.

    Attributes:
        name: The tool.
        input: The arguments.
        result: The result, as the model reads it.
        is_error: Whether the calls failed.
        times: How many calls in a row, from 1.
    """

    name: str
    input: dict[str, JsonValue]
    result: str
    is_error: bool = False
    times: int = 1


class TurnState(Record, frozen=True, kw_only=True, omit_defaults=True):
    """The running turn.

    Attributes:
        id: The turn's id.
        started_at: When it began, in milliseconds since the Unix epoch.
        model_calls: How many answers of the model there have been.
        tool_calls: How many tool calls the model has asked for.
        attempt: The attempt at the present model call, from 1; 0 when there is none.
        called: Whether the model was called for that attempt; not while the request is prepared.
        prepared: Whether the driver still has the request of that attempt, so that a retry need not
            prepare it again.
        other_model: The id of the model that hooks chose for that request; None if they chose none.
        other_options: The options that hooks gave that request; None if they changed none.
        resumed: Whether the last item is an answer that the provider wants to continue.
        empty_answers: How many answers in a row had nothing in them; they are not appended.
        tools_closed: Whether the model is called without tools, because it may call no more.
        usage: What the turn has used so far, including its tools.
        unreported: Whether an answer came without token counts.
        unpriced: Whether an answer came without a price.
        first: The index in the transcript of the turn's first item, not counting `produced`.
        produced: The turn's assistant and tool items from before the transcript was rewritten.
        calls: The calls of the running round, in call order; empty between rounds.
        stop: Whether something in the running round ends the turn.
        stop_unless_failed: Whether something in the running round ends the turn unless one of its
            calls fails.
        repeated: The last call, and how often in a row it was made with the same result; None
            before the first one.
        effect_id: The effect that the turn itself waits for: mutators, a request, an answer, a
            timer, hooks. None in a round.
    """

    id: TurnId
    started_at: int = 0
    model_calls: int = 0
    tool_calls: int = 0
    attempt: int = 0
    called: bool = False
    prepared: bool = False
    other_model: str | None = None
    other_options: ModelOptions | None = None
    resumed: bool = False
    empty_answers: int = 0
    tools_closed: bool = False
    usage: Usage = Usage()
    unreported: bool = False
    unpriced: bool = False
    first: int = 0
    produced: tuple[Item, ...] = ()
    calls: tuple[CallState, ...] = ()
    stop: bool = False
    stop_unless_failed: bool = False
    repeated: RepeatedCall | None = None
    effect_id: EffectId | None = None


class ParentCall(Record, frozen=True):
    """The tool call that a session answers: it belongs to an agent that another agent calls.

    Attributes:
        session_id: The session that made the call.
        call_id: The call.
    """

    session_id: SessionId
    call_id: ToolCallId


class HookPoints(Settings, frozen=True, kw_only=True, omit_defaults=True):
    """Where a turn stops for code of the host: at the effects for which there are hooks.

    The driver says so when it starts or resumes a session; it is not a setting of the run.

    Attributes:
        mutators: Whether `RunMutators` comes before each model call.
        request: Whether `Prepare` comes before each model call. Without it the driver builds the
            request when it performs `CallModel`.
        finish: Whether `CheckFinish` comes before a turn ends.
    """

    mutators: bool = False
    request: bool = False
    finish: bool = False


class State(Record, frozen=True, kw_only=True, omit_defaults=True):
    """A session. Make one with `start`.

    Attributes:
        version: The version of the stored form; `STATE_VERSION` for new ones.
        session_id: The session's id.
        parent: The tool call that the session answers; None for a session of its own.
        model: The model's id, for requests.
        provider: The name of the model's provider; None if the model does not say.
        options: How the model should answer.
        once: Options that replace `options` in the running turn, or else in the next one; None if
            there are none.
        instructions: What stands before the transcript in each request. Not part of the transcript.
        config: How the run behaves.
        changed: The names of the settings that the host has changed for this session, such as
            `options`; those count when it goes on, and not what its agent says then.
        hooks: Where a turn stops for code of the host.
        phase: What the session waits for.
        transcript: The history so far.
        revision: How many times the transcript has changed.
        retired_calls: The ids of calls that a rewrite took out of the transcript. No new call gets
            one of them.
        accepted_items: How many items, from the first, the model's provider has accepted in a
            request. Media in later ones may be what it refuses.
        refused_media: The positions of items whose media requests leave out, because the model's
            provider refused a request with them; ascending, and empty again for another model.
        turn: The running turn; None exactly when the phase is idle or closed.
        turns: How many turns there have been.
        calls: How many calls there have been, to make ids from.
        effects: How many effects with an answer there have been, to make ids from.
        events: How many events there have been.
        clock: The latest time that the kernel was given, in milliseconds; never goes back.
        inputs: Submissions for the next turn, oldest first.
        steer: Submissions for the running turn, oldest first; empty when none runs.
        notices: Notifications of background calls that have ended, for the next safe point.
        background: The calls that run in the background, by id, oldest first.
        owed: What background calls used while no turn ran; counts for the next turn.
        spent: What the turns that have ended have used.
        follow_ups: How many turns in a row have begun by themselves, because background calls had
            ended; the running turn included.
        grants: What a person approved for the whole session.
        kind_grants: The tools, each with a kind of request, that a person approved for the whole
            session, whatever the arguments.
        tools: The tools that the model was offered last: each tool's name, and a digest of all
            that the model is told of it. None before the first model call.
        callable_tools: The names of the tools that the answer to that offer may call, if the
            request forbade some of those that there are; None if it forbade none.
        added_tools: The names of tools that results have added to the offer, in that order.
        out: The effects that are not answered yet, by id, in the order in which they were asked.
        seals: In a stored state: a digest of each call that was checked, by the id of the call.
            Otherwise empty; see `persistence/_seals`.
    """

    version: int
    session_id: SessionId
    model: str
    parent: ParentCall | None = None
    provider: str | None = None
    options: ModelOptions = ModelOptions()
    once: ModelOptions | None = None
    instructions: tuple[Item, ...] = ()
    config: LoopConfig = LoopConfig()
    changed: tuple[str, ...] = ()
    hooks: HookPoints = HookPoints()
    phase: Phase = Phase.IDLE
    transcript: Transcript = field(default_factory=Transcript)
    revision: int = 0
    retired_calls: frozenset[ToolCallId] = frozenset()
    accepted_items: int = 0
    refused_media: tuple[int, ...] = ()
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
    spent: Spent = Spent()
    follow_ups: int = 0
    grants: tuple[ApprovalId, ...] = ()
    kind_grants: tuple[tuple[str, str], ...] = ()
    tools: dict[str, str] | None = None
    callable_tools: tuple[str, ...] | None = None
    added_tools: tuple[str, ...] = ()
    out: dict[EffectId, AnsweredEffect] = field(default_factory=dict)
    seals: dict[ToolCallId, str] = field(default_factory=dict)

    @property
    def pending_approvals(self) -> tuple[ApprovalRequest, ...]:
        """What a person has to decide: for background calls, then for the turn in call order."""
        calls = () if self.turn is None else self.turn.calls
        if not self.background and not calls:
            return ()
        return tuple(
            request
            for call in (*self.background.values(), *calls)
            for request in call.pending_approvals
        )
