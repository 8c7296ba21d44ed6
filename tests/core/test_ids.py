"""Identifiers are strings, in memory and on the wire."""

import pytest

from agentkit_core import TurnId, _ids, from_json, to_json

NAMES = sorted(name for name in vars(_ids) if name.endswith("Id"))


def test_there_is_a_name_for_each_thing_that_is_identified() -> None:
    assert NAMES == [
        "ApprovalId", "ArtifactId", "MessageId", "PartId", "SessionId", "ToolCallId",
        "TurnId",
    ]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("text", ["a", "", "call|é"])
def test_an_id_is_written_and_read_as_the_bare_string(name: str, text: str) -> None:
    identifier = getattr(_ids, name)(text)

    assert str(identifier) == text
    assert to_json(identifier).decode() == f'"{text}"'
    assert from_json(to_json(identifier), getattr(_ids, name)) == identifier


def test_equal_ids_are_equal_and_hash_equally() -> None:
    assert TurnId("a") == TurnId("a")
    assert len({TurnId("a"), TurnId("a"), TurnId("b")}) == 2
    assert sorted([TurnId("b"), TurnId("a")]) == ["a", "b"]
