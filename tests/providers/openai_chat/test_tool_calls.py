"""Chat Completions: which call a fragment belongs to, and what becomes of odd calls."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit_core import FailureKind, FinishReason, ToolCall, ToolCallId
from agentkit_core.provider import BeginPart, fold_response
from support.chat_bodies import delta, events, fragment, read, request, stream, whole


def calls(*deltas: list[dict[str, Any]], tools: tuple[str, ...] = ()) -> list[tuple[str, str, Any]]:
    """Id, name and input of the calls in a stream of these `tool_calls`, one chunk each."""
    chunks = [delta(tool_calls=fragments) for fragments in deltas]
    item = read(stream(*chunks, delta("tool_calls")), request(*tools)).item
    return [(call.id, call.name, call.raw_input or call.input) for call in item.tool_calls]


def test_a_call_in_fragments_is_one_call() -> None:
    assert calls(
        [fragment("", "f", index=0, id="a", type="function")],
        [fragment('{"x"', index=0)],
        [fragment(":1}", index=0)],
    ) == [("a", "f", {"x": 1})]


def test_t01_parallel_calls_that_all_say_index_0_stay_apart() -> None:
    first = fragment('{"p":1}', "read", index=0, id="a")
    second = fragment('{"p":2}', "read", index=0, id="b")

    expected = [("a", "read", {"p": 1}), ("b", "read", {"p": 2})]
    assert calls([first], [second]) == expected
    assert calls([first, second]) == expected


def test_t01_fragments_of_such_calls_find_their_call_by_id() -> None:
    assert calls(
        [fragment('{"p":', "read", index=0, id="a")],
        [fragment('{"p":', "read", index=0, id="b")],
        [fragment("1}", index=0, id="a")],
        [fragment("2}", index=0, id="b")],
    ) == [("a", "read", {"p": 1}), ("b", "read", {"p": 2})]


def test_t01_without_ids_a_name_after_whole_arguments_begins_another_call() -> None:
    assert calls(
        [fragment('{"p":1}', "read", index=0, id="")],
        [fragment('{"p":2}', "read", index=0, id="")],
    ) == [("call_0", "read", {"p": 1}), ("call_1", "read", {"p": 2})]


def test_t02_without_an_index_a_fragment_continues_the_open_call() -> None:
    assert calls([fragment('{"x":', "f", id="a")], [fragment("1}")]) == [("a", "f", {"x": 1})]


def test_t02_two_whole_calls_in_one_delta_are_two_without_an_index_and_even_without_ids() -> None:
    named = [fragment("{}", "f", id="a"), fragment("{}", "f", id="b")]
    bare = [fragment("{}", "f"), fragment("{}", "f")]
    blank = [fragment("", "f"), fragment("", "f")]

    assert calls(named) == [("a", "f", {}), ("b", "f", {})]
    assert calls(bare) == calls(blank) == [("call_0", "f", {}), ("call_1", "f", {})]
    assert calls([bare[0]], [bare[1]]) == [("call_0", "f", {}), ("call_1", "f", {})]


def test_t03_interleaved_fragments_go_to_the_call_with_their_index() -> None:
    assert calls(
        [fragment('{"x":', "f", index=0, id="a")],
        [fragment('{"y":', "g", index=1, id="b")],
        [fragment("1}", index=0)],
        [fragment("2}", index=1)],
    ) == [("a", "f", {"x": 1}), ("b", "g", {"y": 2})]


def test_indexes_need_not_begin_at_0_nor_stay_the_same() -> None:
    assert calls([fragment('{"x":', "f", index=1, id="a")], [fragment("1}", index=1)]) == [
        ("a", "f", {"x": 1})
    ]
    assert calls([fragment('{"x":', "f", index=0, id="a")], [fragment("1}", index=1, id="a")]) == [
        ("a", "f", {"x": 1})
    ]


def test_ids_that_change_with_every_fragment_are_one_call_where_the_name_is_not_repeated() -> None:
    assert calls([fragment('{"x":', "f", index=0, id="a")], [fragment("1}", index=0, id="b")]) == [
        ("a", "f", {"x": 1})
    ]


@pytest.mark.parametrize("repeated", [{"id": "a"}, {"id": None}, {}])
@pytest.mark.parametrize("index", [{"index": 0}, {}])
def test_t05_what_a_server_repeats_is_set_once(
    repeated: dict[str, Any], index: dict[str, Any]
) -> None:
    assert calls(
        [fragment('{"p":', "read_file", type="function", id="a", **index)],
        [fragment("1}", "read_file", type="function", **repeated, **index)],
        [fragment("", "read_file", type="function", **repeated, **index)],
    ) == [("a", "read_file", {"p": 1})]


def test_t05_a_name_in_pieces_is_joined_if_a_tool_has_the_joined_name() -> None:
    pieces = (
        [fragment(None, "edit_", index=0, id="a")],
        [fragment(None, "file", index=0)],
        [fragment("{}", index=0)],
    )

    assert calls(*pieces, tools=("edit_file", "read_file")) == [("a", "edit_file", {})]
    assert calls(*pieces, tools=("edit_",)) == [("a", "edit_", {})]
    assert calls(*pieces) == [("a", "edit_", {})]


def test_t05_a_call_begins_with_its_complete_name() -> None:
    body = stream(
        delta(tool_calls=[fragment(None, "edit_", index=0, id="a")]),
        delta(tool_calls=[fragment(None, "file", index=0)]),
        delta("tool_calls", tool_calls=[fragment("{}", index=0)]),
    )

    begun = [
        event.part for event in events(body, request("edit_file")) if isinstance(event, BeginPart)
    ]
    assert begun == [ToolCall("a", "edit_file")]  # type: ignore[arg-type]


@pytest.mark.parametrize("arguments", ["", "  \n", "null", "{}", None])
def test_t07_no_arguments_are_an_empty_object(arguments: str | None) -> None:
    assert calls([fragment(arguments, "now", index=0, id="a")]) == [("a", "now", {})]


def test_t07_an_empty_string_may_come_before_an_object() -> None:
    assert calls([fragment("", "now", index=0, id="a")], [fragment("{}", index=0)]) == [
        ("a", "now", {})
    ]


def test_t07_arguments_that_break_off_stay_malformed() -> None:
    item = read(stream(delta("tool_calls", tool_calls=[fragment('{"a"', "f", id="a")]))).item

    assert item.tool_calls[0].raw_input == '{"a"'
    assert item.tool_calls[0].input_error is not None
    assert item.tool_calls[0].input == {}


@pytest.mark.parametrize("missing", [{}, {"id": None}, {"id": ""}])
def test_t08_calls_without_an_id_get_ids_of_their_own(missing: dict[str, Any]) -> None:
    body = whole(tool_calls=[fragment("{}", "f", **missing), fragment("{}", "f", **missing)])

    assert [call.id for call in read(body).item.tool_calls] == ["call_0", "call_1"]


def test_t08_an_id_that_comes_twice_is_given_to_the_first_call_only() -> None:
    assert calls(
        [fragment("{}", "f", index=0, id="x")], [fragment("{}", "g", index=1, id="x")]
    ) == [("x", "f", {}), ("call_1", "g", {})]
    assert calls([fragment("{}", "f", index=0)], [fragment("{}", "g", index=1, id="call_0")]) == [
        ("call_0", "f", {}),
        ("call_1", "g", {}),
    ]


def test_an_id_that_is_a_number_is_an_id() -> None:
    assert calls([fragment("{}", "f", index=0, id=7)]) == [("7", "f", {})]


@pytest.mark.parametrize(
    ("arguments", "finish", "reason"),
    [
        ('{"path":"a.txt"', "length", FinishReason.MAX_TOKENS),
        ('{"path":"a.txt"}', "length", FinishReason.MAX_TOKENS),
        ('{"path":"a.txt"', "tool_calls", FinishReason.TOOL_CALL),
    ],
)
def test_t10_a_call_that_the_output_limit_cut_off_shows_it(
    arguments: str, finish: str, reason: FinishReason
) -> None:
    """Either the finish reason or the call itself says that it must not run."""
    body = stream(delta(finish, tool_calls=[fragment(arguments, "write", index=0, id="a")]))
    item = read(body).item

    assert item.finish_reason is reason
    assert reason is FinishReason.MAX_TOKENS or item.tool_calls[0].input_error is not None


@pytest.mark.parametrize("word", ["stop", "end_turn", "function_call", "function_calls", "x", ""])
def test_t11_calls_make_it_a_tool_turn_whatever_the_finish_reason_says(word: str) -> None:
    body = whole(word, tool_calls=[fragment("{}", "f", id="a")])

    assert read(body).item.finish_reason is FinishReason.TOOL_CALL


@pytest.mark.parametrize("word", ["tool_calls", "function_call"])
def test_t11_without_a_call_it_is_no_tool_turn(word: str) -> None:
    assert read(whole(word, content="a")).item.finish_reason is FinishReason.COMPLETED


def test_a_legacy_function_call_is_a_call() -> None:
    body = stream(
        delta(function_call={"name": "f", "arguments": ""}),
        delta(function_call={"arguments": '{"x":'}),
        delta("function_call", function_call={"arguments": "1}"}),
    )

    assert read(body).item.tool_calls == (ToolCall("call_0", "f", {"x": 1}),)  # type: ignore[arg-type]


def test_arguments_that_come_as_an_object_are_arguments() -> None:
    call = {"id": "a", "function": {"name": "f", "arguments": {"x": [1]}}}

    assert calls([call]) == [("a", "f", {"x": [1]})]


def test_a_custom_tools_input_is_not_json_and_is_kept_as_it_came() -> None:
    call = {"id": "a", "type": "custom", "custom": {"name": "sql", "input": "SELECT 1"}}

    assert calls([call]) == [("a", "sql", "SELECT 1")]


def test_text_between_calls_stays_in_its_place() -> None:
    body = stream(
        delta(content="a"),
        delta(tool_calls=[fragment("{}", "f", index=0, id="x")]),
        delta(content="b"),
        delta("tool_calls", tool_calls=[fragment("{}", "g", index=1, id="y")]),
    )

    kinds = [type(part).__name__ for part in read(body).item.parts]
    assert kinds == ["Text", "ToolCall", "Text", "ToolCall"]


def test_a_call_that_is_open_when_the_stream_dies_is_marked() -> None:
    response = read(stream(delta(tool_calls=[fragment("{}", "f", index=0, id="a")]), done=False))

    assert response.failure is not None
    assert response.failure.kind is FailureKind.STREAM_CUT
    assert response.item.tool_calls[0].input_error is not None


@given(
    arguments=st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=9), max_size=4),
    sizes=st.lists(st.integers(1, 7), min_size=1),
    repeat=st.booleans(),
)
def test_however_arguments_are_cut_they_are_the_same(
    arguments: dict[str, Any], sizes: list[int], repeat: bool
) -> None:

    text, at = json.dumps(arguments), 0
    chunks: list[list[dict[str, Any]]] = []
    while at < len(text) or not chunks:
        size = sizes[len(chunks) % len(sizes)]
        again = {"id": "a"} if repeat or not chunks else {}
        name = "f" if repeat or not chunks else None
        chunks.append([fragment(text[at : at + size], name, index=0, **again)])
        at += size

    body = stream(*(delta(tool_calls=fragments) for fragments in chunks), delta("tool_calls"))
    assert fold_response(events(body)).item.tool_calls == (
        ToolCall(ToolCallId("a"), "f", arguments),
    )
