"""One run of a call: the tool is called, and whatever comes of it is brought into form."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from inspect import isawaitable, iscoroutine
from typing import Any, Final, Protocol, TypeVar

from msgspec.structs import replace

from agentkit_core import JsonValue, ToolFailure, ToolResult
from agentkit_core.values import Record
from agentkit_tools_core._contract._child_calls import (
    ChildCall,
    ChildCallsDiffer,
    Children,
    RunRecord,
    read_token,
    write_token,
)
from agentkit_tools_core._contract._context import ToolContext
from agentkit_tools_core._contract._outcome import ToolOutcome, error_result
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
from agentkit_tools_core._execution._error_results import failed_result
from agentkit_tools_core._outputs._convert import outcome_of
from agentkit_tools_core.sync import run_at_once

T = TypeVar("T")


class ToThread(Protocol):
    """Runs a function beside an event loop and waits for what it returns."""

    def __call__(self, function: Callable[[], T], /) -> Awaitable[T]:
        """Run `function`, in a worker thread and in a copy of the caller's context variables."""
        ...


CallChild = Callable[
    [ToolInvocation, ChildCall, ToThread | None], Coroutine[Any, Any, ToolOutcome | Suspension]
]
"""Makes a child call, from looking it up to its end. Without a `ToThread` it never waits."""


class _Pending(Record, frozen=True):
    # Wrapped, because trio takes a bare coroutine that comes out of a thread for a mistake.
    value: Awaitable[Any]


_NOTHING_BEFORE: Final = RunRecord()


class Run:
    """One run of one call, and what its context calls other tools through."""

    def __init__(
        self,
        tool: Tool,
        request: ToolInvocation,
        context: ToolContext,
        to_thread: ToThread | None,
        call_child: CallChild,
    ) -> None:
        """Prepare it.

        Args:
            tool: The tool.
            request: The call.
            context: The call's surroundings, with the token of its last suspension.
            to_thread: How to run a sync tool beside an event loop; None where there is none,
                and then `end` never waits.
            call_child: How to make child calls.
        """
        self.over = False
        self._tool = tool
        self._request = request
        self._context = context
        self._to_thread = to_thread
        self._call_child = call_child
        self._before = _NOTHING_BEFORE
        self._made: Children | None = None

    @property
    def _children(self) -> Children:
        # Made when they are needed: most tools call no others.
        if self._made is None:
            self._made = Children(self._request, self._before.children)
        return self._made

    async def end(self) -> ToolOutcome | Suspension:
        """Run it to its end, or to where it waits for somebody."""
        tool, to_thread = self._tool, self._to_thread
        if tool.is_async and to_thread is None:
            return self._needs_event_loop()
        if self._context._token is not None:
            try:
                self._before = read_token(self._context._token)
            except ChildCallsDiffer as error:
                return self._failed(error)
        try:
            if to_thread is None or tool.is_async or tool.inline:
                found = self._attempt()
            else:
                found = await to_thread(self._attempt)
            if isinstance(found, _Pending):
                found = await self._awaited(found.value)
        finally:
            self.over = True
        return self._settled(found)

    async def call(self, name: str, arguments: dict[str, JsonValue] | None) -> ToolResult:
        """Make a child call beside an event loop."""
        return await self._called(name, arguments, self._to_thread)

    def call_blocking(self, name: str, arguments: dict[str, JsonValue] | None) -> ToolResult:
        """Make a child call here and now."""
        return run_at_once(self._called(name, arguments, None))

    def _attempt(self) -> ToolOutcome | ToolSuspended | _Pending:
        # Errors are caught in here rather than by the caller: this may be the body of a worker
        # thread, and not every exception can leave one (StopIteration cannot).
        try:
            arguments = self._tool.bind(self._request.input)
        except Exception as error:
            return self._failed(error, started=False)
        try:
            value = self._tool.invoke(arguments, self._context._of_run(self._request, self))
            return _Pending(value) if isawaitable(value) else outcome_of(value, self._request)
        except BaseException as error:
            if (ended := self._ended_by(error)) is None:
                raise
            return ended

    async def _awaited(self, value: Awaitable[Any]) -> ToolOutcome | ToolSuspended:
        if self._to_thread is None:
            if iscoroutine(value):
                value.close()
            return self._needs_event_loop()
        try:
            return outcome_of(await value, self._request)
        except BaseException as error:
            if (ended := self._ended_by(error)) is None:
                raise
            return ended

    def _ended_by(self, error: BaseException) -> ToolOutcome | ToolSuspended | None:
        """Say what an exception makes of the call; None if it is meant to end more than that."""
        if (suspended := suspension_in(error)) is not None:
            return suspended
        return self._failed(error) if is_failure(error) else None

    def _settled(self, found: ToolOutcome | ToolSuspended) -> ToolOutcome | Suspension:
        if self._made is None and not self._before.children and isinstance(found, ToolOutcome):
            return found
        # A tool may have caught the difference and gone on, upon results of other calls.
        if self._children.difference is not None:
            found = self._failed(self._children.difference)
        if isinstance(found, ToolSuspended):
            try:
                token = write_token(RunRecord(found.token, self._children.calls))
            except TokenRefused as error:
                found = self._failed(error)
            else:
                requests = requests_of(self._request.call, found.requests)
                return Suspension(requests, token, found.takes_denials)
        usage = self._children.usage
        if usage is None or found.result.usage is not None:
            return found
        return replace(found, result=replace(found.result, usage=usage))

    async def _called(
        self, name: str, arguments: dict[str, JsonValue] | None, to_thread: ToThread | None
    ) -> ToolResult:
        if self.over:
            raise RuntimeError(f"the call of {self._request.name!r} is over; it can call no more")
        at, request, known = self._children.begin(name, arguments)
        if known.result is not None:
            return known.result
        found = await self._call_child(request, known, to_thread)
        if isinstance(found, Suspension):
            self._children.pause(at, found)
            # A denial goes to the executor, which makes it the child's result.
            raise ToolSuspended(found.requests, token=self._before.own, takes_denials=True)
        self._children.finish(at, found.result)
        return found.result

    def _failed(self, error: BaseException, *, started: bool = True) -> ToolOutcome:
        return ToolOutcome(failed_result(self._request, error, started=started))

    def _needs_event_loop(self) -> ToolOutcome:
        text = (
            f"The tool {self._request.name!r} is asynchronous and was called without an event "
            f"loop; it needs the concurrent driver."
        )
        return ToolOutcome(error_result(self._request.call_id, text, ToolFailure.UNAVAILABLE))
