"""JSON that breaks the rules of JSON is read; what is not JSON is not."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit_providers._framing._lenient_json import is_json, read_leniently


@pytest.mark.parametrize(
    ("payload", "value"),
    [
        (b'{"a": "\\ud83d"}', {"a": "\ud83d"}),
        (b'{"a": NaN, "b": -Infinity}', {"a": None, "b": None}),
        (b'"a\tb\x01"', "a\tb\x01"),
        (b'"\xff"', "\ufffd"),
    ],
    ids=["half a surrogate pair", "NaN", "control characters", "not UTF-8"],
)
def test_what_servers_send_although_it_is_not_valid_is_read(payload: bytes, value: Any) -> None:
    assert read_leniently(payload) == value
    assert is_json(payload)


@pytest.mark.parametrize("payload", [b"", b"{", b"[DONE]", b'{"a": 1', b"[" * 100_000])
def test_what_is_not_json_is_refused(payload: bytes) -> None:
    assert not is_json(payload)
    with pytest.raises((ValueError, RecursionError)):
        read_leniently(payload)


# Whole numbers of more than 64 bits are read as floats, which JSON allows.
WHOLE_NUMBERS = st.integers(-(2**63), 2**64 - 1)


@given(st.recursive(st.none() | st.booleans() | WHOLE_NUMBERS | st.text(), st.lists))
def test_valid_json_is_read_as_any_reader_reads_it(value: Any) -> None:
    assert read_leniently(json.dumps(value).encode()) == value
