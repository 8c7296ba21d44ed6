"""Sendable: any stored history, made valid for any target, as a pure projection.

The stored transcript is not touched; a second application changes nothing; a longer history
begins with what the shorter one gave, so that providers' prefix caches hit. In order:

    1. failed responses are left out, with the results of their calls; of an interrupted item,
       what is whole is kept
    2. calls and results are paired, each with one result right after it
    3. what the target cannot read is replaced or left out, part by part
    4. call ids and tool names become ones that the target accepts
    5. media that tools gave move to where the target wants them
    6. kinds without a role of their own become the next best
    7. items of one role are merged where the target wants turns to alternate
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from itertools import groupby
from operator import attrgetter

from msgspec.structs import replace

from agentkit_core._finish import FinishReason
from agentkit_core._history._call_ids import CallIds
from agentkit_core._history._pairing import paired
from agentkit_core._history._part_rules import (
    PartReader,
    closeness,
    describe_output,
    labelled,
    media_follow,
    reminder,
    without_media,
)
from agentkit_core._history._target import Target
from agentkit_core._item import Item, ItemKind, with_parts
from agentkit_core._json import to_json
from agentkit_core._part import Part, Text, ToolCall, ToolResult


def sendable(
    items: Sequence[Item],
    target: Target,
    *,
    to_model: Callable[[Item], Item | None] | None = None,
) -> tuple[Item, ...]:
    """Make a history valid for a target.

    Args:
        items: Any history, oldest first, however it was damaged.
        target: What can be sent.
        to_model: How an application's own items read for a model, asked for every item first;
            None leaves the item out.

    Returns:
        Items of the target's kinds only, ready to be written one by one. Items that need no
        change are the same objects. Empty for an empty history.
    """
    if to_model is not None:
        items = [one for one in map(to_model, items) if one is not None]
    sending = Sending(target)
    sending.take(items)
    return tuple(sending.made if target.consecutive_roles else merged(sending.made, target))


class Sending:
    """Steps 1 to 6 for one history, stretch by stretch.

    Args:
        target: What can be sent.
    """

    def __init__(self, target: Target) -> None:
        self.made: list[Item] = []
        """What the items so far give, in order."""
        self._target = target
        self._reader = PartReader(target)
        self._ids = CallIds(target.call_ids, names=target.tool_names)
        self._before: Item | None = None
        self._moves_media = media_follow(target)
        self._wants_user = target.first_user

    def copy(self) -> Sending:
        """Make one that goes on from here by itself."""
        twin = copy(self)
        twin.made, twin._ids = self.made[:], self._ids.copy()
        return twin

    def take(self, items: Sequence[Item]) -> None:
        """Take the next stretch.

        Args:
            items: No result among them answers a call of an earlier stretch; that is true where
                each stretch but the last ends with all its calls answered, and none of their
                ids comes again.
        """
        target = self._target
        for one in paired(items, orphan=lambda result: _orphan(result, target), without=_failed):
            read = self._reader.read(one)
            if not read.parts:
                continue
            item = self._before = self._ids.renamed(read, self._before)
            if self._moves_media and item.kind is ItemKind.TOOL:
                item, media = _media_apart(item)
                self._add(item)
                if media is not None:
                    self._add(media)
            else:
                self._add(item)

    def _add(self, item: Item) -> None:
        item = _of_own_kind(item, self._target)
        if self._wants_user and item.kind not in (ItemKind.SYSTEM, ItemKind.DEVELOPER):
            self._wants_user = False
            if item.kind is not ItemKind.USER:
                self.made.append(Item.user("[The conversation goes on from here.]"))
        self.made.append(item)


def _failed(item: Item) -> bool:
    return item.finish_reason is FinishReason.ERROR


def _orphan(result: ToolResult, target: Target) -> Item:
    if target.orphan_results and ItemKind.TOOL in target.kinds:
        return Item.tool(result)
    rest, media = without_media(result)
    return Item.user(f"[Result of an earlier tool call: {describe_output(rest.output)}]", *media)


def _media_apart(item: Item) -> tuple[Item, Item | None]:
    """Take the media out of results; they follow in an item of the user's, each labelled."""
    moved: list[Part] = []
    kept: list[Part] = []
    for result in item.tool_results:
        rest, media = without_media(result)
        kept.append(rest)
        if media:
            moved += labelled(result, media)
    follows = Item(ItemKind.USER, tuple(moved), created_at=item.created_at) if moved else None
    return with_parts(item, kept), follows


_NEXT_BEST = {
    ItemKind.DEVELOPER: ItemKind.SYSTEM,
    ItemKind.CONTEXT: ItemKind.SYSTEM,
    ItemKind.SYSTEM: ItemKind.USER,
    ItemKind.NOTIFICATION: ItemKind.USER,
    ItemKind.TOOL: ItemKind.USER,
}


def _of_own_kind(item: Item, target: Target) -> Item:
    if item.kind is ItemKind.ASSISTANT and ItemKind.TOOL not in target.kinds:
        return with_parts(item, [_call_as_text(part) for part in item.parts])
    if item.kind in target.kinds or item.kind is ItemKind.USER:
        return item
    if item.kind is ItemKind.NOTIFICATION:
        return replace(item, kind=ItemKind.USER, parts=reminder(item.parts))
    if item.kind is ItemKind.TOOL:
        results = tuple(Text(_result_as_text(result)) for result in item.tool_results)
        return replace(item, kind=ItemKind.USER, parts=results)
    return _of_own_kind(replace(item, kind=_NEXT_BEST[item.kind]), target)


def _call_as_text(part: Part) -> Part:
    if type(part) is not ToolCall:
        return part
    return Text(f"[Called the tool {part.name} with {to_json(part.input).decode()}]")


def _result_as_text(result: ToolResult) -> str:
    word = "failed" if result.is_error else "answered"
    return f"[The tool {word}: {describe_output(result.output)}]"


def merged(items: Iterable[Item], target: Target) -> Iterator[Item]:
    """Merge neighbours of one kind; results stay as they are, one item a round."""
    for kind, neighbours in groupby(items, key=attrgetter("kind")):
        group = list(neighbours)
        if kind is ItemKind.TOOL or len(group) == 1:
            yield from group
            continue
        # What is only worth something to its own model is gone from all others by now, so the
        # item may say that all of it comes from the nearest.
        nearest = max(group, key=lambda item: closeness(item.provenance, target))
        parts = tuple(part for item in group for part in item.parts)
        yield replace(group[0], parts=parts, provenance=nearest.provenance)
