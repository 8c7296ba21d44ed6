"""The time limit of one run of a call, wherever and by whomever the tool is called.

What can be stopped is stopped. What nothing can stop, such as a sync tool, has timed out all the
same if it took too long: its late result is not taken for a good one.
"""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

from msgspec.structs import replace

from agentkit_core import ToolFailure
from agentkit_tools_core._contract._outcome import ToolOutcome, error_result
from agentkit_tools_core._contract._request import ToolInvocation
from agentkit_tools_core._contract._suspension import Suspension, ToolSuspended
from agentkit_tools_core._contract._timer import CallTimer


class TimeLimit:
    """The time limit of one run, which begins when this is made.

    Args:
        limit_s: How many seconds the run may take; None means any number.
        timer: Measures the time; None means that no limit is kept.
    """

    __slots__ = ("_began_s", "_limit_s", "_timer")

    def __init__(self, limit_s: float | None, timer: CallTimer | None) -> None:
        self._timer = None if limit_s is None else timer
        self._limit_s = limit_s or 0.0
        self._began_s = 0.0 if self._timer is None else self._timer.now_s()

    async def keep(
        self, work: Coroutine[Any, Any, ToolOutcome | ToolSuspended], request: ToolInvocation
    ) -> ToolOutcome | ToolSuspended:
        """Await a run on an event loop, and stop it when its time is over."""
        if self._timer is None:
            return await work
        try:
            return await self._timer.within(self._limit_s, work)
        except TimeoutError:
            return self._timed_out(request)

    def check(
        self, outcome: ToolOutcome | Suspension, request: ToolInvocation
    ) -> ToolOutcome | Suspension:
        """Return the outcome of a run that kept its time; otherwise that it has timed out."""
        if self._timer is None or self._timer.now_s() - self._began_s <= self._limit_s:
            return outcome
        if isinstance(outcome, Suspension):
            return self._timed_out(request) if outcome.broken_by is None else outcome
        if outcome.result.is_error:
            return outcome
        timed_out = self._timed_out(request)
        return replace(timed_out, result=replace(timed_out.result, usage=outcome.result.usage))

    def _timed_out(self, request: ToolInvocation) -> ToolOutcome:
        text = (
            f"{request.name} took longer than {self._limit_s:g} s and has timed out; it may have "
            f"had an effect."
        )
        failure = ToolFailure.TIMED_OUT
        return ToolOutcome(error_result(request.call_id, text, failure, started=True))
