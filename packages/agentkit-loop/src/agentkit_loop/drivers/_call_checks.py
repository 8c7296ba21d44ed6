"""Checks calls before they run, for both drivers, and remembers which tool was checked."""

from __future__ import annotations

from agentkit_core import ToolCallId
from agentkit_loop.drivers._effect_results import preflight_answer
from agentkit_loop.kernel._effects import Preflight, StartTool
from agentkit_loop.kernel._inputs import Input
from agentkit_tools_core import Executor, Tool, ToolInvocation, is_same_tool

_NO_TOOL = ""
"""The revision of no tool at all: a call that expects it does not run."""


class CallChecks:
    """The checks of one session's calls.

    The state has the revision of the tool that was checked, which is equal in all processes. Two
    functions can have the same code and different bound objects, so this process also remembers
    the tool itself.
    """

    __slots__ = ("_checked",)

    def __init__(self) -> None:
        self._checked: dict[ToolCallId, Tool] = {}

    async def check(self, effect: Preflight, call: ToolInvocation, executor: Executor) -> Input:
        """Check a call on an event loop, and return the answer to its preflight."""
        revision = self._remember(call, executor)
        verdict = await executor.preflight_async(call, granted=effect.granted)
        return preflight_answer(effect, verdict, executor.annotations(call.name), revision)

    def check_blocking(self, effect: Preflight, call: ToolInvocation, executor: Executor) -> Input:
        """Check a call without an event loop, and return the answer to its preflight."""
        revision = self._remember(call, executor)
        verdict = executor.preflight(call, granted=effect.granted)
        return preflight_answer(effect, verdict, executor.annotations(call.name), revision)

    def expected_revision(self, effect: StartTool, executor: Executor) -> str | None:
        """Return the revision that a tool must have to run; None if any tool may run."""
        checked = self._checked.get(effect.call.id)
        if checked is not None and not is_same_tool(checked, executor.source.get(effect.call.name)):
            return _NO_TOOL
        return effect.revision

    def forget(self, call_id: ToolCallId) -> None:
        """Forget the tool of a call that is over."""
        self._checked.pop(call_id, None)

    def _remember(self, call: ToolInvocation, executor: Executor) -> str | None:
        # Before the verdict: a tool that is replaced meanwhile does not run.
        revision = executor.revision(call.name)
        self._checked.pop(call.call_id, None)
        if revision is not None:
            tool, again = executor.source.get(call.name), executor.source.get(call.name)
            # A source that makes a tool for each call can only be held to the revision.
            if tool is not None and is_same_tool(tool, again):
                self._checked[call.call_id] = tool
        return revision
