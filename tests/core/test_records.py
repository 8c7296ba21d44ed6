"""Records: what is written reads back equal, and what others wrote is read as far as it can be."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit_core import (
    Custom,
    Item,
    ItemKind,
    JsonValue,
    Part,
    PartsOutput,
    ProviderFailure,
    RecordError,
    Structured,
    StructuredOutput,
    Text,
    ToolCall,
    ToolCallId,
    ToolResult,
    Usage,
    from_json,
    from_msgpack,
    to_json,
    to_msgpack,
)
from agentkit_core.provider import BeginPart, CommitPart, Delta, PartId, Target
from support.items import any_histories, failures, items, targets, usages
from support.json_values import json_values, odd_texts

RECORDS: list[tuple[Any, st.SearchStrategy[Any]]] = [
    (Item, items()),
    (Usage, usages()),
    (ProviderFailure, failures()),
    (Target, targets()),
]


@pytest.mark.parametrize(
    ("record", "values"), RECORDS, ids=lambda value: getattr(value, "__name__", "")
)
@given(data=st.data())
def test_any_record_reads_back_equal(
    record: Any, values: st.SearchStrategy[Any], data: st.DataObject
) -> None:
    value = data.draw(values)

    for unknown_parts in (False, True):
        assert from_json(to_json(value), record, unknown_parts=unknown_parts) == value
        assert from_json(to_json(value).decode(), record) == value
        assert from_msgpack(to_msgpack(value), record, unknown_parts=unknown_parts) == value


@given(json_values())
def test_any_json_value_reads_back_equal(value: JsonValue) -> None:
    output = StructuredOutput(value)

    assert from_json(to_json(output), StructuredOutput) == output
    assert from_msgpack(to_msgpack(output), StructuredOutput) == output


def test_integers_of_any_size_survive() -> None:
    call = ToolCall(ToolCallId("c1"), "f", {"n": [2**64, -(2**200), 2**63, -1], "s": "\ud800"})
    again = from_msgpack(to_msgpack(call), ToolCall)

    assert again.input == {"n": [2**64, -(2**200), 2**63, -1], "s": "\ufffd"}
    assert from_json(to_json(call), ToolCall) == again


@given(any_histories())
def test_r13_a_history_with_lone_surrogates_can_be_written_and_read(history: list[Item]) -> None:
    from_json_again = from_json(to_json(history), list[Item])
    from_msgpack_again = from_msgpack(to_msgpack(history), list[Item])

    assert from_json_again == from_msgpack_again
    assert len(from_json_again) == len(history)


@given(odd_texts())
def test_r13_a_file_that_holds_escapes_of_lone_surrogates_can_be_read(text: str) -> None:
    stored = json.dumps({"kind": "user", "parts": [{"type": "text", "text": text}]})

    assert from_json(stored, Item) == from_json(to_json(Item.user(text)), Item)
    assert from_json(stored.encode(), Item) == from_json(stored, Item)


@pytest.mark.parametrize(
    "stored",
    [
        {"kind": "user"},
        {"kind": "user", "parts": [], "metadata": {}},
        {"kind": "user", "parts": None, "metadata": None, "usage": None, "finish_reason": None},
        {"kind": "user", "parts": [], "created_at": None, "id": None, "not_known_yet": {"a": [1]}},
    ],
)
def test_old_and_new_items_are_read_whether_fields_are_missing_null_or_unknown(
    stored: dict[str, JsonValue],
) -> None:
    assert from_json(json.dumps(stored), Item) == Item(ItemKind.USER)
    assert from_msgpack(msgspec.msgpack.encode(stored), Item) == Item(ItemKind.USER)


def test_null_is_mended_in_parts_and_left_alone_in_what_they_hold() -> None:
    part = {"type": "structured", "value": {"metadata": None, "parts": None}, "metadata": None}
    stored = json.dumps({"items": [{"kind": "user", "parts": [part]}]})
    waiting: JsonValue = {"metadata": None, "parts": None}

    assert from_json(stored, dict[str, list[Item]]) == {"items": [Item.user(Structured(waiting))]}
    assert from_json(json.dumps(part), Part) == Structured(waiting)


HOLOGRAM: JsonValue = {"type": "hologram", "beams": [{"type": "text", "text": "x"}]}
UNKNOWN = Custom("unknown.hologram", HOLOGRAM)


def spelled(text: str) -> str:
    return text.replace("HOLOGRAM", json.dumps(HOLOGRAM))


@pytest.mark.parametrize(
    ("stored", "record", "value"),
    [
        ('{"kind":"user","parts":[HOLOGRAM,{"type":"text","text":"a"}]}', Item,
         Item.user(UNKNOWN, "a")),
        ('[{"kind":"user","parts":[HOLOGRAM]}]', list[Item], [Item.user(UNKNOWN)]),
        (
            '{"type":"tool_result","call_id":"c","output":{"type":"parts","parts":[HOLOGRAM]}}',
            Part,
            ToolResult(ToolCallId("c"), PartsOutput((UNKNOWN,))),
        ),
        ('{"type":"begin_part","part_id":"p","part":HOLOGRAM}', Delta,
         BeginPart(PartId("p"), UNKNOWN)),
        ('{"type":"commit_part","part":HOLOGRAM}', Delta, CommitPart(UNKNOWN)),
    ],
)  # fmt: skip
def test_c07_parts_of_unknown_types_are_read_as_custom_parts_if_asked_for(
    stored: str, record: Any, value: object
) -> None:
    data = spelled(stored)

    assert from_json(data, record, unknown_parts=True) == value
    assert (
        from_msgpack(msgspec.msgpack.encode(json.loads(data)), record, unknown_parts=True) == value
    )
    with pytest.raises(RecordError, match="hologram"):
        from_json(data, record)


def test_json_that_looks_like_unknown_parts_is_left_alone() -> None:
    arguments: dict[str, JsonValue] = {"parts": [{"type": "bolt", "metadata": None}]}
    item = Item.assistant(ToolCall(ToolCallId("c"), "order", arguments), UNKNOWN)
    stored = to_json(item).replace(b'"type":"custom"', b'"type":"not_known_yet"')
    again = from_json(stored, Item, unknown_parts=True)

    assert again.tool_calls[0].input == arguments
    assert isinstance(again.parts[1], Custom)


@pytest.mark.parametrize(
    "data",
    [
        b"", b"{", b"\xff", b"[]", b'{"kind":"visitor"}', b'{"kind":"user","parts":[1]}',
        b'{"kind":"user","parts":{}}', b'{"kind":"user","metadata":3}', b"[" * 100_000,
    ],
    ids=lambda value: value[:20].decode("latin1"),
)  # fmt: skip
@pytest.mark.parametrize("unknown_parts", [True, False])
def test_what_is_no_record_is_refused_with_its_name(data: bytes, unknown_parts: bool) -> None:
    with pytest.raises(RecordError) as caught:
        from_json(data, Item, unknown_parts=unknown_parts)
    assert caught.value.record == "Item"
    with pytest.raises(RecordError):
        from_msgpack(data, Item, unknown_parts=unknown_parts)


def test_what_holds_itself_cannot_be_written() -> None:
    endless: list[object] = []
    endless.append(endless)

    for write in (to_json, to_msgpack):
        with pytest.raises(TypeError):
            write(endless)


def test_extensions_of_others_are_kept() -> None:
    foreign: object = msgspec.msgpack.Ext(7, b"x")

    assert from_msgpack(msgspec.msgpack.encode(foreign), Any) == foreign


def test_text_is_read_from_the_same_bytes_in_any_form() -> None:
    assert from_msgpack(to_msgpack(Text("é\u2028")), Part) == Text("é\u2028")
