"""A model reads back what was stored, and learns how where it errs."""

from __future__ import annotations

from typing import Any

import pytest

from agentkit_core import ToolCallId, ToolFailure, ToolResult
from agentkit_tools_core.artifacts import MemoryArtifacts, read_artifact_tool
from agentkit_tools_core.testing import call_tool, check_tool

STORE = MemoryArtifacts()
FOUND = STORE.put(None, ToolCallId("c"), "aé€" * 10)


def result_of(**arguments: Any) -> ToolResult:
    return call_tool(read_artifact_tool(STORE, max_bytes=20), arguments).result


def test_t28_the_tool_keeps_the_contract_of_tools() -> None:
    output: Any = check_tool(read_artifact_tool(STORE, max_bytes=20), {"id": FOUND}).result.output

    assert output.value["content"] == "aé€" * 3 + "a"
    assert output.value["next_offset"] == 19
    assert not output.value["eof"]


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({"id": FOUND, "limit": 0}, "from 1 to 20"),
        ({"id": FOUND, "limit": 21}, "from 1 to 20"),
        ({"id": FOUND, "limit": True}, "from 1 to 20"),
        ({"id": FOUND, "offset": "0"}, "integer"),
        ({"id": FOUND, "offset": 2}, "inside a character"),
        ({"id": FOUND, "offset": 61}, "between 0 and 60"),
        ({"id": "nope"}, "no stored text"),
        ({"id": 1}, "string"),
        ({}, "id: is required"),
    ],
)
def test_t28_what_cannot_be_read_is_an_error_that_says_why(
    arguments: dict[str, Any], word: str
) -> None:
    result = result_of(**arguments)
    output: Any = result.output

    assert result.is_error
    assert result.failure is ToolFailure.INVALID_INPUT
    assert word in output.text


def test_a_reader_that_may_read_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        read_artifact_tool(STORE, max_bytes=0)
