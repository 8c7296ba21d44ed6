"""The background calls of a session, each in a task of its own."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from contextvars import Context
from typing import Any

import anyio

from agentkit_core import ToolCallId
from agentkit_loop.drivers._free_tasks import start_free_task
from agentkit_loop.drivers._wakeup import Wakeup
from agentkit_loop.kernel._effects import AnsweredEffect, EffectId, StartTimer, StartTool
from agentkit_loop.kernel._state import State


class BackgroundGroup:
    """The calls of a session that may outlive a turn, and the tasks in which they run.

    The tasks belong to the session, whichever task of the host has started or ends it.
    """

    __slots__ = ("_calls", "_ended", "_scopes")

    def __init__(self) -> None:
        self._calls: dict[EffectId, ToolCallId] = {}
        self._scopes: set[anyio.CancelScope] = set()
        """One for each task that has not ended."""
        self._ended = Wakeup()

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
        scope = anyio.CancelScope()
        self._scopes.add(scope)

        async def work_in_scope() -> None:
            with scope:
                await work(effect)

        def end() -> None:
            self._scopes.discard(scope)
            self._ended.notify()

        start_free_task(work_in_scope, context, end)

    async def end(self) -> None:
        """Cancel all tasks and wait until they have ended, even if the host is cancelled."""
        for scope in list(self._scopes):
            scope.cancel()
        with anyio.CancelScope(shield=True):
            while self._scopes:
                await self._ended.wait()

    def take(self, pending: list[AnsweredEffect]) -> list[StartTool | StartTimer]:
        """Remove from pending effects those that run in this group, and return them in order.

        They are the calls that may go on in the background, and the timers of such calls.
        """
        if not pending:
            return []
        background = [
            effect
            for effect in pending
            if isinstance(effect, StartTool | StartTimer) and self._outlives_turn(effect, pending)
        ]
        for effect in background:
            pending.remove(effect)
            call_id = effect.call.id if isinstance(effect, StartTool) else effect.call_id
            if call_id is not None:
                self._calls[effect.id] = call_id
        return background

    def discard(self, effect_id: EffectId) -> None:
        """Forget an effect that no longer runs."""
        self._calls.pop(effect_id, None)

    def blocks_turn(self, state: State) -> bool:
        """Whether the turn waits for a call that runs here: it has not been detached yet."""
        if not self._calls:
            return False
        return any(call_id not in state.background for call_id in self._calls.values())

    def _outlives_turn(self, effect: StartTool | StartTimer, pending: list[AnsweredEffect]) -> bool:
        if isinstance(effect, StartTool):
            return effect.detaches
        return effect.call_id is not None and (
            effect.call_id in self._calls.values()
            or any(
                isinstance(other, StartTool) and other.detaches and other.call.id == effect.call_id
                for other in pending
            )
        )
