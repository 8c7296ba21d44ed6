"""Messages over real HTTP: turns with tools, and recorded answers that go back."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentkit_core import (
    FailureKind,
    FinishReason,
    Item,
    ModelOptions,
    ModelRequest,
    TextOutput,
    ThinkingLevel,
    ToolResult,
    ToolSpec,
    from_json,
    to_json,
)
from agentkit_core.provider import fold_response
from agentkit_core.testing import decode_chunks
from agentkit_providers import connect
from agentkit_providers.anthropic_messages import AnthropicMessages
from agentkit_providers.replay import Answer, ReplayServer, Script, anthropic_messages
from agentkit_providers.testing import check_over_http
from providers import corpus
from providers.transports import Transport

ADD = ToolSpec("add", "Add numbers.")


@pytest.mark.parametrize(
    "answer",
    [
        anthropic_messages.text("Grüße an alle", reasoning="hm hm"),
        anthropic_messages.tool_calls([("add", {"a": 1, "b": [2]})], said="Let me see."),
        anthropic_messages.message([{"type": "compaction", "content": "so far"}]),
        anthropic_messages.error_in_stream(
            {"type": "overloaded_error", "message": "m"}, after="So"
        ),
        Answer.error(429, retry_after=3),
    ],
    ids=["text", "tool calls", "blocks", "error in the stream", "error"],
)
def test_an_answer_is_read_alike_in_whatever_way_it_travels(answer: Answer) -> None:
    check_over_http(AnthropicMessages("checked"), answer)


def test_replayed_answers_say_what_they_were_made_of() -> None:
    called = anthropic_messages.tool_calls(
        [("add", {"a": 1}), ("add", {})], said="Let me see.", reasoning="hm hm", ids=["x", "y"]
    )
    response = check_over_http(AnthropicMessages("checked"), called)

    assert response.item.finish_reason is FinishReason.TOOL_CALL
    assert response.item.text == "Let me see."
    assert [(call.id, call.input) for call in response.item.tool_calls] == [
        ("x", {"a": 1}),
        ("y", {}),
    ]
    assert (response.usage.tokens.input, response.usage.tokens.output) == (10, 5)
    silent = anthropic_messages.text("a", usage=None)
    assert check_over_http(AnthropicMessages("checked"), silent).usage.tokens.total is None
    broken = anthropic_messages.error_in_stream({"type": "overloaded_error"}, after="So far")
    failed = check_over_http(AnthropicMessages("checked"), broken)
    assert failed.failure is not None
    assert failed.failure.kind is FailureKind.OVERLOADED
    assert failed.item.text == "So far"


@pytest.mark.parametrize("streamed", [True, False])
def test_a_turn_with_tools_completes(
    streamed: bool, serve: Callable[[Script], ReplayServer], default_transport: Transport
) -> None:
    server = serve(
        [
            anthropic_messages.tool_calls([("add", {"a": 1}), ("add", {"a": 2})], reasoning="hm"),
            anthropic_messages.text("Three."),
        ]
    )
    model = connect("anthropic:claude-sonnet-4-5", base_url=server.url, api_key="key-of-mine")
    items = [Item.system("Be brief."), Item.user("1 + 2?")]

    def ask() -> Item:
        asked = ModelRequest(
            model=model.name,
            items=tuple(items),
            tools=(ADD,),
            options=ModelOptions(thinking=ThinkingLevel.LOW),
            streamed=streamed,
        )
        told = [event for batch in default_transport(model, asked) for event in batch]
        response = fold_response(told, strict=True)
        assert response.failure is None
        return response.item

    items.append(ask())
    results = (ToolResult(call.id, TextOutput(f"{call.input}")) for call in items[-1].tool_calls)
    items.append(Item.tool(*results))
    last = ask()

    assert last.text == "Three."
    first, second = server.requests
    assert first.path == second.path == "/messages"
    assert first.headers["anthropic-version"] == "2023-06-01"
    assert first.headers["x-api-key"] != ""
    assert "authorization" not in first.headers
    conversation = json.loads(second.body)["messages"]
    assert [entry["role"] for entry in conversation] == ["user", "assistant", "user"]
    assert conversation[1]["content"][0] == {
        "type": "thinking",
        "thinking": "hm",
        "signature": "c2lnbmVk",
    }
    assert [entry["tool_use_id"] for entry in conversation[2]["content"]] == ["toolu_1", "toolu_2"]


def test_a_token_goes_into_the_usual_header(serve: Callable[[Script], ReplayServer]) -> None:
    server = serve([anthropic_messages.text("a")])
    model = connect(
        "anthropic-oauth:claude-sonnet-4-5", base_url=server.url, api_key="token-of-mine"
    )

    model.complete_blocking(ModelRequest(model=model.name, items=(Item.user("u"),)))

    assert "authorization" in server.requests[0].headers
    assert "x-api-key" not in server.requests[0].headers


def answers(shared: Path) -> list[corpus.Exchange]:
    folder = shared / "wire-corpus" / "dev" / "anthropic-messages"
    return [entry for entry in corpus.exchanges(folder) if entry["status"] < 400]


def test_every_recorded_answer_goes_back_block_by_block_as_it_came(shared: Path) -> None:
    checked = 0
    for exchange in answers(shared):
        blocks = blocks_of(exchange)
        projection = AnthropicMessages("here")
        asked = corpus.request_of(exchange)
        events = decode_chunks(projection.decoder(asked), [corpus.body_of(exchange)])
        item = from_json(to_json(fold_response(events).item), Item)
        history = [Item.user("u"), item]
        results = [ToolResult(call.id, TextOutput("r")) for call in item.tool_calls]
        if results:
            history.append(Item.tool(*results))
        # The vendor refuses thinking of an open turn in a request that does not think.
        thinks = any(block["type"].endswith("thinking") for block in blocks)
        options = ModelOptions(thinking=ThinkingLevel.LOW if thinks else None)
        request = ModelRequest(model=exchange["model"], items=tuple(history), options=options)
        written = json.loads(projection.encode(request).body)["messages"]

        sent = written[1]["content"] if len(written) > 1 else []
        assert sent == blocks, exchange["id"]
        checked += len(blocks)
    assert checked


def blocks_of(exchange: corpus.Exchange) -> list[dict[str, Any]]:
    """The vendor's own blocks of an answer, as they would be whole.

    Without empty texts, and without results of calls that an earlier answer made.
    """
    if "sse" in exchange:
        blocks = blocks_in_stream(exchange["sse"])
    else:
        blocks = exchange["response"]["content"]
    for block in blocks:
        if block["type"] == "text" and not block.get("citations"):
            block.pop("citations", None)
    ran = any(entry["type"].endswith("_tool_use") for entry in blocks)
    said = [entry for entry in blocks if entry.get("text", "x").strip()]
    return [entry for entry in said if ran or "tool_use_id" not in entry]


def blocks_in_stream(sse: str) -> list[dict[str, Any]]:
    """A plain walk over the events of a stream."""
    blocks: list[dict[str, Any]] = []
    for line in sse.split("\n"):
        if not line.startswith("data: {"):
            continue
        event = json.loads(line[6:])
        if event["type"] == "content_block_start":
            blocks.append({**event["content_block"], "json": ""})
        elif event["type"] == "content_block_delta":
            grow(blocks[event["index"]], event["delta"])
    for block in blocks:
        arguments = block.pop("json")
        if arguments:
            block["input"] = json.loads(arguments)
    return blocks


def grow(block: dict[str, Any], delta: dict[str, Any]) -> None:
    match delta:
        case {"type": "input_json_delta", "partial_json": piece}:
            block["json"] += piece
        case {"type": "citations_delta", "citation": citation}:
            block["citations"] = [*(block.get("citations") or []), citation]
        case {"type": kind, **fields}:
            for name, piece in fields.items():
                block[name] = (block.get(name) or "") + piece
            assert kind.endswith("_delta")
