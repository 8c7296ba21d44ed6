"""One run of a call: it invokes the tool and converts the output, an error or a suspension."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from inspect import isawaitable, iscoroutine
from typing import Any, Final, Protocol, TypeVar

from msgspec.structs import replace

from agentkit_core import JsonValue, ToolFailure, ToolResult
from agentkit_core.values import Record
from agentkit_tools_core._contract._child_calls import (
    CheckedCall,
    ChildCall,
    ChildCallsDiffer,
    Children,
    RunRecord,
    read_token,
    write_token,
)
from agentkit_tools_core._contract._context import ToolContext
from agentkit_tools_core._contract._outcome import ToolOutcome
from agentkit_tools_core._contract._request import ToolInvocation
from agentkit_tools_core._contract._suspension import (
    Suspension,
    TokenRefused,
    ToolSuspended,
    is_failure,
    requests_of,
    suspension_in,
)
from agentkit_tools_core._contract._tool import Tool
from agentkit_tools_core._errors import ToolError, UnstableArguments
from agentkit_tools_core._execution._error_results import failed_result, needs_event_loop
from agentkit_tools_core._execution._preflight import bound_call
from agentkit_tools_core._execution._time_limit import TimeLimit
from agentkit_tools_core._outputs._convert import outcome_of
from agentkit_tools_core.sync import run_at_once

T = TypeVar("T")


class ToThread(Protocol):
    """Runs a function in a worker thread, and waits for its result."""

    def __call__(self, function: Callable[[], T], /) -> Awaitable[T]:
        """Run `function`, in a worker thread and in a copy of the caller's context variables."""
        ...


CallChild = Callable[
    [ToolInvocation, ChildCall, ToThread | None, Callable[[CheckedCall], None]],
    Coroutine[Any, Any, ToolOutcome | Suspension],
]
"""Checks and runs a child call, and hands on what the check said. Without a `ToThread` it never
suspends."""


class _Pending(Record, frozen=True):
    # A wrapper, because trio rejects a bare coroutine that a thread returns.
    value: Awaitable[Any]


_FIRST_RUN: Final = RunRecord()


class Run:
    """One run of one call; its context calls other tools through it.

    Attributes:
        over: Whether the run has ended.
        error: What made the call fail; None if nothing was raised.
    """

    def __init__(
        self,
        tool: Tool,
        request: ToolInvocation,
        context: ToolContext,
        to_thread: ToThread | None,
        call_child: CallChild,
    ) -> None:
        """Prepare a run.

        Args:
            tool: The tool.
            request: The call.
            context: The context of the call, with the token of its last suspension.
            to_thread: Runs a sync tool in a worker thread; None without an event loop: then `run`
                never suspends.
            call_child: Makes child calls.
        """
        self.over = False
        self.error: BaseException | None = None
        self._tool = tool
        self._request = request
        self._context = context
        self._to_thread = to_thread
        self._call_child = call_child
        self._last_run = _FIRST_RUN
        self._child_calls: Children | None = None

    @property
    def _children(self) -> Children:
        # Made on demand, because most tools make no child calls.
        if self._child_calls is None:
            self._child_calls = Children(self._request, self._last_run.children)
        return self._child_calls

    async def run(self) -> ToolOutcome | Suspension:
        """Run the tool to its end, or until it suspends."""
        tool, to_thread = self._tool, self._to_thread
        if tool.is_async and to_thread is None:
            raise needs_event_loop(self._request.name)
        if self._context._token is not None:
            try:
                self._last_run = read_token(self._context._token)
            except ChildCallsDiffer as error:
                return self._failure_of(error)
        limit = TimeLimit(tool.spec.annotations.timeout_s, self._context._timer)
        try:
            if self._context._is_child and to_thread is not None:
                outcome = await limit.keep(self._run_tool(), self._request)
            else:
                outcome = await self._run_tool()
        finally:
            self.over = True
        return limit.check(self._finish(outcome), self._request)

    async def _run_tool(self) -> ToolOutcome | ToolSuspended:
        tool, to_thread = self._tool, self._to_thread
        if to_thread is None or tool.is_async or tool.inline:
            outcome = self._invoke()
        else:
            outcome = await to_thread(self._invoke)
        if isinstance(outcome, _Pending):
            return await self._await_outcome(outcome.value)
        return outcome

    async def call(self, name: str, arguments: dict[str, JsonValue] | None) -> ToolResult:
        """Make a child call on an event loop."""
        return await self._call(name, arguments, self._to_thread)

    def call_blocking(self, name: str, arguments: dict[str, JsonValue] | None) -> ToolResult:
        """Make a child call without an event loop."""
        return run_at_once(self._call(name, arguments, None))

    def _invoke(self) -> ToolOutcome | ToolSuspended | _Pending:
        # Errors are caught here instead of by the caller: this may run in a worker thread, and
        # some exceptions cannot leave one (StopIteration).
        try:
            self._request = self._bound_request()
            arguments = self._tool.bind(self._request.input)
        except Exception as error:
            return self._failure_of(error, started=False)
        try:
            value = self._tool.invoke(arguments, self._context._for_run(self._request, self))
            # Most tools return text, and this is an expensive question to ask of it.
            if type(value) is not str and isawaitable(value):
                return _Pending(value)
            return outcome_of(value, self._request)
        except BaseException as error:
            if (outcome := self._outcome_of_error(error)) is None:
                raise
            return outcome

    def _bound_request(self) -> ToolInvocation:
        # The tool reads in its context what everybody else has seen.
        try:
            return bound_call(self._tool, self._request)
        except UnstableArguments:
            return self._request  # checked before; nobody judges such a call

    async def _await_outcome(self, value: Awaitable[Any]) -> ToolOutcome | ToolSuspended:
        if self._to_thread is None:
            if iscoroutine(value):
                value.close()
            raise needs_event_loop(self._request.name)
        try:
            return outcome_of(await value, self._request)
        except BaseException as error:
            if (outcome := self._outcome_of_error(error)) is None:
                raise
            return outcome

    def _outcome_of_error(self, error: BaseException) -> ToolOutcome | ToolSuspended | None:
        """Return the outcome that an exception causes; None if it must end more than the call."""
        if (suspended := suspension_in(error)) is not None:
            return suspended
        return self._failure_of(error) if is_failure(error) else None

    def _finish(self, outcome: ToolOutcome | ToolSuspended) -> ToolOutcome | Suspension:
        """Add what the child calls contribute: a difference, their record, their usage."""
        no_children = self._child_calls is None and not self._last_run.children
        if no_children and isinstance(outcome, ToolOutcome):
            return outcome
        # The tool may have caught this error and continued with the results of other calls.
        if self._children.difference is not None:
            outcome = self._failure_of(self._children.difference)
        if isinstance(outcome, ToolSuspended):
            try:
                token = write_token(RunRecord(outcome.token, self._children.calls))
            except TokenRefused as error:
                if outcome.__cause__ is not None:
                    raise outcome.__cause__ from error
                outcome = self._failure_of(error)
            else:
                requests = requests_of(self._request.call, outcome.requests)
                return Suspension(requests, token, outcome.takes_denials, outcome.__cause__)
        usage = self._children.usage
        if usage is None or outcome.result.usage is not None:
            return outcome
        return replace(outcome, result=replace(outcome.result, usage=usage))

    async def _call(
        self, name: str, arguments: dict[str, JsonValue] | None, to_thread: ToThread | None
    ) -> ToolResult:
        if self.over:
            raise RuntimeError(
                f"the call of {self._request.name!r} has ended; a context can call tools only "
                f"during its call"
            )
        if self._context.cancelled:
            raise ToolError(
                f"{name} was not called: the call of {self._request.name} was cancelled",
                failure=ToolFailure.INTERRUPTED,
            )
        at, request, known = self._children.begin(name, arguments)
        if known.result is not None:
            return known.result
        note_check = partial(self._children.note_check, at)
        outcome = await self._call_child(request, known, to_thread, note_check)
        if isinstance(outcome, Suspension):
            self._children.pause(at, outcome)
            # The executor makes a denial the result of the child call.
            waiting = ToolSuspended(outcome.requests, token=self._last_run.own, takes_denials=True)
            raise waiting from outcome.broken_by
        self._children.finish(at, outcome.result)
        return outcome.result

    def _failure_of(self, error: BaseException, *, started: bool = True) -> ToolOutcome:
        self.error = error
        return ToolOutcome(failed_result(self._request, error, started=started))
