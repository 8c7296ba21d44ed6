"""A call always ends as a result, whatever is wrong with it or in the tool."""

from __future__ import annotations

import contextvars
import logging
import threading
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import anyio
import anyio.to_thread
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit_core import (
    JsonValue,
    StructuredOutput,
    TextOutput,
    ToolAnnotations,
    ToolCallId,
    ToolFailure,
    ToolResult,
    ToolSpec,
)
from agentkit_tools_core import (
    Allowed,
    Executor,
    InvalidToolInput,
    NeedsApproval,
    Refused,
    Suspension,
    Tool,
    ToolContext,
    ToolError,
    ToolInvocation,
    ToolOutcome,
    ToolRegistry,
    error_result,
    tool,
)
from agentkit_tools_core.permissions import Allow, Ask, Deny, PermissionRequest
from agentkit_tools_core.sync import NeedsEventLoop
from agentkit_tools_core.testing import RecordingPolicy, ScriptedTool

T = TypeVar("T")


def request(name: str = "t", **arguments: JsonValue) -> ToolInvocation:
    return ToolInvocation(ToolCallId("call-1"), name, arguments)


def run(executor: Executor, requests: ToolInvocation) -> ToolOutcome:
    return over(executor.run_blocking(requests, ToolContext(requests)))


async def in_thread(function: Callable[[], T], /) -> T:
    return await anyio.to_thread.run_sync(function)


async def run_concurrently(executor: Executor, requests: ToolInvocation) -> ToolOutcome:
    return over(await executor.run(requests, ToolContext(requests), to_thread=in_thread))


def over(result: ToolOutcome | Suspension) -> ToolOutcome:
    assert isinstance(result, ToolOutcome)
    return result


def text(result: ToolResult) -> str:
    assert isinstance(result.output, TextOutput)
    return result.text


@tool
def double(n: int) -> int:
    """Double a number."""
    return 2 * n


# Looking a call over


def test_l05_a_made_up_name_is_answered_with_the_names_there_are() -> None:
    executor = Executor([ScriptedTool("search"), ScriptedTool("weather")])

    for result in (executor.preflight(request("serch")), run(executor, request("serch"))):
        answer = result.result  # type: ignore[union-attr]
        assert answer.failure is ToolFailure.NOT_FOUND
        assert not answer.started
        assert "'serch'" in text(answer)
        assert "search, weather" in text(answer)
        assert not any(word in text(answer).lower() for word in ("permi", "allow", "deni"))
    assert run(Executor(), request("x")).result.failure is ToolFailure.NOT_FOUND


def test_l05_at_most_fifty_names_are_listed() -> None:
    executor = Executor([ScriptedTool(f"tool{n}") for n in range(53)])

    answer = text(run(executor, request("x")).result)
    assert answer.endswith("tool48, tool49 and 3 more.")


def test_arguments_are_checked_before_anyone_is_asked() -> None:
    policy = RecordingPolicy({"tool.double": Ask()})
    executor = Executor([tool(double, name="double", needs_approval=True)], policy=policy)

    result = executor.preflight(request("double", n="x"))

    assert isinstance(result, Refused)
    assert result.result.failure is ToolFailure.INVALID_INPUT
    assert not result.result.started
    assert policy.requests == []


READ = PermissionRequest("fs.read", "read /a")
WRITE = PermissionRequest("fs.write", "write /ok", {"fs.path": "/ok"})
SECRET = PermissionRequest("fs.secret", "write /secret", {"fs.path": "/secret"})


def test_t20_a_denial_wins_over_an_earlier_request_that_asks() -> None:
    policy = RecordingPolicy({"fs.write": Ask(), "fs.secret": Deny("not that file")})
    executor = Executor([ScriptedTool("t", permissions=[WRITE, SECRET])], policy=policy)

    result = executor.preflight(request())

    assert isinstance(result, Refused)
    assert result.result.failure is ToolFailure.PERMISSION_DENIED
    assert not result.result.started
    assert text(result.result) == "Permission denied: not that file"


def test_t20_all_that_has_to_be_asked_is_asked_at_once() -> None:
    policy = RecordingPolicy({"fs.write": Ask("new file"), "fs.secret": Ask()})
    executor = Executor([ScriptedTool("t", permissions=[READ, WRITE, SECRET])], policy=policy)

    result = executor.preflight(request())

    assert isinstance(result, NeedsApproval)
    assert [value.kind for value in result.requests] == ["fs.write", "fs.secret"]
    assert [value.reason for value in result.requests] == ["new file", None]
    assert {value.call.id for value in result.requests} == {"call-1"}
    first, second = (value.id for value in result.requests)
    still = executor.preflight(request(), granted=[first])
    assert isinstance(still, NeedsApproval)
    assert [value.id for value in still.requests] == [second]
    assert executor.preflight(request(), granted=[second, first]) == Allowed()


def test_one_question_that_comes_twice_is_asked_once() -> None:
    policy = RecordingPolicy({"fs.write": Ask()})
    executor = Executor([ScriptedTool("t", permissions=[WRITE, WRITE])], policy=policy)

    result = executor.preflight(request())
    assert isinstance(result, NeedsApproval)
    assert len(result.requests) == 1


def test_t02_a_tool_that_needs_approval_asks_for_itself() -> None:
    needy = ScriptedTool("t", annotations=ToolAnnotations(needs_approval=True))
    executor = Executor([needy])

    result = executor.preflight(request(path="/a"))

    assert isinstance(result, NeedsApproval)
    (requests,) = result.requests
    assert requests.kind == "tool.t"
    assert requests.summary == 't {"path":"/a"}'
    assert executor.preflight(request(path="/a"), granted=[requests.id]) == Allowed()
    assert isinstance(executor.preflight(request(path="/b"), granted=[requests.id]), NeedsApproval)
    allowed = Executor([needy], policy=RecordingPolicy({"tool.t": Allow()}))
    assert allowed.preflight(request()) == Allowed()


def test_t24_a_grant_covers_arguments_that_are_too_long_to_be_shown() -> None:
    executor = Executor([ScriptedTool("t", annotations=ToolAnnotations(needs_approval=True))])
    value, other = (
        executor.preflight(request(text="x" * 5_000 + letter + "x" * 5_000)) for letter in "ab"
    )

    assert isinstance(value, NeedsApproval)
    assert isinstance(other, NeedsApproval)
    assert value.requests[0].summary == other.requests[0].summary
    assert value.requests[0].id != other.requests[0].id


@given(
    st.lists(st.sampled_from([READ, WRITE, SECRET]), max_size=4),
    st.dictionaries(
        st.sampled_from(["fs.read", "fs.write", "fs.secret"]),
        st.sampled_from([Allow(), Ask(), Deny("no"), None]),
    ),
)
def test_looking_a_call_over_changes_nothing_and_grants_lead_to_its_end(
    requests: list[PermissionRequest], decisions: dict[str, Any]
) -> None:
    scripted = ScriptedTool("t", permissions=requests)
    executor = Executor([scripted], policy=RecordingPolicy(decisions))
    result = executor.preflight(request())

    assert executor.preflight(request()) == result
    if isinstance(result, NeedsApproval):
        granted = [value.id for value in result.requests]
        assert executor.preflight(request(), granted=granted) == Allowed()
    assert scripted.calls == []


class Broken:
    """A tool that breaks its contract wherever it is told to."""

    is_async = inline = False

    def __init__(self, where: str) -> None:
        self.spec = ScriptedTool("t").spec
        self._where = where

    def permissions(self, call: ToolInvocation, /) -> list[PermissionRequest]:
        return [] if self._where != "permissions" else [1 // 0]  # type: ignore[list-item]

    def bind(self, arguments: Mapping[str, JsonValue], /) -> object:
        return {} if self._where != "bind" else 1 // 0

    def invoke(self, arguments: object, context: ToolContext, /) -> object:
        if self._where == "stop iteration":
            raise StopIteration("late")
        return 1 // 0


@pytest.mark.parametrize("where", ["permissions", "bind"])
def test_a_broken_tool_is_refused_rather_than_let_through(where: str) -> None:
    result = Executor([Broken(where)]).preflight(request())

    assert isinstance(result, Refused)
    assert result.result.failure is ToolFailure.EXECUTION_FAILED
    assert not result.result.started
    assert "ZeroDivisionError" in text(result.result)


# Running it


async def test_l01_an_error_is_a_result_without_a_traceback(
    caplog: pytest.LogCaptureFixture,
) -> None:
    executor = Executor([ScriptedTool("t", [ValueError("no")], inline=False)])

    with caplog.at_level(logging.DEBUG, "agentkit_tools_core"):
        outcomes = [run(executor, request()), await run_concurrently(executor, request())]

    for outcome in outcomes:
        result = outcome.result
        assert text(result) == "ValueError: no"
        assert (result.is_error, result.started) == (True, True)
        assert result.failure is ToolFailure.EXECUTION_FAILED
        assert result.call_id == "call-1"
    assert len(caplog.records) == 2
    assert all(record.exc_info for record in caplog.records), "the log has the traceback"


@pytest.mark.parametrize(
    ("error", "words", "failure"),
    [
        (ToolError("in my own words"), "in my own words", ToolFailure.EXECUTION_FAILED),
        (
            ToolError("gone", failure=ToolFailure.UNAVAILABLE),
            "gone",
            ToolFailure.UNAVAILABLE,
        ),
        (ValueError(), "ValueError", ToolFailure.EXECUTION_FAILED),
        (TimeoutError("late"), "TimeoutError: late", ToolFailure.TIMED_OUT),
        (KeyError("k"), "KeyError: 'k'", ToolFailure.EXECUTION_FAILED),
        (ValueError("\ud800"), "ValueError: \ufffd", ToolFailure.EXECUTION_FAILED),
        (
            ExceptionGroup("tasks", [ValueError("a"), ExceptionGroup("x", [OSError("b")])]),
            "ValueError: a; OSError: b",
            ToolFailure.EXECUTION_FAILED,
        ),
        (
            InvalidToolInput("raised inside"),
            "InvalidToolInput: raised inside",
            ToolFailure.EXECUTION_FAILED,
        ),
    ],
)
def test_an_error_is_told_in_words_for_the_model(
    error: Exception, words: str, failure: ToolFailure
) -> None:
    result = run(Executor([ScriptedTool("t", [error])]), request()).result

    assert (text(result), result.failure, result.is_error) == (words, failure, True)


def test_an_error_may_carry_details_for_people() -> None:
    error = ToolError("no", result_details={"code": 3})
    odd = ToolError("no", result_details=object())  # type: ignore[arg-type]

    assert run(Executor([ScriptedTool("t", [error])]), request()).result.details == {"code": 3}
    assert run(Executor([ScriptedTool("t", [odd])]), request()).result.details is None


async def test_stop_iteration_comes_out_of_a_thread_as_a_result() -> None:
    outcome = await run_concurrently(Executor([Broken("stop iteration")]), request())

    assert text(outcome.result) == "StopIteration: late"


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt, SystemExit, GeneratorExit])
async def test_what_is_meant_to_end_more_than_the_call_passes_through(
    interrupt: type[BaseException],
) -> None:
    executor = Executor([ScriptedTool("t", [interrupt()])])

    with pytest.raises(interrupt):
        run(executor, request())
    with pytest.raises(interrupt):
        await run_concurrently(executor, request())


async def test_cancelling_passes_through() -> None:
    @tool
    async def wait() -> None:
        await anyio.sleep_forever()

    with anyio.move_on_after(0.01) as scope:
        await run_concurrently(Executor([wait]), request("wait"))
    assert scope.cancelled_caught


async def test_async_tools_are_awaited_and_their_errors_are_results() -> None:
    @tool
    async def slow(n: int) -> int:
        await anyio.sleep(0)
        return 10 // n

    executor = Executor([slow])
    assert (await run_concurrently(executor, request("slow", n=5))).result.output.value == 2  # type: ignore[union-attr]
    failed = await run_concurrently(executor, request("slow", n=0))
    assert text(failed.result).startswith("ZeroDivisionError: ")


async def test_a_sync_function_that_returns_an_awaitable_is_awaited() -> None:
    async def inner() -> str:
        return "done"

    outer = tool(lambda: inner(), name="t")
    assert text((await run_concurrently(Executor([outer]), request())).result) == "done"


async def test_k07_sync_tools_run_in_a_thread_unless_they_say_inline() -> None:
    variable = contextvars.ContextVar("variable", default="unset")
    variable.set("seen")

    def where() -> list[object]:
        return [threading.get_ident(), variable.get()]

    beside = await run_concurrently(Executor([tool(where, name="t")]), request())
    here = await run_concurrently(Executor([tool(where, name="t", inline=True)]), request())

    ident = threading.get_ident()
    assert here.result.output == StructuredOutput([ident, "seen"])
    assert isinstance(beside.result.output, StructuredOutput)
    other, received = beside.result.output.value  # type: ignore[misc, str-unpack]
    assert other != ident
    assert received == "seen"


def test_vl12_an_async_tool_without_an_event_loop_is_a_mistake_of_the_host() -> None:
    async def inner() -> None: ...

    for created in (tool(inner, name="t"), tool(lambda: inner(), name="t")):
        with pytest.raises(NeedsEventLoop, match="no event loop"):
            run(Executor([created]), request())


async def test_arguments_are_checked_again_when_the_call_runs() -> None:
    executor = Executor([double])

    for outcome in (
        run(executor, request("double", n="x")),
        await run_concurrently(executor, request("double", n="x")),
    ):
        assert outcome.result.failure is ToolFailure.INVALID_INPUT
        assert not outcome.result.started


def test_t27_long_outputs_and_long_errors_are_cut() -> None:
    answers = ["x" * 1000, ValueError("y" * 1000)]
    executor = Executor([ScriptedTool("t", answers)], max_output_bytes=100)

    good, bad = run(executor, request()).result, run(executor, request()).result
    assert len(text(good)) == len(text(bad)) == 100
    assert text(good).endswith("[tool output truncated: original_bytes=1000]")
    assert text(bad).endswith("[tool output truncated: original_bytes=1012]")
    whole = Executor([ScriptedTool("t", answers)], max_output_bytes=None)
    assert len(text(run(whole, request()).result)) == 1000


def test_a_registry_may_change_under_an_executor() -> None:
    registry = ToolRegistry()
    executor = Executor(registry)
    assert executor.specs() == ()

    registry.register(double)
    assert executor.specs() == (double.spec,)
    assert run(executor, request("double", n=2)).result.output.value == 4  # type: ignore[union-attr]


class Catalogue:
    """A source of one advertised tool, and some that results can add."""

    revision = 0

    def __init__(self, visible: Tool, *hidden: Tool) -> None:
        self._visible = visible
        self._hidden = hidden

    def specs(self) -> tuple[ToolSpec, ...]:
        return (self._visible.spec,)

    def hidden(self) -> tuple[ToolSpec, ...]:
        return tuple(value.spec for value in self._hidden)

    def get(self, name: str, /) -> Tool | None:
        return next(
            (value for value in (self._visible, *self._hidden) if value.spec.name == name), None
        )


def test_a12_a_model_is_told_of_the_tools_that_results_added() -> None:
    executor = Executor(Catalogue(double, ScriptedTool("double"), *map(ScriptedTool, "abcdefgh")))

    def names(*added: str) -> list[str]:
        return [spec.name for spec in executor.specs(added)]

    assert executor.specs() == (double.spec,)
    assert names() == ["double"]
    assert names("c", "a") == ["double", "c", "a"], "what came first stays first"
    assert names("a", "a", "double", "missing") == ["double", "a"]
    anyhow = executor.specs(frozenset("hgfedcba"))
    assert [spec.name for spec in anyhow] == ["double", *"abcdefgh"], "as the source has them"
    assert Executor([double]).specs(["double", "a"]) == (double.spec,)


def test_l05_the_names_there_are_do_not_tell_of_hidden_tools_though_they_run() -> None:
    executor = Executor(Catalogue(double, ScriptedTool("a")))

    assert text(run(executor, request("x")).result).endswith("The available tools are: double.")
    assert text(run(executor, request("a")).result) == "ok"
    assert executor.preflight(request("a")) == Allowed()


def test_what_a_tool_says_of_itself_is_found_by_its_name() -> None:
    annotations = ToolAnnotations(read_only=True, timeout_s=3)
    executor = Executor([ScriptedTool("t", annotations=annotations)])

    assert executor.annotations("t") == annotations
    assert executor.annotations("x") is None


class Failing:
    """A source that cannot say what there is."""

    revision = 0

    def specs(self) -> tuple[ToolSpec, ...]:
        raise RuntimeError("the catalogue is gone")

    def get(self, name: str, /) -> Tool | None:
        if name == "none":
            return None
        raise RuntimeError("the catalogue is gone")


@pytest.mark.parametrize("name", ["t", "none"])
def test_a_source_that_fails_is_an_error_result(name: str) -> None:
    executor = Executor(Failing())

    verdict = executor.preflight(request(name))
    assert isinstance(verdict, Refused)
    for result in (verdict.result, run(executor, request(name)).result):
        assert not result.started
        assert "the catalogue is gone" in text(result)


def test_t05_a_result_that_is_passed_on_is_that_of_a_tool_that_ran() -> None:
    refused = error_result(ToolCallId("other"), "no", None)
    executor = Executor([ScriptedTool("t", [refused])])

    assert run(executor, request()).result.started
