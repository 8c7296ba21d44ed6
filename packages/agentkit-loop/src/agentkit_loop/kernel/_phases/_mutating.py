"""Mutating: mutators may rewrite the transcript. All of their changes are taken, or none."""

from __future__ import annotations

from typing import Final

from agentkit_core import Transcript, TranscriptError
from agentkit_loop._result import TurnEnd
from agentkit_loop.events import MutationFinished, MutationOutcome
from agentkit_loop.kernel._config import MutatorFailure
from agentkit_loop.kernel._draft import Draft
from agentkit_loop.kernel._inputs import Cancel, Close, MutatorsDone
from agentkit_loop.kernel._phases._common import handlers_of_turn
from agentkit_loop.kernel._phases._handler import Handlers
from agentkit_loop.kernel._table import Phase
from agentkit_loop.kernel._turns import end_turn, prepare_model_call


def on_mutators_done(draft: Draft, answer: MutatorsDone) -> Phase:
    """Take the transcript that the mutators made, if it is valid."""
    draft.set_turn(effect_id=None)
    if answer.error is not None:
        return _roll_back(draft, answer.error)
    items = answer.items
    if items is None or items == draft.transcript.items:
        draft.emit(MutationFinished(MutationOutcome.UNCHANGED))
        return prepare_model_call(draft)
    try:
        transcript = Transcript(items)
    except TranscriptError as error:
        return _roll_back(draft, str(error))
    if transcript.open_calls:
        ids = ", ".join(call.id for call in transcript.open_calls)
        return _roll_back(draft, f"calls without a result: {ids}")
    draft.rewrite(transcript)
    draft.emit(MutationFinished(MutationOutcome.COMMITTED, answer.mutators))
    return prepare_model_call(draft)


def _roll_back(draft: Draft, reason: str) -> Phase:
    draft.emit(MutationFinished(MutationOutcome.ROLLED_BACK, reason=reason))
    if draft.config.on_mutator_error is MutatorFailure.SKIP:
        return prepare_model_call(draft)
    return end_turn(draft, TurnEnd.ERROR, error=reason)


def on_cancel(draft: Draft, command: Cancel | Close) -> Phase:
    """Take none of the mutators' changes, and end the turn."""
    draft.abort(draft.turn.effect_id)
    draft.emit(MutationFinished(MutationOutcome.ROLLED_BACK, reason="the turn was cancelled"))
    return end_turn(draft, TurnEnd.CANCELLED)


HANDLERS: Final[Handlers] = handlers_of_turn(on_cancel, {MutatorsDone: on_mutators_done})
