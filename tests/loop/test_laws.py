"""The laws of the kernel, tried after every step of many random walks."""

from collections import Counter

import pytest

from agentkit_core import DRIVEABLE_KINDS, ApprovalId, ToolCallId, Transcript
from agentkit_loop import (
    ApprovalOutcome,
    ApprovalRequired,
    ApprovalResolved,
    CallModel,
    Cancel,
    Effect,
    EffectId,
    Emit,
    Event,
    InputQueued,
    InputWithdrawn,
    ModelCallFinished,
    ModelCallStarted,
    MutationFinished,
    MutationStarted,
    Persist,
    Phase,
    StartTool,
    State,
    ToolCallRequested,
    ToolDetached,
    ToolExecutionStarted,
    ToolProgress,
    ToolResultReceived,
    TurnFinished,
    TurnStarted,
    decode_state,
    encode_state,
    step,
)
from agentkit_loop._state import CallStatus
from agentkit_loop._walks import Walked, is_settled, walk

SEEDS = range(300)
IN_A_TURN = tuple(phase for phase in Phase if phase not in (Phase.IDLE, Phase.CLOSED))


class Ledger:
    """What was seen of a walk so far; each `see` tries what must hold after a step."""

    def __init__(self) -> None:
        self.log = Transcript()
        self.ids = set[EffectId]()
        self.turn: str | None = None
        self.turns_finished = 0
        self.call_open = False
        self.mutating = False
        self.appended: list[str] = []
        self.revision = 0
        self.events = 0
        self.detached = set[ToolCallId]()
        self.requested = Counter[ToolCallId]()
        self.started = Counter[ToolCallId]()
        self.results = Counter[ToolCallId]()
        self.denied = set[ToolCallId]()
        self.asks = set[tuple[ToolCallId, ApprovalId]]()
        self.accepted: list[str] = []
        self.clock = 0

    def see(self, one: Walked) -> None:
        for effect in one.effects:
            self.see_effect(effect, one.after)
        state = one.after
        assert self.log == state.transcript, "I-9: the log is the transcript"
        assert state.clock >= self.clock, "the clock never goes back"
        self.clock = state.clock
        self.see_turn(state)
        self.see_transcript(state)
        self.see_owners(state)
        self.see_inputs(state)
        if isinstance(one.given, Cancel):
            assert state.phase in (Phase.IDLE, Phase.CLOSED), "I-11: cancel needs one step"

    def see_effect(self, effect: Effect, state: State) -> None:
        match effect:
            case Persist(items=items, revision=revision, rewrite=rewrite):
                self.revision += 1
                assert revision == self.revision, "I-9: revisions have no gaps"
                # Appending tries the rules of a transcript each time: I-1.
                self.log = Transcript(items) if rewrite else self.log.append(*items)
                if not rewrite:
                    self.appended += [item.text for item in items]
            case CallModel():
                # I-1; the transcript does not grow after a call was asked for in the same step.
                assert state.transcript.open_calls == ()
                last = state.transcript[-1]
                assert last.kind in DRIVEABLE_KINDS or last.finish_reason == "paused"
            case StartTool(call_id=call_id, denied=denied):
                assert call_id not in self.denied or denied, "I-4: nothing denied is started"
            case Emit(event=event, turn_id=turn_id, number=number):
                self.see_event(event)
                if isinstance(event, ToolProgress):
                    assert number == 0
                else:
                    self.events += 1
                    assert number == self.events, "events are counted without gaps"
                if not isinstance(event, TurnFinished):
                    assert turn_id == self.turn, "events carry the turn they belong to"
            case _:
                pass
        effect_id = getattr(effect, "id", None)
        if effect_id is not None and type(effect).__name__ != "Abort":
            assert effect_id not in self.ids, "an effect's id is never used again"
            self.ids.add(effect_id)

    def see_event(self, event: Event) -> None:
        match event:
            case TurnStarted():
                assert self.turn is None, "I-2"
                self.turn = f"turn-{self.turns_finished + 1}"
            case TurnFinished(result=result):
                assert self.turn == result.turn_id, "I-2"
                assert not self.call_open
                self.turn = None
                self.turns_finished += 1
            case ModelCallStarted():
                assert not self.call_open
                self.call_open = True
            case ModelCallFinished():
                assert self.call_open
                self.call_open = False
            case ToolCallRequested(call=call):
                self.requested[call.id] += 1
                assert self.requested[call.id] == 1, "call ids are unique for ever"
            case ToolExecutionStarted(call_id=call_id):
                self.started[call_id] += 1
                assert self.started[call_id] == 1, "a call is started once"
                assert self.results[call_id] == 0
            case ToolDetached(call_id=call_id):
                assert self.started[call_id] == 1
                assert call_id not in self.detached
                self.detached.add(call_id)
            case MutationStarted():
                assert not self.mutating
                self.mutating = True
            case MutationFinished():
                assert self.mutating, "I-8"
                self.mutating = False
            case ToolResultReceived(call_id=call_id, result=result, background=background):
                assert background == (call_id in self.detached)
                self.results[call_id] += 1
                assert self.results[call_id] == self.requested[call_id] == 1, "I-3"
                if not result.started:
                    assert self.started[call_id] == 0, "what was started does not say otherwise"
            case ApprovalRequired(call_id=call_id, approval_id=approval_id):
                assert (call_id, approval_id) not in self.asks
                self.asks.add((call_id, approval_id))
            case ApprovalResolved(call_id=call_id, approval_id=approval_id, outcome=outcome):
                self.asks.remove((call_id, approval_id))
                if outcome is ApprovalOutcome.DENIED:
                    self.denied.add(call_id)
            case InputQueued(items=items):
                self.accepted += [item.text for item in items]
            case InputWithdrawn(items=items):
                for item in items:
                    self.accepted.remove(item.text)
            case _:
                pass

    def see_turn(self, state: State) -> None:
        assert (state.turn is not None) == (state.phase in IN_A_TURN), "I-2"
        assert self.turn == (None if state.turn is None else state.turn.id)
        if state.turn is None:
            assert not state.steer, "I-2: steering is the next turn's input when none runs"
        if state.phase not in (Phase.IDLE, Phase.PAUSED, Phase.CLOSED):
            assert state.out or state.asks, "I-6: something is awaited"
        if state.phase is Phase.CLOSED:
            assert not state.out, "I-6"
            assert not state.background
        assert self.mutating == (state.phase is Phase.MUTATING), "I-8"
        assert {(ask.call_id, ask.id) for ask in state.asks} == self.asks, "I-4"

    def see_transcript(self, state: State) -> None:
        transcript = state.transcript
        waiting = () if state.turn is None else tuple(call.id for call in state.turn.calls)
        assert tuple(call.id for call in transcript.open_calls) == waiting, "I-1"
        assert state.phase is Phase.ROUND or not waiting

    def see_owners(self, state: State) -> None:
        owners = Counter[EffectId]()
        calls = list(state.background.values())
        if state.turn is not None:
            owners.update(filter(None, [state.turn.effect_id]))
            calls += state.turn.calls
        for call in calls:
            owned = (call.effect_id, call.timeout_id, call.detach_id)
            owners.update(effect_id for effect_id in owned if effect_id is not None)
            waits = call.status in (CallStatus.PREFLIGHT, CallStatus.RUNNING)
            assert waits == (call.effect_id is not None)
            assert (call.status is CallStatus.ASKING) == bool(call.asks)
            if call.status is not CallStatus.RUNNING:
                assert call.timeout_id is call.detach_id is None
        for call in state.background.values():
            assert call.status in (CallStatus.RUNNING, CallStatus.ASKING)
        assert owners == Counter(dict.fromkeys(state.out, 1)), "I-5: each effect has one owner"

    def see_inputs(self, state: State) -> None:
        said = [text for text in self.appended if text.startswith("said-")]
        queued = [item.text for batch in (*state.inputs, *state.steer) for item in batch]
        assert Counter(said + queued) == Counter(self.accepted), "I-10: none lost, none doubled"


@pytest.mark.parametrize("seed", SEEDS)
def test_the_invariants_hold_after_every_step_of_a_walk(seed: int) -> None:
    ledger = Ledger()
    last: State | None = None
    for steps, one in enumerate(walk(seed)):
        ledger.see(one)
        last = one.after
        assert steps < 3_000, "I-11: a cooperative host reaches idle"

    assert last is not None
    assert is_settled(last)
    assert ledger.requested == ledger.results


@pytest.mark.parametrize("seed", SEEDS[::6])
def test_a_saved_state_goes_on_as_if_nothing_had_been_and_a_step_changes_nothing(
    seed: int,
) -> None:
    for one in walk(seed, settle=False):
        if one.before is None or one.given is None:
            continue
        saved = encode_state(one.before)
        loaded = decode_state(saved)

        assert loaded == one.before
        assert step(loaded, one.given, one.now) == (one.after, one.effects)
        assert encode_state(loaded) == saved, "I-7: a step modified its input"
        assert encode_state(one.before) == saved, "I-7: a step modified its input"


@pytest.mark.parametrize("seed", SEEDS[::6])
def test_cancelling_after_any_step_leaves_a_whole_transcript_at_once(seed: int) -> None:
    for one in walk(seed, settle=False):
        state, _ = step(one.after, Cancel(), one.now)

        assert state.phase in (Phase.IDLE, Phase.CLOSED)
        assert state.turn is None
        assert state.transcript.open_calls == ()


def test_walks_see_something_of_everything() -> None:
    seen = Counter[str]()
    for seed in SEEDS:
        for one in walk(seed):
            seen.update(
                type(effect.event).__name__ for effect in one.effects if isinstance(effect, Emit)
            )

    for event in (
        "RetryScheduled", "AttemptSuperseded", "ApprovalResolved", "ToolProgress", "Diagnostic",
        "InputRejected", "RunFinished", "ToolResultReceived", "ModelCallFinished",
    ):  # fmt: skip
        assert seen[event] >= 5, event
