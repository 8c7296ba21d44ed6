"""A tool with a schema of its own is a tool like any other."""

from __future__ import annotations

from typing import Any

import pytest

from agentkit_core import (
    ApprovalId,
    ApprovalKind,
    JsonValue,
    StructuredOutput,
    TextOutput,
    ToolCallId,
    ToolFailure,
    ToolSpec,
)
from agentkit_tools_core import (
    Executor,
    InvalidToolInput,
    InvalidToolName,
    SchemaTool,
    Suspension,
    ToolContext,
    ToolInvocation,
    ToolOutcome,
    external_tool,
)
from agentkit_tools_core.permissions import custom_permission
from agentkit_tools_core.testing import call_tool, check_tool

SPEC = ToolSpec(
    "find",
    "Find it.",
    {"type": "object", "properties": {"n": {}, "m": {}}, "required": ["n", "m"]},
)


def plain(arguments: dict[str, JsonValue], context: ToolContext) -> str:
    return f"{context.request.name} {arguments['n']}"


async def waiting(arguments: dict[str, JsonValue], context: ToolContext) -> str:
    return plain(arguments, context)


@pytest.mark.parametrize("function", [plain, waiting])
def test_a_schema_tool_keeps_the_contract_of_tools(function: Any) -> None:
    created = SchemaTool(
        SPEC, function, permissions=lambda request: [custom_permission("find", "find")]
    )

    assert created.is_async == (function is waiting)
    assert check_tool(created, {"n": 1, "m": 2}).result.output == TextOutput("find 1")


def test_whether_it_waits_may_be_said() -> None:
    created = SchemaTool(SPEC, lambda *arguments: waiting(*arguments), is_async=True, inline=True)

    assert created.inline
    assert call_tool(created, {"n": 1, "m": 2}).result.output == TextOutput("find 1")


def test_c05_what_is_required_and_missing_is_told() -> None:
    with pytest.raises(InvalidToolInput) as caught:
        SchemaTool(SPEC, plain).bind({"m": 1, "other": 2})

    assert caught.value.paths == ("n",)
    assert caught.value.message == (
        'Validation failed for tool "find":\n'
        "  - n: is required\n"
        "\n"
        "Received arguments:\n"
        "{\n"
        '  "m": 1,\n'
        '  "other": 2\n'
        "}"
    )


def test_c05_at_most_five_places_are_told() -> None:
    spec = ToolSpec("t", input_schema={"type": "object", "required": list("abcdefg")})
    with pytest.raises(InvalidToolInput) as caught:
        SchemaTool(spec, plain).bind({})

    assert caught.value.message.count("is required") == 5
    assert "  … and 2 more" in caught.value.message
    assert caught.value.paths == tuple("abcdefg")


@pytest.mark.parametrize("value", [[], "x", None])
def test_arguments_are_an_object(value: Any) -> None:
    with pytest.raises(InvalidToolInput, match="must be a JSON object, not"):
        SchemaTool(SPEC, plain).bind(value)


def test_what_a_tool_does_to_its_arguments_is_its_own_affair() -> None:
    value: dict[str, JsonValue] = {"n": [1], "m": {}}
    bound: Any = SchemaTool(SPEC, plain).bind(value)
    bound["n"].append(2)

    assert value == {"n": [1], "m": {}}


def test_a_validator_is_asked_first() -> None:
    def refuse(value: Any) -> None:
        raise InvalidToolInput("no")

    with pytest.raises(InvalidToolInput, match="no"):
        SchemaTool(SPEC, plain, validate=refuse).bind({})


def test_t03_a_name_that_some_provider_refuses_is_refused() -> None:
    with pytest.raises(InvalidToolName):
        SchemaTool(ToolSpec("a.b"), plain)


def test_what_the_host_runs_itself_waits_for_its_answer_which_is_the_result() -> None:
    spec = ToolSpec("lamp", "Switch the lamp.", {"type": "object", "required": ["on"]})
    executor = Executor([external_tool(spec)])
    request = ToolInvocation(ToolCallId("c1"), "lamp", {"on": True})

    waits = executor.run_blocking(request, ToolContext(request))
    assert isinstance(waits, Suspension)
    (ask,) = waits.requests
    assert (ask.kind, ask.want, ask.metadata) == (
        "host_tool", ApprovalKind.QUESTION, {"tool.input": {"on": True}},
    )  # fmt: skip

    # Sessions that earlier versions stored have this id; its answer is found too.
    earlier = ApprovalId("host_tool:23a9bceea74a9786cfb87a6b960b6ff7")
    assert ask.id.startswith("host_tool?")
    stored = ToolContext(request, approved=[earlier], answers={earlier: {"lit": True}})
    assert isinstance(executor.run_blocking(request, stored), ToolOutcome)

    answered = ToolContext(request, approved=[ask.id], answers={ask.id: {"lit": True}})
    done = executor.run_blocking(request, answered)
    assert isinstance(done, ToolOutcome)
    assert done.result.output == StructuredOutput({"lit": True})

    denied = executor.run_blocking(request, ToolContext(request, denied={ask.id: "no hands"}))
    assert isinstance(denied, ToolOutcome)
    assert denied.result.is_error
    assert denied.result.failure is ToolFailure.PERMISSION_DENIED
