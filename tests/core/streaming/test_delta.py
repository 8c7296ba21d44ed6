"""Deltas: data with a spelling of their own."""

import pytest
from hypothesis import given

from agentkit_core import Text, from_json, from_msgpack, to_json, to_msgpack
from agentkit_core._part import PartKind
from agentkit_core.provider import (
    AppendBytes,
    AppendText,
    BeginPart,
    CommitPart,
    Delta,
    PartId,
    ReplaceStructured,
    SetMetadata,
)
from support.deltas import any_deltas

P = PartId("p")


@pytest.mark.parametrize(
    ("delta", "spelled"),
    [
        (BeginPart(P, Text("")),
         '{"type":"begin_part","part_id":"p","part":{"type":"text","text":""}}'),
        (AppendText(P, "a"), '{"type":"append_text","part_id":"p","chunk":"a"}'),
        (AppendBytes(P, b"\x00"), '{"type":"append_bytes","part_id":"p","chunk":"AA=="}'),
        (ReplaceStructured(P, [1]), '{"type":"replace_structured","part_id":"p","value":[1]}'),
        (SetMetadata(P, {"a.b": None}),
         '{"type":"set_metadata","part_id":"p","metadata":{"a.b":null}}'),
        (CommitPart(Text("a")),
         '{"type":"commit_part","part":{"type":"text","text":"a"},"part_id":null}'),
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_a_delta_has_one_spelling_and_reads_back_equal(delta: Delta, spelled: str) -> None:
    assert to_json(delta).decode() == spelled
    assert from_json(spelled, Delta) == delta


@given(any_deltas())
def test_a_stream_of_deltas_can_be_stored(stream: list[Delta]) -> None:
    assert from_json(to_json(stream), list[Delta]) == stream
    assert from_msgpack(to_msgpack(stream), list[Delta]) == stream


def test_a_beginning_says_its_kind() -> None:
    assert BeginPart(P, Text("")).kind is PartKind.TEXT
