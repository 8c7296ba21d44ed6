"""Answers that need no waiting: to effects without hooks, and to those of an earlier process."""

from __future__ import annotations

from agentkit_loop.drivers._hook_runner import HookRunner
from agentkit_loop.drivers._tool_runs import ToolRuns
from agentkit_loop.kernel._effects import CallModel, Preflight, Prepare, StartTool
from agentkit_loop.kernel._inputs import EffectLost, Input
from agentkit_loop.kernel._state import State
from agentkit_tools_core import Executor


def instant_answer(
    effect: Prepare | CallModel | Preflight,
    state: State,
    *,
    executor: Executor,
    hooks: HookRunner,
    tools: ToolRuns,
) -> Input | None:
    """Return what the kernel can learn about an effect before anything is waited for.

    Args:
        effect: The effect.
        state: The session's present state.
        executor: Knows the tools, and checks calls.
        hooks: Builds requests.
        tools: Builds the executor's view of a call.

    Returns:
        The answer to a request or a preflight without hooks; the tools that a model call offers,
        if they are others than before, which does not answer it. None if there is nothing to tell
        yet.
    """
    match effect:
        case Prepare():
            return None if hooks.has_request_hooks else hooks.prepare(effect, state, executor)
        case CallModel():
            return None if state.hooks.request else hooks.offer_tools(effect, state, executor)
        case Preflight():
            if executor.has_hooks:
                return None
            return tools.checks.check_blocking(effect, tools.invocation(effect), state, executor)


def recover_effects(state: State) -> tuple[list[StartTool], list[EffectLost]]:
    """Say what becomes of the effects of a session that goes on after a crash.

    Returns:
        The calls that had not begun, which run again; and that everything else is lost.
    """
    not_begun: list[StartTool] = []
    lost: list[EffectLost] = []
    for effect in state.out.values():
        if isinstance(effect, StartTool) and not effect.started:
            not_begun.append(effect)
        else:
            lost.append(EffectLost(effect.id))
    return not_begun, lost
