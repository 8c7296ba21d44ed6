"""Names of tools and arguments that vendors refuse reach the vendor as others, and come back."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from agentkit_core import (
    Item,
    JsonValue,
    ModelOptions,
    ModelRequest,
    NamedTool,
    TextOutput,
    ToolCall,
    ToolCallId,
    ToolResult,
    ToolSpec,
)
from agentkit_core.provider import (
    AppendText,
    BeginPart,
    CommitPart,
    ModelEvent,
    ResponseFailed,
    fold_response,
    request_changes,
)
from agentkit_providers import connect
from agentkit_providers.replay import (
    Answer,
    anthropic_messages,
    google_generate,
    openai_chat,
    openai_responses,
)

MODELS: dict[str, Any] = {
    "anthropic:claude-opus-4-8": anthropic_messages,
    "openrouter:anthropic/claude-sonnet-4.5": openai_chat,
    "openai:gpt-4.1": openai_chat,
    "openai-responses:gpt-5": openai_responses,
    "google:gemini-2.5-flash": google_generate,
    "compatible:m": openai_chat,
}
CLAUDE = ("anthropic:claude-opus-4-8", "openrouter:anthropic/claude-sonnet-4.5")
ARGUMENTS: dict[str, JsonValue] = {
    "$top": 3,
    "@microsoft.graph.name": "x",
    "x" * 70: True,
    "plain": [1],
    "_top": None,
}
SCHEMA: dict[str, JsonValue] = {
    "type": "object",
    "properties": {name: {} for name in ARGUMENTS},
    "required": ["$top"],
}
NAMES = (
    "github.get", "github_get", "github:get", "files/read file", "3d_print", "-x", "x y", "ünï",
    "a" * 70, "a" * 71, "get_weather",
)  # fmt: skip
TOOLS = tuple(ToolSpec(name, "", SCHEMA) for name in NAMES)


def request(model: str, *items: Item, **options: Any) -> ModelRequest:
    return ModelRequest(
        model=model.partition(":")[2],
        items=items or (Item.user("hi"),),
        tools=TOOLS,
        streamed=True,
        options=ModelOptions(**options),
    )


def projection_of(model: str) -> Any:
    return connect(model, base_url="http://127.0.0.1:1").projection


def sent(model: str, *items: Item, **options: Any) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(
        projection_of(model).encode(request(model, *items, **options)).body
    )
    return body


def tools_of(body: dict[str, Any]) -> list[dict[str, Any]]:
    """The tools of a body, as objects with a name and a schema."""
    tools = body["tools"]
    if "functionDeclarations" in tools[0]:
        tools = tools[0]["functionDeclarations"]
    return [tool.get("function", tool) for tool in tools]


def schema_of(tool: dict[str, Any]) -> dict[str, Any]:
    for name in ("input_schema", "parameters", "parametersJsonSchema"):
        if name in tool:
            schema: dict[str, Any] = tool[name]
            return schema
    raise AssertionError(tool)


def wire_name(model: str, name: str) -> str:
    return str(tools_of(sent(model))[NAMES.index(name)]["name"])


def wire_arguments(model: str) -> dict[str, Any]:
    names = list(schema_of(tools_of(sent(model))[0])["properties"])
    return dict(zip(names, ARGUMENTS.values(), strict=True))


def events_of(model: str, answer: Answer, size: int = 0) -> list[ModelEvent]:
    body = b"".join(answer.pieces)
    decoder = projection_of(model).decoder(request(model))
    pieces = [body[at : at + size] for at in range(0, len(body), size)] if size else [body]
    events = [event for piece in pieces for event in decoder.feed(piece)]
    return [*events, *decoder.finish()]


@pytest.mark.parametrize("model", MODELS)
def test_vp04_every_tool_is_offered_under_a_name_that_the_vendor_takes(model: str) -> None:
    names = [tool["name"] for tool in tools_of(sent(model))]
    first = "[A-Za-z_]" if model.startswith("google") else "[A-Za-z0-9_-]"
    more = ".:" if model.startswith("google") else ""

    assert len(names) == len(set(names)) == len(NAMES)
    assert all(re.fullmatch(f"{first}[A-Za-z0-9_{more}-]{{0,63}}", name) for name in names)
    assert names[1] == "github_get"
    assert names[-1] == "get_weather"


@pytest.mark.parametrize("model", MODELS)
def test_vp04_every_argument_is_offered_under_a_name_that_the_vendor_takes(model: str) -> None:
    schema = schema_of(tools_of(sent(model))[0])
    properties, pattern = list(schema["properties"]), r"[a-zA-Z0-9_.-]{1,64}"

    assert len(properties) == len(ARGUMENTS)
    assert properties[-2:] == ["plain", "_top"]
    assert set(schema["required"]) <= set(properties)
    if model in CLAUDE:
        assert all(re.fullmatch(pattern, name) for name in properties)
    else:
        assert properties == list(ARGUMENTS)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("size", [0, 7])
def test_vp04_calls_come_back_under_the_names_of_the_request(model: str, size: int) -> None:
    for name in NAMES:
        check_name_comes_back(model, name, size)


def check_name_comes_back(model: str, name: str, size: int) -> None:
    arguments = wire_arguments(model)
    answer = MODELS[model].tool_calls([(wire_name(model, name), arguments)] * 2, said="so")
    events = events_of(model, answer, size)
    response = fold_response(events, strict=True)

    assert response.failure is None
    assert [(call.name, call.input) for call in response.item.tool_calls] == [(name, ARGUMENTS)] * 2
    begun = [event.part for event in events if isinstance(event, BeginPart)]
    assert [part.name for part in begun if isinstance(part, ToolCall)] == [name] * 2
    without_end = [event for event in events if not isinstance(event, CommitPart)]
    read_at_the_end = fold_response(without_end, strict=True).item.tool_calls
    assert [call.input for call in read_at_the_end] == [ARGUMENTS] * 2


@pytest.mark.parametrize("model", MODELS)
def test_vp04_the_history_and_a_forced_call_have_the_names_that_the_model_knows(
    model: str,
) -> None:
    call = ToolCall(ToolCallId("c1"), "github.get", dict(ARGUMENTS))
    items = (
        Item.user("hi"),
        Item.assistant(call),
        Item.tool(ToolResult(call.id, TextOutput("done"))),
    )
    body = sent(model, *items, tool_choice=NamedTool("github.get"))
    text = str({name: value for name, value in body.items() if name != "tools"})
    name = wire_name(model, "github.get")

    assert "github.get" not in text or name == "github.get"
    assert text.count(f"'{name}'") >= 2
    assert all(argument in text for argument in wire_arguments(model))
    if model in CLAUDE:
        assert "$top" not in text


@pytest.mark.parametrize("model", MODELS)
def test_vp04_a_conversation_is_written_as_its_requests_are(model: str) -> None:
    projection = projection_of(model)
    encoder = projection.encoder()
    call = ToolCall(ToolCallId("c1"), "github:get", dict(ARGUMENTS))
    items = [Item.user("hi"), Item.assistant(call), Item.tool(ToolResult(call.id, TextOutput("")))]
    for end in (1, 3, 3):
        asked = request(model, *items[:end])
        assert encoder.encode(asked) == projection.encode(asked)
    fewer = ModelRequest(model=request(model).model, items=tuple(items), tools=TOOLS[3:])
    assert encoder.encode(fewer) == projection.encode(fewer)


@pytest.mark.parametrize("model", MODELS)
def test_vp04_what_was_renamed_is_noted_and_what_is_taken_is_not(model: str) -> None:
    wire = projection_of(model).encode(request(model))
    changes = {change.what: change for change in request_changes(wire.metadata)}

    assert changes["the name of the tool 'x y'"].asked == "x y"
    assert changes["the name of the tool 'x y'"].sent == wire_name(model, "x y")
    assert "the name of the tool 'get_weather'" not in changes
    assert ("the argument '$top' of the tool 'x y'" in changes) is (model in CLAUDE)


@pytest.mark.parametrize("model", CLAUDE)
def test_vp04_arguments_of_a_call_that_is_cut_off_are_not_lost(model: str) -> None:
    answer = MODELS[model].tool_calls([(wire_name(model, "-x"), wire_arguments(model))])
    body = b"".join(answer.pieces)
    decoder = projection_of(model).decoder(request(model))
    cut = body[: body.index(b"plain") + 5]
    events = [*decoder.feed(cut), *decoder.finish()]
    (call,) = fold_response(events, strict=True).item.tool_calls

    assert isinstance(events[-1], ResponseFailed)
    assert call.name == "-x"
    assert call.input == {}
    assert call.input_error
    assert any(isinstance(event, AppendText) for event in events)
