"""Identifiers are strings, in memory and on the wire."""

import pytest

import agentkit_core
from agentkit_core import TurnId, from_json, to_json

NAMES = sorted(name for name in agentkit_core.__all__ if name.endswith("Id"))


def test_there_is_a_name_for_each_thing_that_is_identified() -> None:
    assert NAMES == [
        "ApprovalId", "ArtifactId", "MessageId", "PartId", "ProviderMessageId", "SessionId",
        "TaskId", "ToolCallId", "ToolResultId", "TurnId",
    ]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("text", ["a", "", "call|é"])
def test_an_id_is_written_and_read_as_the_bare_string(name: str, text: str) -> None:
    identifier = getattr(agentkit_core, name)(text)

    assert str(identifier) == text
    assert to_json(identifier).decode() == f'"{text}"'
    assert from_json(to_json(identifier), getattr(agentkit_core, name)) == identifier


def test_equal_ids_are_equal_and_hash_equally() -> None:
    assert TurnId("a") == TurnId("a")
    assert len({TurnId("a"), TurnId("a"), TurnId("b")}) == 2
    assert sorted([TurnId("b"), TurnId("a")]) == ["a", "b"]
