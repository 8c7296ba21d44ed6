"""Hooks that a host runs before and after every tool call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from inspect import isawaitable
from typing import Any

from msgspec.structs import replace

from agentkit_core import JsonValue, ToolCallId, ToolResult, ToolSpec
from agentkit_core.settings import Settings
from agentkit_core.values import Record
from agentkit_tools_core._contract._outcome import ToolOutcome
from agentkit_tools_core._contract._request import ToolInvocation
from agentkit_tools_core._contract._suspension import Suspension
from agentkit_tools_core._errors import InvalidToolInput, PolicyFailed
from agentkit_tools_core._execution._error_results import failed_result
from agentkit_tools_core._log import logger
from agentkit_tools_core._outputs._convert import outcome_of
from agentkit_tools_core.sync import require_no_awaitable


class Block(Settings, frozen=True, omit_defaults=True):
    """The call must not run.

    Attributes:
        reason: Why, for the model; None means only that it was blocked.
        stop: Whether the turn should end here, without calling the model again.
    """

    reason: str | None = None
    stop: bool = False


class ChangeInput(Record, frozen=True):
    """The call runs with other arguments; the transcript keeps those of the model.

    Attributes:
        input: All arguments by name. They are checked and converted like those of the model.
    """

    input: dict[str, JsonValue]


class ToolFacts(Record, frozen=True):
    """The tool and the origin of a call, for hooks.

    Attributes:
        spec: The spec of the tool, with its annotations.
        parent: The id of the call whose tool made this call; None if the model made it.
        stop: After the call: whether the turn should end with it; before it always false.
        error: After the call: the exception that made it fail, with its traceback and its cause:
            of the tool, of what checks its calls, or of an earlier hook. None if there was none,
            and before the call.
    """

    spec: ToolSpec
    parent: ToolCallId | None = None
    stop: bool = False
    error: BaseException | None = None


class ToolHook:
    """Base class of hooks; override one method or both, sync or async.

    All calls share the hook, including calls that run at the same time. Its methods run on the
    thread that runs the executor (with an event loop, the thread of the loop), so a sync method
    must be quick. An async method needs an event loop: with the blocking driver, and in child calls
    of a sync tool, `NeedsEventLoop` is raised to the host.
    """

    __slots__ = ("__weakref__",)

    def before_tool(
        self, call: ToolInvocation, facts: ToolFacts
    ) -> Block | ChangeInput | Awaitable[Block | ChangeInput | None] | None:
        """Check or change a call before it may run.

        Called after the arguments have been validated and before permissions are evaluated. It may
        be called more than once for the same call (after an approval, in another process), so it
        must not count calls, and must return the same for the same call. An approval covers the
        arguments after the changes by hooks.

        Args:
            call: The call, with the arguments as the tool would get them: converted, with defaults,
                after changes by earlier hooks. Do not change its `input`; return `ChangeInput`
                instead.
            facts: The tool, and which call made this one.

        Returns:
            `Block` to refuse the call, `ChangeInput` to change its arguments, None to continue.

        Raises:
            Exception: It blocks the call. The model gets the type and the message, or only the
                message of a `ToolError`.
        """
        return None

    def after_tool(
        self, call: ToolInvocation, result: ToolResult, facts: ToolFacts
    ) -> ToolResult | ToolOutcome | Awaitable[ToolResult | ToolOutcome | None] | None:
        """Read or replace the result of a call that ran, successfully or not.

        Called once, before the output limits apply. It is not called when a call suspends, and
        of the calls that did not run only for those whose check raised an exception: a function
        that says what permissions the call needs, a policy, a hook. `facts.error` has it, and
        `result.started` is False.

        Args:
            call: The call, with the arguments that it ran with.
            result: The result, after changes by earlier hooks.
            facts: The tool, which call made this one, and whether the turn should end.

        Returns:
            None to keep the result, a `ToolResult` to replace it, or a `ToolOutcome` to also decide
            whether the turn should end. `call_id` and `added_tools` cannot be changed.

        Raises:
            Exception: It replaces the result by an error.
        """
        return None

    def around_tool(
        self, call: ToolInvocation, facts: ToolFacts
    ) -> AbstractContextManager[object] | None:
        """Surround the run of a call, with a span of a trace for example.

        Not called for calls that were refused. A call that suspends is left, and entered again when
        it goes on. Context variables that it sets are seen by the tool.

        Args:
            call: The call, with the arguments that it runs with.
            facts: The tool, and which call made this one.

        Returns:
            A context manager that is entered before the call and left after it, the first hook's
            outermost; failures of the tool are results and do not reach it. None surrounds nothing.

        Raises:
            Exception: It makes the call's result an error; the tool does not run.
        """
        return None

    def on_error(self, error: BaseException, where: str) -> None:
        """Look at an exception of the host's code that is about to become something else.

        The run goes on, or ends, with an error result, a denied call or a turn that ended as an
        error, which have only its text. What this method raises is logged.

        Args:
            error: The exception, with its traceback and its cause.
            where: What raised it, for people: `the tool 'pay'`.
        """


class Hooks:
    """Hooks in their order; methods that are not overridden are skipped."""

    def __init__(self, hooks: Sequence[ToolHook]) -> None:
        """Collect the overridden methods.

        Raises:
            TypeError: One of the hooks is not a `ToolHook`.
        """
        for hook in hooks:
            if not isinstance(hook, ToolHook):
                raise TypeError(f"{hook!r} is not a hook; make its class a subclass of ToolHook")
        self._before = [
            hook.before_tool for hook in hooks if _overrides(hook.before_tool, ToolHook.before_tool)
        ]
        self._after = [
            hook.after_tool for hook in hooks if _overrides(hook.after_tool, ToolHook.after_tool)
        ]

        self._around = [
            hook.around_tool for hook in hooks if _overrides(hook.around_tool, ToolHook.around_tool)
        ]
        self._on_error = [
            hook.on_error for hook in hooks if _overrides(hook.on_error, ToolHook.on_error)
        ]

    def __bool__(self) -> bool:
        """Whether there is any method to call before or after a call."""
        return bool(self._before or self._after)

    async def before(
        self,
        call: ToolInvocation,
        facts: ToolFacts,
        rebind: Callable[[ToolInvocation], ToolInvocation],
        *,
        in_loop: bool,
    ) -> Block | ToolInvocation:
        """Call the hooks before a call.

        Args:
            call: The call.
            facts: The tool, and which call made this one.
            rebind: Converts the arguments of a call that a hook has changed.
            in_loop: Whether there is an event loop.

        Returns:
            The first `Block`, or the call: changed, or the same object.

        Raises:
            Exception: A hook raised it.
            TypeError: A hook returned something else.
        """
        for before in self._before:
            answer: object = await _await_answer(before(call, facts), in_loop)
            if isinstance(answer, Block):
                return answer
            if isinstance(answer, ChangeInput):
                call = rebind(replace(call, input=answer.input))
            elif answer is not None:
                # `False`, for example, must not count as permission.
                kind = type(answer).__name__
                raise TypeError(f"a hook returned {kind}; return Block, ChangeInput or None")
        return call

    def around(
        self,
        call: ToolInvocation,
        facts: ToolFacts,
        run: Callable[[], Awaitable[ToolOutcome | Suspension]],
    ) -> Awaitable[ToolOutcome | Suspension]:
        """Run a call within the context managers of all hooks; one that fails is an error result.

        Args:
            call: The call.
            facts: The tool, and which call made this one.
            run: Runs the call; raises nothing but a cancellation.
        """
        return self._run_within(call, facts, run) if self._around else run()

    async def _run_within(
        self,
        call: ToolInvocation,
        facts: ToolFacts,
        run: Callable[[], Awaitable[ToolOutcome | Suspension]],
    ) -> ToolOutcome | Suspension:
        outcomes: list[ToolOutcome | Suspension] = []
        raised: list[BaseException] = []
        started = False
        try:
            with ExitStack() as stack:
                for around in self._around:
                    manager = around(call, facts)
                    if manager is not None:
                        stack.enter_context(manager)
                started = True
                try:
                    outcomes.append(await run())
                except BaseException as error:
                    raised.append(error)
                    raise
        except Exception as error:
            self.report(error, f"a hook around {call.name!r}")
            return ToolOutcome(failed_result(call, error, started=started))
        if not outcomes:
            # A context manager has swallowed a cancellation, which counts all the same.
            raise raised[0]
        return outcomes[0]

    async def after_failed_check(
        self, call: ToolInvocation, error: Exception, facts: ToolFacts, *, in_loop: bool
    ) -> ToolOutcome:
        """Call the hooks after a check that raised, and return the outcome: the call does not run.

        Raises:
            NeedsEventLoop: A hook is async, and there is no event loop.
        """
        outcome = ToolOutcome(failed_result(call, error, started=False))
        if isinstance(error, InvalidToolInput):
            return outcome  # a mistake of the model
        if isinstance(error, PolicyFailed):
            error = error.error
        self.report(error, f"the check of {call.name!r}")
        return await self.after(call, outcome, replace(facts, error=error), in_loop=in_loop)

    async def after_run(
        self, call: ToolInvocation, outcome: ToolOutcome, facts: ToolFacts, *, in_loop: bool
    ) -> ToolOutcome:
        """Report what the tool raised, call the hooks after it if it ran, and return the outcome.

        Raises:
            NeedsEventLoop: A hook is async, and there is no event loop.
        """
        if facts.error is not None:
            self.report(facts.error, f"the tool {call.name!r}")
        if not outcome.result.started:
            return outcome
        return await self.after(call, outcome, facts, in_loop=in_loop)

    def report(self, error: BaseException, where: str) -> None:
        """Show an exception to the hooks; one that fails is logged."""
        for on_error in self._on_error:
            try:
                on_error(error, where)
            except Exception as failure:
                logger().error("`on_error` of a hook failed", exc_info=failure)

    async def after(
        self, call: ToolInvocation, outcome: ToolOutcome, facts: ToolFacts, *, in_loop: bool
    ) -> ToolOutcome:
        """Call the hooks after a call that ran, and return the new outcome.

        Raises:
            NeedsEventLoop: A hook is async, and there is no event loop.
        """
        original = outcome.result
        for after in self._after:
            try:
                facts = replace(facts, stop=outcome.stop)
                answer: object = await _await_answer(after(call, outcome.result, facts), in_loop)
                if answer is None:
                    continue
                if isinstance(answer, ToolResult):
                    answer = replace(outcome, result=answer)
                elif not isinstance(answer, ToolOutcome):
                    kind = type(answer).__name__
                    raise TypeError(
                        f"a hook returned {kind}; return ToolResult, ToolOutcome or None"
                    )
                outcome = outcome_of(answer, call)
            except Exception as error:
                failed = failed_result(call, error, started=original.started)
                self.report(error, f"a hook after {call.name!r}")
                facts = replace(facts, error=error)
                outcome = ToolOutcome(replace(failed, usage=outcome.result.usage))
            result = replace(outcome.result, added_tools=original.added_tools)
            outcome = replace(outcome, result=result)
        return outcome


async def _await_answer(answer: object, in_loop: bool) -> object:
    if not isawaitable(answer):
        return answer
    if in_loop:
        awaited: object = await answer
        return awaited
    return require_no_awaitable(answer, "a hook around tool calls")


def _overrides(method: Callable[..., Any], original: Callable[..., Any]) -> bool:
    return getattr(method, "__func__", method) is not original
