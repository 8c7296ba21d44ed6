"""Tools that call tools: children are calls like any, and nothing runs twice."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import anyio
import anyio.to_thread
import msgspec
import pytest

from agentkit_core import (
    ApprovalId,
    ApprovalRequest,
    InlineBytes,
    JsonValue,
    Media,
    Modality,
    PartsOutput,
    SessionId,
    StructuredOutput,
    TextOutput,
    TokenUsage,
    ToolAnnotations,
    ToolCall,
    ToolCallId,
    ToolFailure,
    ToolResult,
    Usage,
)
from agentkit_tools_core import (
    Executor,
    FunctionTool,
    Suspension,
    Tool,
    ToolContext,
    ToolInvocation,
    ToolOutcome,
    ToolReturn,
    approval_request,
    tool,
)
from agentkit_tools_core.permissions import Allow, Ask, Deny, PermissionRequest, Policy, PolicyFacts
from agentkit_tools_core.sync import NeedsEventLoop
from agentkit_tools_core.testing import RecordingPolicy, ScriptedTool

T = TypeVar("T")

PARENT = ToolInvocation(ToolCallId("call-1"), "parent", session_id=SessionId("s"))
NEEDY = ToolAnnotations(needs_approval=True)


async def here(function: Callable[[], T], /) -> T:
    return function()


async def in_thread(function: Callable[[], T], /) -> T:
    return await anyio.to_thread.run_sync(function)


class Host:
    """Runs a parent again and again, as a driver does, with what is granted meanwhile."""

    def __init__(
        self, tools: Sequence[Tool], *, policy: Policy | None = None, limit: int | None = 150_000
    ) -> None:
        self.executor = Executor(tools, policy=policy, max_output_bytes=limit)
        self.granted: set[ApprovalId] = set()
        self.answers: dict[ApprovalId, JsonValue] = {}
        self.denied: dict[ApprovalId, str | None] = {}
        self.token: JsonValue = None
        self.dependencies: dict[type[Any], object] = {}
        self.told: list[str] = []

    def run(self) -> ToolOutcome | Suspension:
        context = ToolContext(
            PARENT,
            approved=self.granted,
            answers=self.answers,
            denied=self.denied,
            token=self.token,
            dependencies=self.dependencies,
            progress=lambda message, data: self.told.append(message),
        )
        parent = self.executor.source.get("parent")
        assert parent is not None
        if parent.is_async:
            result = asyncio.run(self.executor.run(PARENT, context, to_thread=here))
        else:
            result = self.executor.run_blocking(PARENT, context)
        if isinstance(result, Suspension):
            self.token = msgspec.json.decode(msgspec.json.encode(result.token))
        return result

    def suspended(self) -> Suspension:
        result = self.run()
        assert isinstance(result, Suspension), result
        return result

    def ended(self) -> ToolResult:
        result = self.run()
        assert isinstance(result, ToolOutcome), result
        return result.result


def text(result: ToolResult) -> str:
    assert isinstance(result.output, TextOutput), result
    return result.text


def calling(*names: str) -> FunctionTool[..., Any]:
    """A tool that calls others, and joins what they say."""

    @tool
    async def parent(context: ToolContext) -> str:
        return ", ".join([text(await context.call(name)) for name in names])

    return parent


def calling_sync(*names: str) -> FunctionTool[..., Any]:
    @tool
    def parent(context: ToolContext) -> str:
        return ", ".join([text(context.call_blocking(name)) for name in names])

    return parent


BOTH = pytest.mark.parametrize("make", [calling, calling_sync])
Make = Callable[..., FunctionTool[..., Any]]


# A child is a call like any


@BOTH
def test_children_are_run_and_their_results_come_back(make: Make) -> None:
    received: list[ToolInvocation] = []

    @tool
    def look(context: ToolContext) -> str:
        received.append(context.request)
        context.progress("looking")
        return f"for {context.get(str)}"

    host = Host([make("look", "look"), look])
    host.dependencies[str] = "Ada"

    assert text(host.ended()) == "for Ada, for Ada"
    assert [value.call_id for value in received] == ["call-1.1", "call-1.2"]
    assert {value.session_id for value in received} == {"s"}
    assert host.told == ["looking", "looking"]


@BOTH
def test_what_is_wrong_with_a_child_is_its_result(make: Make) -> None:
    @tool
    def needs(n: int) -> int:
        return n

    failing = ScriptedTool("failing", [ValueError("no")])
    answer = text(Host([make("missing", "needs", "failing"), needs, failing]).ended())

    assert "There is no tool named 'missing'. The available tools are: parent, needs" in answer
    assert "n: is required" in answer
    assert "ValueError: no" in answer


@BOTH
def test_a_denied_child_is_an_error_result_and_its_parent_goes_on(make: Make) -> None:
    child = ScriptedTool("child", permissions=[PermissionRequest("fs.write", "write")])
    host = Host([make("child"), child], policy=RecordingPolicy({"fs.write": Deny("not there")}))

    assert text(host.ended()) == "Permission denied: not there"
    assert child.calls == []


def test_children_get_plain_json_and_their_outputs_are_cut() -> None:
    child = ScriptedTool("child", ["x" * 1000])

    @tool
    def parent(context: ToolContext) -> int:
        return len(text(context.call_blocking("child", {"pair": (1, 2)})))  # type: ignore[dict-item]

    assert Host([parent, child], limit=100).ended().output == StructuredOutput(100)
    assert child.calls == [{"pair": [1, 2]}]


def test_vl12_an_async_child_of_a_sync_tool_is_a_mistake_of_the_host() -> None:
    @tool
    async def slow() -> str:
        return "done"

    with pytest.raises(NeedsEventLoop, match="'slow' is asynchronous"):
        Host([calling_sync("slow"), slow]).ended()
    assert text(Host([calling("slow"), slow]).ended()) == "done"


async def test_sync_children_of_async_tools_run_in_a_thread_and_may_call_on() -> None:
    idents: list[int] = []

    def note() -> str:
        idents.append(threading.get_ident())
        return "noted"

    def between(context: ToolContext) -> str:
        idents.append(threading.get_ident())
        return text(context.call_blocking("note"))

    executor = Executor([calling("between"), tool(between), tool(note)])
    result = await executor.run(PARENT, ToolContext(PARENT), to_thread=in_thread)

    assert isinstance(result, ToolOutcome)
    assert text(result.result) == "noted"
    assert idents[0] == idents[1] != threading.get_ident()


def test_arguments_that_are_no_json_are_the_tools_mistake() -> None:
    @tool
    def parent(context: ToolContext) -> None:
        context.call_blocking("parent", {"x": object()})  # type: ignore[dict-item]

    result = Host([parent]).ended()
    assert (result.is_error, "TypeError" in text(result)) == (True, True)


@BOTH
def test_tools_that_call_themselves_without_end_come_to_one(make: Make) -> None:
    host = Host([make("count", "parent"), count := ScriptedTool("count")])

    assert "more than 16 levels deep" in text(host.ended())
    assert len(count.calls) == 16, "the one that a model called, and fifteen below it"


async def test_a_context_without_an_executor_calls_nobody() -> None:
    context = ToolContext(PARENT)

    with pytest.raises(RuntimeError, match="no executor runs this context"):
        context.call_blocking("child")
    with pytest.raises(RuntimeError, match="no executor runs this context"):
        await context.call("child")


def test_a_call_that_is_over_calls_nobody() -> None:
    remaining: list[ToolContext] = []

    @tool
    def parent(context: ToolContext) -> None:
        remaining.append(context)

    Host([parent]).run()

    with pytest.raises(RuntimeError, match="has ended"):
        remaining[0].call_blocking("parent")


# Usage


def used(n: int) -> Usage:
    return Usage(TokenUsage(input=n), requests=1, reported_requests=1)


@pytest.mark.parametrize("last", ["done", ValueError("no")])
def test_usage_of_children_is_added_to_that_of_the_parent_that_reports_none(last: object) -> None:
    child = ScriptedTool("child", [ToolReturn(output="a", usage=used(n)) for n in (1, 2)])

    @tool
    def parent(context: ToolContext) -> str:
        context.call_blocking("child")
        context.call_blocking("child")
        if isinstance(last, Exception):
            raise last
        return "done"

    assert Host([parent, child]).ended().usage == used(1) + used(2)


def test_usage_of_children_is_not_added_to_what_the_parent_reports() -> None:
    child = ScriptedTool("child", [ToolReturn(output="a", usage=used(1))])

    @tool
    def parent(context: ToolContext) -> ToolReturn:
        context.call_blocking("child")
        return ToolReturn(output="done", usage=used(10))

    assert Host([parent, child]).ended().usage == used(10)
    assert Host([calling(), child]).ended().usage is None


# Children that ask


@BOTH
def test_a_child_that_needs_approval_suspends_its_parent_and_runs_once(make: Make) -> None:
    picture = Media(modality=Modality.IMAGE, mime_type="image/png", data=InlineBytes(b"\x00\xff"))
    first = ScriptedTool("first", [ToolReturn(output="one", details={"a": 1}, usage=used(3))])
    received = ScriptedTool("seen", [ToolReturn(output=picture)])
    needy = ScriptedTool("needy", ["two"], annotations=NEEDY)
    outputs: list[Any] = []

    @tool
    def look(context: ToolContext) -> str:
        outputs.append(context.call_blocking("seen").output)
        return "looked"

    host = Host([make("first", "look", "needy"), first, look, received, needy])
    outcome = host.suspended()

    (requests,) = outcome.requests
    assert (requests.kind, requests.call.id) == ("tool.needy", "call-1")
    assert outcome.takes_denials
    assert needy.calls == []
    host.granted.add(requests.id)
    result = host.ended()
    assert text(result) == "one, looked, two"
    assert [len(value.calls) for value in (first, received, needy)] == [1, 1, 1]
    assert result.usage == used(3), "counted once, though the parent ran twice"
    assert outputs == [PartsOutput((picture,))]


@BOTH
def test_a_recorded_result_comes_back_as_it_was(make: Make) -> None:
    picture = Media(modality=Modality.IMAGE, mime_type="image/png", data=InlineBytes(b"\x00\xff"))
    child = ScriptedTool(
        "child", [ToolReturn(output=picture, details={"n": 1 << 70}, is_error=True, usage=used(1))]
    )
    results: list[ToolResult] = []

    @tool
    def parent(context: ToolContext) -> None:
        results.append(context.call_blocking("child"))
        context.ask("go on?")

    host = Host([parent, child])
    host.suspended()
    host.suspended()
    assert results[0] == results[1]
    assert results[0].call_id == "call-1.1"


@BOTH
def test_a_child_that_people_deny_is_an_error_result_and_its_parent_goes_on(make: Make) -> None:
    first = ScriptedTool("first", ["one"])
    needy = ScriptedTool("needy", annotations=NEEDY)
    host = Host([make("first", "needy", "needy"), first, needy])

    host.denied[host.suspended().requests[0].id] = "not today"
    denied = "Permission denied: not today"
    assert text(host.ended()) == f"one, {denied}, {denied}"
    assert (len(first.calls), needy.calls) == (1, [])


@BOTH
def test_a_child_that_asks_in_the_middle_is_run_again_with_its_own_token(make: Make) -> None:
    runs: list[JsonValue] = []

    @tool
    def child(context: ToolContext) -> str:
        runs.append(context.token)
        if context.token is None:
            name = PermissionRequest("question", "name?")
            try:
                context.require(name)
            except BaseException as asked:
                context.suspend(asked.requests, token="mine")  # type: ignore[attr-defined]
        return str(context.answers)

    host = Host([make("first", "child"), ScriptedTool("first"), child])
    (asked,) = host.suspended().requests
    assert (asked.summary, asked.call.id) == ("name?", "call-1")
    host.answers[asked.id] = "Ada"
    host.granted.add(asked.id)

    assert "Ada" in text(host.ended())
    assert runs == [None, "mine"]


@pytest.mark.parametrize("takes_denials", [True, False])
def test_a_denial_reaches_the_child_that_takes_it_and_ends_the_one_that_does_not(
    takes_denials: bool,
) -> None:
    @tool
    def child(context: ToolContext) -> str:
        requests = PermissionRequest("x", "sure?")
        if context.denied:
            return f"heard {list(context.denied.values())}"
        try:
            context.require(requests)
        except BaseException as suspended:
            context.suspend(suspended.requests, takes_denials=takes_denials)  # type: ignore[attr-defined]
        return "granted"

    host = Host([calling("child"), child])
    host.denied[host.suspended().requests[0].id] = "no"
    wanted = "heard ['no']" if takes_denials else "Permission denied: no"
    assert text(host.ended()) == wanted


def test_c07_tools_below_tools_ask_through_all_of_them() -> None:
    bottom = ScriptedTool("bottom", ["deep"], annotations=NEEDY)
    counted = ScriptedTool("counted", ["once"])

    @tool
    async def middle(context: ToolContext) -> str:
        return text(await context.call("counted")) + text(await context.call("bottom"))

    host = Host([calling("counted", "middle"), middle, counted, bottom])
    (requests,) = host.suspended().requests
    assert requests.call.id == "call-1"
    host.granted.add(requests.id)
    assert text(host.ended()) == "once, oncedeep"
    assert len(counted.calls) == 2, "once by each of the two tools"


def test_a_parents_own_token_is_its_own_beside_its_childrens_record() -> None:
    tokens: list[JsonValue] = []

    @tool
    def parent(context: ToolContext) -> str:
        tokens.append(context.token)
        context.call_blocking("first")
        if context.token is None:
            context.suspend([_asked("a")], token=[1])
        return text(context.call_blocking("needy"))

    first = ScriptedTool("first")
    needy = ScriptedTool("needy", annotations=NEEDY)
    host = Host([parent, first, needy])
    host.suspended()
    (requests,) = host.suspended().requests
    host.granted.add(requests.id)
    assert text(host.ended()) == "ok"
    assert tokens == [None, [1], [1]]
    assert len(first.calls) == 1


def _asked(summary: str) -> ApprovalRequest:
    return approval_request(PermissionRequest("x", summary), ToolCall(ToolCallId("any"), "other"))


def test_children_that_are_asked_for_at_once_in_a_task_group_are_asked_together() -> None:
    needy = ScriptedTool("needy", annotations=NEEDY)

    @tool
    async def parent(context: ToolContext) -> str:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(context.call("needy", {"n": n})) for n in (1, 2)]
        return ", ".join(text(task.result()) for task in tasks)

    host = Host([parent, needy])
    requests = host.suspended().requests
    assert [value.metadata["tool.input"] for value in requests] == [{"n": 1}, {"n": 2}]
    host.granted |= {value.id for value in requests}
    assert text(host.ended()) == "ok, ok"
    assert needy.calls == [{"n": 1}, {"n": 2}]


# The same way each time


@pytest.mark.parametrize("caught", [False, True])
@pytest.mark.parametrize(
    ("names", "arguments", "was"), [("ab", (1, 1), "a {"), ("aa", (1, 2), 'a {"n":1}')]
)
def test_a_parent_that_takes_another_way_ends_with_what_was_expected(
    names: str, arguments: tuple[int, int], was: str, caught: bool
) -> None:
    turn = 0

    @tool
    def parent(context: ToolContext) -> str:
        nonlocal turn
        name, n = names[turn], arguments[turn]
        turn += 1
        try:
            context.call_blocking(name, {"n": n})
            context.ask("go on?")
        except Exception:
            if not caught:
                raise
        return "done all the same"

    a, b = ScriptedTool("a"), ScriptedTool("b")
    host = Host([parent, a, b])
    host.suspended()
    result = host.ended()

    assert result.is_error
    assert f"other child calls: call 1 was {was}" in text(result)
    assert (len(a.calls), len(b.calls)) == (1, 0)


def test_a_parent_that_took_another_way_calls_nobody_any_more() -> None:
    names = ["a", "b"]

    @tool
    def parent(context: ToolContext) -> None:
        with contextlib.suppress(Exception):
            context.call_blocking(names.pop(0))
        context.call_blocking("late")
        context.ask("go on?")

    late = ScriptedTool("late", ["once", "twice"])
    host = Host([parent, ScriptedTool("a"), ScriptedTool("b"), late])
    host.suspended()
    host.token["children"].pop()  # type: ignore[call-overload, index, union-attr]
    assert "other child calls: call 1 was a {} and is now b {}" in text(host.ended())
    assert len(late.calls) == 1


@pytest.mark.parametrize("decision", [Allow(), Ask()])
def test_vl23_a_child_that_goes_on_is_neither_proposed_nor_judged_again(
    decision: Allow | Ask,
) -> None:
    tokens: list[JsonValue] = []
    evaluated: list[str] = []

    def propose(request: ToolInvocation) -> list[PermissionRequest]:
        evaluated.append("callback")
        return [PermissionRequest("fs.write", "write")]

    def policy(request: PermissionRequest, facts: PolicyFacts) -> Allow | Ask:
        evaluated.append("policy")
        return decision

    @tool(permissions=propose)
    def child(context: ToolContext) -> str:
        tokens.append(context.token)
        if context.token is None:
            context.suspend([_asked("first")], token=1)
        return "done"

    host = Host([calling("child"), child], policy=policy)
    if decision == Ask():
        host.granted.add(host.suspended().requests[0].id)
    host.suspended()
    assert text(host.ended()) == "done"
    assert tokens == [None, 1]
    assert evaluated == ["callback", "policy"]


def test_vl23_a_child_that_was_denied_is_not_proposed_again() -> None:
    evaluated: list[str] = []

    def propose(request: ToolInvocation) -> list[PermissionRequest]:
        evaluated.append("callback")
        return [PermissionRequest("fs.write", "write")]

    child = ScriptedTool("child")
    child.permissions = propose  # type: ignore[method-assign]
    host = Host([calling("child"), child], policy=lambda request, facts: Ask())
    host.denied[host.suspended().requests[0].id] = "never"
    assert "never" in text(host.ended())
    assert evaluated == ["callback"]
    assert not child.calls


def test_vs04_a_child_whose_tool_was_replaced_does_not_run() -> None:
    @tool(name="child", needs_approval=True)
    def first() -> str:
        return "first"

    @tool(name="child", needs_approval=True)
    def second() -> str:
        return "second"

    host = Host([calling("child"), first])
    host.granted.add(host.suspended().requests[0].id)
    host.executor = Executor([calling("child"), second])
    assert "changed after" in text(host.ended())


def test_what_was_recorded_survives_a_run_that_stops_before_it() -> None:
    child = ScriptedTool("child", ["a", "b"])
    early = [False, True, False]

    @tool
    def parent(context: ToolContext) -> str:
        if early.pop(0):
            context.ask("early?")
        answer = text(context.call_blocking("child"))
        context.ask("late?")
        return answer

    host = Host([parent, child])
    host.suspended()
    host.suspended()
    (late,) = host.suspended().requests
    host.answers[late.id] = 1
    early.append(False)
    assert text(host.ended()) == "a"
    assert len(child.calls) == 1


def test_a_record_that_was_damaged_ends_the_call_before_anything_runs() -> None:
    child = ScriptedTool("child")
    host = Host([calling("child", "child"), child])
    host.token = {"type": "agentkit_tools_core.run", "children": [{"name": 3}]}

    assert "is not valid" in text(host.ended())
    assert child.calls == []


def test_a_record_that_grows_too_large_ends_the_call() -> None:
    big = ScriptedTool("big", ["x" * 600_000])
    needy = ScriptedTool("needy", annotations=NEEDY)

    result = Host([calling("big", "big", "needy"), big, needy], limit=None).ended()
    assert "at most 1048576" in text(result)


def test_a_policy_that_asks_is_asked_for_children_too() -> None:
    write = PermissionRequest("fs.write", "write /a", {"fs.path": "/a"})
    child = ScriptedTool("child", permissions=[write])
    policy = RecordingPolicy({"fs.write": Ask("new file")})
    host = Host([calling("child"), child], policy=policy)

    (requests,) = host.suspended().requests
    assert (requests.kind, requests.reason) == ("fs.write", "new file")
    host.denied[requests.id] = None
    result = host.ended()
    assert text(result) == "Permission denied."
    assert result.failure is not ToolFailure.PERMISSION_DENIED, "the parent itself went well"
