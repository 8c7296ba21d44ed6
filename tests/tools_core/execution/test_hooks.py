"""Hooks see every call of a tool: before it may run, and after it ran."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import anyio
import pytest

from agentkit_core import (
    JsonValue,
    TextOutput,
    TokenUsage,
    ToolCallId,
    ToolFailure,
    ToolResult,
    Usage,
)
from agentkit_tools_core import (
    Allowed,
    Block,
    ChangeInput,
    Executor,
    NeedsApproval,
    Refused,
    Suspension,
    ToolContext,
    ToolError,
    ToolFacts,
    ToolHook,
    ToolInvocation,
    ToolOutcome,
    ToolReturn,
    tool,
)
from agentkit_tools_core.sync import NeedsEventLoop
from agentkit_tools_core.testing import RecordingPolicy, ScriptedTool

T = TypeVar("T")


async def here(function: Callable[[], T], /) -> T:
    return function()


def request(name: str = "double", **arguments: JsonValue) -> ToolInvocation:
    return ToolInvocation(ToolCallId("call-1"), name, arguments)


def run(executor: Executor, requests: ToolInvocation) -> ToolOutcome:
    result = executor.run_blocking(requests, ToolContext(requests))
    assert isinstance(result, ToolOutcome)
    return result


def text(result: ToolResult) -> str:
    assert isinstance(result.output, TextOutput), result
    return result.text


@tool
def double(n: int) -> str:
    """Double a number."""
    return str(2 * n)


class Saying(ToolHook):
    """Answers what it is told to before, and remembers what it saw."""

    def __init__(self, answer: Any = None) -> None:
        self.answer = answer
        self.seen: list[tuple[dict[str, JsonValue], ToolFacts]] = []

    def before_tool(self, call: ToolInvocation, facts: ToolFacts) -> Any:
        self.seen.append((call.input, facts))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


class SayingLater(Saying):
    async def before_tool(self, call: ToolInvocation, facts: ToolFacts) -> Any:
        await anyio.sleep(0)
        return super().before_tool(call, facts)


class Changing(ToolHook):
    """Answers what a function makes of a result."""

    def __init__(self, change: Callable[[ToolResult], Any]) -> None:
        self.change = change
        self.seen: list[tuple[ToolInvocation, ToolResult, ToolFacts]] = []

    def after_tool(self, call: ToolInvocation, result: ToolResult, facts: ToolFacts) -> Any:
        self.seen.append((call, result, facts))
        return self.change(result)


class ChangingLater(Changing):
    async def after_tool(self, call: ToolInvocation, result: ToolResult, facts: ToolFacts) -> Any:
        await anyio.sleep(0)
        return super().after_tool(call, result, facts)


def output(answer: str) -> Callable[[ToolResult], ToolResult]:
    return lambda result: ToolResult(call_id=ToolCallId("other"), output=TextOutput(answer))


# Before


@pytest.mark.parametrize(
    ("block", "words", "stop"),
    [
        (Block(), "Tool execution was blocked", False),
        (Block("too large", stop=True), "too large", True),
    ],
)
def test_c06_a_blocked_call_is_refused_in_the_hooks_words(
    block: Block, words: str, stop: bool
) -> None:
    late = Saying()
    result = Executor([double], hooks=[Saying(block), late]).preflight(request(n=1))

    assert isinstance(result, Refused)
    assert (text(result.result), result.stop) == (words, stop)
    assert (result.result.is_error, result.result.started) == (True, False)
    assert result.result.failure is ToolFailure.PERMISSION_DENIED
    assert late.seen == [], "nobody is asked after a block"


def test_hooks_see_calls_that_fit_and_only_those() -> None:
    hook = Saying()
    executor = Executor([double], hooks=[hook])

    assert executor.preflight(request(n=1)) == Allowed()
    assert isinstance(executor.preflight(request(n="x")), Refused)
    assert isinstance(executor.preflight(request("missing")), Refused)
    assert hook.seen == [({"n": 1}, ToolFacts(double.spec))]


def test_c06_a_hook_changes_the_arguments_and_the_next_one_sees_it() -> None:
    second = Saying()
    executor = Executor([double], hooks=[Saying(ChangeInput({"n": 5})), second])
    requests = request(n=1)
    result = executor.preflight(requests)

    assert result == Allowed({"n": 5})
    assert requests.input == {"n": 1}, "the transcript keeps the model's"
    assert second.seen[0][0] == {"n": 5}


def test_changed_arguments_are_checked_like_any() -> None:
    result = Executor([double], hooks=[Saying(ChangeInput({"n": []}))]).preflight(request(n=1))

    assert isinstance(result, Refused)
    assert result.result.failure is ToolFailure.INVALID_INPUT


def test_an_approval_covers_the_arguments_as_they_were_changed() -> None:
    hook = Saying(ChangeInput({"n": 5}))
    executor = Executor([tool(double, name="double", needs_approval=True)], hooks=[hook])
    result = executor.preflight(request(n=1))

    assert isinstance(result, NeedsApproval)
    assert result.requests[0].metadata == {"tool.input": {"n": 5}}
    granted = [result.requests[0].id]
    assert executor.preflight(request(n=1), granted=granted) == Allowed({"n": 5})
    hook.answer = ChangeInput({"n": 6})
    assert isinstance(executor.preflight(request(n=1), granted=granted), NeedsApproval)


def test_policies_decide_after_the_hooks() -> None:
    policy = RecordingPolicy()
    blocked = Executor(
        [tool(double, name="double", needs_approval=True)], policy=policy, hooks=[Saying(Block())]
    )
    assert isinstance(blocked.preflight(request(n=1)), Refused)
    assert policy.requests == []


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (ValueError("no"), "ValueError: no"),
        (ToolError("in my words"), "in my words"),
        (False, "a hook returned bool; return Block, ChangeInput or None"),
        (Allowed(), "a hook returned Allowed"),
    ],
)
def test_a_hook_that_fails_blocks_the_call(answer: Any, words: str) -> None:
    result = Executor([double], hooks=[Saying(answer)]).preflight(request(n=1))

    assert isinstance(result, Refused)
    assert words in text(result.result)
    assert not result.result.started


async def test_vl12_async_hooks_are_waited_for_and_a_mistake_where_nobody_can_wait() -> None:
    hook = SayingLater(ChangeInput({"n": 5}))
    executor = Executor([double], hooks=[hook])

    assert await executor.preflight_async(request(n=1)) == Allowed({"n": 5})
    with pytest.raises(NeedsEventLoop, match="a hook around tool calls is asynchronous"):
        executor.preflight(request(n=1))
    assert len(hook.seen) == 1


async def test_sync_hooks_are_called_both_ways() -> None:
    executor = Executor([double], hooks=[Saying(Block("no"))])

    assert await executor.preflight_async(request(n=1)) == executor.preflight(request(n=1))


# After


def test_c06_after_hooks_change_results_one_after_the_other() -> None:
    first, second = Changing(output("first")), Changing(lambda result: None)
    executor = Executor([double], hooks=[first, second])
    result = run(executor, request(n=2)).result

    assert (text(result), result.call_id) == ("first", "call-1")
    assert text(first.seen[0][1]) == "4"
    assert text(second.seen[0][1]) == "first"
    assert first.seen[0][0] == request(n=2)


def test_c06_a_result_keeps_the_tools_it_adds_whatever_a_hook_does() -> None:
    adding = ScriptedTool("t", [ToolReturn(output="a", added_tools=("x",))])
    hooks: list[list[ToolHook]] = [
        [Changing(output("b"))],
        [Changing(lambda result: 1 // 0)],
        [],
    ]
    for some in hooks:
        assert run(Executor([adding], hooks=some), request("t")).result.added_tools == ("x",)


def test_c06_an_after_hook_that_raises_makes_the_result_an_error() -> None:
    usage = Usage(TokenUsage(input=1), requests=1)
    stopping = ScriptedTool("t", [ToolReturn(output="a", stop=True, usage=usage)])
    late = Changing(lambda result: None)
    outcome = run(Executor([stopping], hooks=[Changing(lambda _: 1 // 0), late]), request("t"))

    assert "ZeroDivisionError" in text(outcome.result)
    assert (outcome.result.is_error, outcome.result.started) == (True, True)
    assert not outcome.stop, "the model has to see it"
    assert outcome.result.usage == usage, "what was used was used"
    assert late.seen[0][1].is_error


def test_a_hook_that_answers_nonsense_is_an_error() -> None:
    outcome = run(Executor([double], hooks=[Changing(lambda result: "text")]), request(n=1))

    assert "a hook returned str; return ToolResult, ToolOutcome or None" in text(outcome.result)


@pytest.mark.parametrize("stop", [True, False])
def test_b10_an_after_hook_sets_or_clears_the_end_of_the_turn(stop: bool) -> None:
    stopping = ScriptedTool("t", [ToolReturn(output="a", stop=not stop)])
    hook = Changing(lambda result: ToolOutcome(result, stop))
    outcome = run(Executor([stopping], hooks=[hook]), request("t"))

    assert outcome.stop is stop
    assert hook.seen[0][2] == ToolFacts(stopping.spec, stop=not stop)
    assert run(Executor([stopping], hooks=[Changing(output("b"))]), request("t")).stop is not stop


def test_c06_after_hooks_see_failures_and_nothing_that_did_not_run() -> None:
    hook = Changing(lambda result: None)
    executor = Executor([double, ScriptedTool("t", [ValueError("no")])], hooks=[hook])

    run(executor, request("t"))
    run(executor, request(n="x"))
    run(executor, request("missing"))
    assert [text(result) for _, result, _ in hook.seen] == ["ValueError: no"]


def test_after_hooks_do_not_see_a_call_that_waits() -> None:
    @tool(name="t")
    def asking(context: ToolContext) -> None:
        context.ask("go on?")

    hook = Changing(lambda result: None)
    requests = request("t")
    outcome = Executor([asking], hooks=[hook]).run_blocking(requests, ToolContext(requests))
    assert isinstance(outcome, Suspension)
    assert hook.seen == []


def test_after_hooks_see_the_whole_output_and_what_they_say_is_cut() -> None:
    hook = Changing(output("y" * 1000))
    executor = Executor([ScriptedTool("t", ["x" * 1000])], hooks=[hook], max_output_bytes=100)
    result = run(executor, request("t")).result

    assert len(text(hook.seen[0][1])) == 1000
    assert len(text(result)) == 100


async def test_vl12_async_after_hooks_are_waited_for_and_a_mistake_where_nobody_can_wait() -> None:
    executor = Executor([double], hooks=[ChangingLater(output("late"))])
    requests = request(n=1)

    result = await executor.run(requests, ToolContext(requests), to_thread=here)
    assert isinstance(result, ToolOutcome)
    assert text(result.result) == "late"
    with pytest.raises(NeedsEventLoop, match="a hook around tool calls is asynchronous"):
        run(executor, requests)


# Both


def test_hooks_that_override_nothing_are_not_there() -> None:
    assert not Executor([double], hooks=[ToolHook()]).has_hooks
    assert not Executor([double]).has_hooks
    assert Executor([double], hooks=[Saying()]).has_hooks
    assert Executor([double], hooks=[Changing(output("x"))]).has_hooks


def test_what_is_no_hook_is_refused_at_once() -> None:
    with pytest.raises(TypeError, match="make its class a subclass of ToolHook"):
        Executor([double], hooks=[Saying])  # type: ignore[list-item]


def test_hooks_see_the_calls_that_tools_make() -> None:
    class Both(Saying):
        def after_tool(self, call: ToolInvocation, result: ToolResult, facts: ToolFacts) -> None:
            self.seen.append((call.input, facts))

    @tool
    def parent(context: ToolContext) -> str:
        return text(context.call_blocking("double", {"n": 1}))

    hook = Both(ChangeInput({"n": 5}))
    executor = Executor([parent, double], hooks=[hook])
    assert text(run(executor, request("parent")).result) == "10"
    child = ToolFacts(double.spec, ToolCallId("call-1"))
    assert hook.seen == [({"n": 1}, child), ({"n": 5}, child), ({}, ToolFacts(parent.spec))]


def test_a_block_of_a_child_is_its_result() -> None:
    class NoDoubling(ToolHook):
        def before_tool(self, call: ToolInvocation, facts: ToolFacts) -> Block | None:
            return Block("never double") if call.name == "double" else None

    @tool
    def parent(context: ToolContext) -> str:
        return text(context.call_blocking("double", {"n": 1}))

    executor = Executor([parent, double], hooks=[NoDoubling()])
    assert text(run(executor, request("parent")).result) == "never double"
