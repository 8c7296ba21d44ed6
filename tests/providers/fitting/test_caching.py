"""Cache marks: on what can bear them, and where the next request finds them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentkit_core import (
    Item,
    JsonValue,
    Text,
    TextOutput,
    ToolCall,
    ToolCallId,
    ToolResult,
    ToolSpec,
    UnsupportedContent,
)
from agentkit_core.cache import CacheMode, CacheRequest, ToolsEnd
from providers.fitting.asking import TOOL, send

OPUS = "anthropic:claude-opus-4-8"
CACHE = CacheRequest()
REQUIRED = CacheRequest(mode=CacheMode.REQUIRED, marks=(ToolsEnd(),))
LATE: dict[str, JsonValue] = {"defer_loading": True}
MARK: dict[str, JsonValue] = {"cache_control": {"type": "ephemeral"}}


def late(name: str, **more: JsonValue) -> ToolSpec:
    return ToolSpec(name, "Late.", metadata={"anthropic_messages.tool": {**LATE, **more}})


def marked(tools: list[dict[str, Any]]) -> list[str]:
    return [tool["name"] for tool in tools if "cache_control" in tool]


def test_vp08_the_mark_goes_to_the_last_tool_that_is_loaded_at_once() -> None:
    extra: dict[str, Any] = {
        "anthropic_messages": {"tools": [{"name": "x", "type": "t_1", **LATE, **MARK}]}
    }
    all_options: list[dict[str, Any]] = [{}, {"extra": extra}]
    for options in all_options:
        sent = send(OPUS, tools=[TOOL, late("a"), late("b", **MARK)], cache=CACHE, **options)
        assert marked(sent.body["tools"]) == ["get_weather"]


def test_vp08_where_all_tools_load_late_none_is_marked() -> None:
    assert marked(send(OPUS, tools=[late("a")], cache=CACHE).body["tools"]) == []
    assert marked(send(OPUS, tools=[late("a", **MARK)]).body["tools"]) == []
    with pytest.raises(UnsupportedContent):
        send(OPUS, tools=[late("a")], cache=REQUIRED)


def test_vp08_with_the_callers_own_marks_there_are_at_most_four_and_none_twice() -> None:
    own: dict[str, JsonValue] = {"anthropic_messages.block": MARK}
    tools = [ToolSpec("own", metadata={"anthropic_messages.tool": MARK}), TOOL]
    items = [
        Item.system("s"),
        Item.user(Text("u", metadata=own), Text("v", metadata=own)),
        Item.assistant("a"),
        Item.user(Text("w", metadata=own)),
    ]
    sent = send(OPUS, *items, tools=tools, cache=CACHE)

    assert json.dumps(sent.body).count("cache_control") <= 4
    assert marked(send(OPUS, *items, tools=tools[:1], cache=CACHE).body["tools"]) == ["own"]


def blocks_of(body: dict[str, Any]) -> list[dict[str, Any]]:
    """What a request consists of, in the order in which it is cached."""
    blocks = [*body.get("tools", []), *body.get("system", [])]
    for message in body["messages"]:
        content = message.get("content") or []
        blocks += [{"text": content}] if isinstance(content, str) else content
        blocks += message.get("tool_calls", [])
    return blocks


def read_count(blocks: list[dict[str, Any]], written: int) -> int:
    """How many blocks a request reads of those that the last one has written.

    A read looks back 20 blocks from each mark for the end of what was written.
    """
    marks = [at + 1 for at, block in enumerate(blocks) if "cache_control" in block]
    assert len(marks) <= 4
    return max((written for mark in marks if written <= mark < written + 20), default=0)


@pytest.mark.parametrize(
    "model", [OPUS, "openrouter:anthropic/claude-opus-4.6", "litellm:claude-x"]
)
@pytest.mark.parametrize("width", [1, 3, 12, 40])
def test_vp09_each_request_reads_what_the_one_before_it_has_written(model: str, width: int) -> None:
    items = [Item.system("s"), Item.user("Weather everywhere?")]
    written = 0
    for turn in range(4):
        blocks = blocks_of(send(model, *items, tools=[TOOL], cache=CACHE).body)
        if turn:
            assert read_count(blocks, written) == written
        written = max(at + 1 for at, block in enumerate(blocks) if "cache_control" in block)
        calls = [ToolCallId(f"{turn}-{at}") for at in range(width)]
        items.append(Item.assistant("Let me see.", *(ToolCall(i, "get_weather") for i in calls)))
        items.append(Item.tool(*(ToolResult(i, TextOutput("sunny")) for i in calls)))
        assert written >= len(blocks) - 1
