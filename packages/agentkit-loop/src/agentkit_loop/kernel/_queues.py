"""Queues: input of the host waits in them until a safe point of a turn."""

from __future__ import annotations

from typing import Final

from agentkit_core import Item, ItemKind
from agentkit_loop.events import InputQueued, InputRejected, InputWithdrawn
from agentkit_loop.kernel._config import BusyInput
from agentkit_loop.kernel._draft import Draft
from agentkit_loop.kernel._inputs import Lane, Submit

_ONLY_FROM_MODELS_AND_TOOLS: Final = frozenset({ItemKind.ASSISTANT, ItemKind.TOOL})


def enqueue(draft: Draft, submit: Submit) -> Lane | None:
    """Put input of the host into the queue where it waits for a safe point.

    Returns:
        The queue; None if the input is empty or rejected.
    """
    if not submit.items:
        return None
    for item in submit.items:
        if item.kind in _ONLY_FROM_MODELS_AND_TOOLS:
            draft.emit(
                InputRejected(
                    f"{item.kind.value} items come from models and tools; "
                    f"start the session with a history instead"
                )
            )
            return None
    lane = submit.lane
    if draft.current_turn is None:
        lane = Lane.NEXT
    elif lane is Lane.NEXT:
        match draft.config.busy_input:
            case BusyInput.STEER:
                lane = Lane.STEER
            case BusyInput.REJECT:
                draft.emit(InputRejected("a turn is running"))
                return None
            case BusyInput.QUEUE:
                pass
    if lane is Lane.STEER:
        draft.steer += (submit.items,)
    else:
        draft.inputs += (submit.items,)
    draft.emit(InputQueued(submit.items, lane.value))
    return lane


def withdraw_input(draft: Draft, lane: Lane | None) -> None:
    """Take back what waits in a queue; in both if the lane is None."""
    for each in (Lane.STEER, Lane.NEXT) if lane is None else (lane,):
        waiting = draft.steer if each is Lane.STEER else draft.inputs
        if not waiting:
            continue
        if each is Lane.STEER:
            draft.steer = ()
        else:
            draft.inputs = ()
        items = tuple(item for batch in waiting for item in batch)
        draft.emit(InputWithdrawn(items, each.value))


def append_hook_items(draft: Draft, items: tuple[Item, ...]) -> None:
    """Append what hooks tell the model; items that only models and tools make are left out."""
    allowed = tuple(item for item in items if item.kind not in _ONLY_FROM_MODELS_AND_TOOLS)
    if len(allowed) < len(items):
        draft.diagnose("a hook gave assistant or tool items; they were left out")
    draft.append(*allowed)
