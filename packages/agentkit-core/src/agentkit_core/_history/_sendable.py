"""Makes any history valid for any target, as a pure function.

The stored transcript does not change, and applying the function again changes nothing. The result
for a longer history begins with the result for a shorter one, so that providers' prefix caches hit;
where a target takes system items in front only, this holds from the first user item on.
The steps, in order:

    1. failed responses are removed, with the results of their calls; of an interrupted item, the
       complete parts are kept
    2. calls and results are paired: each call has one result, in the item right after it
    3. parts that the target does not accept are replaced or removed
    4. call ids and tool names that the target does not accept are replaced
    5. media in tool results are moved to where the target accepts them
    6. items of kinds that have no role at the target are converted to another kind, and system
       items that follow the first user item to reminders, where the target takes them only in front
    7. neighbours of one role are merged where the target wants roles to alternate
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from itertools import groupby
from operator import attrgetter
from typing import Final

from msgspec.structs import replace

from agentkit_core._finish import FinishReason
from agentkit_core._history._call_ids import CallIds
from agentkit_core._history._pairing import pair_results
from agentkit_core._history._part_rules import (
    as_reminder,
    closeness,
    describe_output,
    is_plain,
    label_media,
    media_follow,
    part_reader,
    split_media,
)
from agentkit_core._history._target import Target
from agentkit_core._item import (
    ASSISTANT,
    DEVELOPER,
    SYSTEM,
    TOOL,
    USER,
    Item,
    ItemKind,
    has_calls,
    with_parts,
)
from agentkit_core._json import to_json
from agentkit_core._part import Part, Text, ToolCall, ToolResult

_ERROR: Final = FinishReason.ERROR


def sendable(
    items: Sequence[Item],
    target: Target,
    *,
    to_model: Callable[[Item], Item | None] | None = None,
) -> tuple[Item, ...]:
    """Make a history valid for a target.

    Args:
        items: Any history, oldest first, even a damaged one.
        target: What the model accepts.
        to_model: Called for each item first; returns how the model should see the item, or None to
            leave it out. For items that an application made for itself.

    Returns:
        Items that can be encoded one by one, of the target's kinds only. Items that need no change
        are the same objects. Empty for an empty history.
    """
    if to_model is not None:
        items = [item for item in map(to_model, items) if item is not None]
    converter = Converter(target)
    converter.take(items)
    if target.consecutive_roles:
        return tuple(converter.items)
    return tuple(merge_roles(converter.items, target))


class Converter:
    """Does steps 1 to 6 for one history, section by section.

    Args:
        target: What the model accepts.
    """

    __slots__ = (
        "_before",
        "_front_count",
        "_ids",
        "_moves_media",
        "_reader",
        "_target",
        "_wants_user",
        "has_front",
        "items",
    )

    def __init__(self, target: Target) -> None:
        self.items: list[Item] = []
        """The converted items, in order."""
        self._target = target
        self._reader = part_reader(target)
        self._ids = CallIds(target.call_ids, names=target.tool_names)
        self._before: Item | None = None
        self._moves_media = media_follow(target)
        self._wants_user = target.first_user
        self._front_count = 0
        self.has_front = target.late_system
        """Whether the items at the front are complete: no system item is moved there any more."""

    def copy(self) -> Converter:
        """Return an independent copy with the same state."""
        duplicate = copy(self)
        duplicate.items, duplicate._ids = self.items[:], self._ids.copy()
        return duplicate

    def take(self, items: Sequence[Item]) -> int:
        """Convert the next section of the history.

        Args:
            items: No result in them belongs to a call of an earlier section. That holds if each
                section, except the last, ends with results for all its calls, and none of their ids
                is used again.

        Returns:
            How many items come before the first that has calls or results.
        """
        for at, item in enumerate(items):
            # Without calls there is nothing to pair and nothing to rename.
            if is_plain(item):
                if item.finish_reason is _ERROR:
                    continue
                self._before = item
                kind = item.kind
                if kind is USER:
                    self.has_front, self._wants_user = True, False
                    self.items.append(item)
                elif kind is ASSISTANT and not self._wants_user:
                    self.items.append(item)
                else:
                    self._add(item)
            elif item.kind is TOOL or has_calls(item):
                self._take_paired(items[at:])
                return at
            elif item.finish_reason is _ERROR:
                continue
            elif (readable := self._reader.read(item)).parts:
                self._before = readable
                self._add(readable)
        return len(items)

    def _take_paired(self, items: Sequence[Item]) -> None:
        target = self._target
        for item in pair_results(
            items, orphan=lambda result: _replace_orphan(result, target), without=_has_failed
        ):
            readable = self._reader.read(item)
            if not readable.parts:
                continue
            renamed = self._before = self._ids.rename(readable, self._before)
            if self._moves_media and renamed.kind is TOOL:
                results, media = _split_media(renamed)
                self._add(results)
                if media is not None:
                    self._add(media)
            else:
                self._add(renamed)

    def _add(self, item: Item) -> None:
        item = _convert_kind(item, self._target)
        if not self._target.late_system:
            if item.kind is SYSTEM or item.kind is DEVELOPER:
                if not self.has_front:
                    self.items.insert(self._front_count, item)
                    self._front_count += 1
                    return
                item = replace(item, kind=USER, parts=as_reminder(item.parts))
            elif item.kind is USER:
                self.has_front = True
        if self._wants_user and item.kind is not SYSTEM and item.kind is not DEVELOPER:
            self._wants_user = False
            if item.kind is not USER:
                self.items.append(Item.user("[The conversation goes on from here.]"))
        self.items.append(item)


def _has_failed(item: Item) -> bool:
    return item.finish_reason is _ERROR


def _replace_orphan(result: ToolResult, target: Target) -> Item:
    if target.orphan_results and ItemKind.TOOL in target.kinds:
        return Item.tool(result)
    without_media, media = split_media(result)
    text = describe_output(without_media.output)
    return Item.user(f"[Result of an earlier tool call: {text}]", *media)


def _split_media(item: Item) -> tuple[Item, Item | None]:
    """Move the media of results to a user item, with labels; None if there are no media."""
    moved: list[Part] = []
    results: list[Part] = []
    for result in item.tool_results:
        without_media, media = split_media(result)
        results.append(without_media)
        if media:
            moved += label_media(result, media)
    following = Item(ItemKind.USER, tuple(moved), created_at=item.created_at) if moved else None
    return with_parts(item, results), following


_CONVERTED_KINDS: Final = {
    ItemKind.DEVELOPER: ItemKind.SYSTEM,
    ItemKind.CONTEXT: ItemKind.SYSTEM,
    ItemKind.SYSTEM: ItemKind.USER,
    ItemKind.NOTIFICATION: ItemKind.USER,
    ItemKind.TOOL: ItemKind.USER,
}


def _convert_kind(item: Item, target: Target) -> Item:
    kind = item.kind
    if kind is USER:
        return item
    if kind is ASSISTANT and TOOL not in target.kinds:
        return with_parts(item, [_call_as_text(part) for part in item.parts])
    if kind in target.kinds:
        return item
    if kind is ItemKind.NOTIFICATION:
        return replace(item, kind=ItemKind.USER, parts=as_reminder(item.parts))
    if kind is TOOL:
        results = tuple(Text(_result_as_text(result)) for result in item.tool_results)
        return replace(item, kind=USER, parts=results)
    return _convert_kind(replace(item, kind=_CONVERTED_KINDS[kind]), target)


def _call_as_text(part: Part) -> Part:
    if type(part) is not ToolCall:
        return part
    return Text(f"[Called the tool {part.name} with {to_json(part.input).decode()}]")


def _result_as_text(result: ToolResult) -> str:
    word = "failed" if result.is_error else "answered"
    return f"[The tool {word}: {describe_output(result.output)}]"


def merge_roles(items: Iterable[Item], target: Target) -> Iterator[Item]:
    """Merge neighbours of one kind; tool items are not merged, one per round."""
    for kind, neighbours in groupby(items, key=attrgetter("kind")):
        group = list(neighbours)
        if kind is TOOL or len(group) == 1:
            yield from group
            continue
        # Parts that only their own model accepts are removed by now, so the merged item can have
        # the provenance that is nearest to the target.
        nearest = max(group, key=lambda item: closeness(item.provenance, target))
        parts = tuple(part for item in group for part in item.parts)
        yield replace(group[0], parts=parts, provenance=nearest.provenance)
