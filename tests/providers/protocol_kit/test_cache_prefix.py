"""The prefix that a cache mark ends, as it is sent."""

from __future__ import annotations

import pytest

from agentkit_core import Item, ItemKind, Text, TextOutput, ToolCall, ToolCallId, ToolResult
from agentkit_core.cache import ItemEnd, PartEnd
from agentkit_core.provider import Target
from agentkit_providers._protocol_kit._cache_prefix import marked_prefix

TARGET = Target(api="any", provider="any", model="any")
CALLS = (ToolCall(ToolCallId("a"), "look", {}), ToolCall(ToolCallId("b"), "look", {}))
ITEMS = (
    Item(ItemKind.USER, (Text("one"), Text("two"))),
    Item(ItemKind.ASSISTANT, CALLS),
    Item(ItemKind.TOOL, tuple(ToolResult(call.id, TextOutput("seen")) for call in CALLS)),
)


def sizes(mark: ItemEnd | PartEnd) -> list[int] | None:
    made = marked_prefix(mark, ITEMS, TARGET)
    return None if made is None else [len(item.parts) for item in made]


@pytest.mark.parametrize(
    ("mark", "expected"),
    [
        (PartEnd(0, 0), [1]),
        (ItemEnd(0), [2]),
        (ItemEnd(1), [2, 2]),  # no results are made up for its calls
        (PartEnd(1, 0), [2, 1]),
        (PartEnd(2, 0), [2, 2, 1]),  # nor for the second call
        (ItemEnd(2), [2, 2, 2]),
    ],
)
def test_the_prefix_ends_where_the_mark_stands(
    mark: ItemEnd | PartEnd, expected: list[int]
) -> None:
    assert sizes(mark) == expected


@pytest.mark.parametrize("mark", [ItemEnd(3), ItemEnd(-1), PartEnd(0, 2), PartEnd(0, -1)])
def test_a_mark_that_names_no_place_has_no_prefix(mark: ItemEnd | PartEnd) -> None:
    assert marked_prefix(mark, ITEMS, TARGET) is None
