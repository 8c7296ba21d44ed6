"""The approval requests of a round that nobody has answered, found by their ids."""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heappop, heappush
from itertools import chain

from agentkit_core import ApprovalId, ApprovalRequest


class PendingRequests:
    """The open approval requests of the calls of a round, in call order.

    An answer finds its request without a look at the others. Calls are named by their places in the
    round.
    """

    __slots__ = ("_askers", "_last", "_of_call", "_sorted")

    def __init__(self) -> None:
        self._of_call: dict[int, tuple[ApprovalRequest, ...]] = {}
        self._askers: dict[ApprovalId, list[int]] = {}
        """The places of the calls with a request of that id, as heaps; others may be among them."""
        self._sorted = True
        self._last = -1

    def __bool__(self) -> bool:
        """Whether there are any."""
        return bool(self._of_call)

    def put(self, place: int, requests: tuple[ApprovalRequest, ...]) -> None:
        """Replace the requests of a call; none means that it waits for nobody."""
        before = self._of_call.pop(place, ()) if not requests else self._of_call.get(place, ())
        if not requests:
            return
        if not before:
            self._sorted = self._sorted and place > self._last
            self._last = place
        self._of_call[place] = requests
        known = {request.id for request in before}
        for request in requests:
            if request.id not in known:
                heappush(self._askers.setdefault(request.id, []), place)

    def places(self) -> list[int]:
        """The places of the calls that wait, in call order."""
        if not self._sorted:  # calls seldom ask in another order
            self._of_call = dict(sorted(self._of_call.items()))
            self._sorted, self._last = True, max(self._of_call, default=-1)
        return list(self._of_call)

    def listed(self) -> Iterable[ApprovalRequest]:
        """All requests, in call order."""
        if not self._sorted:
            self.places()
        return chain.from_iterable(self._of_call.values())

    def first(self, approval_id: ApprovalId) -> ApprovalRequest | None:
        """Return the first open request of this id, in call order; None if there is none."""
        places = self._askers.get(approval_id, [])
        while places:
            request = self._at(places[0], approval_id)
            if request is not None:
                return request
            heappop(places)
        return None

    def places_of(self, approval_id: ApprovalId) -> list[int]:
        """The places of the calls with an open request of this id, in call order."""
        places = sorted(set(self._askers.get(approval_id, ())))
        return [place for place in places if self._at(place, approval_id) is not None]

    def _at(self, place: int, approval_id: ApprovalId) -> ApprovalRequest | None:
        for request in self._of_call.get(place, ()):
            if request.id == approval_id:
                return request
        return None
