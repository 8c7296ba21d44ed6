"""Checks calls before they run, for both drivers, and remembers which tool was checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from agentkit_core import (
    ModelRequest,
    NamedTool,
    ToolCallId,
    ToolChoiceMode,
    ToolFailure,
    ToolSpec,
)
from agentkit_core.json import without_lone_surrogates
from agentkit_loop.drivers._effect_results import preflight_answer
from agentkit_loop.kernel._effects import Preflight, StartTool
from agentkit_loop.kernel._inputs import Input, PreflightRefused
from agentkit_loop.kernel._state import State
from agentkit_tools_core import (
    Executor,
    Tool,
    ToolInvocation,
    error_result,
    hidden_specs,
    is_same_tool,
)

_MAX_NAMES: Final = 50
_NO_TOOL: Final = ""
"""The revision of no tool at all: a call that expects it does not run."""


_NOT_OFFERED: Final = (
    "{name} was not executed: it was not offered in the request that this call answers. {instead}"
)


def callable_tools(request: ModelRequest, specs: Sequence[ToolSpec]) -> tuple[str, ...] | None:
    """List the tools that the answer to a request may call; None if the request forbids none.

    Args:
        request: The request.
        specs: The tools that it would offer if nobody had changed it.
    """
    choice = request.options.tool_choice
    if choice is ToolChoiceMode.NONE:
        return ()
    if isinstance(choice, NamedTool):
        return (choice.name,)
    if request.tools is specs:
        return None
    names = tuple(spec.name for spec in request.tools)
    return None if {spec.name for spec in specs} <= set(names) else names


def _not_offered(effect: Preflight, state: State) -> PreflightRefused:
    names = (state.tools or {}) if state.callable_tools is None else state.callable_tools
    listed = ", ".join(list(names)[:_MAX_NAMES])
    instead = f"It offered: {listed}." if listed else "Answer without calling tools."
    text = _NOT_OFFERED.format(name=effect.call.name, instead=instead)
    result = error_result(effect.call.id, without_lone_surrogates(text), ToolFailure.UNAVAILABLE)
    return PreflightRefused(effect.id, result)


_NONE_HIDDEN: Final[tuple[tuple[ToolSpec, ...], frozenset[str]]] = ((), frozenset())


class CallChecks:
    """The checks of one session's calls.

    The state has the revision of the tool that was checked, which is equal in all processes. Two
    functions can have the same code and different bound objects, so this process also remembers
    the tool itself.
    """

    __slots__ = ("_checked", "_hidden")

    def __init__(self) -> None:
        self._checked: dict[ToolCallId, Tool] = {}
        self._hidden = _NONE_HIDDEN
        """The hidden tools of the source, and their names."""

    async def check(
        self, effect: Preflight, call: ToolInvocation, state: State, executor: Executor
    ) -> Input:
        """Check a call on an event loop, and return the answer to its preflight."""
        if not self._is_offered(call.name, state, executor):
            return _not_offered(effect, state)
        revision = self._remember(call, executor)
        verdict = await executor.preflight_async(call, granted=effect.granted)
        return preflight_answer(effect, verdict, executor.annotations(call.name), revision)

    def check_blocking(
        self, effect: Preflight, call: ToolInvocation, state: State, executor: Executor
    ) -> Input:
        """Check a call without an event loop, and return the answer to its preflight."""
        if not self._is_offered(call.name, state, executor):
            return _not_offered(effect, state)
        revision = self._remember(call, executor)
        verdict = executor.preflight(call, granted=effect.granted)
        return preflight_answer(effect, verdict, executor.annotations(call.name), revision)

    def expected_revision(self, effect: StartTool, executor: Executor) -> str | None:
        """Return the revision that a tool must have to run; None if any tool may run."""
        checked = self._checked.get(effect.call.id)
        if checked is not None and not is_same_tool(checked, executor.source.get(effect.call.name)):
            return _NO_TOOL
        return effect.revision

    def rest(self) -> None:
        """Let go of what only running calls need; see `EffectRunner.rest`."""
        if not self._checked:
            self._checked.clear()

    def forget(self, call_id: ToolCallId) -> None:
        """Forget the tool of a call that is over."""
        self._checked.pop(call_id, None)

    def _is_offered(self, name: str, state: State, executor: Executor) -> bool:
        """Whether the request that a call answers let the model call this tool.

        A hidden tool is not described, but may be called; of a tool that does not exist, the
        executor tells the model.
        """
        if state.tools is None:
            return True
        if state.callable_tools is not None:
            return name in state.callable_tools
        if name in state.tools:
            return True
        hidden = hidden_specs(executor.source)
        if self._hidden[0] is not hidden:
            self._hidden = (hidden, frozenset(spec.name for spec in hidden))
        return name in self._hidden[1] or executor.source.get(name) is None

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
