"""Arguments are checked by a schema, and nothing is fetched for it."""

from __future__ import annotations

import logging
import socket
import sys
from importlib import reload
from pathlib import Path
from typing import Any

import pytest

from agentkit_core import ToolFailure, ToolSpec
from agentkit_tools_core import InvalidToolInput, SchemaTool
from agentkit_tools_core.testing import call_tool

pytest.importorskip("jsonschema_rs")

from agentkit_tools_core import jsonschema
from agentkit_tools_core.jsonschema import validator

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "n": {"type": "integer", "minimum": 0},
        "edits": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"old": {"type": "string"}},
                "required": ["old"],
            },
        },
    },
    "required": ["n"],
    "additionalProperties": False,
}


def refused(value: dict[str, Any], schema: dict[str, Any] = SCHEMA) -> InvalidToolInput:
    with pytest.raises(InvalidToolInput) as caught:
        validator(schema, tool="t")(value)
    return caught.value


def test_c05_every_place_is_told_by_its_path() -> None:
    error = refused({"edits": [{"old": "x"}, {"old": 1}, {}], "n": -1})

    assert {*error.paths} == {"edits.1.old", "edits.2.old", "n"}
    assert error.message.startswith('Validation failed for tool "t":\n  - ')
    assert "  - edits.2.old: is required\n" in error.message
    assert '\n\nReceived arguments:\n{\n  "edits": [' in error.message


def test_c05_what_is_wrong_with_the_whole_is_told_of_the_root() -> None:
    error = refused({"n": 1, "other": 2})

    assert error.paths == ("root",)
    assert "other" in error.message


def test_c05_a_required_property_is_told_by_its_name() -> None:
    error = refused({})

    assert error.message == (
        'Validation failed for tool "t":\n  - n: is required\n\nReceived arguments:\n{}'
    )


def test_c05_at_most_five_places_are_told_and_none_at_length() -> None:
    schema = {"type": "object", "additionalProperties": {"type": "integer"}}
    error = refused({str(at): "x" * 5000 for at in range(8)}, schema)

    assert error.message.count("  - ") == 5
    assert "… and 3 more" in error.message
    assert len(error.paths) == 8
    assert len(error.message) < 5000


def test_what_fits_passes() -> None:
    validator(SCHEMA)({"n": 1, "edits": [{"old": ""}]})


def test_w29_a_tool_with_a_validator_is_not_run_with_what_does_not_fit() -> None:
    created = SchemaTool(ToolSpec("t", "d", SCHEMA), lambda *_: "ran", validate=validator(SCHEMA))

    assert call_tool(created, {"n": "x"}).result.failure is ToolFailure.INVALID_INPUT
    assert not call_tool(created, {"n": 1}).result.is_error


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "nope"},
        {"$ref": "#/nowhere"},
        {"$ref": "file:///etc/hostname"},
        {"properties": {"a": {"pattern": "("}}},
    ],
)
def test_c05_a_schema_that_cannot_be_used_lets_all_pass_with_one_warning(
    schema: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        check = validator(schema, tool="t")
        check({"a": 1})
        check({})

    (record,) = caplog.records
    assert "'t'" in record.getMessage()
    assert "\n" not in record.getMessage()


def test_a_reference_to_another_document_is_not_read(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    there = tmp_path / "schema.json"
    there.write_text('{"type": "integer"}')
    validator({"properties": {"a": {"$ref": there.as_uri()}}})({"a": "x"})

    assert "is not fetched" in caplog.text


def test_a_reference_to_another_server_is_refused_before_anyone_is_asked(
    caplog: pytest.LogCaptureFixture,
) -> None:
    # Nobody listens there: whoever asks is turned away at once, and says so in other words.
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        where = f"http://127.0.0.1:{closed.getsockname()[1]}/schema.json"
        validator({"properties": {"a": {"$ref": where}}})({"a": "x"})

    assert f"another document, {where}, which is not fetched" in caplog.text


def test_without_the_extra_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jsonschema_rs", None)

    with pytest.raises(ImportError, match=r"pip install 'agentkit-tools-core\[jsonschema\]'"):
        reload(jsonschema)
