"""In both drivers: what is judged, shown and reported is what the tool gets."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest

from agentkit_core import JsonValue
from agentkit_loop import Agent, ApprovalDecision, BackgroundDone, LoopConfig, TurnResult
from agentkit_loop.events import Envelope, ToolExecutionStarted
from agentkit_loop.testing import Reply, ScriptedModel, call, say
from agentkit_tools_core import ToolInvocation, tool
from agentkit_tools_core.permissions import PermissionRequest

Run = Callable[[Agent], TurnResult]


def run_blocking(agent: Agent) -> TurnResult:
    return agent.run_blocking("go")


def run_concurrent(agent: Agent) -> TurnResult:
    run: Callable[[str], Awaitable[TurnResult]] = agent.run
    return anyio.run(run, "go")


both = pytest.mark.parametrize("run", [run_blocking, run_concurrent])


@both
@pytest.mark.parametrize("background", [False, True])
def test_vu01_a_call_is_judged_shown_and_reported_as_it_runs(run: Run, background: bool) -> None:
    seen: list[Any] = []
    events: list[Any] = []

    def permissions(request: ToolInvocation) -> list[PermissionRequest]:
        seen.append(request.input)
        return []

    @tool(needs_approval=True, permissions=permissions, detach_after_s=0 if background else None)
    def delete(paths: list[str], depth: int = 1) -> str:
        seen.append({"paths": paths, "depth": depth})
        return "deleted"

    def approve(request: Any) -> bool:
        seen.append(request.call.input)
        return True

    def report(envelope: Envelope) -> None:
        if isinstance(envelope.event, ToolExecutionStarted):
            events.append(envelope.event.input)

    model = ScriptedModel(call("delete", {"paths": '["a"]'}), say("x"), say("y"))
    config = LoopConfig(background_done=BackgroundDone.CONTINUE)
    agent = Agent(
        model=model, tools=[delete], on_approval=approve, reporters=[report], config=config
    )
    result = run(agent)

    whole = {"paths": ["a"], "depth": 1}
    assert seen == [whole] * 3
    assert events == [whole]
    # The transcript keeps the model's own words.
    if not background:  # else a later turn has the result
        assert result.items[0].tool_calls[0].input == {"paths": '["a"]'}


@both
def test_vu01_what_an_approver_edits_is_converted_and_judged_anew(run: Run) -> None:
    seen: list[JsonValue] = []

    def permissions(request: ToolInvocation) -> list[PermissionRequest]:
        seen.append(request.input)
        return []

    @tool(needs_approval=True, permissions=permissions)
    def delete(paths: list[str], depth: int = 1) -> str:
        return f"{paths} {depth}"

    def approve(request: Any) -> ApprovalDecision:
        return ApprovalDecision(approve=True, input={"paths": '["b"]', "depth": "2"})

    model = ScriptedModel(call("delete", {"paths": ["a"]}), say("x"))
    result = run(Agent(model=model, tools=[delete], on_approval=approve))

    assert seen == [{"paths": ["a"], "depth": 1}, {"paths": ["b"], "depth": 2}]
    assert result.items[1].tool_results[0].text == "['b'] 2"


@both
def test_vu01_the_same_call_in_other_words_counts_as_the_same(run: Run) -> None:
    @tool
    def act(cents: int, note: str = "-") -> str:
        raise ValueError("no")

    words: list[dict[str, JsonValue]] = [
        {"cents": 5},
        {"cents": "5"},
        {"note": "-", "cents": 5},
        {"cents": 5.0, "note": None},
    ]
    replies = [Reply.of(call("act", arguments, f"c{n}")) for n, arguments in enumerate(words)]
    model = ScriptedModel(*replies, say("x"))
    result = run(Agent(model=model, tools=[act], config=LoopConfig(max_identical_failures=4)))

    assert result.limit == "max_identical_failures"
