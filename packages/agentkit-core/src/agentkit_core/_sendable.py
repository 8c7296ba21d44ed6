"""Sendable: any stored history, made valid for any target, as a pure projection.

The stored transcript is not touched; a second application changes nothing; a longer history
begins with what the shorter one gave, so that providers' prefix caches hit. In order:

    1. failed responses are left out, the rest of an item that was cut off is kept
    2. what the target cannot read is replaced or left out, part by part
    3. calls and results are paired, each with one result right after it
    4. call ids and tool names become ones that the target accepts
    5. media that tools gave move to where the target wants them
    6. kinds without a role of their own become the next best
    7. items of one role are merged where the target wants turns to alternate
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec.structs import replace

from agentkit_core._call_ids import CallIds, fitted
from agentkit_core._finish import FinishReason
from agentkit_core._item import Item, ItemKind, with_parts
from agentkit_core._json import encode_json
from agentkit_core._pairing import paired
from agentkit_core._part import Part, Text, ToolCall, ToolResult
from agentkit_core._readable import (
    PartReader,
    labelled,
    output_text,
    reminder,
    without_media,
)
from agentkit_core._target import Target, ToolMedia


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
    reader = PartReader(target)
    readable = [reader.read(item) for item in items if item.finish_reason is not FinishReason.ERROR]
    made: Iterable[Item] = paired(
        [item for item in readable if item.parts], orphan=lambda result: _orphan(result, target)
    )
    made = _renamed(made, target)
    if target.tool_media_place is ToolMedia.AFTER_RESULTS:
        made = _with_media_after_results(made)
    made = [_of_own_kind(item, target) for item in made]
    if target.first_user:
        made = _user_first(made)
    return tuple(made if target.consecutive_roles else _merged(made))


def _orphan(result: ToolResult, target: Target) -> Item | None:
    if target.orphan_results and ItemKind.TOOL in target.kinds:
        return Item.tool(result)
    text = output_text(result.output)
    return Item.user(f"[Result of an earlier tool call: {text}]")


def _renamed(items: Iterable[Item], target: Target) -> Iterator[Item]:
    ids = CallIds(target.call_ids)
    before: Item | None = None
    for item in items:
        if item.kind is ItemKind.TOOL and (before is None or not before.tool_calls):
            before = item  # an orphan that the target accepts; nothing to pair it with
        else:
            before = ids.renamed(item, before)
        yield _with_good_names(before, target)


def _with_good_names(item: Item, target: Target) -> Item:
    if item.kind is not ItemKind.ASSISTANT:
        return item
    return with_parts(item, [_well_named(part, target) for part in item.parts])


def _well_named(part: Part, target: Target) -> Part:
    if type(part) is not ToolCall or target.tool_names.accepts(part.name):
        return part
    return replace(part, name=fitted(part.name or "unknown_tool", target.tool_names))


def _with_media_after_results(items: Iterable[Item]) -> Iterator[Item]:
    for item in items:
        moved: list[Part] = []
        parts: list[Part] = []
        for part in item.parts:
            if type(part) is ToolResult:
                kept, media = without_media(part)
                if media:
                    moved += labelled(part, media)
                parts.append(kept)
            else:
                parts.append(part)
        yield with_parts(item, parts)
        if moved:
            yield Item(ItemKind.USER, tuple(moved), created_at=item.created_at)


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
    return Text(f"[Called the tool {part.name} with {encode_json(part.input).decode()}]")


def _result_as_text(result: ToolResult) -> str:
    word = "failed" if result.is_error else "answered"
    return f"[The tool {word}: {output_text(result.output)}]"


def _user_first(items: Sequence[Item]) -> list[Item]:
    for at, item in enumerate(items):
        if item.kind in (ItemKind.SYSTEM, ItemKind.DEVELOPER):
            continue
        if item.kind is ItemKind.USER:
            break
        opening = Item.user("[The conversation goes on from here.]")
        return [*items[:at], opening, *items[at:]]
    return list(items)


def _merged(items: Iterable[Item]) -> Iterator[Item]:
    """Merge neighbours of one kind; results stay as they are, one item a round."""
    held: Item | None = None
    for item in items:
        if held is None:
            held = item
        elif held.kind is item.kind and item.kind is not ItemKind.TOOL:
            held = replace(held, parts=held.parts + item.parts)
        else:
            yield held
            held = item
    if held is not None:
        yield held
