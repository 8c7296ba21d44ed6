"""Objects in a JSON body are found however the body is cut."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit_providers._framing._json_objects import JsonObjects, WholeJson

VALUES = st.recursive(
    st.none() | st.integers() | st.text(alphabet='{}[]"\\ab\n'),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text('{}"\\k'), inner),
)
OBJECTS = st.lists(st.dictionaries(st.text('{}"\\k'), VALUES, max_size=3), max_size=4)


@given(objects=OBJECTS, data=st.data())
def test_every_object_of_an_array_is_found_wherever_the_body_is_cut(
    objects: list[dict[str, Any]], data: st.DataObject
) -> None:
    body = json.dumps(objects, indent=data.draw(st.sampled_from([None, 1]))).encode()
    cuts = sorted(data.draw(st.sets(st.integers(0, len(body)), max_size=8)) | {0, len(body)})
    reader = JsonObjects()

    found = [
        piece for start, end in itertools.pairwise(cuts) for piece in reader.feed(body[start:end])
    ]

    assert [json.loads(piece) for piece in found] == objects
    assert reader.is_array
    assert not reader.is_open
    assert reader.finish() == []


@pytest.mark.parametrize("cut", range(1, 18))
def test_an_object_without_its_last_bracket_is_open(cut: int) -> None:
    reader = JsonObjects()

    assert reader.feed(b'{"a": {"b": "}"}}!'[:cut]) == ([b'{"a": {"b": "}"}}'] if cut > 16 else [])
    assert reader.is_open is (cut <= 16)
    assert reader.is_array is False


def test_a_whole_body_is_returned_once_when_it_is_over() -> None:
    reader = WholeJson()

    assert reader.feed(b'{"a":') == reader.feed(b" 1}") == []
    assert reader.finish() == [b'{"a": 1}']
    assert reader.finish() == []
