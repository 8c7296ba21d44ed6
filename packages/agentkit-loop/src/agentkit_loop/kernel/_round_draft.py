"""The calls of the running round, while one step works on them."""

from __future__ import annotations

from collections.abc import Iterable

from agentkit_core import ToolCallId
from agentkit_loop.kernel._call_state import CallState, CallStatus


class RoundDraft:
    """The calls of the running round, in call order: found by id, and counted by status if wanted.

    So a step that changes many calls does not look through all of them for each.

    Args:
        calls: The calls before the step.

    Attributes:
        is_changed: Whether any call was replaced.
        new: How many calls nothing has been done for.
        checking: How many are being checked.
        ready: How many may run as soon as others let them.
        running: How many run.
        done: How many have their result.
    """

    __slots__ = (
        "_calls",
        "_is_counted",
        "checking",
        "done",
        "is_changed",
        "new",
        "ready",
        "running",
    )

    def __init__(self, calls: Iterable[CallState]) -> None:
        self.is_changed = False
        self.new = self.checking = self.ready = self.running = self.done = 0
        self._is_counted = False
        self._calls: dict[ToolCallId, CallState] = {call.call.id: call for call in calls}

    def count(self) -> None:
        """Count the calls by status, from here on."""
        if self._is_counted:
            return
        self._is_counted = True
        for call in self._calls.values():
            # As `_add` does, without a call for each.
            status = call.status
            if status is CallStatus.RUNNING:
                self.running += 1
            elif status is CallStatus.DONE:
                self.done += 1
            else:
                self._add(status, 1)

    def __len__(self) -> int:
        """How many calls there are, those with a result included."""
        return len(self._calls)

    @property
    def calls(self) -> tuple[CallState, ...]:
        """All calls as they are now."""
        return tuple(self._calls.values())

    def find(self, call_id: ToolCallId) -> CallState | None:
        """Return a call; None if the round has no call of that id."""
        return self._calls.get(call_id)

    def put(self, changed: CallState) -> None:
        """Replace a call by its next state; one that is not of this round changes nothing."""
        call_id = changed.call.id
        before = self._calls.get(call_id)
        if before is None:
            return
        self.is_changed = True
        self._calls[call_id] = changed
        if self._is_counted and before.status is not changed.status:
            self._add(before.status, -1)
            self._add(changed.status, 1)

    def _add(self, status: CallStatus, by: int) -> None:
        if status is CallStatus.RUNNING:
            self.running += by
        elif status is CallStatus.READY:
            self.ready += by
        elif status is CallStatus.PREFLIGHT:
            self.checking += by
        elif status is CallStatus.DONE:
            self.done += by
        elif status is CallStatus.NEW:
            self.new += by
