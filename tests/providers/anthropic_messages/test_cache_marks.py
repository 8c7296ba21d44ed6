"""Messages: where cached prefixes end, whatever became of the items on their way."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit_core import (
    Item,
    ItemKind,
    ModelOptions,
    ModelRequest,
    Provenance,
    Reasoning,
    Text,
    TextOutput,
    ToolCall,
    ToolCallId,
    ToolResult,
    ToolSpec,
    UnsupportedContent,
)
from agentkit_core.cache import (
    CacheMark,
    CacheMode,
    CacheRequest,
    CacheRetention,
    ItemEnd,
    PartEnd,
    ToolsEnd,
)
from agentkit_providers.anthropic_messages import AnthropicMessages, Quirks
from support.items import any_histories
from support.messages_bodies import MODEL, sent

MARK = {"type": "ephemeral"}
TOOLS = (ToolSpec("a"), ToolSpec("b"))
SIGNED = Reasoning("hm", metadata={"anthropic_messages.signature": "S"})


def call(call_id: str) -> ToolCall:
    return ToolCall(ToolCallId(call_id), "f")


def result(call_id: str) -> ToolResult:
    return ToolResult(ToolCallId(call_id), TextOutput(f"result of {call_id}"))


def own(*parts: Any) -> Item:
    origin = Provenance("anthropic", "anthropic_messages", MODEL)
    return Item(ItemKind.ASSISTANT, parts, provenance=origin)


def marked(*items: Item, tools: tuple[ToolSpec, ...] = (), **asked: Any) -> list[str]:
    """What is marked, in the order in which the vendor reads: names of tools, texts, ids."""
    quirks = asked.pop("quirks", None)
    body = sent(*items, tools=tools, cache=CacheRequest(**asked), quirks=quirks)
    blocks = [*body.get("tools", ()), *body.get("system", ())]
    blocks += [entry for message in body["messages"] for entry in message["content"]]
    return [name_of(block) for block in blocks if "cache_control" in block]


def name_of(one: dict[str, Any]) -> str:
    names = ("name", "text", "tool_use_id", "thinking")
    return next(str(one[name]) for name in names if name in one)


def at(*marks: CacheMark) -> dict[str, Any]:
    return {"marks": marks}


def test_d10_short_retention_marks_the_users_last_block() -> None:
    body = sent(Item.user("hi"), cache=CacheRequest(retention=CacheRetention.SHORT))

    assert body["messages"][0]["content"] == [{"type": "text", "text": "hi", "cache_control": MARK}]


def test_d10_tools_instructions_and_the_users_last_message_are_marked_once_each() -> None:
    history = [
        Item.system("s1"),
        Item.context("s2"),
        Item.user("u1"),
        Item.assistant("a", call("1"), call("2")),
        Item.tool(result("1"), result("2")),
    ]

    assert marked(*history, tools=TOOLS) == ["b", "s2", "u1", "2"]
    assert marked(*history, Item.user("x", "y")) == ["s2", "u1", "y"]
    assert marked(*history, Item.assistant("z"), Item.user("v")) == ["s2", "2", "v"]


def test_d10_without_caching_nothing_is_marked() -> None:
    assert "cache_control" not in json.dumps(sent(Item.user("u"), tools=TOOLS))
    assert marked(Item.user("u"), tools=TOOLS, mode=CacheMode.DISABLED) == []
    assert marked(Item.user("u"), tools=TOOLS, quirks=Quirks(cache_control=False)) == []


def test_d10_extended_retention_is_an_hour_where_the_vendor_has_it() -> None:
    def mark(**quirks: Any) -> Any:
        cache = CacheRequest(retention=CacheRetention.EXTENDED)
        body = sent(Item.user("u"), cache=cache, quirks=Quirks(**quirks))
        return body["messages"][0]["content"][0]["cache_control"]

    assert mark() == {"type": "ephemeral", "ttl": "1h"}
    assert mark(cache_1h=False) == MARK


HISTORY = [
    Item.user("u0"),
    Item.system("s1"),
    Item.user(" "),
    Item.notification("n3"),
    Item.assistant("a4", call("x"), call("y")),
    Item.tool(result("y"), result("x")),
    Item.context("c6"),
    Item.user("u7", " ", "v7"),
    Item.assistant("a8"),
]


def reminder(text: str) -> str:
    """How what the user did not say is said among the user's words."""
    return f"<system-reminder>\n{text}\n</system-reminder>"


@pytest.mark.parametrize(
    ("mark", "found"),
    [
        (ToolsEnd(), "b"),
        (ItemEnd(0), "u0"),
        (ItemEnd(1), reminder("s1")),
        (ItemEnd(3), reminder("n3")),  # merged into the message before
        (ItemEnd(4), "f"),  # the last call
        (PartEnd(4, 0), "a4"),
        (PartEnd(4, 1), "f"),
        (ItemEnd(5), "y"),  # in call order
        (PartEnd(5, 0), "x"),
        (ItemEnd(6), reminder("c6")),
        (PartEnd(7, 0), "u7"),
        (PartEnd(7, 1), "u7"),  # the blank part is not there: the prefix ends before it
        (PartEnd(7, 2), "v7"),
        (ItemEnd(8), "a8"),
    ],
)
def test_h17_marks_count_the_requests_items_whatever_became_of_them(
    mark: CacheMark, found: str
) -> None:
    for mode in (CacheMode.BEST_EFFORT, CacheMode.REQUIRED):
        assert marked(*HISTORY, tools=TOOLS, mode=mode, marks=(mark,)) == [found]


def test_h17_the_mark_of_an_item_that_is_left_out_is_where_the_prefix_ends() -> None:
    assert marked(*HISTORY, **at(ItemEnd(2))) == [reminder("s1")]
    failed = [Item.user("u"), own(Reasoning("unsigned")), Item.user("v")]
    assert marked(*failed, **at(ItemEnd(1))) == ["u"]


def test_equal_marks_are_one_mark() -> None:
    assert marked(*HISTORY, **at(ItemEnd(0), PartEnd(0, 0), ItemEnd(0))) == ["u0"]


@pytest.mark.parametrize(
    "mark", [ToolsEnd(), ItemEnd(9), ItemEnd(-1), PartEnd(0, 1), PartEnd(0, -1)]
)
def test_what_cannot_be_marked_is_dropped_or_refused(mark: CacheMark) -> None:
    assert marked(*HISTORY, **at(mark)) == []
    with pytest.raises(UnsupportedContent, match="cache mark"):
        marked(*HISTORY, mode=CacheMode.REQUIRED, marks=(mark,))


def test_of_more_than_four_marks_the_first_are_dropped_or_all_are_refused() -> None:
    marks = (ToolsEnd(), ItemEnd(8), ItemEnd(0), ItemEnd(6), ItemEnd(5))

    assert marked(*HISTORY, tools=TOOLS, marks=marks) == ["u0", "y", reminder("c6"), "a8"]
    five = (ItemEnd(8), ItemEnd(1), ItemEnd(0), ItemEnd(6), ItemEnd(5))
    last_four = [reminder("s1"), "y", reminder("c6"), "a8"]
    assert marked(*HISTORY, tools=TOOLS, marks=five) == last_four
    with pytest.raises(UnsupportedContent, match="at most 4"):
        marked(*HISTORY, tools=TOOLS, mode=CacheMode.REQUIRED, marks=marks)
    assert len(marked(*HISTORY, tools=TOOLS, mode=CacheMode.REQUIRED, marks=marks[:4])) == 4


def test_reasoning_cannot_be_marked_so_the_block_before_it_is() -> None:
    history = [Item.user("u"), own(SIGNED, Text("a"), SIGNED)]

    assert marked(*history, **at(PartEnd(1, 0))) == ["u"]
    assert marked(*history, **at(ItemEnd(1))) == ["a"]
    assert marked(own(SIGNED), **at(ItemEnd(0))) == ["[The conversation goes on from here.]"]
    for mark in (PartEnd(1, 0), ItemEnd(1)):
        with pytest.raises(UnsupportedContent):
            marked(*history, mode=CacheMode.REQUIRED, marks=(mark,))


@pytest.mark.parametrize(
    ("asked", "quirks"),
    [
        ({}, Quirks(cache_control=False)),
        ({"retention": CacheRetention.EXTENDED}, Quirks(cache_1h=False)),
    ],
)
def test_caching_that_is_required_and_cannot_be_had_is_refused(
    asked: dict[str, Any], quirks: Quirks
) -> None:
    with pytest.raises(UnsupportedContent):
        marked(Item.user("u"), quirks=quirks, mode=CacheMode.REQUIRED, **asked)


@given(items=any_histories(), data=st.data())
def test_whatever_is_marked_there_are_four_marks_at_most_and_nothing_else_changes(
    items: list[Item], data: st.DataObject
) -> None:
    places = st.integers(-1, len(items))
    mark = (
        st.just(ToolsEnd()) | places.map(ItemEnd) | st.builds(PartEnd, places, st.integers(-1, 3))
    )
    marks = data.draw(st.none() | st.lists(mark, max_size=7).map(tuple))

    def body(cache: CacheRequest | None) -> Any:
        options = ModelOptions(cache=cache)
        request = ModelRequest(model=MODEL, items=tuple(items), tools=TOOLS, options=options)
        return json.loads(AnthropicMessages().encode(request).body)

    written = body(CacheRequest(marks=marks))
    assert count_and_remove(written) <= 4
    assert written == body(None)


def count_and_remove(value: Any) -> int:
    if isinstance(value, dict):
        found = value.get("cache_control") == MARK and value.pop("cache_control") is not None
        assert not found or value["type" if "type" in value else "name"] != "thinking"
        return found + sum(map(count_and_remove, value.values()))
    return sum(map(count_and_remove, value)) if isinstance(value, list) else 0
