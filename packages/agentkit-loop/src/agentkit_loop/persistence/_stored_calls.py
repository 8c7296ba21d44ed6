"""The JSON of calls, kept from one save to the next.

A head contains all calls of a round, and one save changes few of them: what has not changed is
neither encoded nor sealed again. The loops over all calls are those of C.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import compress
from operator import attrgetter
from typing import Any, Final

from msgspec import Raw
from msgspec.structs import replace

from agentkit_core import ToolCallId, to_json
from agentkit_loop.kernel._call_state import CallState
from agentkit_loop.kernel._effects import Emit, Yield
from agentkit_loop.kernel._state import State
from agentkit_loop.kernel._status import WaitingForApproval
from agentkit_loop.persistence._seals import is_sealed, seal_of_json

_CALL_ID: Final = attrgetter("call.id")
_SPARE: Final = 64
"""How many values are kept at least that may not be needed any more."""


class StoredCalls:
    """The JSON of a session's calls, of their effects and their approval requests.

    Values are known by identity: a step never changes one in place.
    """

    __slots__ = ("_json", "_seals", "_values")

    def __init__(self) -> None:
        self._values: dict[int, object] = {}
        self._json: dict[int, Raw] = {}
        self._seals: dict[int, str] = {}

    def put_in(
        self, state: State, reports: Sequence[Emit | Yield]
    ) -> tuple[State, tuple[Emit | Yield, ...]]:
        """Put JSON, and the seals of calls, into what a head is made of.

        Args:
            state: The state.
            reports: What the last steps report.

        Returns:
            Both, only to be encoded.
        """
        calls: Any = () if state.turn is None else state.turn.calls
        background = state.background
        if not calls and not background:
            self._keep(())
            return state, tuple(reports)
        changes: dict[str, Any] = {
            "background": dict(zip(background, self._json_of(background.values()), strict=True)),
            "out": dict(zip(state.out, self._json_of(state.out.values()), strict=True)),
        }
        if state.turn is not None:
            changes["turn"] = replace(state.turn, calls=self._json_of(calls))
        changes["seals"] = self._seals_of(calls) | self._seals_of(background.values())
        told = tuple([self._with_requests(report) for report in reports])
        if len(self._values) > 4 * (len(calls) + len(background) + len(state.out)) + _SPARE:
            requests = state.pending_approvals
            self._keep((*calls, *background.values(), *state.out.values(), *requests))
        return replace(state, **changes), told

    def _json_of(self, values: Collection[object]) -> list[Raw]:
        found: list[Any] = list(map(self._json.get, map(id, values)))
        missing = found.count(None)
        if missing:
            in_order, place = tuple(values), -1
            for _ in range(missing):
                place = found.index(None, place + 1)
                found[place] = self._encode(in_order[place])
        return found

    def _encode(self, value: object) -> Raw:
        json = self._json[id(value)] = Raw(to_json(value))
        self._values[id(value)] = value
        if isinstance(value, CallState) and is_sealed(value):
            self._seals[id(value)] = seal_of_json(json)
        return json

    def _seals_of(self, calls: Collection[CallState]) -> dict[ToolCallId, str]:
        seals: list[Any] = list(map(self._seals.get, map(id, calls)))
        return dict(compress(zip(map(_CALL_ID, calls), seals, strict=True), seals))

    def _with_requests(self, report: Emit | Yield) -> Emit | Yield:
        if not isinstance(report, Yield) or not isinstance(report.status, WaitingForApproval):
            return report
        requests: Any = self._json_of(report.status.requests)
        return Yield(replace(report.status, requests=requests))

    def _keep(self, values: Iterable[object]) -> None:
        """Forget all values but these."""
        if not self._values:
            return
        self._values = {id(value): value for value in values if id(value) in self._values}
        self._json = {each: self._json[each] for each in self._values}
        self._seals = {each: self._seals[each] for each in self._values if each in self._seals}
