"""What a model is told of a tool."""

import pytest

from agentkit_core import ToolAnnotations, ToolSpec, from_json, to_json


def test_a_tool_takes_an_object_without_properties_unless_it_says_otherwise() -> None:
    assert ToolSpec("now").input_schema == {"type": "object", "properties": {}}
    assert ToolSpec("now").input_schema is not ToolSpec("now").input_schema


@pytest.mark.parametrize("name", ToolAnnotations.__struct_fields__)
def test_a_tool_claims_nothing_that_it_does_not_say(name: str) -> None:
    assert not getattr(ToolAnnotations(), name)


def test_a_spec_is_data() -> None:
    spec = ToolSpec(
        "look", "Look at it.", {"type": "object"}, {"type": "string"}, True,
        ToolAnnotations(read_only=True), "Look", {"app.icon": "eye"},
    )  # fmt: skip

    assert from_json(to_json(spec), ToolSpec) == spec
    assert to_json(ToolSpec("now")) == (
        b'{"name":"now","input_schema":{"type":"object","properties":{}}}'
    )
