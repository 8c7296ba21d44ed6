"""generateContent: calls whose arguments come value by value."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit_core import FailureKind, FinishReason, ToolCall, to_json
from agentkit_core.provider import AppendText, ReplaceStructured, fold_response
from providers import corpus
from support.generate_bodies import (
    call,
    events,
    partial,
    read,
    response,
    stream,
    text,
)

BEGUN = call("f", signature="QUJD", willContinue=True)
END = call()


def called(*parts: dict[str, Any], finish: str = "STOP") -> ToolCall:
    """The one call of a stream with one part an event."""
    body = stream(*map(response, parts), response(finish=finish))
    (found,) = fold_response(events(body), strict=True).item.tool_calls
    return found


def streamed_text(*parts: dict[str, Any]) -> str:
    """The JSON text that grew while the parts came."""
    seen = events(stream(*map(response, parts), response(finish="STOP")))
    assert not any(isinstance(entry, ReplaceStructured) for entry in seen)
    return "".join(entry.chunk for entry in seen if isinstance(entry, AppendText))


ARGUMENTS = (
    partial("$.items[0].name", stringValue="App", willContinue=True),
    partial("$.items[0].name", stringValue='le "red"', willContinue=True),
    partial("$.items[0].name", stringValue=""),
    partial("$.items[0].price", numberValue=0.5),
    call(willContinue=True),
    partial("$.items[1]['a.b']", nullValue="NULL_VALUE"),
    partial("$.count", numberValue=2.0),
    partial("$.sure", boolValue=True),
)
WHOLE = {
    "items": [{"name": 'Apple "red"', "price": 0.5}, {"a.b": None}],
    "count": 2,
    "sure": True,
}


def test_arguments_are_put_together_by_their_paths() -> None:
    found = called(BEGUN, *ARGUMENTS, END)

    assert found.input == WHOLE
    assert found.input_error is None
    assert found.metadata == {"google_generate.signature": "QUJD"}


def test_arguments_grow_as_json_text() -> None:
    assert json.loads(streamed_text(BEGUN, *ARGUMENTS, END)) == WHOLE
    assert '"count":2,' in streamed_text(BEGUN, *ARGUMENTS, END)  # a double on the wire
    assert streamed_text(BEGUN, ARGUMENTS[0]).startswith('{"items":[{"name":"App')


def test_the_end_of_a_call_may_be_marked_or_not() -> None:
    last = partial("$.a", more=False, numberValue=1)

    assert called(BEGUN, last).input == {"a": 1}
    assert called(BEGUN, partial("$.a", numberValue=1)).input == {"a": 1}
    assert called(BEGUN, END).input == {}
    assert called(call("f")).input == {}


def test_a_call_with_a_name_begins_another_one() -> None:
    item = read(
        stream(
            response(BEGUN),
            response(partial("$.a", numberValue=1)),
            response(call("g", id="x", willContinue=True)),
            response(partial("$.a", numberValue=2)),
            response(END),
            response(END),
            response(finish="STOP"),
        )
    ).item

    assert [(entry.name, entry.input) for entry in item.tool_calls] == [
        ("f", {"a": 1}),
        ("g", {"a": 2}),
    ]
    assert item.finish_reason is FinishReason.TOOL_CALL


def test_values_that_come_out_of_order_take_the_place_of_the_text() -> None:
    parts = (
        BEGUN,
        partial("$.a.x", numberValue=1),
        partial("$.b", numberValue=2),
        partial("$.a.y", stringValue="z"),
    )

    seen = events(stream(*map(response, parts), response(finish="STOP")))

    assert called(*parts).input == {"a": {"x": 1, "y": "z"}, "b": 2}
    assert [entry.value for entry in seen if isinstance(entry, ReplaceStructured)] == [
        {"a": {"x": 1, "y": "z"}, "b": 2}
    ]


@pytest.mark.parametrize(
    "path", ["a", "$", "$[0]", "$.a[", "$..a", "$.a[999999]", "$.b.c", "$" + ".a" * 100]
)
def test_a_value_without_a_place_marks_the_call_as_invalid(path: str) -> None:
    found = called(BEGUN, partial("$.b", numberValue=1), partial(path, numberValue=2), END)

    assert found.input_error is not None
    assert found.input == {}


def test_t10_a_call_that_the_output_limit_cuts_off_is_marked() -> None:
    parts = (BEGUN, partial("$.path", stringValue="a.t", willContinue=True))

    found = called(*parts, finish="MAX_TOKENS")

    assert found.input == {}
    assert found.input_error is not None
    assert found.raw_input == '{"path":"a.t"}'


def test_w07_a_call_that_is_open_when_the_stream_ends_is_never_offered() -> None:
    answer = read(stream(response(text("a")), response(BEGUN), response(ARGUMENTS[0])))

    assert answer.failure is not None
    assert answer.failure.kind is FailureKind.STREAM_CUT
    assert answer.item.tool_calls[0].input_error is not None


json_leaves = st.none() | st.booleans() | st.integers(-1000, 1000) | st.text(max_size=5)
names = st.text(alphabet="ab.'\\[ü", min_size=1, max_size=3)
json_objects = st.dictionaries(
    names,
    st.recursive(
        json_leaves,
        lambda inner: (
            st.lists(inner, min_size=1, max_size=3)
            | st.dictionaries(names, inner, min_size=1, max_size=3)
        ),
        max_leaves=6,
    ),
    max_size=3,
)


def values(value: Any, path: str) -> list[dict[str, Any]]:
    """The parts that bring a value, in the order in which it is written."""
    if isinstance(value, dict):
        steps = [
            (name.replace("\\", "\\\\").replace("'", "\\'"), one) for name, one in value.items()
        ]
        return [part for name, one in steps for part in values(one, f"{path}['{name}']")]
    if isinstance(value, list):
        return [part for at, one in enumerate(value) for part in values(one, f"{path}[{at}]")]
    if isinstance(value, str):
        pieces = [partial(path, stringValue=entry, willContinue=True) for entry in value]
        return [*pieces, partial(path, stringValue="")]
    if value is None:
        return [partial(path, nullValue=None)]
    kind = "boolValue" if isinstance(value, bool) else "numberValue"
    return [partial(path, **{kind: value})]


@given(json_objects)
def test_any_object_that_comes_in_order_grows_as_text_and_is_itself(
    arguments: dict[str, Any],
) -> None:
    parts = (BEGUN, *values(arguments, "$"), END)

    assert called(*parts).input == arguments
    assert json.loads(streamed_text(*parts) or "{}") == arguments


@given(json_objects, st.randoms())
def test_any_object_that_comes_in_any_order_is_itself(
    arguments: dict[str, Any], chance: Any
) -> None:
    leaves = values(arguments, "$")
    groups: dict[str, list[dict[str, Any]]] = {}
    for part in leaves:
        path = part["functionCall"]["partialArgs"][0]["jsonPath"]
        groups.setdefault(path, []).append(part)
    order = list(groups.values())
    chance.shuffle(order)

    found = called(BEGUN, *(part for group in order for part in group), END)

    assert found.input == arguments


def test_recorded_arguments_grow_to_what_is_called(shared: Path) -> None:
    folder = shared / "wire-corpus" / "dev" / "google-generate"
    seen = 0
    for exchange in corpus.exchanges(folder):
        if '"partialArgs"' not in exchange.get("sse", ""):
            continue
        grown = events(corpus.body_of(exchange))
        text = "".join(entry.chunk for entry in grown if isinstance(entry, AppendText))
        for found in fold_response(grown, strict=True).item.tool_calls:
            assert found.input_error is None
            if found.input:
                seen += 1
                assert to_json(found.input).decode() in text
    assert seen
