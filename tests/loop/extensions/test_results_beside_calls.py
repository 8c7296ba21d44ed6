"""A typed result that stands beside other calls counts only if none of them fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio
import pytest

from agentkit_core import ApprovalRequest, ToolCall, ToolCallId
from agentkit_loop import Agent, Hook, Limits, LoopConfig, ResultMode, TypedResult
from agentkit_loop.testing import Reply, ScriptedModel, call
from agentkit_tools_core import Block, Tool, ToolFacts, ToolInvocation, ToolReturn, tool


@tool
def patch(anchor: str) -> str:
    """Patch a file."""
    if anchor == "bad":
        raise ValueError("anchor not found")
    return "patched"


@tool
def soft() -> ToolReturn:
    """Fail without raising."""
    return ToolReturn(output="no such file", is_error=True)


@tool(needs_approval=True)
def risky() -> str:
    """Do what needs approval."""
    return "done"


@tool(timeout_s=0.01)
async def slow() -> str:
    """Take long."""
    await anyio.sleep(1)
    return "late"


class Guard(Hook):
    def before_tool(self, call: ToolInvocation, facts: ToolFacts) -> Block | None:
        return Block("not today") if call.input.get("anchor") == "blocked" else None


def deny(request: ApprovalRequest) -> bool:
    return False


def in_loop(agent: Agent) -> TypedResult[str]:
    async def run() -> TypedResult[str]:
        return await agent.run("Edit.", result_type=str, result_mode=ResultMode.TOOL)

    return anyio.run(run)


def blocking(agent: Agent) -> TypedResult[str]:
    return agent.run_blocking("Edit.", result_type=str, result_mode=ResultMode.TOOL)


Run = Callable[[Agent], TypedResult[str]]
drivers = pytest.mark.parametrize("run", [in_loop, blocking])

RESULT = call("final_result", {"result": "all edits made"}, "r")
FAILURES: dict[str, ToolCall] = {
    "raises": call("patch", {"anchor": "bad"}, "c"),
    "says that it failed": call("soft", {}, "c"),
    "does not exist": call("none", {}, "c"),
    "has wrong arguments": call("patch", {}, "c"),
    "is blocked": call("patch", {"anchor": "blocked"}, "c"),
    "is denied": call("risky", {}, "c"),
    "cannot be read": ToolCall(id=ToolCallId("c"), name="patch", raw_input="{", input_error="cut"),
}


def agent_of(*script: Any, **settings: Any) -> tuple[Agent, ScriptedModel]:
    model = ScriptedModel(*script)
    tools: list[Tool] = [patch, soft, risky, slow]
    return Agent(model=model, tools=tools, hooks=[Guard()], on_approval=deny, **settings), model


@drivers
@pytest.mark.parametrize("first", [True, False], ids=["before", "after"])
@pytest.mark.parametrize("failing", FAILURES.values(), ids=FAILURES)
def test_vl11_the_model_reads_of_the_failure_before_its_result_counts(
    run: Run, failing: ToolCall, first: bool
) -> None:
    both = Reply.of(*((failing, RESULT) if first else (RESULT, failing)))
    agent, model = agent_of(both, call("final_result", {"result": "one edit failed"}, "c3"))

    came = run(agent)

    assert (came.value, came.problem) == ("one edit failed", None)
    assert any(result.is_error for result in model.requests[1].items[-1].tool_results)


def test_vl11_a_call_that_times_out_has_failed_as_well() -> None:
    both = Reply.of(call("slow", {}, "c"), RESULT)
    agent, _ = agent_of(both, call("final_result", {"result": "too slow"}, "c3"))

    assert in_loop(agent).value == "too slow"


@drivers
def test_vl11_where_nothing_failed_the_result_counts_at_once(run: Run) -> None:
    agent, model = agent_of(Reply.of(call("patch", {"anchor": "good"}, "c"), RESULT))

    came = run(agent)

    assert (came.value, came.problem, len(model.requests)) == ("all edits made", None, 1)


@drivers
def test_vl11_where_the_model_cannot_be_asked_again_the_result_says_so(run: Run) -> None:
    agent, _ = agent_of(
        Reply.of(FAILURES["raises"], RESULT),
        config=LoopConfig(limits=Limits(max_model_calls=1)),
    )

    came = run(agent)

    assert not came.has_value
    assert came.turn.limit == "max_model_calls"


@drivers
def test_vl11_a_result_that_never_comes_again_is_a_problem(run: Run) -> None:
    agent, _ = agent_of(Reply.of(FAILURES["raises"], RESULT), *["Done!"] * 9)

    came = run(agent)

    assert not came.has_value
    assert came.problem is not None


def test_vl11_tools_of_the_host_may_end_a_turn_in_the_same_way() -> None:
    @tool
    def finish() -> ToolReturn:
        """Finish."""
        return ToolReturn(output="bye", stop_unless_failed=True)

    ends = []
    for anchor in ("good", "bad"):
        both = Reply.of(call("patch", {"anchor": anchor}, "a"), call("finish", {}, "b"))
        agent = Agent(model=ScriptedModel(both, "It failed."), tools=[patch, finish])
        ends.append(agent.run_blocking("go").text)

    assert ends == ["", "It failed."]
