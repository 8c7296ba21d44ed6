"""The approval that the host is being asked for at this moment."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TypeVar

import anyio

from agentkit_core import ApprovalRequest
from agentkit_loop.drivers._engine import Engine
from agentkit_loop.kernel._open_approvals import is_open

T = TypeVar("T")


class OpenApproval:
    """Waits for the host's answer to one approval, for as long as the approval is open.

    Args:
        engine: The session's engine.
    """

    __slots__ = ("_engine", "_waiting")

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._waiting: tuple[ApprovalRequest, anyio.CancelScope] | None = None

    async def wait(self, request: ApprovalRequest, answer: Awaitable[T]) -> T | None:
        """Wait for an answer.

        Returns:
            The answer; None if the approval is no longer open: someone else has answered it, or
            the call is not wanted any more.
        """
        with anyio.CancelScope() as scope:
            self._waiting = request, scope
            try:
                return await answer
            finally:
                self._waiting = None
        return None

    def withdraw_if_closed(self) -> None:
        """End the wait if the approval is no longer open."""
        if self._waiting is not None:
            request, scope = self._waiting
            engine = self._engine
            if engine.is_over or engine.save_error or not is_open(engine.state, request):
                scope.cancel()
