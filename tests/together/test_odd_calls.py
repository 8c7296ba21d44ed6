"""Calls and items as servers write them: repeated, nameless, unannounced, or awaited."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from agentkit_core import (
    FinishReason,
    Item,
    ModelRequest,
    ModelResponse,
    TextOutput,
    ToolCall,
    ToolResult,
    ToolSpec,
)
from agentkit_loop import Agent, TurnEnd
from agentkit_providers import connect
from agentkit_providers.endpoints import default_registry
from agentkit_providers.replay import Answer, ReplayServer
from providers.wire_protocols import TOOL, read, read_whole


def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {"id": "x", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def chat(*pieces: str) -> list[Any]:
    function = {"name": TOOL.name, "arguments": ""}
    head = {"index": 0, "id": "c1", "type": "function", "function": function}
    grown = [{"index": 0, "function": {"arguments": piece}} for piece in pieces]
    calls = [chunk({"tool_calls": [call]}) for call in (head, *grown)]
    return [*calls, chunk({}, "tool_calls"), "[DONE]"]


def messages(*pieces: str) -> list[Any]:
    block = {"type": "tool_use", "id": "c1", "name": TOOL.name, "input": {}}
    return [
        {"type": "message_start", "message": {}},
        {"type": "content_block_start", "index": 0, "content_block": block},
        *(
            {
                "type": "content_block_delta",
                "index": 0,
                "delta": {"type": "input_json_delta", "partial_json": piece},
            }
            for piece in pieces
        ),
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
        {"type": "message_stop"},
    ]


def responses(*pieces: str) -> list[Any]:
    item = {"type": "function_call", "call_id": "c1", "name": TOOL.name, "arguments": ""}
    delta = "response.function_call_arguments.delta"
    return [
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        *({"type": delta, "output_index": 0, "delta": piece} for piece in pieces),
        {
            "type": "response.output_item.done",
            "output_index": 0,
            "item": {**item, "arguments": "".join(pieces)},
        },
        {"type": "response.completed", "response": {"status": "completed"}},
    ]


def generate(*pieces: str) -> list[Any]:
    call = {"functionCall": {"name": TOOL.name, "args": "".join(pieces)}}
    return [{"candidates": [{"content": {"parts": [call]}, "finishReason": "STOP"}]}]


WRITERS: dict[str, Callable[..., list[Any]]] = {
    "openai_chat": chat,
    "anthropic_messages": messages,
    "openai_responses": responses,
    "google_generate": generate,
}
OSLO = '{"city": "Oslo"}'
ONE_MEANT: list[tuple[str, ...]] = [
    (OSLO, OSLO),
    (OSLO, "\n", OSLO, OSLO),
    ("{}", OSLO),
    ('{"city": "Os', OSLO),
    ("{", OSLO),
    ("{", '{"city"', OSLO),
    ('{"city": "Oslo"', OSLO),
    (OSLO, '{"city"'),
    (json.dumps(OSLO),),
    (json.dumps(OSLO + OSLO),),
    (f"[{OSLO}]",),
    (f"```json\n{OSLO}\n```",),
    (f"<tool_call>{OSLO}</tool_call>",),
    (f'{{"name": "get_weather", "arguments": {OSLO}}}',),
]
SEVERAL_MEANT: list[tuple[str, ...]] = [
    (OSLO, '{"city": "Bergen"}'),
    ("{}", OSLO, '{"city": "Bergen"}'),
    ('{"city": "Ber', OSLO),
    ('{"city": {"city": "Oslo"}',),
    (OSLO, "rest"),
    (f"[{OSLO}, {OSLO}]",),
    (f'[{OSLO}, {{"city": "Bergen"}}]',),
]


@pytest.mark.parametrize("api", WRITERS)
@pytest.mark.parametrize("pieces", ONE_MEANT, ids="".join)
def test_vp20_arguments_that_can_mean_one_object_are_that_object(
    api: str, pieces: tuple[str, ...]
) -> None:
    (call,) = read(api, *WRITERS[api](*pieces)).item.tool_calls

    assert (call.input_error, call.input) == (None, {"city": "Oslo"})


@pytest.mark.parametrize("api", WRITERS)
@pytest.mark.parametrize("pieces", SEVERAL_MEANT, ids="".join)
def test_vp20_arguments_that_can_mean_several_are_unreadable(
    api: str, pieces: tuple[str, ...]
) -> None:
    (call,) = read(api, *WRITERS[api](*pieces)).item.tool_calls

    assert call.input_error is not None
    assert call.raw_input == "".join(pieces)


def piece(index: int | None, call_id: str | None, name: str | None, arguments: str) -> Any:
    call = {"index": index, "id": call_id, "function": {"name": name, "arguments": arguments}}
    return chunk({"tool_calls": [call]})


@pytest.mark.parametrize(
    "fragments",
    [
        [piece(1, "c2", "", "{"), piece(2, "c3", "", "}")],
        [piece(1, None, None, "{"), piece(2, None, None, "}")],
        [piece(1, "c2", None, "{"), piece(1, "c2", None, "}")],
        [piece(None, "c2", "", "{"), piece(None, "c3", None, "}")],
        [piece(7, "", "", ""), piece(8, "c3", "", "{}")],
        [piece(1, "c2", "", "")],
    ],
)
def test_vp30_fragments_without_a_name_begin_no_call(fragments: list[Any]) -> None:
    response = read(
        "openai_chat", piece(0, "c1", "ls", ""), *fragments, chunk({}, "tool_calls"), "[DONE]"
    )

    assert response.item.tool_calls == (ToolCall("c1", "ls", {}),)  # type: ignore[arg-type]


def test_vp30_a_name_that_comes_later_makes_a_call_of_its_own() -> None:
    fragments = [piece(0, "c1", "ls", "{}"), piece(1, "c2", None, ""), piece(1, None, "cat", "{}")]
    response = read("openai_chat", *fragments, chunk({}, "tool_calls"), "[DONE]")

    assert [(call.id, call.name) for call in response.item.tool_calls] == [
        ("c1", "ls"),
        ("c2", "cat"),
    ]


NAMELESS: dict[str, Any] = {
    "openai_chat": {
        "choices": [
            {
                "message": {"tool_calls": [{"id": "c", "function": {"arguments": "{}"}}]},
                "finish_reason": "tool_calls",
            }
        ]
    },
    "anthropic_messages": {
        "content": [{"type": "tool_use", "id": "c", "input": {}}],
        "stop_reason": "tool_use",
    },
    "openai_responses": {
        "status": "completed",
        "output": [{"type": "function_call", "call_id": "c", "arguments": "{}"}],
    },
    "google_generate": {
        "candidates": [
            {"content": {"parts": [{"functionCall": {"args": {}}}]}, "finishReason": "STOP"}
        ]
    },
}


@pytest.mark.parametrize("api", NAMELESS)
def test_vp30_a_call_without_any_name_is_no_call(api: str) -> None:
    response = read_whole(api, NAMELESS[api])

    assert response.item.tool_calls == ()
    assert response.item.finish_reason is FinishReason.COMPLETED


def added(index: int, **item: Any) -> dict[str, Any]:
    return {"type": "response.output_item.added", "output_index": index, "item": item}


MESSAGE = {"type": "message", "id": "m1", "role": "assistant"}
TEXT = "response.output_text.delta"
KEPT = {"type": TEXT, "output_index": 0, "content_index": 0, "delta": "kept"}
NEVER_BEGAN: list[dict[str, Any]] = [
    {"type": TEXT, "output_index": 3, "content_index": 0, "delta": "lost"},
    {"type": "response.output_text.done", "output_index": 3, "text": "lost"},
    {"type": "response.refusal.delta", "output_index": 3, "delta": "lost"},
    {"type": "response.reasoning_text.delta", "output_index": 3, "delta": "lost"},
    {"type": "response.reasoning_summary_text.delta", "output_index": 3, "delta": "lost"},
    {"type": "response.function_call_arguments.delta", "output_index": 3, "delta": "{}"},
    {"type": "response.function_call_arguments.done", "output_index": 3, "arguments": "{}"},
    {"type": "response.custom_tool_call_input.delta", "output_index": 3, "delta": "lost"},
    {"type": "response.output_text.annotation.added", "output_index": 3, "annotation": {}},
    {"type": "response.future.delta", "output_index": "x", "delta": {"a": 1}, "item": []},
    {"type": "response.future", "response": "x", "item": 5, "output_index": {}},
    {"type": "response.future", "response": {"id": "other", "model": "other", "usage": {}}},
    {"type": 5, "delta": []},
]


@pytest.mark.parametrize("event", NEVER_BEGAN, ids=lambda event: str(event["type"]))
@pytest.mark.parametrize("early", [False, True])
def test_vp29_responses_pass_over_what_belongs_to_nothing(
    event: dict[str, Any], early: bool
) -> None:
    began = added(0, **MESSAGE, content=[])
    item = {**MESSAGE, "content": [{"type": "output_text", "text": "kept"}]}
    response = read(
        "openai_responses",
        {"type": "response.created", "response": {"id": "r1", "model": "m"}},
        *((event, began) if early else (began, event)),
        KEPT,
        {"type": "response.completed", "response": {"status": "completed", "output": [item]}},
    )

    assert response.failure is None
    assert response.item.finish_reason is FinishReason.COMPLETED
    assert len(response.item.parts) == 1
    assert response.item.text == "kept"
    assert response.item.provenance is not None
    assert response.item.provenance.response_id == "r1"


@pytest.mark.parametrize("index", [None, 0, 1, 7])
@pytest.mark.parametrize("ends", [True, False])
def test_vp29_responses_that_announce_nothing_are_believed(index: int | None, ends: bool) -> None:
    said = {"type": TEXT, "output_index": index, "content_index": 0, "delta": "kept"}
    end = {"type": "response.completed", "response": {"status": "completed"}}
    response = read("openai_responses", said, *([end] if ends else []))

    assert response.item.text == "kept"
    assert (response.failure is None) is ends


def block_delta(index: Any, **delta: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": delta}


@pytest.mark.parametrize(
    "event",
    [
        block_delta(3, type="text_delta", text="lost"),
        block_delta(3, type="thinking_delta", thinking="lost"),
        block_delta(3, type="signature_delta", signature="lost"),
        block_delta(3, type="citations_delta", citation={}),
        block_delta(3, type="input_json_delta", partial_json="{}"),
        block_delta(3, type="future_delta", text={"x": 1}),
        {"type": "content_block_delta", "index": 0, "delta": "text"},
        {"type": "content_block_start", "index": 4, "content_block": None},
        {"type": "content_block_stop", "index": 9},
        {"type": "future", "delta": 5, "message": "x", "index": {}, "error": {"x": 1}},
        {"type": "message_delta", "delta": {"stop_reason": ["x"]}, "usage": "x"},
    ],
    ids=lambda event: json.dumps(event)[:70],
)
@pytest.mark.parametrize("early", [False, True])
def test_vp29_messages_pass_over_what_belongs_to_nothing(
    event: dict[str, Any], early: bool
) -> None:
    start = {
        "type": "content_block_start",
        "index": 0,
        "content_block": {"type": "text", "text": ""},
    }
    response = read(
        "anthropic_messages",
        {"type": "message_start", "message": {}},
        *((event, start) if early else (start, event)),
        block_delta(0, type="text_delta", text="kept"),
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
        {"type": "message_stop"},
    )

    assert (response.failure, len(response.item.parts), response.item.text) == (None, 1, "kept")


@pytest.mark.parametrize(
    "odd",
    [
        {"choices": [None]},
        {"choices": "x"},
        {"choices": [{"index": 0, "delta": {"tool_calls": [None, "x", {"function": 5}]}}]},
        {"choices": [{"index": 0, "delta": {"content": {"a": 1}}}]},
        {"choices": [{"index": 0, "delta": "lost"}]},
        {
            "choices": [
                {
                    "index": 0,
                    "delta": {"tool_calls": [{"index": 3, "function": {"arguments": "{}"}}]},
                }
            ]
        },
        {"type": "future", "id": 5},
        [],
        "null",
    ],
    ids=json.dumps,
)
@pytest.mark.parametrize("early", [False, True])
def test_vp29_chat_passes_over_what_it_does_not_know(odd: Any, early: bool) -> None:
    begins = chunk({"content": "ke"})
    response = read(
        "openai_chat",
        *((odd, begins) if early else (begins, odd)),
        chunk({"content": "pt"}, "stop"),
        "[DONE]",
    )

    assert (response.failure, len(response.item.parts), response.item.text) == (None, 1, "kept")


@pytest.mark.parametrize(
    "odd",
    [
        {"candidates": [None]},
        {"candidates": "x"},
        {"candidates": [{"content": {"parts": [None, "x", {"text": 5}]}}]},
        {"candidates": [{"content": {"parts": "lost"}}]},
        {"candidates": [{"content": "lost", "index": "x"}]},
        {
            "candidates": [
                {
                    "content": {
                        "parts": [
                            {
                                "functionCall": {
                                    "partialArgs": [{"jsonPath": "$.x", "numberValue": 1}]
                                }
                            }
                        ]
                    }
                }
            ]
        },
        {"future": {"candidates": 1}},
        [],
    ],
    ids=json.dumps,
)
@pytest.mark.parametrize("early", [False, True])
def test_vp29_gemini_passes_over_what_it_does_not_know(odd: Any, early: bool) -> None:
    def said(text: str, **more: Any) -> dict[str, Any]:
        return {"candidates": [{"content": {"parts": [{"text": text}]}, **more}]}

    begins = said("ke")
    response = read(
        "google_generate",
        *((odd, begins) if early else (begins, odd)),
        said("pt", finishReason="STOP"),
    )

    assert (response.failure, response.item.text) == (None, "kept")
    assert not response.item.tool_calls


def written(items: list[Item]) -> list[dict[str, Any]]:
    projection: Any = default_registry.projection(default_registry.get("google"))
    body = json.loads(projection.encode(ModelRequest(model="m", items=items)).body)
    return [part for content in body["contents"] for part in content["parts"]]


def two_calls(*ids: str) -> ModelResponse:
    calls = [{"functionCall": {"name": "search", "args": {}, "id": call_id}} for call_id in ids]
    candidate = {"content": {"parts": calls}, "finishReason": "STOP"}
    return read_whole("google_generate", {"candidates": [candidate]})


@pytest.mark.parametrize("ids", [("s:0", "s:0"), ("s:0", "s:0", "s:0"), ("a", "s:0", "s:0")])
def test_vp31_calls_under_one_id_go_back_under_ids_of_their_own(ids: tuple[str, ...]) -> None:
    items = [Item.user("go")]
    for turn in range(3):
        item = two_calls(*ids).item
        renamed = [
            ToolCall(f"{call.id}/{turn}", call.name, metadata=call.metadata)  # type: ignore[arg-type]
            for call in item.tool_calls
        ]
        items.append(replace(item, parts=tuple(renamed)))
        results = [ToolResult(call.id, TextOutput(str(call.id))) for call in renamed]
        items.append(Item.tool(*results))

    parts = written(items)
    calls = [part["functionCall"]["id"] for part in parts if "functionCall" in part]
    results_of = [part["functionResponse"]["id"] for part in parts if "functionResponse" in part]
    assert len(set(calls)) == len(calls) == 3 * len(ids)
    assert results_of == calls


def of_items(*items: dict[str, Any], status: str = "completed") -> dict[str, Any]:
    return {"id": "r", "object": "response", "status": status, "output": list(items)}


def ask(body: dict[str, Any], *, streamed: bool) -> tuple[ModelResponse, TurnEnd]:
    answer = Answer.json(body)
    if streamed:
        name = "response.completed" if body["status"] == "completed" else "response.queued"
        answer = Answer.events({"type": name, "response": body})
    with ReplayServer([answer] * 4) as server:
        model = connect("openai-responses:gpt-5", base_url=server.url, api_key="k" * 12)
        request = ModelRequest(model="gpt-5", items=[Item.user("hi")], streamed=streamed)
        response = model.complete_blocking(request)
        return response, Agent(model=model).run_blocking("hi").end


AWAITED: list[dict[str, Any]] = [
    {"type": "mcp_approval_request", "id": "mcpr_1", "name": "pay", "arguments": "{}"},
    {"type": "computer_call", "id": "cu_1", "call_id": "c", "action": {}, "status": "completed"},
    {"type": "local_shell_call", "id": "ls_1", "call_id": "c", "action": {}},
    {"type": "shell_call", "id": "sh_1", "call_id": "c", "environment": {"type": "local"}},
    {"type": "shell_call", "id": "sh_1", "call_id": "c", "environment": None},
    {"type": "apply_patch_call", "id": "ap_1", "call_id": "c", "operation": {}},
    {"type": "tool_search_call", "id": "ts_1", "call_id": "c", "execution": "client"},
    {"type": "future_approval_request", "id": "f_1"},
]
DONE_THERE: list[tuple[dict[str, Any], ...]] = [
    ({"type": "mcp_call", "id": "m", "name": "x", "output": "y"},),
    ({"type": "web_search_call", "id": "w", "status": "completed"},),
    ({"type": "shell_call", "call_id": "c", "environment": {"type": "container_reference"}},),
    ({"type": "shell_call", "call_id": "c"}, {"type": "shell_call_output", "call_id": "c"}),
    ({"type": "tool_search_call", "call_id": None, "execution": "server"},),
    ({"type": "mcp_approval_request", "id": "a"}, {"type": "mcp_call", "approval_request_id": "a"}),
]
SAID = {**MESSAGE, "content": [{"type": "output_text", "text": "done"}]}


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("item", AWAITED, ids=lambda item: str(item["type"]))
def test_vp36_an_item_that_waits_for_the_client_is_no_completed_turn(
    item: dict[str, Any], streamed: bool
) -> None:
    for items in ([item], [SAID, item]):
        response, end = ask(of_items(*items), streamed=streamed)

        assert response.failure is not None
        assert item["type"] in response.failure.message
        assert not response.failure.retryable
        assert response.item.parts
        assert end is TurnEnd.ERROR


@pytest.mark.parametrize("items", DONE_THERE, ids=lambda items: str(items[0]["type"]))
def test_vp36_what_the_vendor_has_run_is_complete(items: tuple[dict[str, Any], ...]) -> None:
    response, end = ask(of_items(*items, SAID), streamed=False)

    assert (response.failure, response.item.finish_reason) == (None, FinishReason.COMPLETED)
    assert end is TurnEnd.COMPLETED


@pytest.mark.parametrize("status", ["queued", "in_progress", "pending", "processing"])
@pytest.mark.parametrize("output", [(), (SAID,)])
def test_vp16_an_answer_that_is_not_there_yet_is_not_completed(
    status: str, output: tuple[dict[str, Any], ...]
) -> None:
    response, end = ask(of_items(*output, status=status), streamed=False)

    assert response.failure is not None
    assert status in response.failure.message
    assert end is TurnEnd.ERROR


def test_vp16_a_stream_that_ends_while_the_answer_is_queued_is_cut_off() -> None:
    response, end = ask(of_items(status="queued"), streamed=True)

    assert response.failure is not None
    assert end is TurnEnd.ERROR


def test_the_tool_of_these_tests_has_the_name_that_wrapped_arguments_repeat() -> None:
    assert isinstance(TOOL, ToolSpec)
    assert TOOL.name == "get_weather"
