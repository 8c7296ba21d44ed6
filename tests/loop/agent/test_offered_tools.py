"""A model's calls are held against the request that they answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio
import pytest
from msgspec.structs import replace

from agentkit_core import ModelOptions, ModelRequest, ModelResponse, NamedTool, ToolChoiceMode
from agentkit_loop import Agent, Hook, Limits, LoopConfig, RunFacts, TurnResult
from agentkit_loop.testing import Reply, ScriptedModel, call, say
from agentkit_tools_core import (
    CombinedTools,
    FunctionTool,
    HiddenTools,
    ToolRegistry,
    ToolReturn,
    tool,
)

Run = Callable[[Agent], TurnResult]


def run_blocking(agent: Agent) -> TurnResult:
    return agent.run_blocking("go")


def run_concurrent(agent: Agent) -> TurnResult:
    run: Callable[[str], Any] = agent.run
    result: TurnResult = anyio.run(run, "go")
    return result


def run_nested(agent: Agent) -> TurnResult:
    outer = Agent(
        model=ScriptedModel(call("inner", {"task": "go"}), say("x")),
        tools=[agent.as_tool("inner", "Works.", blocking=True)],
    )
    return outer.run_blocking("go")


every_way = pytest.mark.parametrize("run", [run_blocking, run_concurrent, run_nested])


def named(name: str, ran: list[str]) -> FunctionTool[..., Any]:
    @tool(name=name)
    def act() -> str:
        """Act."""
        ran.append(name)
        return f"{name} ran"

    return act


class Request(Hook):
    def __init__(self, **changes: Any) -> None:
        self.changes = changes

    def before_request(self, request: ModelRequest, facts: RunFacts, /) -> ModelRequest:
        return replace(request, **self.changes)


class Options(Hook):
    def __init__(self, choice: Any) -> None:
        self.choice = choice

    def before_request(self, request: ModelRequest, facts: RunFacts, /) -> ModelRequest:
        return replace(request, options=replace(request.options, tool_choice=self.choice))


class OnlyRead(Hook):
    def before_request(self, request: ModelRequest, facts: RunFacts, /) -> ModelRequest:
        return replace(request, tools=tuple(spec for spec in request.tools if spec.name == "read"))


@every_way
@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, ["read", "delete"]),
        ({"hooks": [OnlyRead()]}, ["read"]),
        ({"hooks": [Request(tools=())]}, []),
        ({"hooks": [Options(ToolChoiceMode.NONE)]}, []),
        ({"options": ModelOptions(tool_choice=ToolChoiceMode.NONE)}, []),
        ({"options": ModelOptions(tool_choice=NamedTool("read"))}, ["read"]),
        ({"hooks": [Options(NamedTool("read"))]}, ["read"]),
        ({"hooks": [Options(ToolChoiceMode.REQUIRED)]}, ["read", "delete"]),
        ({"config": LoopConfig(limits=Limits(max_tool_calls=1))}, ["read"]),
    ],
)  # fmt: skip
def test_vl03_what_a_request_does_not_offer_is_not_run_and_its_siblings_are(
    run: Run, settings: dict[str, Any], expected: list[str]
) -> None:
    ran: list[str] = []
    both = Reply.of(call("read", {}, "c1"), call("delete", {}, "c2"))
    model = ScriptedModel(both, say("x"))
    run(Agent(model=model, tools=[named("read", ran), named("delete", ran)], **settings))

    assert sorted(ran) == sorted(expected)
    # The turn goes on, and the model reads what has become of each call.
    results = model.requests[1].items[-1].tool_results
    assert [result.is_error for result in results] == ["read" not in ran, "delete" not in ran]
    for result in results:
        assert not result.is_error or "not executed" in result.text


@every_way
def test_vl03_a_tool_that_was_added_after_the_request_is_not_run(run: Run) -> None:
    ran: list[str] = []
    tools = ToolRegistry([named("read", ran)])

    class Adding(Hook):
        def after_response(self, response: ModelResponse, facts: RunFacts, /) -> None:
            if "delete" not in tools:
                tools.register(named("delete", ran))

    model = ScriptedModel(call("delete", {}, "c1"), call("delete", {}, "c2"), say("x"))
    run(Agent(model=model, tools=tools, hooks=[Adding()]))

    assert ran == ["delete"]
    assert "not offered" in model.requests[1].items[-1].tool_results[0].text


@every_way
def test_vl03_hidden_tools_may_be_called_unless_the_request_was_restricted(run: Run) -> None:
    def turn(*hooks: Hook) -> list[str]:
        ran: list[str] = []
        hidden = HiddenTools(ToolRegistry([named("deep", ran)]))

        @tool
        def find() -> ToolReturn:
            """Find tools."""
            return ToolReturn(output="found", added_tools=("deep",))

        model = ScriptedModel(call("deep", {}, "c1"), call("find", {}, "c2"),
                              call("deep", {}, "c3"), say("x"))  # fmt: skip
        run(Agent(model=model, tools=CombinedTools(ToolRegistry([find]), hidden), hooks=hooks))
        return ran

    assert turn() == ["deep", "deep"]
    assert turn(OnlyRead()) == []


@every_way
def test_vl03_of_a_tool_that_does_not_exist_the_model_is_told_what_there_is(run: Run) -> None:
    model = ScriptedModel(call("nothing"), say("x"))
    run(Agent(model=model, tools=[named("read", [])]))
    assert "The available tools are: read" in model.requests[1].items[-1].tool_results[0].text
