"""Whatever a function returns becomes an output, or an error that says what is in the way."""

from __future__ import annotations

import datetime
import enum
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, TypedDict

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit_core import (
    Custom,
    File,
    FilesOutput,
    InlineBytes,
    InlineText,
    JsonValue,
    Media,
    Modality,
    PartsOutput,
    Structured,
    StructuredOutput,
    Text,
    TextOutput,
    ToolCall,
    ToolCallId,
    ToolOutput,
    ToolResult,
    Usage,
)
from agentkit_tools_core import (
    ToolInvocation,
    ToolOutcome,
    ToolReturn,
    UnwritableOutput,
    output_of,
    tool,
)
from agentkit_tools_core._outputs._convert import json_value_of, outcome_of
from agentkit_tools_core.testing import call_tool


class Place(msgspec.Struct, rename={"name": "called"}):
    name: str
    spots: set[int] = msgspec.field(default_factory=set)


@dataclass
class Person:
    name: str
    born: datetime.date
    tags: set[str] = field(default_factory=set)


class Row(TypedDict):
    a: int


class Colour(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    LOW = 1


class Name(str):
    pass


class Model:
    """Stands for a class of pydantic's."""

    def model_dump(self, *, mode: str) -> dict[str, Any]:
        assert mode == "json"
        return {"x": 1}


ID = uuid.UUID(int=1)
PNG = b"\x89PNG\r\n\x1a\n..."


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (None, TextOutput("")),
        ("text", TextOutput("text")),
        (Name("text"), TextOutput("text")),
        (True, StructuredOutput(True)),
        (3, StructuredOutput(3)),
        (10**30, StructuredOutput(10**30)),
        (1.5, StructuredOutput(1.5)),
        (float("nan"), TextOutput("NaN")),
        ([float("inf"), -float("inf")], StructuredOutput(["Infinity", "-Infinity"])),
        ({"a": [1, (2,)]}, StructuredOutput({"a": [1, [2]]})),
        ({1: "a", False: "b", None: "c"}, StructuredOutput({"1": "a", "false": "b", "null": "c"})),
        ({ID: Colour.RED}, StructuredOutput({str(ID): "red"})),
        ([], StructuredOutput([])),
        ({"b", "c", "a"}, StructuredOutput(["a", "b", "c"])),
        (frozenset({(2, 1), (1, 2)}), StructuredOutput([[1, 2], [2, 1]])),
        (datetime.date(2026, 1, 2), TextOutput("2026-01-02")),
        (datetime.datetime(2026, 1, 2, tzinfo=datetime.UTC), TextOutput("2026-01-02T00:00:00Z")),
        (datetime.time(1, 2), TextOutput("01:02:00")),
        (datetime.timedelta(days=1), TextOutput("P1D")),
        (ID, TextOutput(str(ID))),
        (Decimal("1.20"), TextOutput("1.20")),
        (Path("/a/b"), TextOutput("/a/b")),
        ([Path("/a")], StructuredOutput(["/a"])),
        (Colour.RED, TextOutput("red")),
        (Level.LOW, StructuredOutput(1)),
        (Row(a=1), StructuredOutput({"a": 1})),
        (Model(), StructuredOutput({"x": 1})),
        (
            Person("Ann", datetime.date(2000, 1, 2), {"b", "a"}),
            StructuredOutput({"name": "Ann", "born": "2000-01-02", "tags": ["a", "b"]}),
        ),
        (Place("Rome", {1}), StructuredOutput({"called": "Rome", "spots": [1]})),
        ([Place("Rome")], StructuredOutput([{"called": "Rome", "spots": []}])),
        ({"raw": b"xx"}, StructuredOutput({"raw": "eHg="})),
        ("\ud83d\ude00 \ud800", TextOutput("😀 \ufffd")),
        ({"\ud800": "\udfff"}, StructuredOutput({"\ufffd": "\ufffd"})),
        (TextOutput("a"), TextOutput("a")),
        (
            StructuredOutput({"a": {1}}),  # type: ignore[dict-item]
            StructuredOutput({"a": [1]}),
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_s08_usual_values_have_a_documented_form(value: object, wanted: ToolOutput) -> None:
    assert output_of(value, tool="t") == wanted


def media(modality: Modality, mime_type: str, data: bytes) -> PartsOutput:
    return PartsOutput((Media(modality=modality, mime_type=mime_type, data=InlineBytes(data)),))


def test_s08_bytes_become_a_media_part_or_a_file() -> None:
    for data in (PNG, bytearray(PNG), memoryview(PNG)):
        assert output_of(data, tool="t") == media(Modality.IMAGE, "image/png", PNG)
    file = File(data=InlineBytes(b"%PDF-1.7"), mime_type="application/pdf")
    assert output_of(b"%PDF-1.7", tool="t") == FilesOutput((file,))


def test_parts_and_what_stands_among_them_become_parts() -> None:
    image = Media(modality=Modality.IMAGE, mime_type="image/png", data=InlineBytes(PNG))
    file = File(data=InlineText("text"), name="a.txt")

    assert output_of(image, tool="t") == PartsOutput((image,))
    assert output_of([image, "seen", {"a": 1}], tool="t") == PartsOutput(
        (image, Text(text="seen"), Structured(value={"a": 1}))
    )
    assert output_of((file, image), tool="t") == PartsOutput((file, image))
    assert output_of(file, tool="t") == FilesOutput((file,))
    assert output_of([file, file], tool="t") == FilesOutput((file, file))


def held() -> list[Any]:
    result: list[Any] = []
    result.append(result)
    return result


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (lambda: ValueError("x"), "ValueError"),
        (lambda: int, "class int"),
        (lambda: (n for n in [1]), "generator"),
        (lambda: object(), "object"),
        (lambda: {"deep": [object()]}, "object"),
        (lambda: Place(object()), "object"),  # type: ignore[arg-type]
        (lambda: {(1, 2): 3}, "tuple"),
        (lambda: len, "builtin"),
        (held, "list"),
        (lambda: [ToolCall(id=ToolCallId("1"), name="t")], "ToolCall"),
        (lambda: ToolCall(id=ToolCallId("1"), name="t"), "ToolCall"),
    ],
)
def test_s08_anything_else_is_an_error_result_that_names_tool_and_type(
    make: Callable[[], object], kind: str
) -> None:
    with pytest.raises(UnwritableOutput) as caught:
        output_of(make(), tool="odd")
    assert kind in str(caught.value)

    result = call_tool(tool(make, name="odd")).result
    assert result.is_error
    assert result.started
    assert "'odd'" in result.text
    assert kind in result.text
    assert msgspec.json.encode(result)


REQUEST = ToolInvocation(ToolCallId("mine"), "t")


def test_t05_the_call_id_is_always_that_of_the_request() -> None:
    foreign = ToolResult(call_id=ToolCallId("other"), output=TextOutput("a"), is_error=True)

    assert outcome_of(foreign, REQUEST).result.call_id == "mine"
    assert outcome_of(foreign, REQUEST).result.is_error
    assert outcome_of(ToolOutcome(foreign, stop=True), REQUEST).result.call_id == "mine"
    assert outcome_of(ToolOutcome(foreign, stop=True), REQUEST).stop


def test_a_tool_may_say_more_than_a_value() -> None:
    returned = ToolReturn(
        output={"a": 1},
        details={"path": Path("/x")},  # type: ignore[dict-item]
        stop=True,
        is_error=True,
        usage=Usage(requests=1),
        added_tools=("more",),
    )

    assert outcome_of(returned, REQUEST) == ToolOutcome(
        ToolResult(
            call_id=ToolCallId("mine"),
            output=StructuredOutput({"a": 1}),
            is_error=True,
            details={"path": "/x"},
            usage=Usage(requests=1),
            added_tools=("more",),
        ),
        stop=True,
    )


def test_metadata_under_the_reserved_owner_are_stripped() -> None:
    metadata: dict[str, JsonValue] = {"agentkit.trusted": True, "mine.x": 1}
    result = ToolResult(
        call_id=ToolCallId("1"),
        output=PartsOutput((Custom(kind="mine.a", metadata=metadata),)),
        metadata=metadata,
    )

    outcome = outcome_of(result, REQUEST).result
    assert outcome.metadata == {"mine.x": 1}
    assert outcome.output.parts[0].metadata == {"mine.x": 1}  # type: ignore[union-attr]


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.binary()
    | st.dates()
    | st.decimals()
    | st.uuids(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(st.text() | st.integers() | st.dates(), inner)
        | st.tuples(inner)
        | st.sets(st.integers() | st.text())
    ),
    max_leaves=10,
)


@given(values)
def test_s08_what_comes_out_is_json_that_reads_back_as_itself(value: object) -> None:
    data = json_value_of(value, tool="t")

    assert msgspec.json.decode(msgspec.json.encode(data)) == data


@given(values)
def test_writing_twice_changes_nothing(value: object) -> None:
    once = json_value_of(value, tool="t")

    assert json_value_of(once, tool="t") == once
