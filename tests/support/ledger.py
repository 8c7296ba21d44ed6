"""A ledger: what was seen of a session so far, and the laws that hold after every step.

The numbers are those of the kernel's invariants; laws without one are about a single concern.
"""

import operator
from collections import Counter

from agentkit_core import (
    ANSWERABLE_KINDS,
    ApprovalId,
    Item,
    ItemKind,
    ToolCallId,
    Transcript,
    Usage,
)
from agentkit_loop import Closed, Execution, Finished, GrantScope, LostTool, TurnResult
from agentkit_loop.events import (
    ApprovalOutcome,
    ApprovalRequired,
    ApprovalResolved,
    Diagnostic,
    Event,
    InputQueued,
    InputWithdrawn,
    ModelCallFinished,
    ModelCallStarted,
    MutationFinished,
    MutationStarted,
    RunFinished,
    ToolCallRequested,
    ToolDetached,
    ToolExecutionStarted,
    ToolProgress,
    ToolResultReceived,
    TurnFinished,
    TurnStarted,
)
from agentkit_loop.kernel import (
    Abort,
    AnsweredEffect,
    CallModel,
    CallState,
    CallStatus,
    Cancel,
    CheckFinish,
    Effect,
    EffectId,
    EffectLost,
    Emit,
    Input,
    ModelResponded,
    Persist,
    Phase,
    Preflight,
    Reset,
    Resolve,
    StartTool,
    State,
    Yield,
)
from agentkit_loop.testing import Walked

IN_A_TURN = frozenset(Phase) - {Phase.IDLE, Phase.CLOSED}
CALL_ID_KEY = "agentkit.call_id"
"""Names the call in the metadata of the notification of its end."""


class Ledger:
    """What was seen so far; each `see` tries what must hold after a step.

    Args:
        state: The session before the first step that is seen; None where its start is seen.
        prefix: What the texts of a host's input begin with, and nobody else's do.
    """

    def __init__(self, state: State | None = None, *, prefix: str | None = None) -> None:
        self.log = Transcript(() if state is None else state.transcript)
        self.known: Transcript | None = None
        """The last transcript that was compared with the log."""
        self.revision = 0 if state is None else state.revision
        self.events = 0 if state is None else state.events
        self.turns = 0
        self.clock = 0
        self.prefix = prefix
        self.ids = set[EffectId]()
        self.out = set[EffectId]()
        self.turn: str | None = None
        self.result: TurnResult | None = None
        self.produced: list[Item] = []
        self.answers = 0
        self.attempts = set[tuple[int, int]]()
        self.call_open = False
        self.mutating = False
        self.over = False
        self.round: tuple[ToolCallId, ...] = ()
        self.requested = Counter[ToolCallId]()
        self.started = set[ToolCallId]()
        self.results = Counter[ToolCallId]()
        self.detached = set[ToolCallId]()
        self.denied = set[ToolCallId]()
        self.asks = set[tuple[ToolCallId, ApprovalId]]()
        self.accepted = Counter[str]()
        self.appended = Counter[str]()
        self.queued = Counter[str]()
        self.moved = set[str]()
        """The texts that were accepted, withdrawn or appended in this step."""
        self.lanes: tuple[object, object] = ((), ())
        """The lanes in which `queued` was counted."""
        self.notices = Counter[ToolCallId]()
        self.noticed = Counter[ToolCallId]()
        self.waiting: tuple[Item, ...] = ()
        """The notices at the last look."""
        self.told = False
        """Whether a background call ended, or the model was told of one, since the last look."""
        self.used = Usage()
        self.billed = Usage()
        self.counted: tuple[object, ...] = (None,) * 4
        """What `see_usage` added up last."""

    def see(self, one: Walked) -> None:
        given, state = one.given, one.after
        answered = getattr(given, "effect_id", None)
        late = answered is not None and answered not in self.out
        # Not every answer is the last one, and one of the wrong kind is none.
        if answered not in state.out:
            self.out.discard(answered)
        for effect in one.effects:
            self.see_effect(effect, one)
        if late:
            assert [type(effect) for effect in one.effects] in ([Emit], []), "late is harmless"
            assert state.transcript == self.log
        assert state.clock >= self.clock, "the clock never goes back"
        self.clock = state.clock
        assert self.out == state.out.keys(), "what is out was asked for, and is not answered"
        self.see_log(state)
        self.see_turn(state)
        self.see_calls(state)
        self.see_lanes(one)
        self.see_usage(state)
        if isinstance(given, Cancel):
            assert state.phase in (Phase.IDLE, Phase.CLOSED), "I-11: cancel needs one step"
        self.see_end(one)

    # effects and events, in order

    def see_effect(self, effect: Effect, one: Walked) -> None:
        if self.over:
            match effect:
                case Emit(event=Diagnostic()) | Yield(status=Closed()):
                    pass
                case _:
                    raise AssertionError(f"{effect} follows the end of the run")
        match effect:
            case Persist(items=items, revision=revision, rewrite=rewrite):
                self.revision += 1
                assert revision == self.revision, "I-9: revisions have no gaps"
                # Making a transcript tries its rules on all that comes: I-1.
                self.log = Transcript(items) if rewrite else self.log.append(*items)
                if not rewrite:
                    self.see_items(items)
            case Emit(event=event, turn_id=turn_id, number=number):
                if isinstance(event, ToolProgress):
                    assert number == 0
                else:
                    self.events += 1
                    assert number == self.events, "events are counted without gaps"
                self.see_event(event, one)
                if isinstance(event, TurnFinished):
                    assert turn_id == event.result.turn_id
                else:
                    assert turn_id == self.turn, "events carry the turn they belong to"
                self.over = self.over or isinstance(event, RunFinished)
            case Yield(status=step):
                if isinstance(step, Finished):
                    assert step.result == self.result, "the host is handed what was told"
            case Abort(id=effect_id):
                assert effect_id in self.out, "only what is out is given up"
                self.out.remove(effect_id)
            case _:
                assert effect.id not in self.ids, "an effect's id is never used again"
                self.ids.add(effect.id)
                self.out.add(effect.id)
                self.see_asked(effect, one)

    def see_asked(self, effect: AnsweredEffect, one: Walked) -> None:
        state = one.after
        match effect:
            case CallModel():
                # The transcript does not grow after the model was asked in the same step.
                assert state.transcript.open_calls == (), "I-1"
                last = state.transcript[-1]
                assert last.kind in ANSWERABLE_KINDS or last.finish_reason == "paused", "I-1"
                limits = state.config.limits
                if limits.max_model_calls is not None:
                    assert self.answers < limits.max_model_calls, "no call beyond the limit"
            case Preflight(call=call, granted=granted):
                assert call.id not in self.started, "what has run is not checked again"
                given = one.given
                if isinstance(given, Resolve) and given.decision.input is not None:
                    assert {*granted} <= {given.approval_id, *state.grants}, "no old yes counts"
            case StartTool():
                self.see_start(effect, one)
            case CheckFinish():
                # A hook may have stopped an attempt; if there is more to say, it is a new call.
                self.attempts = set()
            case _:
                pass

    def see_start(self, effect: StartTool, one: Walked) -> None:
        call_id, state = effect.call.id, one.after
        assert not any(call_id == asking for asking, _ in self.asks), "I-4: nothing that waits runs"
        assert self.results[call_id] == 0, "what has its result is not run"
        for call in calls_of(state):
            if call.id == call_id:
                break
            waits = call.status is CallStatus.READY and call.rules.exclusive
            # What was lost and is begun again keeps its place.
            kept = isinstance(one.given, EffectLost)
            assert kept or not waits, "nothing overtakes what waits to run alone"
        else:
            raise AssertionError("what runs is a call of the round or in the background")
        assert call_id not in self.denied, "I-4: nothing denied is started"
        if one.before is not None and isinstance(one.given, EffectLost):
            lost = one.before.out.get(one.given.effect_id)
            if isinstance(lost, StartTool) and lost.started and lost.call.id == call_id:
                never = state.config.lost_tool is LostTool.NEVER_REPEAT
                assert call.rules.repeatable, "what was begun is not begun a second time"
                assert not never

    def see_items(self, items: tuple[Item, ...]) -> None:
        for item in items:
            if item.kind is ItemKind.NOTIFICATION and CALL_ID_KEY in item.metadata:
                self.noticed[ToolCallId(str(item.metadata[CALL_ID_KEY]))] += 1
                self.told = True
            self.appended[item.text] += 1
            self.moved.add(item.text)
            if item.kind in (ItemKind.ASSISTANT, ItemKind.TOOL):
                self.produced.append(item)
            if item.kind is ItemKind.ASSISTANT:
                self.round = tuple(call.id for call in item.tool_calls)
            if item.kind is ItemKind.TOOL:
                answered = tuple(result.call_id for result in item.tool_results)
                assert answered == self.round, "one tool item a round, in call order"

    def see_event(self, event: Event, one: Walked) -> None:
        match event:
            case TurnStarted():
                assert self.turn is None, "I-2"
                assert one.after.turns > 0
                self.turn = f"turn-{one.after.turns}"
                self.produced, self.answers = [], 0
                self.attempts = set()
            case TurnFinished(result=result):
                assert self.turn == result.turn_id, "I-2"
                assert not self.call_open
                assert list(result.items) == self.produced, "a result has what the turn made"
                assert result.model_calls == self.answers
                self.turn, self.result = None, result
                self.turns += 1
                self.billed += result.usage
            case ModelCallStarted(call=call, attempt=attempt):
                assert not self.call_open
                self.call_open = True
                assert (call, attempt) not in self.attempts, "each attempt is made once"
                assert attempt <= one.after.config.retry.max_attempts
                self.attempts.add((call, attempt))
            case ModelCallFinished(usage=usage):
                assert self.call_open
                self.call_open = False
                self.used += usage
                if isinstance(one.given, ModelResponded):
                    self.answers += one.given.response.item.kind is ItemKind.ASSISTANT
            case MutationStarted():
                assert not self.mutating
                self.mutating = True
            case MutationFinished():
                assert self.mutating, "I-8"
                self.mutating = False
            case InputQueued(items=items):
                texts = [item.text for item in items]
                self.accepted.update(texts)
                self.moved.update(texts)
            case InputWithdrawn(items=items):
                texts = [item.text for item in items]
                self.accepted.subtract(texts)
                self.moved.update(texts)
            case ApprovalRequired(request=request):
                assert (request.call.id, request.id) not in self.asks
                self.asks.add((request.call.id, request.id))
            case ApprovalResolved(call_id=call_id, approval_id=approval_id, outcome=outcome):
                self.asks.remove((call_id, approval_id))
                if outcome is ApprovalOutcome.DENIED and not takes_denials(one.before, call_id):
                    self.denied.add(call_id)
                if outcome is ApprovalOutcome.APPROVED:
                    assert is_meant(one.given, event), "nobody said yes to this"
            case _:
                self.see_call_event(event)

    def see_call_event(self, event: Event) -> None:
        match event:
            case ToolCallRequested(call=call):
                self.requested[call.id] += 1
                assert self.requested[call.id] == 1, "call ids are unique for ever"
            case ToolExecutionStarted(call_id=call_id):
                assert call_id not in self.started, "a call is started once"
                assert self.results[call_id] == 0
                self.started.add(call_id)
            case ToolDetached(call_id=call_id):
                assert call_id in self.started
                assert call_id not in self.detached
                self.detached.add(call_id)
            case ToolResultReceived(call_id=call_id, result=result, background=background):
                assert background == (call_id in self.detached)
                self.results[call_id] += 1
                assert self.results[call_id] == self.requested[call_id] == 1, "I-3"
                if not result.started:
                    assert call_id not in self.started, "what was started does not deny it"
                if result.usage is not None:
                    self.used += result.usage
                if background:
                    self.notices[call_id] += 1
                    self.told = True
            case _:
                pass

    # the state after the step

    def see_log(self, state: State) -> None:
        if state.transcript is not self.known:
            assert self.log == state.transcript, "I-9: the log is the transcript"
            self.known = state.transcript
        waiting = () if state.turn is None else tuple(call.id for call in state.turn.calls)
        assert tuple(call.id for call in state.transcript.open_calls) == waiting, "I-1"
        assert state.phase is Phase.ROUND or not waiting

    def see_turn(self, state: State) -> None:
        assert (state.turn is not None) == (state.phase in IN_A_TURN), "I-2"
        assert self.turn == (None if state.turn is None else state.turn.id), "I-2"
        if state.turn is None:
            assert not state.steer, "I-2: steering is the next turn's input when none runs"
        if state.phase not in (Phase.IDLE, Phase.PAUSED, Phase.CLOSED):
            waits = state.out or state.pending_approvals
            assert waits, "I-6: something is awaited"
        if state.phase is Phase.CLOSED:
            assert not state.out, "I-6"
            assert not state.background
            assert self.over
        assert self.mutating == (state.phase is Phase.MUTATING), "I-8"
        assert self.call_open == (state.phase is Phase.CALLING)
        assert {(ask.call.id, ask.id) for ask in state.pending_approvals} == self.asks, "I-4"

    def see_calls(self, state: State) -> None:
        owners: list[EffectId | None] = []
        calls = [*state.background.values()]
        if state.turn is not None:
            owners.append(state.turn.effect_id)
            calls += state.turn.calls
            if state.turn.calls:
                see_schedule(state, state.turn.calls)
        for call in calls:
            owners += (call.effect_id, call.timeout_id, call.detach_id)
            waits = call.status in (CallStatus.PREFLIGHT, CallStatus.RUNNING)
            assert waits == (call.effect_id is not None)
            assert (call.status is CallStatus.ASKING) == bool(call.pending_approvals)
            if call.status is not CallStatus.RUNNING:
                assert call.timeout_id is call.detach_id is None
        for call in state.background.values():
            assert call.status in (CallStatus.RUNNING, CallStatus.ASKING)
        owned = [effect_id for effect_id in owners if effect_id is not None]
        assert len(owned) == len(set(owned)), "I-5: each owner has its own effect"
        assert set(owned) == state.out.keys(), "I-5: each effect has an owner"

    def see_lanes(self, one: Walked) -> None:
        """Try I-10 on each text that this step moved; the others stand where they stood."""
        state = one.after
        lanes = (state.inputs, state.steer)
        if lanes != self.lanes:
            queued = Counter(item.text for lane in lanes for batch in lane for item in batch)
            self.moved |= queued.keys() | self.queued.keys()
            self.queued, self.lanes = queued, lanes
        for text in self.moved:
            count = self.accepted[text]
            there = self.appended[text] + self.queued[text]
            if self.prefix is not None and text.startswith(self.prefix):
                assert there == count, f"I-10: {text!r} was lost or doubled"
            assert there >= count, f"I-10: {text!r} was lost"
        self.moved.clear()
        self.see_notices(one)

    def see_notices(self, one: Walked) -> None:
        state = one.after
        forgets = isinstance(one.given, Reset) or state.phase is Phase.CLOSED
        if not (forgets or self.told or state.notices is not self.waiting):
            return
        self.told, self.waiting = False, state.notices
        waiting = Counter(ToolCallId(str(item.metadata.get(CALL_ID_KEY))) for item in state.notices)
        if forgets:
            self.notices = self.noticed + waiting
        assert self.noticed + waiting == self.notices, "each background call is told of once"

    def see_usage(self, state: State) -> None:
        running = None if state.turn is None else state.turn.usage
        counts = (running, state.owed, self.billed, self.used)
        if all(map(operator.is_, counts, self.counted)):
            return
        self.counted = counts
        total = self.billed + (running or Usage()) + state.owed
        assert total.tokens == self.used.tokens, "all that was used is somebody's"
        assert total.requests == self.used.requests

    def see_end(self, one: Walked) -> None:
        if one.before is None or one.before.turn is None or one.after.turn is not None:
            return
        result = self.result
        assert result is not None
        assert result.turn_id == one.before.turn.id
        cancelled = type(one.given).__name__ in ("Cancel", "Close")
        assert (result.end == "cancelled") == cancelled, "only a host cancels"


def calls_of(state: State) -> tuple[CallState, ...]:
    """The calls that are under way: those in the background, then the round in call order."""
    return (*state.background.values(), *(() if state.turn is None else state.turn.calls))


def takes_denials(state: State | None, call_id: ToolCallId) -> bool:
    """Whether the tool of a call is told of denials."""
    calls = () if state is None else calls_of(state)
    return any(call.takes_denials for call in calls if call.id == call_id)


def see_schedule(state: State, calls: tuple[CallState, ...]) -> None:
    """Try what holds of the calls of a round that run at the same time."""
    running = [call for call in calls if call.status is CallStatus.RUNNING]
    if state.config.max_parallel is not None:
        assert len(running) <= state.config.max_parallel, "no more run than may"
    if any(call.rules.exclusive for call in running):
        assert len(running) == 1, "nothing runs beside what is exclusive"
    if state.config.execution is Execution.SEQUENTIAL:
        begun = [call for call in calls if call.status not in (CallStatus.NEW, CallStatus.DONE)]
        assert len(begun) <= 1, "one after another"
    ready = any(call.status is CallStatus.READY for call in calls)
    held = any(call.status is CallStatus.PREFLIGHT for call in calls)
    assert not ready or running or held, "what may run does"


def is_meant(given: Input | None, event: ApprovalResolved) -> bool:
    """Whether what the host said is a yes to this ask of this call."""
    if not isinstance(given, Resolve) or not given.decision.approve:
        return False
    if given.approval_id != event.approval_id:
        return False
    # Without a call's name, the first is meant that asks; the kernel's tests say which it is.
    named = given.call_id in (None, event.call_id)
    wide = given.decision.scope is GrantScope.SESSION and given.decision.input is None
    return named or wide
