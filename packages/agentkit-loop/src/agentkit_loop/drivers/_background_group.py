"""The background calls of a session, each in a task of its own."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from contextvars import Context
from typing import Any

import anyio

from agentkit_core import ToolCallId
from agentkit_loop.drivers._free_tasks import FreeTasks
from agentkit_loop.drivers._pending_effects import PendingEffects
from agentkit_loop.kernel._effects import EffectId, StartTimer, StartTool
from agentkit_loop.kernel._state import State


class BackgroundGroup:
    """The calls of a session that may outlive a turn, and the tasks in which they run.

    The tasks belong to the session, whichever task of the host has started or ends it.
    """

    __slots__ = ("_calls", "_tasks")

    def __init__(self) -> None:
        self._calls: dict[EffectId, ToolCallId] = {}
        self._tasks: FreeTasks | None = None
        """None until the first call: most sessions have none."""

    def start(
        self,
        work: Callable[[Any], Coroutine[Any, Any, None]],
        effect: StartTool | StartTimer,
        context: Context,
    ) -> None:
        """Start a task for an effect that `take` has returned.

        Args:
            work: Performs the effect; raises nothing but the event loop's own cancellation.
            effect: The effect.
            context: The context variables of the task.
        """

        async def work_in_scope(scope: anyio.CancelScope) -> None:
            with scope:
                await work(effect)

        self._tasks = self._tasks or FreeTasks()
        self._tasks.start(work_in_scope, context)

    async def end(self) -> None:
        """Cancel all tasks and wait until they have ended, even if the host is cancelled."""
        if self._tasks is not None:
            await self._tasks.stop()

    def take(self, pending: PendingEffects) -> list[StartTool | StartTimer]:
        """Remove from pending effects those that run in this group, and return them in order.

        They are the calls that may go on in the background, and the timers of such calls.
        """
        is_concerned = pending.has_detaching or (pending.has_timers and self._calls)
        pending.has_detaching = pending.has_timers = False
        if not is_concerned:
            return []
        calls = {
            each.call.id for each in pending.values() if type(each) is StartTool and each.detaches
        }
        calls.update(self._calls.values())
        background: list[StartTool | StartTimer] = []
        for effect in pending.values():
            if isinstance(effect, StartTool) and effect.detaches:
                self._calls[effect.id] = effect.call.id
                background.append(effect)
            elif isinstance(effect, StartTimer) and effect.call_id in calls:
                self._calls[effect.id] = effect.call_id
                background.append(effect)
        for effect in background:
            del pending[effect.id]
        return background

    def discard(self, effect_id: EffectId) -> None:
        """Forget an effect that no longer runs."""
        self._calls.pop(effect_id, None)

    def blocks_turn(self, state: State) -> bool:
        """Whether the turn waits for a call that runs here: it has not been detached yet."""
        if not self._calls:
            return False
        return any(call_id not in state.background for call_id in self._calls.values())
