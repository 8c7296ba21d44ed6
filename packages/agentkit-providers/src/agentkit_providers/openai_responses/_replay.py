"""Which parts of the model's responses go back to it, and whether under their ids.

The vendor ties reasoning to the items that came of it, and refuses one without the other. A history
may have lost some: it was trimmed, edited, cut off, or continues with another model. Then

    reasoning whose next item is gone    is left out, and so is the last reasoning of a response,
                                         except at servers that take any
    a call or a message whose reasoning  goes back without its id, so that the vendor does not look
    is gone                              for the reasoning
    another item whose reasoning is      is left out, since it means nothing without its id
    gone

A part without a recorded place in a response was put there by the application, and goes back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from agentkit_core import Custom, Item, Media, Part, Reasoning, Structured, Text, ToolCall
from agentkit_providers._protocol_kit._plain_text import ASSISTANT
from agentkit_providers.openai_responses._metadata_keys import CONTENT_PREFIX, ITEM_KEY, PLACE_KEY
from agentkit_providers.openai_responses._quirks import Quirks, ReasoningReplay

_ANSWERED_BY_CLIENT: Final = frozenset(
    {"apply_patch_call", "computer_call", "local_shell_call", "shell_call"}
)
"""Types of items that the client must answer; unanswered, they make every later request fail."""


class Place(NamedTuple):
    """Where a part stood in its response; None for what is not recorded.

    Attributes:
        item_index: The index of its item.
        reasoning_index: The index of the reasoning item that it follows.
    """

    item_index: int | None
    reasoning_index: int | None


class ReplayedPart(NamedTuple):
    """A part that goes back.

    Attributes:
        part: The part.
        keeps_id: Whether it goes back as the vendor's own item, under its id.
    """

    part: Part
    keeps_id: bool


def place_of(part: Part) -> Place:
    """Read where a part stood in its response."""
    place = part.metadata.get(PLACE_KEY)
    if not isinstance(place, dict):
        return Place(None, None)
    index, reasoning = place.get("index"), place.get("reasoning")
    return Place(
        index if isinstance(index, int) else None,
        reasoning if isinstance(reasoning, int) else None,
    )


def item_of(part: Part) -> dict[str, Any] | None:
    """Read the vendor's item that a part comes from; None where none is kept."""
    item = part.metadata.get(ITEM_KEY)
    return item if isinstance(item, dict) else None


def replayed_parts(
    parts: Iterable[Part], quirks: Quirks, *, stored: bool, answered: frozenset[str]
) -> Iterator[ReplayedPart]:
    """Choose which parts of an assistant item go back, in order.

    Args:
        parts: The parts of the sendable item.
        quirks: How the vendor differs from OpenAI.
        stored: Whether the vendor stores responses, so that it knows items by their id alone.
        answered: Ids of the calls of the vendor's own tools that the client has answered.
    """
    waiting: list[Reasoning] = []  # goes back with the next part
    last: Part | None = None
    replayed = set[int | None]()  # the places of reasoning that goes back
    for part in parts:
        if isinstance(part, Reasoning):
            if _is_meaningful(part, quirks, stored=stored):
                if waiting and not _follows(part, waiting[-1]):
                    waiting.clear()
                waiting.append(part)
            continue
        if not _is_writable(part, answered):
            continue
        if waiting and not _follows(part, waiting[-1]):
            waiting.clear()
        needed = place_of(part).reasoning_index
        keeps_id = needed is None or needed in replayed
        keeps_id = keeps_id or needed in {place_of(reasoning).item_index for reasoning in waiting}
        if not keeps_id and isinstance(part, Custom | Media):
            continue
        for reasoning in waiting:
            replayed.add(place_of(reasoning).item_index)
            yield ReplayedPart(reasoning, True)
        waiting.clear()
        last = part
        yield ReplayedPart(part, keeps_id)
    takes_any = quirks.reasoning_replay is ReasoningReplay.ANY
    if takes_any and waiting and last is not None and _follows(waiting[0], last):
        # OpenRouter sends the signature of a text or a call as reasoning after it.
        for reasoning in waiting:
            yield ReplayedPart(reasoning, True)


def _follows(part: Part, before: Part) -> bool:
    index, index_before = place_of(part).item_index, place_of(before).item_index
    return index_before is None or index == index_before + 1


def _is_meaningful(part: Reasoning, quirks: Quirks, *, stored: bool) -> bool:
    """Whether the vendor can make use of reasoning."""
    item = item_of(part)
    if item is None:
        return False
    match quirks.reasoning_replay:
        case ReasoningReplay.NONE:
            return False
        case ReasoningReplay.ENCRYPTED:
            return bool(item.get("encrypted_content")) or (stored and bool(item.get("id")))
        case ReasoningReplay.TEXT:
            return bool(item.get("content"))
        case ReasoningReplay.ANY:
            fields = ("encrypted_content", "content", "summary")
            return any(item.get(name) for name in fields) or (stored and bool(item.get("id")))


def _is_writable(part: Part, answered: frozenset[str]) -> bool:
    match part:
        case Text() | Structured() | ToolCall():
            return True
        case Media():
            return item_of(part) is not None
        case Custom(value=value):
            if not isinstance(value, dict):
                return False
            awaited = awaited_id(part)
            return awaited is None or awaited in answered
        case _:
            return False


def awaited_id(part: Part) -> str | None:
    """The id under which the client must answer an item of the vendor's; None if it need not."""
    if not isinstance(part, Custom) or not isinstance(part.value, dict):
        return None
    value = part.value
    kind = value.get("type")
    if kind == "mcp_approval_request":
        wanted = value.get("id")
    elif kind in _ANSWERED_BY_CLIENT or (
        kind == "tool_search_call" and value.get("execution") == "client"
    ):
        wanted = value.get("call_id")
    else:
        return None
    return wanted if isinstance(wanted, str) else ""


def awaited_before(items: Sequence[Item], at: int) -> frozenset[str]:
    """The ids under which the client must answer the last assistant item before an item."""
    for before in range(at - 1, -1, -1):
        if items[before].kind is ASSISTANT:
            ids = map(awaited_id, items[before].parts)
            return frozenset(awaited for awaited in ids if awaited is not None)
    return frozenset()


def answers(part: Part) -> Iterator[str]:
    """The ids that a part answers, where it answers one of the vendor's own tools."""
    if not isinstance(part, Custom) or not isinstance(part.value, dict):
        return
    if str(part.value.get("type")).endswith(("_output", "_response")):
        for name in ("call_id", "id", "approval_request_id"):
            if isinstance(answered := part.value.get(name), str):
                yield answered


def answered_after(items: Sequence[Item], at: int) -> frozenset[str]:
    """The ids that an assistant item, and the items up to the next one, answer."""
    answered = {call_id for part in items[at].parts for call_id in answers(part)}
    for following in items[at + 1 :]:
        if following.kind is ASSISTANT:
            break
        answered.update(call_id for part in following.parts for call_id in answers(part))
    return frozenset(answered)


def first_open(items: Sequence[Item]) -> int:
    """The index from which what is written of items may change when further items follow.

    That is the index of the last assistant item, where it calls the vendor's own tools for the
    client to answer: unanswered calls are left out. Otherwise it is the number of items.
    """
    for at in range(len(items) - 1, -1, -1):
        if items[at].kind is ASSISTANT:
            if any(awaited_id(part) is not None for part in items[at].parts):
                return at
            break
    return len(items)


def is_content(part: Part) -> bool:
    """Whether a part is a piece of a message, and not an item of its own."""
    if isinstance(part, Custom):
        return part.kind.startswith(CONTENT_PREFIX)
    return isinstance(part, Text | Structured)
