"""Schemas of tools and answers, in the dialects of vendors."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentkit_core import (
    Item,
    JsonFormat,
    JsonSchemaFormat,
    JsonValue,
    NamedTool,
    ToolSpec,
    UnsupportedContent,
)
from agentkit_providers._protocol_kit._closed_schemas import Size, closed_schema
from providers.fitting.asking import CALL, RESULT, TOOL, send

Schema = dict[str, JsonValue]
MODELS = (
    "anthropic:claude-opus-4-8",
    "openai:gpt-5",
    "openai-responses:gpt-5",
    "google:gemini-3-pro",
    "google:gemini-2.5-flash",
    "moonshot:kimi-k2.6",
    "compatible:m",
)
COMBINED = ("oneOf", "anyOf", "allOf", "not", "enum")


def schemas_of(body: dict[str, Any]) -> dict[str, Any]:
    """The schemas of a body's tools, by name."""
    tools = body.get("tools", [])
    if tools and "functionDeclarations" in tools[0]:
        tools = tools[0]["functionDeclarations"]
    found = {}
    for tool in tools:
        tool = tool.get("function", tool)
        names = ("input_schema", "parameters", "parametersJsonSchema")
        found[tool["name"]] = next((tool[name] for name in names if name in tool), None)
    return found


def one(**properties: JsonValue) -> Schema:
    return {"type": "object", "properties": properties, "required": list(properties)}


STRING: Schema = {"type": "string"}
FOREIGN: dict[str, tuple[Any, set[str]]] = {
    "one of": ({"oneOf": [one(yaml=STRING), one(folder=STRING)]}, {"yaml", "folder"}),
    "any of beside": (
        {"type": "object", "properties": {"a": STRING, "b": STRING},
         "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}, {"a", "b"}),
    "all of": ({"allOf": [one(a=STRING), one(b=STRING)]}, {"a", "b"}),
    "nested": ({"anyOf": [{"oneOf": [one(a=STRING), one(b=STRING)]}, one(c=STRING)]},
               {"a", "b", "c"}),
    "references": ({"oneOf": [{"$ref": "#/$defs/A"}, one(b=STRING)], "$defs": {"A": one(a=STRING)}},
                   {"a", "b"}),
    "a reference": ({"$ref": "#/$defs/A", "$defs": {"A": one(a=STRING)}}, {"a"}),
    "conditions": ({**one(a=STRING), "if": {}, "then": one(b=STRING), "else": one(c=STRING)},
                   {"a", "b", "c"}),
    "not": ({**one(a=STRING), "not": {"required": ["z"]}}, {"a"}),
    "no type": ({"properties": {"a": STRING}}, {"a"}),
    "nothing": ({}, set()),
    "a list of types": ({**one(a=STRING), "type": ["object", "null"]}, {"a"}),
    "PHP": ({"type": "object", "properties": [], "required": []}, set()),
    "Python": ({"type": "dict", "properties": {"a": {"type": "str"}}}, {"a"}),
    "draft 4": (one(a={"type": "integer", "minimum": 0, "exclusiveMinimum": True}), {"a"}),
    "draft 3": ({"properties": {"a": {"type": "string", "required": True}}}, {"a"}),
    "a list of anything": (one(a={"type": "array"}), {"a"}),
    "a tuple": (one(a={"type": "array", "items": [STRING, STRING]}), {"a"}),
    "nulls": (one(a={"type": "string", "description": None, "enum": None}), {"a"}),
}  # fmt: skip


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("what", FOREIGN)
def test_vp04_foreign_schemas_become_objects_that_lose_no_argument(model: str, what: str) -> None:
    schema, names = FOREIGN[what]
    sent = send(model, tools=[ToolSpec("mend", "Mends.", schema), TOOL])
    written = schemas_of(sent.body)["mend"]

    assert written["type"] == "object"
    assert not set(COMBINED) & set(written)
    assert names <= set(written.get("properties", {}))
    assert set(written.get("required", ())) <= set(written.get("properties", ()))
    assert 'items": [' not in json.dumps(written)
    assert schemas_of(sent.body)["get_weather"]


def test_vp04_what_goes_together_is_said() -> None:
    schema, _ = FOREIGN["one of"]
    written = schemas_of(send(MODELS[0], tools=[ToolSpec("mend", "", schema)]).body)["mend"]

    assert "required" not in written
    assert "(yaml) or (folder)" in written["description"]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("schema", [{"type": "string"}, {"anyOf": [{"type": "array"}]}, [], "x"])
def test_vp04_a_tool_that_cannot_be_offered_is_left_out_and_noted(model: str, schema: Any) -> None:
    sent = send(model, tools=[ToolSpec("odd", "", schema), TOOL])

    assert list(schemas_of(sent.body)) == ["get_weather"]
    assert "the tool 'odd'" in sent.changes
    with pytest.raises(UnsupportedContent, match="odd"):
        send(model, tools=[ToolSpec("odd", "", schema), TOOL], tool_choice=NamedTool("odd"))


@pytest.mark.parametrize("model", ["anthropic:claude-opus-4-8", "litellm:claude-sonnet-4-5"])
def test_vp04_tools_of_the_history_take_the_place_of_tools_that_are_left_out(model: str) -> None:
    foreign: Any = {"type": "string"}
    items = (Item.user("hi"), CALL, RESULT)
    quirks = {"tools_with_history": True} if model.startswith("anthropic") else None
    sent = send(model, *items, tools=[ToolSpec("odd", "", foreign)], quirks=quirks)

    assert list(schemas_of(sent.body)) == ["get_weather"]


def test_vp04_schemas_that_a_vendor_takes_stay_as_they_are() -> None:
    for model in MODELS:
        assert schemas_of(send(model, tools=[TOOL]).body)["get_weather"] == TOOL.input_schema


def types_of(schema: Any) -> bool:
    """Whether each schema names its type, and none beside alternatives."""
    if not isinstance(schema, dict):
        return True
    if "anyOf" in schema:
        return "type" not in schema and all(map(types_of, schema["anyOf"]))
    inside = [*schema.get("properties", {}).values(), schema.get("items")]
    return "type" in schema and all(map(types_of, inside))


def test_vp04_moonshot_gets_a_type_in_each_schema() -> None:
    schema: Schema = one(
        a={"description": "any"},
        b={"type": "object", "anyOf": [{"required": ["x"]}, {"required": ["y"]}]},
        c={"$ref": "#/$defs/C", "description": "beside"},
        d={"enum": ["x", "y"]},
    )
    schema["$defs"] = {"C": {"description": "inside", "type": "string"}}

    assert types_of(
        schemas_of(send("moonshot:kimi-k2.6", tools=[ToolSpec("f", "", schema)]).body)["f"]
    )


OPEN: dict[str, JsonValue] = {
    "an object": {"type": "object"},
    "without properties": {"type": "object", "properties": {}},
    "open": {"type": "object", "properties": {"a": STRING}, "additionalProperties": True},
    "a map": {"type": "object", "additionalProperties": STRING},
    "patterns": {"type": "object", "patternProperties": {"^x": STRING}},
    "any": {},
    "a list of any": {"type": "array"},
    "a list of open": {"type": "array", "items": {"type": "object"}},
    "one of": {"anyOf": [STRING, {"type": "object"}]},
    "an optional one": {"type": ["object", "null"]},
}


@pytest.mark.parametrize(
    "model", ["openai:gpt-5", "openai-responses:gpt-5", "anthropic:claude-opus-4-8"]
)
@pytest.mark.parametrize("deep", [False, True])
@pytest.mark.parametrize("what", OPEN)
def test_vp38_tools_with_open_objects_are_not_strict_and_not_closed(
    model: str, deep: bool, what: str
) -> None:
    meta = OPEN[what]
    if deep:
        meta = {"type": "array", "items": one(inner=meta)}
    schema = {**one(meta=meta), "additionalProperties": False}
    tools = [
        ToolSpec("note", "", schema, strict=True),
        ToolSpec("s", "", TOOL.input_schema, strict=True),
    ]
    sent = send(model, tools=tools)
    written = {
        tool.get("function", tool)["name"]: tool.get("function", tool)
        for tool in sent.body["tools"]
    }

    assert not written["note"].get("strict")
    assert written["s"]["strict"] is True
    assert "strict of the tool 'note'" in sent.changes
    assert json.dumps(written["note"]).count("additionalProperties") == json.dumps(schema).count(
        "additionalProperties"
    )


BILL: Schema = {
    "type": "object",
    "properties": {"result": {"$ref": "#/$defs/Bill"}},
    "required": ["result"],
    "$defs": {
        "Bill": {
            "type": "object",
            "properties": {
                "customer": {"type": "string", "minLength": 1, "format": "byte"},
                "cents": {"type": "integer", "minimum": 0},
                "tags": {"type": "array", "items": STRING, "minItems": 2, "uniqueItems": True},
                "due": {"oneOf": [{"type": "string", "format": "date"}, {"type": "null"}]},
            },
            "required": ["customer", "cents"],
        }
    },
}
REFUSED = ("minLength", "minimum", "minItems", "uniqueItems", "oneOf", "byte")


def objects_of(schema: Any) -> list[Any]:
    if isinstance(schema, list):
        return [found for entry in schema for found in objects_of(entry)]
    if not isinstance(schema, dict):
        return []
    own = [schema] if schema.get("type") == "object" else []
    return own + [found for entry in schema.values() for found in objects_of(entry)]


def test_vp03_a_schema_is_written_in_the_vendors_dialect() -> None:
    sent = send("anthropic:claude-opus-4-8", response_format=JsonSchemaFormat(BILL))
    schema = sent.body["output_config"]["format"]["schema"]

    assert len(objects_of(schema)) == 2
    assert all(found["additionalProperties"] is False for found in objects_of(schema))
    assert not [word for word in REFUSED if word in json.dumps(schema)]
    assert "date" in json.dumps(schema)
    assert not sent.changes


TREE: Schema = {
    **one(result={"$ref": "#/$defs/T"}),
    "$defs": {"T": one(children={"type": "array", "items": {"$ref": "#/$defs/T"}})},
}
UNSAYABLE = [one(a=meta) for meta in OPEN.values()] + [
    TREE,
    one(a={"type": "array", "prefixItems": [STRING]}),
    one(a={"$ref": "https://e/schema"}),
    one(a={"enum": [{"x": 1}]}),
    {"type": "object", "properties": {f"p{at}": STRING for at in range(30)}},
    one(a={"allOf": [one(b=STRING), one(c=STRING)]}),
]


@pytest.mark.parametrize("schema", UNSAYABLE)
def test_vp03_what_the_dialect_cannot_say_is_asked_for_in_words(schema: Schema) -> None:
    sent = send("anthropic:claude-opus-4-8", response_format=JsonSchemaFormat(schema))

    assert "output_config" not in sent.body
    assert json.dumps(schema, separators=(",", ":")) in sent.body["system"][-1]["text"]
    assert sent.changes["response_format"].reason


def test_vp03_models_without_answer_formats_are_asked_in_words() -> None:
    sent = send("anthropic:claude-sonnet-4", response_format=JsonSchemaFormat(BILL))

    assert "output_config" not in sent.body
    assert "response_format" in sent.changes


def test_vp03_the_vendor_counts_all_schemas_of_a_request_together() -> None:
    wide: Schema = {"type": "object", "properties": {f"p{at}": STRING for at in range(20)}}
    size = Size()

    assert closed_schema(wide, size) is not None
    assert closed_schema(wide, size) is None
    assert size.optional == 20


@pytest.mark.parametrize("wanted", [JsonFormat(), JsonSchemaFormat(BILL)])
@pytest.mark.parametrize(
    "model", ["google:gemini-2.5-flash", "vertex:gemini-2.0-flash", "google-openai:gemini-2.5-pro",
              "groq:llama-3.3-70b", "cerebras:gpt-oss-120b"]
)  # fmt: skip
def test_vp10_a_json_answer_with_tools_is_asked_for_in_words(model: str, wanted: Any) -> None:
    sent = send(model, tools=[TOOL], response_format=wanted)

    assert "responseMimeType" not in sent.body.get("generationConfig", {})
    assert "response_format" not in sent.body
    assert "final answer as JSON" in json.dumps(sent.body)
    assert sent.body["tools"]
    assert "response_format" in sent.changes
    alone = send(model, response_format=wanted)
    assert "response_format" not in alone.changes


def test_vp10_gemini_3_is_sent_both() -> None:
    body = send("google:gemini-3-pro", tools=[TOOL], response_format=JsonSchemaFormat(BILL)).body

    assert body["generationConfig"]["responseMimeType"] == "application/json"
    assert body["tools"]
