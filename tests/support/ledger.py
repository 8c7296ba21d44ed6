"""A ledger of a session: it checks the kernel's laws after every step.

The numbers are those of the invariants in docs/testing.md; laws without a number concern a single
matter.
"""

import operator

from agentkit_core import ANSWERABLE_KINDS, Item, ItemKind, ToolCallId, Transcript, Usage
from agentkit_loop import Closed, Finished, TurnResult
from agentkit_loop.events import (
    Diagnostic,
    Event,
    InputQueued,
    InputWithdrawn,
    ModelCallFinished,
    ModelCallStarted,
    MutationFinished,
    MutationStarted,
    RunFinished,
    ToolProgress,
    ToolResultReceived,
    TurnFinished,
    TurnStarted,
)
from agentkit_loop.kernel import (
    Abort,
    AnsweredEffect,
    CallModel,
    Cancel,
    CheckFinish,
    Effect,
    EffectId,
    Emit,
    ModelResponded,
    Persist,
    Phase,
    Preflight,
    StartTool,
    State,
    Yield,
)
from agentkit_loop.testing import WalkStep
from support.call_ledger import CallLedger
from support.input_ledger import InputLedger
from support.state_laws import check_open_calls, check_owners, check_phase, check_schedule


class Ledger:
    """What a session has done so far; each `see` takes a step and checks the laws.

    Args:
        state: The session before the first step that is seen; None where its start is seen.
        prefix: What the texts of a host's input begin with, and no other texts.
    """

    def __init__(self, state: State | None = None, *, prefix: str | None = None) -> None:
        self.calls = CallLedger()
        self._inputs = InputLedger(prefix)
        self._log = Transcript(() if state is None else state.transcript)
        self._compared: Transcript | None = None
        """The last transcript that was compared with the log."""
        self._revision = 0 if state is None else state.revision
        self._events = 0 if state is None else state.events
        self._clock = 0
        self._ids = set[EffectId]()
        self._out = set[EffectId]()
        self._turn: str | None = None
        self._result: TurnResult | None = None
        self._produced: list[Item] = []
        self._answers = 0
        self._attempts = set[tuple[int, int]]()
        self._is_calling = False
        self._is_mutating = False
        self._is_over = False
        self._round: tuple[ToolCallId, ...] = ()
        self._used = Usage()
        self._billed = Usage()
        self._added: tuple[object, ...] = (None,) * 4
        """What was added up the last time."""

    def see(self, walked: WalkStep) -> None:
        state = walked.after
        effect_id = getattr(walked.input, "effect_id", None)
        is_late = effect_id is not None and effect_id not in self._out
        # Not every answer is the last one for its effect, and one of the wrong kind is none.
        if effect_id not in state.out:
            self._out.discard(effect_id)
        for effect in walked.effects:
            self._see_effect(effect, walked)
        if is_late:
            kinds = [type(effect) for effect in walked.effects]
            assert kinds in ([Emit], []), "a late answer changes nothing"
            assert state.transcript == self._log
        assert state.clock >= self._clock, "the clock never goes back"
        self._clock = state.clock
        assert self._out == state.out.keys(), "what is out was asked for, and is not answered"
        self._check_state(state)
        self._inputs.check(walked)
        self._check_usage(state)
        if isinstance(walked.input, Cancel):
            assert state.phase in (Phase.IDLE, Phase.CLOSED), "I-11: cancel needs one step"
        self._check_end(walked)

    # effects and events, in order

    def _see_effect(self, effect: Effect, walked: WalkStep) -> None:
        if self._is_over:
            match effect:
                case Emit(event=Diagnostic()) | Yield(status=Closed()):
                    pass
                case _:
                    raise AssertionError(f"{effect} follows the end of the run")
        match effect:
            case Persist(items=items, revision=revision, rewrite=rewrite):
                self._revision += 1
                assert revision == self._revision, "I-9: revisions have no gaps"
                # A transcript checks its own rules when it is made: I-1.
                self._log = Transcript(items) if rewrite else self._log.append(*items)
                if not rewrite:
                    self._see_items(items)
            case Emit(event=event, turn_id=turn_id, number=number):
                if isinstance(event, ToolProgress):
                    assert number == 0
                else:
                    self._events += 1
                    assert number == self._events, "events are counted without gaps"
                self._see_event(event, walked)
                if isinstance(event, TurnFinished):
                    assert turn_id == event.result.turn_id
                else:
                    assert turn_id == self._turn, "events carry the turn that they belong to"
                self._is_over = self._is_over or isinstance(event, RunFinished)
            case Yield(status=status):
                if isinstance(status, Finished):
                    assert status.result == self._result, "host and reporters get the same result"
            case Abort(id=effect_id):
                assert effect_id in self._out, "only an effect that is out is aborted"
                self._out.remove(effect_id)
            case _:
                assert effect.id not in self._ids, "the id of an effect is never used again"
                self._ids.add(effect.id)
                self._out.add(effect.id)
                self._see_request(effect, walked)

    def _see_request(self, effect: AnsweredEffect, walked: WalkStep) -> None:
        state = walked.after
        match effect:
            case CallModel():
                # The transcript does not grow after the model is called in the same step.
                assert state.transcript.open_calls == (), "I-1"
                last = state.transcript[-1]
                assert last.kind in ANSWERABLE_KINDS or last.finish_reason == "paused", "I-1"
                limits = state.config.limits
                if limits.max_model_calls is not None:
                    assert self._answers < limits.max_model_calls, "no call beyond the limit"
            case Preflight():
                self.calls.see_preflight(effect, walked)
            case StartTool():
                self.calls.see_start(effect, walked)
            case CheckFinish():
                # A hook may have stopped an attempt; if there is more to say, it is a new call.
                self._attempts = set()
            case _:
                pass

    def _see_items(self, items: tuple[Item, ...]) -> None:
        for item in items:
            self._inputs.see_item(item)
            if item.kind in (ItemKind.ASSISTANT, ItemKind.TOOL):
                self._produced.append(item)
            if item.kind is ItemKind.ASSISTANT:
                self._round = tuple(call.id for call in item.tool_calls)
            if item.kind is ItemKind.TOOL:
                answered = tuple(result.call_id for result in item.tool_results)
                assert answered == self._round, "one tool item a round, in call order"

    def _see_event(self, event: Event, walked: WalkStep) -> None:
        match event:
            case TurnStarted():
                assert self._turn is None, "I-2"
                assert walked.after.turns > 0
                self._turn = f"turn-{walked.after.turns}"
                self._produced, self._answers = [], 0
                self._attempts = set()
            case TurnFinished(result=result):
                assert self._turn == result.turn_id, "I-2"
                assert not self._is_calling
                assert list(result.items) == self._produced, "a result has the items of its turn"
                assert result.model_calls == self._answers
                self._turn, self._result = None, result
                self._billed += result.usage
            case ModelCallStarted(call=call, attempt=attempt):
                assert not self._is_calling
                self._is_calling = True
                assert (call, attempt) not in self._attempts, "each attempt is made once"
                assert attempt <= walked.after.config.retry.max_attempts
                self._attempts.add((call, attempt))
            case ModelCallFinished(usage=usage):
                assert self._is_calling
                self._is_calling = False
                self._used += usage
                if isinstance(walked.input, ModelResponded):
                    self._answers += walked.input.response.item.kind is ItemKind.ASSISTANT
            case MutationStarted():
                assert not self._is_mutating
                self._is_mutating = True
            case MutationFinished():
                assert self._is_mutating, "I-8"
                self._is_mutating = False
            case InputQueued() | InputWithdrawn():
                self._inputs.see_event(event)
            case ToolResultReceived(result=result):
                self.calls.see_event(event, walked)
                self._inputs.see_event(event)
                if result.usage is not None:
                    self._used += result.usage
            case _:
                self.calls.see_event(event, walked)

    # the state after the step

    def _check_state(self, state: State) -> None:
        if state.transcript is not self._compared:
            assert self._log == state.transcript, "I-9: the log is the transcript"
            self._compared = state.transcript
        check_open_calls(state)
        check_phase(state)
        check_schedule(state)
        check_owners(state)
        self.calls.check(state)
        assert self._turn == (None if state.turn is None else state.turn.id), "I-2"
        assert self._is_over or state.phase is not Phase.CLOSED
        assert self._is_mutating == (state.phase is Phase.MUTATING), "I-8"
        assert self._is_calling == (state.phase is Phase.CALLING)

    def _check_usage(self, state: State) -> None:
        running = None if state.turn is None else state.turn.usage
        parts = (running, state.owed, self._billed, self._used)
        if all(map(operator.is_, parts, self._added)):
            return
        self._added = parts
        total = self._billed + (running or Usage()) + state.owed
        assert total.tokens == self._used.tokens, "all usage is counted for some turn"
        assert total.requests == self._used.requests

    def _check_end(self, walked: WalkStep) -> None:
        if walked.before is None or walked.before.turn is None or walked.after.turn is not None:
            return
        result = self._result
        assert result is not None
        assert result.turn_id == walked.before.turn.id
        is_cancelled = type(walked.input).__name__ in ("Cancel", "Close")
        assert (result.end == "cancelled") == is_cancelled, "only a host cancels"
