"""The calls of the running round, while steps work on them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import heappop, heappush
from itertools import islice
from typing import Any, Final

from agentkit_core import ApprovalId, ApprovalRequest, ToolCallId
from agentkit_loop.kernel._call_state import CallState, CallStatus
from agentkit_loop.kernel._pending_requests import PendingRequests

# Python 3.11 takes as long to find a member of an enum as for all the rest of a count.
_NEW: Final = CallStatus.NEW
_PREFLIGHT: Final = CallStatus.PREFLIGHT
_READY: Final = CallStatus.READY
_RUNNING: Final = CallStatus.RUNNING
_DONE: Final = CallStatus.DONE


class RoundDraft:
    """The calls of the running round, in call order: found by id, by status and by approval.

    So a step that changes a call, or many, does not look through all of them for each.

    Args:
        calls: The calls before the step.

    Attributes:
        is_changed: Whether any call was replaced.
        requests: The approval requests that nobody has answered; None as long as no call of the
            round has asked.
        new: The places of the calls that are new; those of others may be among them.
        ready: The same for the calls that are ready, as a heap.
        checking: How many calls are being checked.
        running: How many run.
        exclusive: How many of those run alone.
        done: How many have their result.
    """

    __slots__ = ("_calls", "_first_open", "_places", "checking", "done", "exclusive", "is_changed",
                 "new", "ready", "requests", "running")  # fmt: skip

    def __init__(self, calls: Iterable[CallState]) -> None:
        self.is_changed = False
        self.requests: PendingRequests | None = None
        self.checking = self.running = self.exclusive = self.done = 0
        self._calls = list(calls)
        self._places = {call.call.id: place for place, call in enumerate(self._calls)}
        self._first_open = 0
        """No call before this place is open; a call never opens again."""
        self.new: list[int] = []
        self.ready: list[int] = []
        for place, call in enumerate(self._calls):
            if call.status is _NEW:
                self.new.append(place)
            else:
                self._count(call, place, 1)
            if call.pending_approvals:
                self._note_requests(place, call)

    def __len__(self) -> int:
        """How many calls there are, those with a result included."""
        return len(self._calls)

    @property
    def calls(self) -> tuple[CallState, ...]:
        """All calls as they are now."""
        return tuple(self._calls)

    def open_calls(self) -> Iterator[CallState]:
        """Iterate over the calls without a result, as each is when it is reached."""
        calls = self._calls
        while self._first_open < len(calls) and calls[self._first_open].status is _DONE:
            self._first_open += 1
        # The list keeps its length, so what is changed meanwhile is seen.
        for call in islice(calls, self._first_open, None):
            if call.status is not _DONE:
                yield call

    def find(self, call_id: ToolCallId) -> CallState | None:
        """Return a call; None if the round has no call of that id."""
        place = self._places.get(call_id)
        return None if place is None else self._calls[place]

    def take_new(self) -> list[CallState]:
        """List the calls for which nothing has been done; they are not listed a second time."""
        places, self.new = sorted(self.new), []
        calls = [self._calls[place] for place in places]
        return [call for call in calls if call.status is _NEW]

    def next_ready(self) -> CallState | None:
        """Return the first call that may run as soon as others let it; None if there is none."""
        places = self.ready
        while places:
            call = self._calls[places[0]]
            if call.status is _READY:
                return call
            heappop(places)
        return None

    def find_request(
        self, approval_id: ApprovalId, call_id: ToolCallId | None
    ) -> ApprovalRequest | None:
        """Return an approval request that nobody has answered; None if no call waits for it.

        Args:
            approval_id: Its id.
            call_id: Which call, if several wait for the same; None means the first in call order.
        """
        if call_id is None:
            return None if self.requests is None else self.requests.first(approval_id)
        call = self.find(call_id)
        requests = () if call is None else call.pending_approvals
        return next((request for request in requests if request.id == approval_id), None)

    def asking(self, approval_id: ApprovalId | None = None) -> list[CallState]:
        """List the calls that wait for a person: all, or those that wait for one approval."""
        if not self.requests:
            return []
        requests = self.requests
        places = requests.places() if approval_id is None else requests.places_of(approval_id)
        return [self._calls[place] for place in places]

    def put(self, changed: CallState) -> None:
        """Replace a call by its next state; one that is not of this round changes nothing."""
        place = self._places.get(changed.call.id)
        if place is None:
            return
        before = self._calls[place]
        self.is_changed = True
        self._calls[place] = changed
        if before.status is not changed.status:
            self._count(before, place, -1)
            self._count(changed, place, 1)
        if before.pending_approvals is not changed.pending_approvals:
            self._note_requests(place, changed)

    def _note_requests(self, place: int, call: CallState) -> None:
        if self.requests is None:
            self.requests = PendingRequests()
        self.requests.put(place, call.pending_approvals)

    def _count(self, call: CallState, place: int, by: int) -> None:
        status = call.status
        if status is _RUNNING:
            self.running += by
            if call.rules.exclusive:
                self.exclusive += by
        elif status is _READY:
            if by > 0:
                heappush(self.ready, place)
        elif status is _PREFLIGHT:
            self.checking += by
        elif status is _DONE:
            self.done += by
        elif status is _NEW and by > 0:
            self.new.append(place)


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


def look_at(calls: tuple[CallState, ...]) -> RoundDraft:
    """Return the draft of a state's calls, to find something in it; it holds until the next step.

    While a state may be stepped by another thread, its calls must not be looked at so.
    """
    kept = calls._kept if isinstance(calls, RoundCalls) else ()
    return kept[0] if kept else RoundDraft(calls)


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
