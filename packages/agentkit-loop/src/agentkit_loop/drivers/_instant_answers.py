"""Answers to effects that need no waiting: a request and a preflight without hooks."""

from __future__ import annotations

from agentkit_loop.drivers._effect_results import preflight_answer
from agentkit_loop.drivers._hook_runner import HookRunner
from agentkit_loop.drivers._tool_runs import ToolRuns
from agentkit_loop.kernel._effects import Preflight, Prepare
from agentkit_loop.kernel._inputs import Input
from agentkit_loop.kernel._state import State
from agentkit_tools_core import Executor


def instant_answer(
    effect: Prepare | Preflight,
    state: State,
    *,
    executor: Executor,
    hooks: HookRunner,
    tools: ToolRuns,
) -> Input | None:
    """Answer an effect at once if no hook is called for it, since hooks may wait.

    Args:
        effect: The effect.
        state: The session's present state.
        executor: Knows the tools, and checks calls.
        hooks: Prepares requests.
        tools: Builds the executor's view of a call.

    Returns:
        The answer; None if a hook has to be called first.
    """
    if isinstance(effect, Prepare):
        return None if hooks.has_request_hooks else hooks.prepare(effect, state, executor)
    if executor.has_hooks:
        return None
    verdict = executor.preflight(tools.invocation(effect), granted=effect.granted)
    return preflight_answer(effect, verdict, executor.annotations(effect.call.name))
