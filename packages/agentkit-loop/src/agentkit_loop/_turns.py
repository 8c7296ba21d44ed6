"""Turns: how one begins, asks the model and ends. Shared by the phases.

Each function says in which phase the session is afterwards.
"""

from __future__ import annotations

from agentkit_core import DRIVEABLE_KINDS, Item, ItemKind, ProviderFailure, TurnId
from agentkit_loop._config import BusyInput
from agentkit_loop._draft import Draft
from agentkit_loop._effects import CallModel
from agentkit_loop._inputs import Lane, Submit
from agentkit_loop._limits import limit_reached
from agentkit_loop._state import TurnState
from agentkit_loop._steps import Finished
from agentkit_loop._table import Phase
from agentkit_loop.events import (
    InputQueued,
    InputRejected,
    ModelCallStarted,
    TurnEnd,
    TurnFinished,
    TurnResult,
    TurnStarted,
)

_NOT_FOR_HOSTS = frozenset({ItemKind.ASSISTANT, ItemKind.TOOL})


def wants_answer(items: tuple[Item, ...]) -> bool:
    """Whether the last item is one that a model would answer."""
    return bool(items) and items[-1].kind in DRIVEABLE_KINDS


def begin_turn(draft: Draft) -> Phase:
    """Begin a turn with what waits for it, and ask the model."""
    draft.turns += 1
    draft.running = TurnState(TurnId(f"turn-{draft.turns}"))
    draft.emit(TurnStarted())
    draft.append_inputs()
    return ask_model(draft)


def ask_model(draft: Draft, *, resumed: bool = False) -> Phase:
    """Ask the model, if there is something to answer and a limit does not forbid it.

    Args:
        draft: The step.
        resumed: Whether the last item is an answer that the provider wants to go on with.
    """
    if not resumed and not wants_answer(draft.transcript):
        return end_turn(draft, TurnEnd.COMPLETED)
    limit = limit_reached(draft.config.limits, model_calls=draft.turn.model_calls)
    if limit is not None:
        return end_turn(draft, TurnEnd.LIMIT, limit=limit)
    return attempt_call(draft, 1)


def attempt_call(draft: Draft, attempt: int) -> Phase:
    """Make an attempt at the turn's next model call."""
    draft.emit(ModelCallStarted(draft.turn.model_calls + 1, attempt, draft.model))
    draft.set_turn(attempt=attempt, effect_id=draft.issue(CallModel))
    return Phase.CALLING


def end_turn(
    draft: Draft,
    end: TurnEnd,
    *,
    limit: str | None = None,
    failure: ProviderFailure | None = None,
    partial: Item | None = None,
) -> Phase:
    """End the turn and hand its result to the host.

    Steering that found no safe point becomes the next turn's first input.
    """
    turn = draft.turn
    result = TurnResult(
        turn.id,
        end,
        items=turn.produced,
        usage=turn.usage,
        model_calls=turn.model_calls,
        limit=limit,
        failure=failure,
        partial=partial,
    )
    draft.inputs = draft.steer + draft.inputs
    draft.steer = ()
    draft.emit(TurnFinished(result))
    draft.give(Finished(result))
    draft.running = None
    return Phase.IDLE


def queue(draft: Draft, given: Submit) -> None:
    """Put the host's input in the lane where it waits for a safe point."""
    if not given.items:
        return
    for item in given.items:
        if item.kind in _NOT_FOR_HOSTS:
            return draft.emit(
                InputRejected(
                    f"{item.kind.value} items come from models and tools; "
                    f"start the session with a history instead"
                )
            )
    lane = given.lane
    if draft.running is None:
        lane = Lane.NEXT
    elif lane is Lane.NEXT:
        match draft.config.busy_input:
            case BusyInput.STEER:
                lane = Lane.STEER
            case BusyInput.REJECT:
                return draft.emit(InputRejected("a turn is running"))
            case BusyInput.QUEUE:
                pass
    if lane is Lane.STEER:
        draft.steer += (given.items,)
    else:
        draft.inputs += (given.items,)
    draft.emit(InputQueued(given.items, lane.value))
