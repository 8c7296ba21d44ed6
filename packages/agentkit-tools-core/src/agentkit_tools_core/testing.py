"""Checks for tools and policies of one's own, and stand-ins for tests. Needs no test framework."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from typing import Any, Final, TypeVar

import msgspec

from agentkit_core import (
    ApprovalId,
    JsonValue,
    ToolAnnotations,
    ToolCallId,
    ToolFailure,
    ToolResult,
    ToolSpec,
)
from agentkit_core.json import canonical_json
from agentkit_tools_core._contract._approval import approval_id
from agentkit_tools_core._contract._context import ToolContext
from agentkit_tools_core._contract._names import is_tool_name
from agentkit_tools_core._contract._outcome import ToolOutcome, error_result
from agentkit_tools_core._contract._permissions import (
    Allow,
    Decision,
    Deny,
    PermissionRequest,
    PolicyFacts,
)
from agentkit_tools_core._contract._request import ToolInvocation
from agentkit_tools_core._contract._suspension import Suspension
from agentkit_tools_core._contract._tool import Tool
from agentkit_tools_core._execution._executor import Executor

T = TypeVar("T")

_RESULT: Final = msgspec.json.Decoder(ToolResult)


def call_tool(
    tool: Tool,
    arguments: Mapping[str, JsonValue] | None = None,
    *,
    dependencies: Mapping[type[Any], object] | None = None,
    tools: Iterable[Tool] = (),
    answers: Mapping[str, JsonValue | Deny] | None = None,
) -> ToolOutcome:
    """Call a tool as a model would, without asking anyone for permission.

    An async tool is run in an asyncio event loop of its own, so not from inside another. What
    it asks in the middle of its run is answered from `answers`, and it is run again, as with a
    person.

    Args:
        tool: The tool.
        arguments: As the model writes them, JSON values by name.
        dependencies: What the tool gets from `ToolContext.get`.
        tools: Other tools that it may call.
        answers: By the text of the question (its `summary`); `Deny` denies it.

    Raises:
        AssertionError: It asks what has no answer here, or asks again what was answered.
    """
    request = ToolInvocation(ToolCallId("call-1"), tool.spec.name, dict(arguments or {}))
    executor = Executor([tool, *tools])
    answered: dict[ApprovalId, JsonValue] = {}
    denied: dict[ApprovalId, str | None] = {}
    token: JsonValue = None
    while True:
        context = ToolContext(
            request,
            dependencies=dependencies,
            approved=answered,
            answers=answered,
            denied=denied,
            token=token,
        )
        found = _run(executor, request, context, is_async=tool.is_async)
        if isinstance(found, ToolOutcome):
            return found
        # As it is when it comes back from where it was stored.
        token = msgspec.json.decode(msgspec.json.encode(found.token))
        for asked in found.requests:
            assert asked.summary in (answers or {}), f"nobody answers {asked.summary!r}"
            assert asked.id not in answered, f"{asked.summary!r} was answered and is asked again"
            assert asked.id not in denied, f"{asked.summary!r} was denied and is asked again"
            answer = (answers or {})[asked.summary]
            if not isinstance(answer, Deny):
                answered[asked.id] = answer
                continue
            denied[asked.id] = answer.reason
            if not found.takes_denials:
                failure = ToolFailure.PERMISSION_DENIED
                return ToolOutcome(error_result(request.call_id, answer.reason, failure))


def check_tool(
    tool: Tool,
    arguments: Mapping[str, JsonValue] | None = None,
    *,
    dependencies: Mapping[type[Any], object] | None = None,
) -> ToolOutcome:
    """Check the laws of the contract on one call that should go well; it is really run, once.

    Args:
        tool: The tool.
        arguments: Arguments that it accepts.
        dependencies: What the tool gets from `ToolContext.get`.

    Returns:
        What came of the call, for checks of one's own.

    Raises:
        AssertionError: It says which law is broken.
    """
    spec = tool.spec
    assert is_tool_name(spec.name), f"{spec.name!r} is no name that every provider takes"
    assert spec.description.strip(), "a model needs a description to know when to call it"
    assert spec.input_schema.get("type") == "object", "the schema of the arguments is no object"
    assert canonical_json(tool.spec) == canonical_json(spec), "the spec changes between calls"

    given: dict[str, JsonValue] = dict(arguments or {})
    before = deepcopy(given)
    tool.bind(given)
    assert given == before, "bind changes the arguments, which belong to the transcript"

    request = ToolInvocation(ToolCallId("call-1"), spec.name, given)
    first, second = ([approval_id(one) for one in tool.permissions(request)] for _ in range(2))
    assert first == second, "the permission requests differ for the same call"

    context = ToolContext(request, dependencies=dependencies)
    outcome = _run(Executor([tool]), request, context, is_async=tool.is_async)
    assert isinstance(outcome, ToolOutcome), "the call suspends; see call_tool for how to answer"
    result = outcome.result
    assert given == before, "invoke changes the arguments, which belong to the transcript"
    assert not result.is_error, f"the call failed: {result.output}"
    assert _RESULT.decode(msgspec.json.encode(result)) == result, "the result is not plain JSON"
    return outcome


def _run(
    executor: Executor, request: ToolInvocation, context: ToolContext, *, is_async: bool
) -> ToolOutcome | Suspension:
    if not is_async:
        return executor.run_blocking(request, context)

    import asyncio  # only where an async tool is tested

    return asyncio.run(executor.run(request, context, to_thread=_here))


class RecordingPolicy:
    """A policy that says what it is told to, and remembers what it was asked."""

    def __init__(self, decisions: Mapping[str, Decision | None] | None = None) -> None:
        """Make it.

        Args:
            decisions: By kind of request; other kinds are allowed.
        """
        self.asked: list[PermissionRequest] = []
        self._decisions = decisions or {}

    def __call__(self, request: PermissionRequest, facts: PolicyFacts) -> Decision | None:
        """Decide by the request's kind."""
        self.asked.append(request)
        return self._decisions.get(request.kind, Allow())


class ScriptedTool:
    """A tool without a function: it takes anything and answers what it is told to, in turn."""

    is_async = False

    def __init__(
        self,
        name: str,
        answers: Sequence[object] = ("ok",),
        *,
        annotations: ToolAnnotations | None = None,
        permissions: Iterable[PermissionRequest] = (),
        inline: bool = True,
    ) -> None:
        """Make it.

        Args:
            name: Its name.
            answers: What the calls return; an exception is raised instead. The last one
                stays for all further calls.
            annotations: What it says of itself; nothing by default.
            permissions: What each call asks for.
            inline: Whether it runs on the thread of the event loop.
        """
        self.spec = ToolSpec(
            name,
            f"Answers what the test {name!r} wants.",
            input_schema={"type": "object"},
            annotations=annotations or ToolAnnotations(),
        )
        self.inline = inline
        self.calls: list[dict[str, JsonValue]] = []
        """The arguments of all calls, in the order in which they ran."""
        self._answers = list(answers)
        self._permissions = tuple(permissions)

    def permissions(self, request: ToolInvocation, /) -> Sequence[PermissionRequest]:
        """Ask for what it was told to ask for."""
        return self._permissions

    def bind(self, given: Mapping[str, JsonValue], /) -> dict[str, JsonValue]:
        """Take anything."""
        return dict(given)

    def invoke(self, arguments: dict[str, JsonValue], context: ToolContext, /) -> object:
        """Give the next answer."""
        self.calls.append(arguments)
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, BaseException):
            raise answer
        return answer


async def _here(function: Callable[[], T], /) -> T:
    return function()
