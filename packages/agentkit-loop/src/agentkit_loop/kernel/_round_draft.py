"""The calls of the running round, while steps work on them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Final

from agentkit_core import ToolCallId
from agentkit_loop.kernel._call_state import CallState, CallStatus

# Python 3.11 takes as long to find a member of an enum as for all the rest of a count.
_NEW: Final = CallStatus.NEW
_PREFLIGHT: Final = CallStatus.PREFLIGHT
_READY: Final = CallStatus.READY
_RUNNING: Final = CallStatus.RUNNING
_DONE: Final = CallStatus.DONE


class RoundDraft:
    """The calls of the running round, in call order: found by id, and counted by status.

    So a step that changes a call, or many, does not look through all of them for each.

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

    __slots__ = ("_calls", "_first_open", "_ids", "checking", "done", "is_changed", "new", "ready",
                 "running")  # fmt: skip

    def __init__(self, calls: Iterable[CallState]) -> None:
        self.is_changed = False
        self.new = self.checking = self.ready = self.running = self.done = 0
        self._calls: dict[ToolCallId, CallState] = {call.call.id: call for call in calls}
        self._ids = list(self._calls)
        self._first_open = 0
        """No call before this position is open; a call never opens again."""
        for call in self._calls.values():
            self._count(call.status, 1)

    def __len__(self) -> int:
        """How many calls there are, those with a result included."""
        return len(self._ids)

    @property
    def calls(self) -> tuple[CallState, ...]:
        """All calls as they are now."""
        return tuple(self._calls.values())

    def open_calls(self) -> Iterator[CallState]:
        """Iterate over the calls without a result, as each is when it is reached."""
        calls, ids = self._calls, self._ids
        while self._first_open < len(ids):
            if calls[ids[self._first_open]].status is not _DONE:
                break
            self._first_open += 1
        for call_id in islice(ids, self._first_open, None):
            call = calls[call_id]
            if call.status is not _DONE:
                yield call

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
        if before.status is not changed.status:
            self._count(before.status, -1)
            self._count(changed.status, 1)

    def _count(self, status: CallStatus, by: int) -> None:
        if status is _RUNNING:
            self.running += by
        elif status is _READY:
            self.ready += by
        elif status is _PREFLIGHT:
            self.checking += by
        elif status is _DONE:
            self.done += by
        elif status is _NEW:
            self.new += by


class RoundCalls(tuple[CallState, ...]):
    """The calls of a round in a state: a tuple that keeps its draft for the next step.

    The first step from the state takes it; any other one makes a draft anew. This decides nothing,
    but the answers to n calls that come one by one would be n times the work of finding n calls.
    """

    _kept: list[RoundDraft]

    def __reduce__(self) -> tuple[Any, ...]:
        return tuple, (tuple(self),)


def draft_of(calls: tuple[CallState, ...]) -> RoundDraft:
    """Return the draft of a state's calls: the one that is kept, or a new one."""
    if isinstance(calls, RoundCalls):
        try:
            return calls._kept.pop()  # only one step can have it
        except IndexError:
            pass
    return RoundDraft(calls)


def calls_of(draft: RoundDraft) -> tuple[CallState, ...]:
    """Return the calls of a draft for a state, which keeps the draft for the next step."""
    if not len(draft):
        return ()
    draft.is_changed = False
    calls = RoundCalls(draft.calls)
    calls._kept = [draft]
    return calls


def give_back(draft: RoundDraft, calls: tuple[CallState, ...]) -> None:
    """Let a state's calls keep a draft that a step has taken and not changed."""
    if isinstance(calls, RoundCalls):
        calls._kept[:] = [draft]
