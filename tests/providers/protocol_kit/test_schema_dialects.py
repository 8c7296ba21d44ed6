"""JSON Schema in the dialects of providers: without references, and strict."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit_providers._protocol_kit._schema_dialects import strict_schema, without_refs
from agentkit_providers.google_generate._schemas import openapi_schema

TREE: dict[str, Any] = {
    "type": "object",
    "properties": {"t": {"$ref": "#/$defs/T", "description": "the root"}},
    "required": ["t"],
    "$defs": {
        "T": {
            "type": "object",
            "description": "a tree",
            "properties": {
                "name": {"type": "string"},
                "kids": {"type": "array", "items": {"$ref": "#/$defs/T"}},
            },
        }
    },
}


def tree(kids: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "description": "a tree",
        "properties": {"name": {"type": "string"}, "kids": {"type": "array", "items": kids}},
    }


@pytest.mark.parametrize("repeats", [0, 1, 2])
def test_s03_a_definition_is_written_out_and_inside_itself_ends_as_a_plain_object(
    repeats: int,
) -> None:
    before = deepcopy(TREE)

    written = without_refs(TREE, repeats=repeats)

    inner: dict[str, Any] = {"type": "object"}
    for _ in range(repeats + 1):
        inner = tree(inner)
    assert written == {
        "type": "object",
        "properties": {"t": {**inner, "description": "the root"}},
        "required": ["t"],
    }
    assert before == TREE


def test_s03_a_reference_that_leads_nowhere_is_a_plain_object() -> None:
    for ref in ("#/$defs/none", "https://example.com/schema", "#/$defs/T/properties/name/type/0"):
        found = without_refs({"properties": {"a": {"$ref": ref, "title": "A"}}, "$defs": {}})
        assert found == {"properties": {"a": {"type": "object", "title": "A"}}}


def test_s03_references_may_stand_in_lists_and_name_anything() -> None:
    schema: dict[str, Any] = {
        "anyOf": [{"$ref": "#/definitions/a~1b%20c"}, {"$ref": "#/anyOf/2"}, {"type": "null"}],
        "definitions": {"a/b c": {"type": "integer"}},
    }

    assert without_refs(schema) == {
        "anyOf": [{"type": "integer"}, {"type": "null"}, {"type": "null"}]
    }


def test_s03_names_of_properties_and_values_are_no_keywords() -> None:
    schema: dict[str, Any] = {
        "properties": {"$defs": {"type": "string"}, "$ref": {"type": "string"}},
        "enum": [{"$ref": "#/x"}],
        "default": {"$defs": 1},
        "required": ["$ref"],
    }

    assert without_refs(schema) == schema


def test_s03_references_that_multiply_do_not_fill_the_memory() -> None:
    names = [f"d{n}" for n in range(40)]
    definitions: dict[str, Any] = {
        one: {"properties": {"l": {"$ref": f"#/$defs/{other}"}, "r": {"$ref": f"#/$defs/{other}"}}}
        for one, other in zip(names, [*names[1:], "end"], strict=True)
    }

    written = without_refs({"$ref": "#/$defs/d0", "$defs": definitions})

    assert "$ref" not in repr(written)


schemas = st.recursive(
    st.sampled_from(
        [
            {"type": "string"},
            {"$ref": "#/$defs/A"},
            {"$ref": "#/$defs/B", "description": "b"},
            {"$ref": "#"},
        ]
    ),
    lambda inner: (
        st.dictionaries(st.sampled_from("xyz"), inner, max_size=2).map(
            lambda entry: {"type": "object", "properties": entry}
        )
        | inner.map(lambda entry: {"type": "array", "items": entry})
        | st.lists(inner, min_size=1, max_size=2).map(lambda entry: {"anyOf": entry})
    ),
    max_leaves=5,
)


@given(schemas, schemas, schemas)
def test_s03_no_reference_is_left_whatever_the_schema(root: Any, one: Any, other: Any) -> None:
    schema = {**root, "$defs": {"A": one, "B": other}}
    before = deepcopy(schema)

    for write in (without_refs, openapi_schema):
        written = write(schema)
        assert "$ref" not in repr(written)
        assert "$defs" not in repr(written)
    assert schema == before
    assert without_refs(without_refs(schema)) == without_refs(schema)


def test_s04_everything_is_required_and_what_was_optional_may_be_null() -> None:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {
            "a": {"type": "integer"},
            "b": {"type": "string", "default": "x"},
            "c": {"anyOf": [{"$ref": "#/$defs/Inner"}, {"type": "null"}], "default": None},
            "d": {"$ref": "#/$defs/Inner", "description": "one more"},
            "e": {"enum": ["x", "y"], "type": "string"},
            "f": {"type": ["integer", "null"]},
            "g": {"const": 1},
        },
        "required": ["a"],
        "$defs": {"Inner": {"type": "object", "properties": {"x": {"type": "string"}}}},
    }
    before = deepcopy(schema)

    assert strict_schema(schema) == {
        "type": "object",
        "properties": {
            "a": {"type": "integer"},
            "b": {"type": ["string", "null"]},
            "c": {"anyOf": [{"$ref": "#/$defs/Inner"}, {"type": "null"}]},
            "d": {
                "description": "one more",
                "anyOf": [{"$ref": "#/$defs/Inner"}, {"type": "null"}],
            },
            "e": {"enum": ["x", "y", None], "type": ["string", "null"]},
            "f": {"type": ["integer", "null"]},
            "g": {"anyOf": [{"const": 1}, {"type": "null"}]},
        },
        "required": ["a", "b", "c", "d", "e", "f", "g"],
        "additionalProperties": False,
        "$defs": {
            "Inner": {
                "type": "object",
                "properties": {"x": {"type": ["string", "null"]}},
                "required": ["x"],
                "additionalProperties": False,
            }
        },
    }
    assert schema == before


def with_property(schema: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"p": schema}, "required": ["p"]}


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "object"},
        {"type": "string"},
        {"type": "object", "properties": {}, "additionalProperties": True},
        {"type": "object", "properties": {}, "patternProperties": {"x": {}}},
        {"type": "object", "properties": {}, "required": ["a"]},
        with_property({}),
        with_property(True),
        with_property({"type": "object"}),
        with_property({"type": "array"}),
        with_property({"type": "string", "format": "binary"}),
        with_property({"oneOf": [{"type": "string"}, {"type": "integer"}]}),
        with_property({"allOf": [{"type": "string"}, {"minLength": 1}]}),
        with_property({"not": {"type": "string"}}),
        with_property({"$ref": "#/$defs/A", "minimum": 1}),
        {**with_property({"$ref": "#/$defs/A"}), "$defs": {"A": {"type": "object"}}},
    ],
)
def test_s04_what_has_no_strict_form_of_the_same_meaning_has_none(schema: dict[str, Any]) -> None:
    assert strict_schema(schema) is None


def test_s04_a_strict_schema_stays_as_it_is() -> None:
    nested = with_property({"type": "array", "items": with_property({"type": "string"})})
    strict = strict_schema(nested)

    assert strict is not None
    assert strict_schema(strict) == strict
    assert strict_schema({"type": "object", "properties": {}}) == {
        "type": "object",
        "properties": {},
        "required": [],
        "additionalProperties": False,
    }
    assert strict_schema(with_property({"allOf": [{"type": "string"}], "title": "P"})) == {
        **with_property({"type": "string", "title": "P"}),
        "additionalProperties": False,
    }


@pytest.mark.parametrize(
    ("schema", "written"),
    [
        ({"type": ["string", "null"]}, {"type": "string", "nullable": True}),
        ({"type": ["string", "integer"]}, {"anyOf": [{"type": "string"}, {"type": "integer"}]}),
        ({"const": "a"}, {"type": "string", "enum": ["a"]}),
        ({"enum": ["a", None], "type": ["string", "null"]},
         {"type": "string", "nullable": True, "enum": ["a"]}),
        ({"type": "integer", "enum": [1, 2], "exclusiveMinimum": 0}, {"type": "integer"}),
        ({"anyOf": [{"type": "string"}, {"type": "null"}], "title": "T"},
         {"type": "string", "nullable": True, "title": "T"}),
        ({"oneOf": [{"type": "string"}, {"type": "integer"}]},
         {"anyOf": [{"type": "string"}, {"type": "integer"}]}),
        ({"allOf": [{"type": "string"}], "description": "d"},
         {"type": "string", "description": "d"}),
        ({"type": "array"}, {"type": "array", "items": {}}),
        ({"$schema": "x", "$id": "y", "type": "object", "additionalProperties": False,
          "properties": {"type": {"type": "string"}}},
         {"type": "object", "properties": {"type": {"type": "string"}}}),
    ],
)  # fmt: skip
def test_the_older_dialect_of_google_says_the_same_in_its_own_words(
    schema: dict[str, Any], written: dict[str, Any]
) -> None:
    assert openapi_schema(schema) == written
