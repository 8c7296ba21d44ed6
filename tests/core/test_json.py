"""JSON: one spelling, no half characters, no bottomless nesting."""

import json
import tracemalloc
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit_core import JsonValue, to_json
from agentkit_core.json import canonical_json, decode_json, without_lone_surrogates
from support.json_values import json_values, odd_texts, texts

PAIR = "\ud83d\ude00"


@given(json_values())
def test_what_is_written_reads_back_equal(value: JsonValue) -> None:
    assert decode_json(to_json(value)) == value
    assert decode_json(to_json(value).decode()) == value


@given(json_values(odd_texts()))
def test_any_value_is_written_as_json_that_a_strict_reader_takes(value: JsonValue) -> None:
    msgspec.json.decode(to_json(value))
    json.loads(to_json(value).decode("utf-8", "strict"))


@given(st.dictionaries(texts(), json_values(), max_size=6), st.randoms())
def test_the_order_of_keys_does_not_show_in_canonical_json(
    value: dict[str, JsonValue], random: Any
) -> None:
    keys = list(value)
    random.shuffle(keys)

    assert canonical_json({key: value[key] for key in keys}) == canonical_json(value)


def test_canonical_json_is_sorted_and_compact() -> None:
    assert canonical_json({"b": [1, "é"], "a": None}) == '{"a":null,"b":[1,"é"]}'.encode()


@pytest.mark.parametrize(
    ("broken", "whole"),
    [
        ("Text \ud83d here", "Text \ufffd here"),
        ("\ud83d\ude48", "🙈"),
        ("🙈", "🙈"),
        ("\ude48\ud83d", "\ufffd\ufffd"),
        ("\ud800\ud83d\ude48\udc00", "\ufffd🙈\ufffd"),
        ("plain", "plain"),
    ],
)
def test_r13_halves_are_joined_where_they_meet_and_replaced_where_they_are_alone(
    broken: str, whole: str
) -> None:
    assert without_lone_surrogates(broken) == whole


@given(texts())
def test_text_without_lone_surrogates_stays_the_same_object(text: str) -> None:
    assert without_lone_surrogates(text) is text


@given(odd_texts())
def test_text_is_fit_for_utf_8_after_one_repair(text: str) -> None:
    repaired = without_lone_surrogates(text)

    repaired.encode()
    assert without_lone_surrogates(repaired) is repaired


@given(odd_texts())
def test_r13_escapes_of_lone_surrogates_read_as_their_repaired_text(text: str) -> None:
    escaped = json.dumps(text)

    assert decode_json(escaped) == without_lone_surrogates(text)
    assert decode_json(escaped.encode()) == without_lone_surrogates(text)


@given(odd_texts())
def test_r13_raw_surrogates_in_json_text_do_no_harm(text: str) -> None:
    raw = json.dumps(text, ensure_ascii=False)

    assert decode_json(raw) == without_lone_surrogates(text)
    assert decode_json(raw.encode("utf-8", "surrogatepass")) == without_lone_surrogates(text)


def test_an_escaped_backslash_before_a_u_is_no_escape_of_a_surrogate() -> None:
    assert decode_json(r'"\\ud800 \ud800"') == "\\ud800 \ufffd"


@pytest.mark.parametrize(
    "text", ["", "{", "nul", "[1,]", "NaN", b"\xff", b'"\xff \\ud800"', "1e999"]
)
def test_what_is_not_json_is_refused(text: str | bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        decode_json(text)


@pytest.mark.parametrize("brackets", ["[]", '{"a":}'])
@pytest.mark.parametrize("as_bytes", [True, False])
def test_nesting_is_read_up_to_a_limit_that_no_stack_minds(brackets: str, as_bytes: bool) -> None:
    opening, closing = brackets[:-1], brackets[-1]

    def nested(depth: int) -> str | bytes:
        text = opening * (depth - 1) + "[]" + closing * (depth - 1)
        return text.encode() if as_bytes else text

    deepest = decode_json(nested(128))
    assert to_json(deepest) == nested(128) if as_bytes else to_json(deepest).decode()
    for depth in (129, 5_000, 100_000):
        with pytest.raises(msgspec.DecodeError, match="128"):
            decode_json(nested(depth))


def test_many_brackets_side_by_side_are_not_deep() -> None:
    assert decode_json("[" + ",".join(["[]"] * 1000) + "]") == [[]] * 1000

    siblings = "[]," * 200
    decode_json(f"[{siblings}{'[' * 127}{']' * 127}]")
    with pytest.raises(msgspec.DecodeError):
        decode_json(f"[{siblings}{'[' * 128}{']' * 128}]")


@pytest.mark.parametrize("value", [object(), {(1, 2): 3}])
def test_what_is_not_json_cannot_be_written(value: object) -> None:
    with pytest.raises(TypeError):
        to_json(value)


def test_a_value_that_holds_itself_cannot_be_written() -> None:
    endless: list[object] = []
    endless.append(endless)

    with pytest.raises(TypeError, match="too deeply"):
        to_json(endless)


def test_bytes_beside_a_lone_surrogate_are_still_written_as_base64() -> None:
    assert to_json({"a": b"\x00\x01", "b": "\ud800"}) == '{"a":"AAE=","b":"\ufffd"}'.encode()


def test_to_see_whether_a_text_can_be_sent_copies_little_of_it() -> None:
    text = "é" * 1_000_000
    tracemalloc.start()
    try:
        assert without_lone_surrogates(text) is text
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < len(text) / 4


@pytest.mark.parametrize("at", [0, 65_534, 65_535, 65_536, 65_537, 99_999])
def test_where_halves_of_a_surrogate_pair_stand_in_a_long_text_does_not_matter(at: int) -> None:
    before, after = "é" * at, "é" * (100_000 - at)

    assert without_lone_surrogates(before + PAIR + after) == before + "😀" + after
    assert without_lone_surrogates(before + PAIR[0] + after) == before + "\ufffd" + after
