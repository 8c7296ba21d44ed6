"""The arguments of a call, read from their whole text."""

import pytest
from hypothesis import given

from agentkit_core import JsonValue, ToolCall, ToolCallId, to_json
from agentkit_core.provider import complete_call
from support.json_values import json_objects, odd_texts
from support.operations import operations

CALL = ToolCall(ToolCallId("c1"), "look", metadata={"a.b": 1})


@given(json_objects())
def test_an_object_becomes_the_input_and_all_else_stays(arguments: dict[str, JsonValue]) -> None:
    call = complete_call(CALL, to_json(arguments).decode())

    assert call == ToolCall(CALL.id, "look", arguments, metadata={"a.b": 1})


@given(json_objects())
def test_an_object_that_was_written_as_json_twice_is_read_as_meant(
    arguments: dict[str, JsonValue],
) -> None:
    once = to_json(arguments).decode()

    assert complete_call(CALL, to_json(once).decode()).input == arguments


@given(odd_texts())
def test_any_text_is_read_or_kept_as_it_came(text: str) -> None:
    call = complete_call(CALL, text)

    if call.input_error is None:
        assert call.raw_input is None
    else:
        assert (call.input, call.raw_input) == ({}, text)


@pytest.mark.parametrize("text", ["", " \n", "null"])
def test_t07_blank_and_null_are_no_arguments(text: str) -> None:
    assert complete_call(CALL, text) == CALL


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"a"', "not valid JSON"),
        ("[1]", "not a JSON object but list"),
        ('"x"', "not a JSON object but str"),
        (r'"{\"a\""', "not a JSON object but str"),
        ("true", "not a JSON object but bool"),
    ],
)
def test_t10_what_is_no_object_says_why(text: str, why: str) -> None:
    assert why in str(complete_call(CALL, text).input_error)


@pytest.mark.parametrize(("text", "remaining"), [('{"a":1}', '{"a":1}'), ('{"a', '{"a'), ("", "")])
def test_t10_a_call_that_was_cut_off_is_never_good(text: str, remaining: str) -> None:
    call = complete_call(CALL, text, cut=True)

    assert (call.input, call.raw_input) == ({}, remaining)
    assert "before the arguments were complete" in str(call.input_error)


# Slow, and Pyodide's stack is too small for lists of this depth.
@pytest.mark.slow
@pytest.mark.parametrize(
    "piece",
    ['<p class=\\"x\\">', "\n", "\\x", '"', "\\ud83d", '{"a":', "[", "1", "t", ", ", "```", "<a>"],
)
def test_vs01_the_work_for_cut_off_arguments_grows_with_their_text(piece: str) -> None:
    def read(times: int) -> None:
        complete_call(CALL, '{"html":"' + piece * times)
        complete_call(CALL, '{"html":' + piece * times)
        complete_call(CALL, piece * times)
        complete_call(CALL, '{"a":1}' + piece * times)

    assert operations(lambda: read(2_000)) <= 5 * operations(lambda: read(500)) + 50
