"""What the model made goes back to it: which items, and whether under their ids.

The vendor ties what was thought to what came of it and refuses one without the other. Where the
history has lost something (it was trimmed, edited, cut off, or another model goes on):

    reasoning whose next item is gone    is left out, and so is an answer's last reasoning, but
                                         for servers that take any
    a call or a message whose reasoning  goes back without its id, by which alone the vendor would
    is gone                              know that there was any
    another item whose reasoning is      is left out, for it is nothing without its id
    gone

A part that does not say where it stood in an answer was put there by somebody, and is believed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from agentkit_core import Custom, Item, ItemKind, Media, Part, Reasoning, Structured, Text, ToolCall
from agentkit_providers.openai_responses._metadata_keys import CONTENT_PREFIX, ITEM_KEY, PLACE_KEY
from agentkit_providers.openai_responses._quirks import Quirks, ReasoningReplay

_ANSWERED_BY_CLIENT: Final = frozenset(
    {"apply_patch_call", "computer_call", "local_shell_call", "shell_call"}
)
"""Items that the client must answer; unanswered, they make every later request fail."""


class Place(NamedTuple):
    """Where a part stood in its answer; None for what is not known."""

    at: int | None
    reasoning: int | None


class Replayed(NamedTuple):
    """A part that goes back."""

    part: Part
    known: bool
    """Whether it goes back as what the vendor made, under its id."""


def place_of(part: Part) -> Place:
    """Read where a part stood."""
    found = part.metadata.get(PLACE_KEY)
    if not isinstance(found, dict):
        return Place(None, None)
    index, reasoning = found.get("index"), found.get("reasoning")
    return Place(
        index if isinstance(index, int) else None,
        reasoning if isinstance(reasoning, int) else None,
    )


def item_of(part: Part) -> dict[str, Any] | None:
    """The vendor's item that a part comes from; None where none is kept."""
    found = part.metadata.get(ITEM_KEY)
    return found if isinstance(found, dict) else None


def replayed(
    parts: Iterable[Part], quirks: Quirks, *, stored: bool, answered: frozenset[str]
) -> Iterator[Replayed]:
    """Say which parts of an assistant item go back, in order.

    Args:
        parts: What `sendable` gave of the item.
        quirks: How the vendor wants it.
        stored: Whether the vendor keeps answers, so that ids alone mean something to it.
        answered: Ids of the calls of the vendor's own tools that the client has answered.
    """
    thought: list[Reasoning] = []  # goes back with what comes next
    last: Part | None = None
    gone_back = set[int | None]()  # places of reasoning
    for part in parts:
        if isinstance(part, Reasoning):
            if _is_worth_it(part, quirks, stored=stored):
                if thought and not _follows(part, thought[-1]):
                    thought.clear()
                thought.append(part)
            continue
        if not _is_writable(part, answered):
            continue
        if thought and not _follows(part, thought[-1]):
            thought.clear()
        needed = place_of(part).reasoning
        known = needed is None or needed in gone_back
        known = known or needed in {place_of(one).at for one in thought}
        if not known and isinstance(part, Custom | Media):
            continue
        for one in thought:
            gone_back.add(place_of(one).at)
            yield Replayed(one, True)
        thought.clear()
        last = part
        yield Replayed(part, known)
    loose = quirks.reasoning_replay is ReasoningReplay.ANY
    if loose and thought and last is not None and _follows(thought[0], last):
        # OpenRouter sends a signature of what is said, or called, as reasoning after it.
        for one in thought:
            yield Replayed(one, True)


def _follows(part: Part, before: Part) -> bool:
    at, then = place_of(part).at, place_of(before).at
    return then is None or at == then + 1


def _is_worth_it(part: Reasoning, quirks: Quirks, *, stored: bool) -> bool:
    """Whether reasoning means anything to the vendor."""
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
            held = ("encrypted_content", "content", "summary")
            return any(item.get(name) for name in held) or (stored and bool(item.get("id")))


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
    """The id by which the client must answer an item of the vendor's; None if it need not."""
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


def answer_ids(part: Part) -> Iterator[str]:
    """The ids of what an item answers, if it answers one of the vendor's own tools."""
    if not isinstance(part, Custom) or not isinstance(part.value, dict):
        return
    if str(part.value.get("type")).endswith(("_output", "_response")):
        for name in ("call_id", "id", "approval_request_id"):
            if isinstance(found := part.value.get(name), str):
                yield found


def answers_after(items: Sequence[Item], at: int) -> tuple[frozenset[str], bool]:
    """What the items after an assistant item, and the item itself, answer.

    Returns:
        The ids, and whether more answers may come: the conversation has not gone on yet.
    """
    found = {one for part in items[at].parts for one in answer_ids(part)}
    for following in items[at + 1 :]:
        if following.kind is ItemKind.ASSISTANT:
            return frozenset(found), False
        found.update(one for part in following.parts for one in answer_ids(part))
    return frozenset(found), True


def is_content(part: Part) -> bool:
    """Whether a part is a piece of a message, rather than an item of its own."""
    if isinstance(part, Custom):
        return part.kind.startswith(CONTENT_PREFIX)
    return isinstance(part, Text | Structured)
