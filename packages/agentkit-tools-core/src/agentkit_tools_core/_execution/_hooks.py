"""Hooks: what a host puts before and after every call of its tools."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from inspect import isawaitable
from typing import Any

from msgspec.structs import replace

from agentkit_core import JsonValue, ToolCallId, ToolFailure, ToolResult, ToolSpec
from agentkit_core.values import Record
from agentkit_tools_core._contract._outcome import ToolOutcome
from agentkit_tools_core._contract._request import ToolInvocation
from agentkit_tools_core._errors import ToolError
from agentkit_tools_core._execution._error_results import failed_result
from agentkit_tools_core._outputs._convert import outcome_of


class Block(Record, frozen=True, omit_defaults=True):
    """The call is not run.

    Attributes:
        reason: For the model; None says only that it was blocked.
        stop: Whether the turn should end here, without another word of the model.
    """

    reason: str | None = None
    stop: bool = False


class ChangeInput(Record, frozen=True):
    """The tool gets other arguments; the transcript keeps those of the model.

    Attributes:
        input: All arguments. They are checked as the model's were.
    """

    input: dict[str, JsonValue]


class ToolFacts(Record, frozen=True):
    """What a hook may want to know besides the call.

    Attributes:
        spec: The tool, with its annotations.
        parent: The call of the tool that made this call; None if a model made it.
        stop: After the call: whether the turn should end with it.
    """

    spec: ToolSpec
    parent: ToolCallId | None = None
    stop: bool = False


class ToolHook:
    """Something to do before or after calls; override one method or both, sync or async.

    A hook is shared by all calls, also by calls that run at the same time. Its methods run on
    the thread of whoever drives the executor, which for an event loop is the loop's thread, so
    a sync one must be quick. An async one needs an event loop: with the blocking driver, or in
    the child calls of a sync tool, `before_tool` refuses the call and `after_tool` makes it an
    error.
    """

    def before_tool(
        self, call: ToolInvocation, facts: ToolFacts
    ) -> Block | ChangeInput | Awaitable[Block | ChangeInput | None] | None:
        """Look at a call before it may run.

        Called after the arguments were found to fit and before permissions are looked at, for
        one call maybe more than once: again after an approval, again in another process. So it
        must not count, and must answer alike for the same call. An approval covers the
        arguments as the hooks have changed them.

        Args:
            call: The call, as earlier hooks have changed it. Its `input` belongs to the
                transcript: return `ChangeInput` instead of changing it.
            facts: The tool, and who called it.

        Returns:
            None if the call may go on as it is.

        Raises:
            Exception: Blocks the call; the model is told the type and the message, or only the
                message of a `ToolError`.
        """
        return None

    def after_tool(
        self, call: ToolInvocation, result: ToolResult, facts: ToolFacts
    ) -> ToolResult | ToolOutcome | Awaitable[ToolResult | ToolOutcome | None] | None:
        """Look at the result of a call that really ran, whether it went well or not.

        Called once, before the output is cut to size; not for calls that were refused, and not
        when a call suspends.

        Args:
            call: The call, with the arguments that it ran with.
            result: What came of it, as earlier hooks have changed it.
            facts: The tool, who called it, and whether the turn ends here.

        Returns:
            None to leave it, a `ToolResult` to replace it, or a `ToolOutcome` to say as well
            whether the turn ends here. `call_id` and `added_tools` stay what they were.

        Raises:
            Exception: Makes the result an error that says so.
        """
        return None


class Hooks:
    """Hooks in their order; those that override nothing are left out."""

    def __init__(self, hooks: Sequence[ToolHook]) -> None:
        """Sort out what there is to call.

        Raises:
            TypeError: One is no hook.
        """
        for hook in hooks:
            if not isinstance(hook, ToolHook):
                raise TypeError(f"{hook!r} is no hook; derive its class from ToolHook")
        self._before = [
            one.before_tool for one in hooks if _overrides(one.before_tool, ToolHook.before_tool)
        ]
        self._after = [
            one.after_tool for one in hooks if _overrides(one.after_tool, ToolHook.after_tool)
        ]

    def __bool__(self) -> bool:
        """Whether there is anything to call."""
        return bool(self._before or self._after)

    async def before(
        self, call: ToolInvocation, facts: ToolFacts, *, in_loop: bool
    ) -> Block | ToolInvocation:
        """Ask the hooks before a call.

        Returns:
            The first block, or the call, changed or the same object.

        Raises:
            Exception: A hook raised it, or answered nonsense.
        """
        for before in self._before:
            said: object = await _settled(before(call, facts), in_loop)
            if isinstance(said, Block):
                return said
            if isinstance(said, ChangeInput):
                call = replace(call, input=said.input)
            elif said is not None:
                # `False`, say, must not pass for a permission.
                kind = type(said).__name__
                raise TypeError(f"a hook answers Block, ChangeInput or None, not {kind}")
        return call

    async def after(
        self, call: ToolInvocation, outcome: ToolOutcome, facts: ToolFacts, *, in_loop: bool
    ) -> ToolOutcome:
        """Show the hooks what came of a call that ran. Never fails."""
        ran = outcome.result
        for after in self._after:
            try:
                facts = replace(facts, stop=outcome.stop)
                said: object = await _settled(after(call, outcome.result, facts), in_loop)
                if said is None:
                    continue
                if isinstance(said, ToolResult):
                    said = ToolOutcome(said, outcome.stop)
                elif not isinstance(said, ToolOutcome):
                    kind = type(said).__name__
                    raise TypeError(f"a hook answers ToolResult, ToolOutcome or None, not {kind}")
                outcome = outcome_of(said, call)
            except Exception as error:
                failed = failed_result(call, error, started=True)
                outcome = ToolOutcome(replace(failed, usage=outcome.result.usage))
            outcome = replace(outcome, result=replace(outcome.result, added_tools=ran.added_tools))
        return outcome


async def _settled(said: object, in_loop: bool) -> object:
    if not isawaitable(said):
        return said
    if in_loop:
        found: object = await said
        return found
    close: Callable[[], Any] | None = getattr(said, "close", None)
    if close is not None:
        close()
    raise ToolError(
        "A hook of this agent is asynchronous and the call is made without an event loop; "
        "it needs the concurrent driver.",
        failure=ToolFailure.UNAVAILABLE,
    )


def _overrides(method: Callable[..., Any], original: Callable[..., Any]) -> bool:
    return getattr(method, "__func__", method) is not original
