"""A tool that asks in the middle of its run stops there, and is run again with the answers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from enum import StrEnum
from typing import Any, TypeVar

import anyio
import msgspec
import pytest

from agentkit_core import (
    ApprovalId,
    ApprovalKind,
    ApprovalRequest,
    JsonValue,
    SessionId,
    TextOutput,
    ToolCall,
    ToolCallId,
    ToolFailure,
    ToolResult,
)
from agentkit_tools_core import (
    ApprovalDenied,
    Executor,
    FunctionTool,
    Suspension,
    ToolContext,
    ToolInvocation,
    ToolOutcome,
    ToolSuspended,
    approval_id,
    approval_request,
    tool,
)
from agentkit_tools_core.permissions import PermissionRequest

T = TypeVar("T")

REQUEST = ToolInvocation(ToolCallId("call-1"), "t")
WRITE = PermissionRequest("fs.write", "write /a", {"fs.path": "/a"})


async def here(function: Callable[[], T], /) -> T:
    return function()


async def in_thread(function: Callable[[], T], /) -> T:
    return await anyio.to_thread.run_sync(function)


def run(created: FunctionTool[..., Any], **context: Any) -> ToolOutcome | Suspension:
    executor = Executor([created])
    inside = ToolContext(REQUEST, **context)
    if created.is_async:
        return asyncio.run(executor.run(REQUEST, inside, to_thread=here))
    return executor.run_blocking(REQUEST, inside)


def suspended(created: FunctionTool[..., Any], **context: Any) -> Suspension:
    result = run(created, **context)
    assert isinstance(result, Suspension), result
    return result


def ended(created: FunctionTool[..., Any], **context: Any) -> ToolResult:
    result = run(created, **context)
    assert isinstance(result, ToolOutcome), result
    return result.result


def text(result: ToolResult) -> str:
    assert isinstance(result.output, TextOutput)
    return result.text


def question(summary: str) -> ApprovalRequest:
    requests = PermissionRequest("question", summary)
    elsewhere = ToolCall(ToolCallId("somewhere else"), "other")
    return approval_request(requests, elsewhere, want=ApprovalKind.QUESTION)


@tool(name="t")
def greet(context: ToolContext) -> str:
    name = context.ask("Your name?", schema={"type": "string"}, metadata={"form": "name"})
    return f"Hello {name}"


def test_a_question_suspends_the_call_and_is_answered_when_it_runs_again() -> None:
    (requests,) = suspended(greet).requests

    assert (requests.kind, requests.summary, requests.want) == (
        "question",
        "Your name?",
        ApprovalKind.QUESTION,
    )
    assert (requests.schema, requests.metadata) == ({"type": "string"}, {"form": "name"})
    assert requests.call.id == "call-1"
    assert text(ended(greet, answers={requests.id: "Ada"})) == "Hello Ada"
    assert text(ended(greet, answers={requests.id: "Ada"}, approved=[requests.id])) == "Hello Ada"
    assert text(ended(greet, approved=[requests.id])) == "Hello None"


def test_a_question_has_the_fingerprint_of_its_kind_its_text_and_its_facts() -> None:
    (requests,) = suspended(greet).requests
    facts: dict[str, JsonValue] = {"form": "name"}

    assert requests.id == approval_id(
        PermissionRequest("question", "Your name?", facts), ApprovalKind.QUESTION
    )
    assert isinstance(run(greet, answers={ApprovalId("question:other"): "x"}), Suspension)


@tool(name="t")
def log_in(context: ToolContext) -> str:
    return f"in as {context.authorize('Log in to the shop', metadata={'url': 'https://x.test'})}"


def test_a_log_in_is_asked_for_as_such_and_a_yes_is_enough() -> None:
    (requests,) = suspended(log_in).requests

    assert (requests.kind, requests.want) == ("auth", ApprovalKind.AUTH)
    assert requests.metadata == {"url": "https://x.test"}
    assert text(ended(log_in, approved=[requests.id])) == "in as None"
    assert text(ended(log_in, answers={requests.id: "ada"})) == "in as ada"


@tool(name="t")
def write(context: ToolContext) -> str:
    context.require(WRITE, reason="it is there already")
    return "written"


def test_a_permission_is_asked_for_in_the_middle_of_a_run() -> None:
    (requests,) = suspended(write).requests

    assert requests == approval_request(
        WRITE, ToolCall(ToolCallId("call-1"), "t"), reason="it is there already"
    )
    assert requests.want is ApprovalKind.APPROVAL
    assert text(ended(write, approved=[requests.id])) == "written"


def test_an_answer_is_no_permission() -> None:
    assert isinstance(run(write, answers={approval_id(WRITE): False}), Suspension)


@pytest.mark.parametrize("created", [greet, log_in, write])
def test_a_denial_is_raised_where_it_was_asked_even_over_a_grant(
    created: FunctionTool[..., Any],
) -> None:
    outcome = suspended(created)
    (requests,) = outcome.requests

    result = ended(created, denied={requests.id: "not today"}, approved=[requests.id])
    silent = ended(created, denied={requests.id: None})
    assert outcome.takes_denials, "or the tool would never hear of it"
    assert (text(result), result.failure) == ("not today", ToolFailure.PERMISSION_DENIED)
    assert text(silent) == f"The request was denied: {requests.summary}"


def test_a_tool_may_go_on_after_a_denial() -> None:
    @tool(name="t")
    def careful(context: ToolContext) -> str:
        try:
            context.require(WRITE)
        except ApprovalDenied as denial:
            return f"left alone: {denial.reason}, {denial.request.kind}"
        return "written"

    assert text(ended(careful, denied={approval_id(WRITE): "no"})) == "left alone: no, fs.write"


def test_catching_every_exception_does_not_swallow_a_question() -> None:
    @tool(name="t")
    def swallow(context: ToolContext) -> str:
        try:
            return str(context.ask("Which?"))
        except Exception:
            return "swallowed"

    assert isinstance(run(swallow), Suspension)


# The general form


def test_what_a_tool_leaves_is_found_on_the_next_run() -> None:
    received: list[JsonValue] = []

    @tool(name="t")
    def stages(context: ToolContext) -> str:
        received.append(context.token)
        if context.token is None:
            context.suspend([question("first")], token={"at": [1, None, "x"]})
        context.ask("second")
        return "done"

    first = suspended(stages)
    stored = msgspec.json.decode(msgspec.json.encode(first.token))
    second = suspended(stages, token=stored)
    answer = {second.requests[0].id: 1}
    assert text(ended(stages, token=second.token, answers=answer)) == "done"
    assert received == [None, {"at": [1, None, "x"]}, {"at": [1, None, "x"]}], "asking keeps it"
    assert not first.takes_denials


def test_questions_are_asked_once_each_for_this_very_call() -> None:
    @tool(name="t")
    def twice(context: ToolContext) -> None:
        asks = [question("a"), question("b"), question("a")]
        context.suspend(asks, takes_denials=True)

    result = suspended(twice)
    assert [(request.summary, request.call.id) for request in result.requests] == [
        ("a", "call-1"),
        ("b", "call-1"),
    ]
    assert result.takes_denials


def test_suspending_without_a_question_is_a_mistake() -> None:
    @tool(name="t")
    def nothing(context: ToolContext) -> None:
        context.suspend([])

    assert "ValueError: there is nothing to wait for" in text(ended(nothing))


class Word(StrEnum):
    ONE = "one"


CIRCLE: list[Any] = []
CIRCLE.append(CIRCLE)


@pytest.mark.parametrize(
    ("token", "words"),
    [
        (object(), "not JSON"),
        ({1: "a"}, "not plain JSON"),
        ((1, 2), "not plain JSON"),
        (float("nan"), "not plain JSON"),
        (b"x", "not plain JSON"),
        (CIRCLE, "not JSON"),
        ("\ud800", "not plain JSON"),
        ("x" * (1 << 20), "1048578 bytes"),
    ],
)
def test_a_token_that_cannot_be_stored_ends_the_call(token: Any, words: str) -> None:
    @tool(name="t")
    def leave(context: ToolContext) -> None:
        context.suspend([question("a")], token=token)

    result = ended(leave)
    assert (result.is_error, result.started) == (True, True)
    assert words in text(result)


@pytest.mark.parametrize("token", [0, "", [], {"a": [1.5, True, None]}, 1 << 80, Word.ONE])
def test_any_plain_json_is_a_token(token: Any) -> None:
    @tool(name="t")
    def leave(context: ToolContext) -> str:
        if context.token is not None:
            return "same" if context.token == token else "other"
        context.suspend([question("a")], token=token)

    stored = msgspec.json.decode(msgspec.json.encode(suspended(leave).token))
    assert text(ended(leave, token=stored)) == "same"


# Groups of exceptions


def grouped(*errors: BaseException) -> FunctionTool[..., Any]:
    @tool(name="t")
    async def act() -> None:
        raise BaseExceptionGroup("tasks", errors)

    return act


ASKED = ToolSuspended([question("a")])


def test_a_question_alone_in_a_group_is_found() -> None:
    nested = BaseExceptionGroup("inner", [ASKED])

    assert [request.summary for request in suspended(grouped(ASKED)).requests] == ["a"]
    assert [request.summary for request in suspended(grouped(nested)).requests] == ["a"]


def test_questions_that_a_task_group_asks_at_once_are_asked_together() -> None:
    @tool(name="t")
    async def act(context: ToolContext) -> str:
        async def one(summary: str) -> None:
            context.ask(summary)

        async with asyncio.TaskGroup() as group:
            group.create_task(one("a"))
            group.create_task(one("b"))
        return "done"

    result = suspended(act)
    assert [request.summary for request in result.requests] == ["a", "b"]
    assert text(ended(act, answers={request.id: 1 for request in result.requests})) == "done"


async def test_a_question_comes_out_of_an_anyio_task_group() -> None:
    @tool(name="t")
    async def act(context: ToolContext) -> None:
        async def one() -> None:
            context.ask("a")

        async with anyio.create_task_group() as group:
            group.start_soon(one)
            group.start_soon(anyio.sleep_forever)

    result = await Executor([act]).run(REQUEST, ToolContext(REQUEST), to_thread=in_thread)
    assert isinstance(result, Suspension)


def test_a_group_of_a_question_and_a_failure_is_a_failure() -> None:
    result = ended(grouped(ASKED, ValueError("no")))

    assert result.failure is ToolFailure.EXECUTION_FAILED
    assert "ValueError: no" in text(result)


def test_a_group_of_questions_with_different_tokens_is_a_failure() -> None:
    assert ended(grouped(ASKED, ToolSuspended([question("b")], token=1))).is_error


def test_of_questions_in_a_group_one_is_enough_to_take_denials() -> None:
    other = ToolSuspended([question("b")], takes_denials=True)

    assert suspended(grouped(ASKED, other)).takes_denials
    assert not suspended(grouped(ASKED, ToolSuspended([question("b")]))).takes_denials


def test_an_interrupt_in_a_group_passes_through() -> None:
    with pytest.raises(BaseExceptionGroup):
        run(grouped(ASKED, KeyboardInterrupt()))


async def test_a_question_comes_out_of_a_worker_thread() -> None:
    result = await Executor([greet]).run(REQUEST, ToolContext(REQUEST), to_thread=in_thread)

    assert isinstance(result, Suspension)


# What goes with it


def test_the_idempotency_key_is_that_of_the_call_in_its_session() -> None:
    def key(call: str, session: str | None) -> str:
        session_id = None if session is None else SessionId(session)
        request = ToolInvocation(ToolCallId(call), "t", session_id=session_id)
        return ToolContext(request, token={"any": 1}).idempotency_key

    assert key("1", "s") == key("1", "s") == "00a1b168dde92c1dc3a6467d2b8e78f4"
    assert len({key("1", "s"), key("2", "s"), key("1", "other"), key("1", None)}) == 4


def test_nobody_hears_of_progress_once_the_call_is_over() -> None:
    remaining: list[ToolContext] = []
    events: list[str] = []

    @tool(name="t")
    def keep(context: ToolContext) -> None:
        context.progress("half")
        remaining.append(context)

    run(keep, progress=lambda message, data: events.append(message))
    remaining[0].progress("late")
    assert events == ["half"]
