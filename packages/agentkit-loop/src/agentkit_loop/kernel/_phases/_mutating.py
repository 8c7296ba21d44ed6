"""Mutating: mutators are shown the transcript. All they change is taken, or nothing."""

from __future__ import annotations

from typing import Final

from agentkit_core import Transcript, TranscriptError
from agentkit_loop._result import TurnEnd
from agentkit_loop.events import MutationFinished, MutationOutcome
from agentkit_loop.kernel._config import MutatorFailure
from agentkit_loop.kernel._draft import Draft
from agentkit_loop.kernel._inputs import Cancel, Close, MutatorsDone
from agentkit_loop.kernel._phases._common import Handlers, handlers
from agentkit_loop.kernel._table import Phase
from agentkit_loop.kernel._turns import end_turn, prepare


def mutated(draft: Draft, given: MutatorsDone) -> Phase:
    """Take the transcript that the mutators made, if it keeps the rules."""
    draft.set_turn(effect_id=None)
    if given.error is not None:
        return _rolled_back(draft, given.error)
    items = given.items
    if items is None or items == draft.transcript.items:
        draft.emit(MutationFinished(MutationOutcome.UNCHANGED))
        return prepare(draft)
    try:
        candidate = Transcript(items)
    except TranscriptError as error:
        return _rolled_back(draft, str(error))
    if candidate.open_calls:
        names = ", ".join(call.id for call in candidate.open_calls)
        return _rolled_back(draft, f"calls without a result: {names}")
    draft.rewrite(candidate)
    draft.emit(MutationFinished(MutationOutcome.COMMITTED, given.mutators))
    return prepare(draft)


def _rolled_back(draft: Draft, reason: str) -> Phase:
    draft.emit(MutationFinished(MutationOutcome.ROLLED_BACK, reason=reason))
    if draft.config.on_mutator_error is MutatorFailure.SKIP:
        return prepare(draft)
    return end_turn(draft, TurnEnd.ERROR, error=reason)


def cancelled(draft: Draft, given: Cancel | Close) -> Phase:
    """Take nothing of what the mutators make, and end the turn."""
    draft.abort(draft.turn.effect_id)
    draft.emit(MutationFinished(MutationOutcome.ROLLED_BACK, reason="the turn was cancelled"))
    return end_turn(draft, TurnEnd.CANCELLED)


HANDLERS: Final[Handlers] = handlers(cancelled, {MutatorsDone: mutated})
