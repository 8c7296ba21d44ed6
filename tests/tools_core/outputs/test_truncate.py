"""Outputs are cut to size between characters, and say that they were."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit_core import (
    File,
    FilesOutput,
    InlineBytes,
    InlineText,
    JsonValue,
    Media,
    Modality,
    Part,
    PartsOutput,
    Structured,
    StructuredOutput,
    Text,
    TextOutput,
    to_json,
)
from agentkit_tools_core._outputs._truncate import truncate_output, truncate_text

MARK = "[tool output truncated: original_bytes="


@given(st.text(), st.integers(0, 200))
def test_t27_a_text_is_never_longer_than_it_may_be(text: str, limit: int) -> None:
    assert len(truncate_text(text, limit).encode()) <= limit or truncate_text(text, limit) == ""


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=300), st.integers(60, 200))
def test_t27_a_cut_text_begins_as_the_whole_and_says_how_long_it_was(text: str, limit: int) -> None:
    size = len(text.encode())
    result = truncate_text(text, limit)

    if size <= limit:
        assert result is text
    else:
        head, _, mark = result.rpartition("\n")
        assert text.startswith(head)
        assert mark == f"{MARK}{size}]"
        assert limit - len(result.encode()) < 4, "as much is kept as there is room for"


def test_t27_the_marker_is_cut_where_there_is_no_room_for_it() -> None:
    assert truncate_text("0123456789", 4) == "[too"
    assert truncate_text("0123456789", 0) == ""


def test_t27_a_character_is_not_cut_in_two() -> None:
    text = "é" * 100
    result = truncate_text(text, 61)

    assert result.split("\n")[0] == "é" * ((61 - len(MARK) - 5) // 2)


json_values = st.recursive(
    st.none() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(json_values, st.integers(60, 300))
def test_t27_a_value_that_is_too_long_becomes_a_frame_that_fits(
    value: JsonValue, limit: int
) -> None:
    data = to_json(value)
    result = truncate_output(StructuredOutput(value), limit)

    assert isinstance(result, StructuredOutput)
    if len(data) <= limit:
        assert result.value == value
    else:
        assert len(to_json(result.value)) <= limit
        assert isinstance(result.value, dict)
        content = result.value.pop("content")
        assert isinstance(content, str)
        assert data.decode().startswith(content)
        assert result.value == {"truncated": True, "original_bytes": len(data)}


def test_t27_a_value_full_of_quotes_keeps_what_there_is_room_for() -> None:
    result = truncate_output(StructuredOutput(['"' * 1000]), 500)

    assert 490 <= len(to_json(result.value)) <= 500  # type: ignore[union-attr]


IMAGE = Media(modality=Modality.IMAGE, mime_type="image/png", data=InlineBytes(b"x" * 1000))


def test_media_are_kept_whole_and_do_not_count() -> None:
    output = PartsOutput((IMAGE, Text(text="seen")))

    assert truncate_output(output, 10) is output


def test_parts_share_one_budget_and_keep_their_order() -> None:
    long = Text(text="x" * 100)
    parts: tuple[Part, ...] = (Text(text="a" * 20), IMAGE, long, IMAGE, Text(text="gone"))

    result = truncate_output(PartsOutput(parts), 80)

    assert result == PartsOutput((parts[0], IMAGE, Text(text=truncate_text("x" * 100, 60)), IMAGE))


def test_structured_parts_and_files_of_text_are_cut_as_well() -> None:
    file = File(data=InlineText("x" * 100), name="a.txt")

    cut = truncate_output(FilesOutput((file,)), 60)
    assert cut == FilesOutput((File(data=InlineText(truncate_text("x" * 100, 60)), name="a.txt"),))
    parts = truncate_output(PartsOutput((Structured(value=["x" * 100]),)), 60)
    assert parts == PartsOutput((Text(text=truncate_text('["' + "x" * 100 + '"]', 60)),))


@pytest.mark.parametrize(
    "output",
    [
        TextOutput("short"),
        StructuredOutput({"a": 1}),
        PartsOutput((Text(text="a"),)),
        FilesOutput((File(data=InlineBytes(b"x" * 1000)),)),
    ],
)
def test_what_fits_is_left_as_it_is(
    output: TextOutput | StructuredOutput | PartsOutput | FilesOutput,
) -> None:
    assert truncate_output(output, 100) is output
