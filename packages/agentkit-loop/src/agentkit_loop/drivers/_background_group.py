"""Session-scoped task group for background calls."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import anyio.abc

from agentkit_core import ToolCallId
from agentkit_loop.kernel._effects import AnsweredEffect, EffectId, StartTimer, StartTool
from agentkit_loop.kernel._state import State


class BackgroundGroup:
    """The calls of a session that may outlive a turn, and the task group in which they run.

    Args:
        group: The task group; None if the session has no tool that may go on in the background.
            Then a call that could is run like all others.
    """

    __slots__ = ("_calls", "group")

    def __init__(self, group: anyio.abc.TaskGroup | None) -> None:
        self.group = group
        self._calls: dict[EffectId, ToolCallId] = {}

    def take(self, pending: list[AnsweredEffect]) -> list[StartTool | StartTimer]:
        """Remove from pending effects those that run in this group, and return them in order.

        They are the calls that may go on in the background, and the timers of such calls.
        """
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


@asynccontextmanager
async def open_background_group(*, needed: bool) -> AsyncIterator[BackgroundGroup]:
    """Open the task group in which a session's background calls run.

    An exception of the body is raised as it is, not in an exception group, since callers do not
    look into groups. Calls that still run at the end are cancelled.

    Args:
        needed: Whether to open a task group at all. A group ties the session to the task that
            opened it, so sessions without background calls do without.
    """
    if not needed:
        yield BackgroundGroup(None)
        return
    raised: BaseException | None = None
    try:
        async with anyio.create_task_group() as group:
            try:
                yield BackgroundGroup(group)
            except BaseException as error:
                raised = error
                raise
            finally:
                group.cancel_scope.cancel()
    except BaseExceptionGroup as errors:
        if raised is None:
            raise
        if isinstance(raised, BaseExceptionGroup) and len(errors.exceptions) == 1:
            raised = errors.exceptions[0]  # under trio another object, of the same exceptions
        raise raised from raised.__cause__
