"""Half-sent JSON: what is shown is what is known, whenever it is asked for and however cut."""

import json
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import agentkit_core._streaming._partial_json
from agentkit_core import JsonValue, to_json
from agentkit_core.json import decode_json
from agentkit_core.provider import PartialJson
from support.json_values import json_objects, odd_texts


def read(*chunks: str) -> dict[str, JsonValue]:
    reader = PartialJson()
    for chunk in chunks:
        reader.feed(chunk)
    return reader.value(exact=True)


@pytest.mark.parametrize(
    ("text", "known"),
    [
        # the table of D8
        ("", {}),
        ('{"a":"he', {"a": "he"}),
        ('{"path":"/x","con', {"path": "/x"}),
        ('{"n": 1, "l": [1, 2', {"n": 1, "l": [1, 2]}),
        ('{"t":"a\nb"}', {"t": "a\nb"}),
        ("not json", {}),
        # blank, and what is no object
        (" \n", {}),
        ("[1, 2]", {}),
        ('"text"', {}),
        # keys without a value
        ('{"a"', {}),
        ('{"a":', {}),
        ('{"a": 1, "b": ', {"a": 1}),
        # literals and numbers
        ('{"a": tr', {}),
        ('{"a": true', {"a": True}),
        ('{"a": nul', {}),
        ('{"a": -', {}),
        ('{"a": 12', {"a": 12}),
        ('{"a": 1.', {"a": 1}),
        ('{"a": 1.5e', {"a": 1.5}),
        ('{"a": 1.5e+', {"a": 1.5}),
        # containers
        ('{"a": [', {"a": []}),
        ('{"a": {"b": [{"c": "d', {"a": {"b": [{"c": "d"}]}}),
        ('{"a": [1], "b": {}}', {"a": [1], "b": {}}),
        # escapes
        ('{"a": "x\\', {"a": "x"}),
        ('{"a": "x\\n', {"a": "x\n"}),
        ('{"a": "x\\u00', {"a": "x"}),
        ('{"a": "x\\u00e9', {"a": "xé"}),
        ('{"a": "\\ud83d', {"a": ""}),
        ('{"a": "\\ud83d\\ude', {"a": ""}),
        ('{"a": "\\ud83d\\ude48', {"a": "🙈"}),
        ('{"a": "\\\\ud83d\\', {"a": "\\ud83d"}),
        ('{"a": "\\ud83dx', {"a": "\ufffdx"}),
        ('{"a": "\\ud83dx\\', {"a": "\ufffdx"}),
        ('{"\\n":"', {"\n": ""}),
        ('{"\\u":"', {"\\u": ""}),
        # written by mistake, read as meant
        ('{"a": "\\d', {"a": "\\d"}),
        ('{"a": "C:\\u12xyz"}', {"a": "C:\\u12xyz"}),
        ('{"a": "x\x00y', {"a": "x\x00y"}),
        # where the grammar breaks, what came before stays
        ('{"a": 1, b: 2}', {"a": 1}),
        ('{"a": 1 "b": 2}', {"a": 1}),
        ('{"a": [1, 2}', {"a": [1, 2]}),
        ('{"a": [1,, 2]', {"a": [1]}),
        ('{"a": 1, {', {"a": 1}),
        ('{"a": truth, "b": 1', {}),
        ('{"a": 01, "b": 1', {}),
        ('{"a": 1, "b": 1e999, "c": 1}', {"a": 1}),
        ('{"a": \u0661', {}),
        # after the end
        ('{"a": 1} and more {"b": 2}', {"a": 1}),
    ],
)  # fmt: skip
def test_d08_what_is_known_is_shown(text: str, known: dict[str, JsonValue]) -> None:
    assert read(text) == known
    assert read(*text) == known


def known_of(shown: JsonValue, whole: JsonValue) -> bool:
    """Whether what is shown is the beginning of the whole, in the order in which it is sent."""
    match shown, whole:
        case dict(), dict():
            begun = list(whole)[: len(shown)]
            return list(shown) == begun and all(known_of(shown[key], whole[key]) for key in begun)
        case list(), list():
            return len(shown) <= len(whole) and all(map(known_of, shown, whole))
        case str(), str():
            return whole.startswith(shown)
        case bool() | None, _:
            return shown is whole
        case ((int() | float()), (int() | float())):
            return True  # `1` is the beginning of `1e300` and of `12`
        case _:
            return False


def size_of(shown: JsonValue) -> int:
    """How much is shown: keys, elements and characters; numbers count as one."""
    match shown:
        case dict():
            return sum(1 + size_of(value) for value in shown.values())
        case list():
            return sum(1 + size_of(value) for value in shown)
        case str():
            return len(shown)
        case _:
            return 1


OBJECTS = json_objects()


@given(OBJECTS, st.booleans())
@example({"a": {"b": ["🙈", "\\", '"', "\n"]}, "c": None}, True)
def test_any_prefix_shows_the_beginning_of_the_whole_and_ever_more_of_it(
    value: dict[str, JsonValue], ascii_only: bool
) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only)
    whole, size = decode_json(text), 0
    reader = PartialJson()
    for char in text:
        reader.feed(char)
        shown = reader.value()
        assert known_of(shown, whole)
        assert size_of(shown) >= size
        size = size_of(shown)

    assert reader.value(exact=True) == whole


@given(OBJECTS, st.lists(st.integers(1, 5), min_size=1), st.data())
def test_where_the_text_is_cut_and_when_it_is_asked_does_not_matter(
    value: dict[str, JsonValue], sizes: list[int], data: st.DataObject
) -> None:
    text = to_json(value).decode()
    text = text[: data.draw(st.integers(0, len(text)))]
    reader, at = PartialJson(), 0
    for size in sizes * len(text):
        reader.feed(text[at : at + size])
        at += size
        if size % 2:
            reader.value()
        if at >= len(text):
            break

    assert reader.value(exact=True) == read(text)


@given(
    st.lists(st.sampled_from([*'{}[]:,"\\utrnfe019.-+E \n\x00é\u2028', "\ud83d", "true", "null"]))
)
def test_no_text_raises_and_cuts_never_matter(pieces: list[str]) -> None:
    text = "{" + "".join(pieces)
    reader = PartialJson()
    for char in text:
        reader.feed(char)
        reader.value()

    assert reader.value(exact=True) == read(text)


@given(odd_texts())
def test_what_is_no_object_reads_as_the_empty_one(text: str) -> None:
    reader = PartialJson()
    reader.feed(text)
    if not text.strip().startswith("{"):
        assert reader.value() == {}


def test_nesting_beyond_the_limit_stops_the_reading_and_not_the_program() -> None:
    shown: JsonValue = read('{"a":' * 5_000)
    depth = 0
    while isinstance(shown, dict) and shown:
        shown, depth = shown["a"], depth + 1

    assert depth == 127


def test_what_was_shown_is_not_changed_afterwards() -> None:
    reader = PartialJson()
    reader.feed('{"a": [1')
    shown = reader.value()
    reader.feed(", 2]}")

    assert shown == {"a": [1]}
    assert reader.value() == {"a": [1, 2]}


def test_the_answer_for_a_long_text_lags_behind_by_an_eighth_at_most() -> None:
    reader, sent = PartialJson(), '{"text":"'
    reader.feed(sent)
    for _ in range(3_000):
        reader.feed("abcdefg")
        sent += "abcdefg"
        shown = reader.value().get("text", "")
        assert isinstance(shown, str)
        assert len(sent) - len('{"text":"') - len(shown) <= len(sent) / 8

    assert reader.value(exact=True) == {"text": "abcdefg" * 3_000}


def test_a_short_text_never_lags_behind() -> None:
    reader = PartialJson()
    reader.feed('{"text":"')
    for length in range(1, 900):
        reader.feed("x")
        assert reader.value() == {"text": "x" * length}


def test_asking_at_every_delta_costs_in_proportion_to_the_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read_again = 0

    def counting(text: str) -> JsonValue:
        nonlocal read_again
        read_again += len(text)
        return decode_json(text)

    monkeypatch.setattr(agentkit_core._streaming._partial_json, "decode_json", counting)
    small = 1024 * 1024 // 8 // 2
    for length in (10_000, 100_000):
        read_again = 0
        reader = PartialJson()
        reader.feed('{"text":"')
        for _ in range(length):
            reader.feed("abcdefgh")
            reader.value()
        assert read_again <= 10 * (8 * length) + 2 * small


@given(odd_texts(), st.integers(0, 50))
def test_vs07_a_string_is_read_to_its_end_from_any_quote(text: str, quotes: int) -> None:
    cut_off = '{"html":"' + json.dumps(text)[1:-1] + '<p class=\\"x\\">' * quotes
    pattern = re.compile(agentkit_core._streaming._partial_json._STRING)

    # A pattern that fails at a quote is tried again at the next one, up to the end each time.
    for at, character in enumerate(cut_off):
        if character == '"':
            assert pattern.match(cut_off, at) is not None
    assert [match.start() for match in pattern.finditer(cut_off)] == [1, 8]
    assert sum(len(match[0]) for match in pattern.finditer(cut_off)) >= len(cut_off) - 4
