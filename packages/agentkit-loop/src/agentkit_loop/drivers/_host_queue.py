"""The statuses that wait to be returned to the host, in order."""

from __future__ import annotations

from agentkit_loop._result import TurnResult
from agentkit_loop.kernel._status import AwaitingInput, Finished, SessionStatus


class HostQueue:
    """Statuses for the host.

    The end of a turn is delivered as soon as the host asks. Every other status describes a session
    at rest: it is delivered only when no work is left, and a newer status replaces it.

    Attributes:
        last_result: The result of the last turn that ended in this process; None if none did.
    """

    __slots__ = ("_statuses", "last_result")

    def __init__(self) -> None:
        self.last_result: TurnResult | None = None
        self._statuses: list[SessionStatus] = []

    def __bool__(self) -> bool:
        """Whether a status waits."""
        return bool(self._statuses)

    def put(self, status: SessionStatus) -> None:
        """Add a status."""
        if self._statuses and not isinstance(self._statuses[-1], Finished):
            self._statuses.pop()
        self._statuses.append(status)
        if isinstance(status, Finished):
            self.last_result = status.result

    def take(self, *, is_at_work: bool) -> SessionStatus | None:
        """Remove and return the status that the host gets next.

        Args:
            is_at_work: Whether work is left. Then only the end of a turn is returned.

        Returns:
            The status; None if none waits, or work comes first.
        """
        if self._statuses and (isinstance(self._statuses[0], Finished) or not is_at_work):
            return self._statuses.pop(0)
        return None

    def drop_awaiting_input(self) -> None:
        """Drop a status that says that there is nothing to do: input has come since."""
        if self._statuses and isinstance(self._statuses[-1], AwaitingInput):
            self._statuses.pop()

    def clear(self) -> None:
        """Drop all statuses: a host that begins a turn waits for the end of that turn."""
        self._statuses.clear()
