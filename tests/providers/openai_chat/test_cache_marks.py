"""Chat Completions: where cached prefixes end, for vendors that take Anthropic's marks."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit_core import (
    InlineBytes,
    Item,
    Media,
    Modality,
    ModelOptions,
    ModelRequest,
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
from agentkit_providers.openai_chat import OpenAIChat, Quirks
from support.items import any_histories

PNG = Media(Modality.IMAGE, "image/png", InlineBytes(b"\x89PNG\r\n\x1a\n"))
TOOLS = (ToolSpec("a"), ToolSpec("b"))
QUIRKS = Quirks(cache_control=True, cache_key=False, cache_retention_24h=False)


def call(call_id: str) -> ToolCall:
    return ToolCall(ToolCallId(call_id), "f")


def result(call_id: str) -> ToolResult:
    return ToolResult(ToolCallId(call_id), TextOutput(f"result of {call_id}"))


def sent(*items: Item, tools: tuple[ToolSpec, ...] = (), cache: CacheRequest | None) -> Any:
    options = ModelOptions(cache=cache)
    request = ModelRequest(model="m", items=items, tools=tools, options=options)
    return json.loads(OpenAIChat(quirks=QUIRKS).encode(request).body)


def entries(body: Any) -> list[dict[str, Any]]:
    """Tools, then what the messages say, in the order in which the vendor reads."""
    said = [*body.get("tools", ())]
    for message in body["messages"]:
        content = message.get("content") or []
        said += [{"text": content}] if isinstance(content, str) else content
    return said


def marked(*items: Item, tools: tuple[ToolSpec, ...] = (), **asked: Any) -> list[str]:
    """What is marked: names of tools, texts."""
    body = sent(*items, tools=tools, cache=CacheRequest(**asked))
    return [
        entry["text"] if "text" in entry else entry["function"]["name"]
        for entry in entries(body)
        if "cache_control" in entry
    ]


def test_the_plan_is_tools_instructions_and_the_last_text_and_nowhere_else() -> None:
    history = (
        Item.system("s"),
        Item.user("u", PNG),
        Item.assistant("a", call("1")),
        Item.tool(result("1")),
    )
    written = sent(*history, tools=TOOLS, cache=CacheRequest(retention=CacheRetention.EXTENDED))
    mark = {"type": "ephemeral", "ttl": "1h"}

    assert json.dumps(written).count("cache_control") == 4
    assert written["tools"][1]["cache_control"] == mark
    system, user, assistant, tool = written["messages"]
    assert system["content"] == [{"type": "text", "text": "s", "cache_control": mark}]
    assert user["content"][0] == {"type": "text", "text": "u", "cache_control": mark}
    assert assistant["content"] == "a"
    assert tool["content"][0]["cache_control"] == mark
    assert marked(*history, tools=TOOLS, mode=CacheMode.REQUIRED) == ["b", "s", "u", "result of 1"]


HISTORY = [
    Item.system("s0"),
    Item.user("u1", PNG, "v1"),
    Item.user(" "),
    Item.assistant("a3", call("x"), call("y")),
    Item.tool(result("y"), result("x")),
    Item.user("u5"),
    Item.assistant("a6"),
]


@pytest.mark.parametrize(
    ("mark", "found"),
    [
        (ToolsEnd(), "b"),
        (ItemEnd(0), "s0"),
        (ItemEnd(1), "v1"),
        (PartEnd(1, 0), "u1"),
        (PartEnd(1, 2), "v1"),
        (ItemEnd(2), "v1"),  # left out, so the prefix ends before it
        (ItemEnd(3), "a3"),
        (PartEnd(3, 0), "a3"),
        (ItemEnd(4), "result of y"),  # in call order
        (PartEnd(4, 0), "result of x"),
        (ItemEnd(6), "a6"),
    ],
)
def test_h17_marks_count_the_requests_items_whatever_became_of_them(
    mark: CacheMark, found: str
) -> None:
    for mode in (CacheMode.BEST_EFFORT, CacheMode.REQUIRED):
        assert marked(*HISTORY, tools=TOOLS, mode=mode, marks=(mark,)) == [found]


def test_the_lists_of_marks_that_are_empty_or_equal() -> None:
    assert marked(*HISTORY, tools=TOOLS, marks=()) == []
    assert marked(*HISTORY, tools=TOOLS, marks=(ItemEnd(0), PartEnd(0, 0), ItemEnd(0))) == ["s0"]


@pytest.mark.parametrize(
    ("mark", "instead"),
    [
        (PartEnd(1, 1), ["u1"]),  # an image
        (PartEnd(2, 0), ["v1"]),
        (ItemEnd(9), []),
        (ItemEnd(-1), []),
        (PartEnd(0, 1), []),
        (PartEnd(0, -1), []),
        (ToolsEnd(), []),
    ],
)
def test_a_mark_that_cannot_stand_goes_before_or_is_dropped_or_refused(
    mark: CacheMark, instead: list[str]
) -> None:
    assert marked(*HISTORY, marks=(mark,)) == instead
    if mark != PartEnd(2, 0):  # nothing is sent of it: the prefix is the one before
        with pytest.raises(UnsupportedContent, match="cache mark"):
            marked(*HISTORY, mode=CacheMode.REQUIRED, marks=(mark,))


def test_no_mark_can_stand_between_texts_that_are_sent_as_one() -> None:
    history = [Item.user("u"), Item.system("s", "t")]

    assert marked(*history, marks=(PartEnd(1, 0),)) == ["u"]
    assert marked(*history, marks=(PartEnd(1, 1),)) == ["s\nt"]
    with pytest.raises(UnsupportedContent, match="cache mark"):
        marked(*history, mode=CacheMode.REQUIRED, marks=(PartEnd(1, 0),))


def test_a_message_of_calls_alone_has_no_text_to_mark() -> None:
    history = [Item.user("u"), Item.assistant(call("1")), Item.tool(result("1"))]

    assert marked(*history, marks=(ItemEnd(1),)) == ["u"]
    with pytest.raises(UnsupportedContent, match="cache mark"):
        marked(*history, mode=CacheMode.REQUIRED, marks=(ItemEnd(1),))


def test_of_more_than_four_marks_the_first_are_dropped_or_all_are_refused() -> None:
    marks = (ToolsEnd(), ItemEnd(6), ItemEnd(0), ItemEnd(1), ItemEnd(5))

    assert marked(*HISTORY, tools=TOOLS, marks=marks) == ["s0", "v1", "u5", "a6"]
    assert marked(*HISTORY, tools=TOOLS, marks=marks[:4]) == ["b", "s0", "v1", "a6"]
    more = (*marks[1:], ItemEnd(3))
    assert marked(*HISTORY, tools=TOOLS, marks=more) == ["v1", "a3", "u5", "a6"]
    for too_many in (marks, more):
        with pytest.raises(UnsupportedContent, match="at most 4"):
            marked(*HISTORY, tools=TOOLS, mode=CacheMode.REQUIRED, marks=too_many)


@given(items=any_histories(), data=st.data())
def test_marks_change_nothing_else_and_are_four_at_most(
    items: list[Item], data: st.DataObject
) -> None:
    some_marks: st.SearchStrategy[CacheMark] = st.one_of(
        st.just(ToolsEnd()),
        st.builds(ItemEnd, st.integers(0, len(items))),
        st.builds(PartEnd, st.integers(0, len(items)), st.integers(0, 3)),
    )
    marks = tuple(data.draw(st.lists(some_marks, max_size=6)))
    plain = sent(*items, tools=TOOLS, cache=None)
    with_marks = sent(*items, tools=TOOLS, cache=CacheRequest(marks=marks))

    assert sum("cache_control" in entry for entry in entries(with_marks)) <= 4
    assert [unmarked(entry) for entry in entries(with_marks)] == [
        unmarked(entry) for entry in entries(plain)
    ]


def unmarked(entry: dict[str, Any]) -> Any:
    return entry.get("text", {**entry, "cache_control": None})
