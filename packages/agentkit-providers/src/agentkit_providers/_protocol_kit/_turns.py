"""Turns in a history: where the one that waits for results began, and whether it was thought of.

Claude's models with a thinking budget refuse to think in the middle of a turn that began without
thinking: "a final `assistant` message must start with a thinking block (preceding the lastmost set
of `tool_use` and `tool_result` blocks)" (mastra-ai/mastra#7799, anomalyco/opencode#3077).
"""

from __future__ import annotations

from collections.abc import Sequence

from agentkit_core import Item, ItemKind, Reasoning
from agentkit_core.provider import Target

_IN_TURN = (ItemKind.ASSISTANT, ItemKind.TOOL)


def open_turn(items: Sequence[Item]) -> range | None:
    """Find the turn that is not over: tool results are the last that the model has not answered.

    Text that the user adds after results belongs to the turn, since it is in the same message.

    Args:
        items: Sendable items.

    Returns:
        The indices from the turn's first assistant item to the last item; None where no turn is
        open.
    """
    last = len(items) - 1
    while last >= 0 and items[last].kind not in _IN_TURN:
        last -= 1
    if last < 0 or items[last].kind is not ItemKind.TOOL:
        return None
    first = last
    at = last
    while at >= 0:
        kind = items[at].kind
        if kind is ItemKind.ASSISTANT:
            first = at
        elif kind is not ItemKind.TOOL and not (at and items[at - 1].kind is ItemKind.TOOL):
            break
        at -= 1
    return range(first, len(items))


def thinks_from_its_start(turn: range, items: Sequence[Item], target: Target) -> bool:
    """Whether a turn began with thinking, and the model itself has gone on with it.

    Args:
        turn: What `open_turn` found.
        items: Sendable items, whose reasoning the model accepts.
        target: What they were made sendable for.
    """
    assistants = [items[at] for at in turn if items[at].kind is ItemKind.ASSISTANT]
    if not assistants or not _begins_with_thinking(assistants[0]):
        return False
    last = assistants[-1]
    if _begins_with_thinking(last):
        return True
    # Between calls a model may go on without thinking. What another model said, it has not thought.
    origin = last.provenance
    return origin is not None and origin.same_model(target.provider, target.api, target.model)


def _begins_with_thinking(item: Item) -> bool:
    return bool(item.parts) and isinstance(item.parts[0], Reasoning)
