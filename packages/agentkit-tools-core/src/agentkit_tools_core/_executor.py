"""The executor: what happens to a call between the model and the tool.

    preflight   look up, check the arguments, look at every permission     (pure)
    run         check again, call, bring into form, cut to size             (the tool's effects)

A call always ends as a result. Whatever is wrong with the call or in the tool becomes an error
result that the model can act on; only what is meant to end more than this call (cancelling, an
interrupt from the keyboard) passes through.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable
from inspect import isawaitable, iscoroutine
from typing import Any, Final, Protocol, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from agentkit_core import (
    ApprovalId,
    ToolFailure,
    ToolResult,
    ToolSpec,
    encode_json,
    without_lone_surrogates,
)
from agentkit_tools_core._approval import ApprovalRequest
from agentkit_tools_core._context import ToolContext
from agentkit_tools_core._failing import failed_result
from agentkit_tools_core._outcome import ToolOutcome, error_result
from agentkit_tools_core._output import outcome_of
from agentkit_tools_core._permissions import (
    Ask,
    Deny,
    PermissionRequest,
    Policy,
    PolicyFacts,
    default_policy,
    evaluate,
    tool_kind,
)
from agentkit_tools_core._registry import ToolRegistry
from agentkit_tools_core._request import ToolRequest
from agentkit_tools_core._tool import Tool
from agentkit_tools_core._truncate import clip

T = TypeVar("T")

_SUMMARY_LENGTH: Final = 200


class Allowed(Struct, frozen=True, tag="allowed", tag_field="type"):
    """The call may run."""


class Refused(Struct, frozen=True, tag="refused", tag_field="type"):
    """The call must not run, and this is its result."""

    result: ToolResult


class NeedsApproval(Struct, frozen=True, tag="needs_approval", tag_field="type"):
    """The call may run once all of these are granted."""

    requests: tuple[ApprovalRequest, ...]
    """At least one; each id once."""


class _Pending(Struct, frozen=True):
    # Wrapped, because trio takes a bare coroutine that comes out of a thread for a mistake.
    value: Awaitable[Any]


Preflight = Allowed | Refused | NeedsApproval
"""What is known of a call before it runs."""


class ToThread(Protocol):
    """Runs a function beside an event loop and waits for what it returns."""

    def __call__(self, function: Callable[[], T], /) -> Awaitable[T]:
        """Run `function`, in a worker thread and in a copy of the caller's context variables."""
        ...


class Executor:
    """Runs the calls of a set of tools under a policy.

    It keeps no state of calls: any number may be under way at once, and a call may be looked at
    in one process and run in another.
    """

    def __init__(
        self,
        tools: Iterable[Tool] | ToolRegistry = (),
        *,
        policy: Policy | None = None,
        max_output_bytes: int | None = 150_000,
    ) -> None:
        """Assemble it.

        Args:
            tools: The tools; of a registry later changes are seen.
            policy: Decides the permission requests of calls, and sees no call that has none;
                where it is None or has no opinion, `default_policy` decides.
            max_output_bytes: How much of an output a model may get to read; None is all.

        Raises:
            TypeError: One is no tool, such as a function without `@tool`.
            InvalidToolName: A tool's name is not one that every provider takes.
            DuplicateTool: Two tools have one name.
        """
        self.registry = tools if isinstance(tools, ToolRegistry) else ToolRegistry(tools)
        self.policy: Policy = default_policy if policy is None else policy
        self.max_output_bytes = max_output_bytes

    def specs(self) -> tuple[ToolSpec, ...]:
        """What a model is told, in the order of registration."""
        return self.registry.specs()

    def preflight(self, request: ToolRequest, *, granted: Collection[ApprovalId] = ()) -> Preflight:
        """Say whether a call may run, and if not, why. Runs nothing, changes nothing, never fails.

        All permission requests are looked at before anybody is asked, so that a call which is
        denied anyway bothers no one, and all that has to be asked is asked at once.

        Args:
            request: The call.
            granted: The approvals given for it so far.
        """
        tool = self.registry.get(request.name)
        if tool is None:
            return Refused(self._not_found(request))
        try:
            tool.bind(request.input)
            return self._permitted(tool, request, granted)
        except Exception as error:
            return Refused(failed_result(request, error, started=False))

    async def run(
        self, request: ToolRequest, context: ToolContext, *, to_thread: ToThread
    ) -> ToolOutcome:
        """Run a call beside an event loop. Permissions are not looked at again.

        Args:
            request: The call; its arguments may have been changed since `preflight`.
            context: What the tool sees of its surroundings.
            to_thread: How to run a sync tool so that others go on meanwhile.

        Returns:
            What came of it, for tools that fail as well.
        """
        tool = self.registry.get(request.name)
        if tool is None:
            return ToolOutcome(self._not_found(request))
        if tool.is_async or tool.inline:
            found = self._attempt(tool, request, context)
        else:
            found = await to_thread(lambda: self._attempt(tool, request, context))
        if isinstance(found, ToolOutcome):
            return found
        try:
            return self._finished(await found.value, request)
        except Exception as error:
            return self._failed(error, request)

    def run_blocking(self, request: ToolRequest, context: ToolContext) -> ToolOutcome:
        """Run a call here and now, without an event loop; see `run`.

        An async tool cannot be run so, and its result is an error that says this.
        """
        tool = self.registry.get(request.name)
        if tool is None:
            return ToolOutcome(self._not_found(request))
        if tool.is_async:
            return ToolOutcome(_needs_event_loop(request))
        found = self._attempt(tool, request, context)
        if isinstance(found, ToolOutcome):
            return found
        if iscoroutine(found.value):
            found.value.close()
        return ToolOutcome(_needs_event_loop(request))

    def _permitted(
        self, tool: Tool, request: ToolRequest, granted: Collection[ApprovalId]
    ) -> Preflight:
        spec = tool.spec
        asked: list[PermissionRequest] = list(tool.permissions(request))
        if spec.annotations.needs_approval:
            asked.insert(0, _permission_to_run(request))
        if not asked:
            return _ALLOWED
        facts = PolicyFacts(spec, request)
        missing: dict[ApprovalId, ApprovalRequest] = {}
        for one in asked:
            decision = evaluate(self.policy, one, facts)
            if isinstance(decision, Deny):
                text = f"Permission denied: {decision.reason}"
                failure = ToolFailure.PERMISSION_DENIED
                return Refused(error_result(request.call_id, text, failure))
            if isinstance(decision, Ask):
                approval = ApprovalRequest.of(one, request.call_id, decision.reason)
                if approval.id not in granted:
                    missing[approval.id] = approval
        return NeedsApproval(tuple(missing.values())) if missing else _ALLOWED

    def _attempt(
        self, tool: Tool, request: ToolRequest, context: ToolContext
    ) -> ToolOutcome | _Pending:
        # Errors are caught in here rather than by the caller: this may be the body of a worker
        # thread, and not every exception can leave one (StopIteration cannot).
        try:
            arguments = tool.bind(request.input)
        except Exception as error:
            return self._failed(error, request, started=False)
        try:
            value = tool.invoke(arguments, context)
            return _Pending(value) if isawaitable(value) else self._finished(value, request)
        except Exception as error:
            return self._failed(error, request)

    def _finished(self, value: object, request: ToolRequest) -> ToolOutcome:
        outcome = outcome_of(value, request)
        limit = self.max_output_bytes
        if limit is None:
            return outcome
        output = outcome.result.output
        clipped = clip(output, limit)
        if clipped is output:
            return outcome
        return ToolOutcome(replace(outcome.result, output=clipped), outcome.stop)

    def _failed(
        self, error: Exception, request: ToolRequest, *, started: bool = True
    ) -> ToolOutcome:
        result = failed_result(request, error, started=started)
        if self.max_output_bytes is not None:
            result = replace(result, output=clip(result.output, self.max_output_bytes))
        return ToolOutcome(result)

    def _not_found(self, request: ToolRequest) -> ToolResult:
        names = ", ".join(self.registry.names)
        there = f"The available tools are: {names}." if names else "There are no tools."
        text = f"There is no tool named {request.name!r}. {there}"
        return error_result(request.call_id, without_lone_surrogates(text), ToolFailure.NOT_FOUND)


_ALLOWED: Final = Allowed()


def _permission_to_run(request: ToolRequest) -> PermissionRequest:
    arguments = encode_json(request.input).decode()
    if len(arguments) > _SUMMARY_LENGTH:
        arguments = arguments[:_SUMMARY_LENGTH] + "…"
    return PermissionRequest(
        tool_kind(request.name), f"{request.name} {arguments}", {"tool.input": request.input}
    )


def _needs_event_loop(request: ToolRequest) -> ToolResult:
    text = (
        f"The tool {request.name!r} is asynchronous and this agent runs without an event loop; "
        f"it needs the concurrent driver."
    )
    return error_result(request.call_id, text, ToolFailure.UNAVAILABLE)
