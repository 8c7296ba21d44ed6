"""Ids of tool calls: every call of a session has an id of its own."""

from __future__ import annotations

from msgspec.structs import replace

from agentkit_core import Item, ToolCall, ToolCallId
from agentkit_loop.kernel._draft import Draft


def with_unique_call_ids(draft: Draft, item: Item) -> Item:
    """Return an answer in which every call has an id that no other call of the session has.

    Some providers send empty ids, or repeat them; those are replaced, the others stay.
    """
    if not item.tool_calls:
        return item
    used = set[ToolCallId]()
    parts, is_changed = list(item.parts), False
    for at, part in enumerate(parts):
        if isinstance(part, ToolCall):
            draft.calls += 1
            if not part.id or part.id in used or draft.is_call_known(part.id):
                parts[at] = part = replace(part, id=_free_id(draft, used))
                is_changed = True
            used.add(part.id)
    return replace(item, parts=tuple(parts)) if is_changed else item


def _free_id(draft: Draft, used: set[ToolCallId]) -> ToolCallId:
    number = draft.calls
    while (call_id := ToolCallId(f"call_{number}")) in used or draft.is_call_known(call_id):
        number += 1
    return call_id
