"""Checks for your tools and policies, and test doubles; they need no test framework."""

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
from agentkit_core.text import make_visible
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
    """Call a tool as a model would, without evaluating permissions.

    An async tool runs in an asyncio event loop of its own, so do not call this function from inside
    an event loop. Questions that the tool asks during its run are answered from `answers`, and the
    tool is run again.

    Args:
        tool: The tool.
        arguments: The arguments as a model writes them: JSON values by name.
        dependencies: The objects that the tool gets from `ToolContext.get`, by type.
        tools: Other tools that the tool may call.
        answers: Answers by the text of the question (its `summary`); `Deny` denies the question.

    Returns:
        The outcome of the call; errors of the tool are error results.

    Raises:
        AssertionError: The tool asks a question without an answer, or asks one again.
    """
    request = ToolInvocation(ToolCallId("call-1"), tool.spec.name, dict(arguments or {}))
    executor = Executor([tool, *tools])
    # Questions are shown on one line, with signs for what cannot be seen.
    by_summary = {make_visible(text): answer for text, answer in (answers or {}).items()}
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
        outcome = _run(executor, request, context, is_async=tool.is_async)
        if isinstance(outcome, ToolOutcome):
            return outcome
        # JSON and back, because a stored token is read from JSON.
        token = msgspec.json.decode(msgspec.json.encode(outcome.token))
        for question in outcome.requests:
            summary = question.summary
            assert summary in by_summary, f"there is no answer to {summary!r}; add it"
            assert question.id not in answered, f"{summary!r} was answered and is asked again"
            assert question.id not in denied, f"{summary!r} was denied and is asked again"
            answer = by_summary[summary]
            if not isinstance(answer, Deny):
                answered[question.id] = answer
                continue
            denied[question.id] = answer.reason
            if not outcome.takes_denials:
                failure = ToolFailure.PERMISSION_DENIED
                return ToolOutcome(error_result(request.call_id, answer.reason, failure))


def check_tool(
    tool: Tool,
    arguments: Mapping[str, JsonValue] | None = None,
    *,
    dependencies: Mapping[type[Any], object] | None = None,
) -> ToolOutcome:
    """Check that a tool follows the rules of the contract, with one call that should succeed.

    The tool is really run, once.

    Args:
        tool: The tool.
        arguments: Valid arguments.
        dependencies: The objects that the tool gets from `ToolContext.get`, by type.

    Returns:
        The outcome of the call, for your own checks.

    Raises:
        AssertionError: A rule is broken; the message says which.
    """
    spec = tool.spec
    assert is_tool_name(spec.name), f"{spec.name!r} is not a valid tool name"
    assert spec.description.strip(), "the tool has no description for the model"
    assert spec.input_schema.get("type") == "object", "the schema is not of type object"
    assert canonical_json(tool.spec) == canonical_json(spec), "the spec changes between calls"

    json_input: dict[str, JsonValue] = dict(arguments or {})
    before = deepcopy(json_input)
    tool.bind(json_input)
    assert json_input == before, "bind changes the arguments, which belong to the transcript"

    request = ToolInvocation(ToolCallId("call-1"), spec.name, json_input)
    first, second = (list(map(approval_id, tool.permissions(request))) for _ in range(2))
    assert first == second, "the permission requests differ for the same call"

    context = ToolContext(request, dependencies=dependencies)
    outcome = _run(Executor([tool]), request, context, is_async=tool.is_async)
    assert isinstance(outcome, ToolOutcome), "the call suspends; use call_tool and pass answers"
    result = outcome.result
    assert json_input == before, "invoke changes the arguments, which belong to the transcript"
    assert not result.is_error, f"the call failed: {result.output}"
    assert _RESULT.decode(msgspec.json.encode(result)) == result, "the result is not plain JSON"
    return outcome


def _run(
    executor: Executor, request: ToolInvocation, context: ToolContext, *, is_async: bool
) -> ToolOutcome | Suspension:
    if not is_async:
        return executor.run_blocking(request, context)

    import asyncio  # imported late, because only async tools need it

    return asyncio.run(executor.run(request, context, to_thread=_call_directly))


class RecordingPolicy:
    """A policy with preset decisions, which records the requests it gets."""

    def __init__(self, decisions: Mapping[str, Decision | None] | None = None) -> None:
        """Make a policy.

        Args:
            decisions: Decisions by kind of request; other kinds are allowed.
        """
        self.requests: list[PermissionRequest] = []
        """All requests, in order."""
        self._decisions = decisions or {}

    def __call__(self, request: PermissionRequest, facts: PolicyFacts) -> Decision | None:
        """Decide by the kind of the request."""
        self.requests.append(request)
        return self._decisions.get(request.kind, Allow())


class ScriptedTool:
    """A tool that accepts any arguments and returns preset answers, in order."""

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
        """Make a tool.

        Args:
            name: The tool's name.
            answers: The return values of the calls, in order; exceptions are raised. All further
                calls return the last one.
            annotations: The tool's annotations; by default those of `ToolAnnotations()`.
            permissions: The permissions that each call needs.
            inline: Whether the tool runs on the thread of the event loop.
        """
        self.spec = ToolSpec(
            name,
            f"Returns preset answers as {name!r}.",
            input_schema={"type": "object"},
            annotations=annotations or ToolAnnotations(),
        )
        self.inline = inline
        self.calls: list[dict[str, JsonValue]] = []
        """The arguments of all calls, in order."""
        self._answers = list(answers)
        self._permissions = tuple(permissions)

    def permissions(self, request: ToolInvocation, /) -> Sequence[PermissionRequest]:
        """Return the preset permissions."""
        return self._permissions

    def bind(self, arguments: Mapping[str, JsonValue], /) -> dict[str, JsonValue]:
        """Accept any arguments."""
        return dict(arguments)

    def invoke(self, arguments: dict[str, JsonValue], context: ToolContext, /) -> object:
        """Return or raise the next answer."""
        self.calls.append(arguments)
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, BaseException):
            raise answer
        return answer


async def _call_directly(function: Callable[[], T], /) -> T:
    return function()
