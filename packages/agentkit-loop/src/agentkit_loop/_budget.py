"""Budgets: what a turn has spent at this moment, for tools that ask models themselves.

The kernel counts what a tool used when its result is there. A tool that asks a model more than
once, or runs a whole agent, says here what it uses while it goes on, and asks before each request
whether there is anything left: so do its siblings, of the same purse.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from agentkit_core import ToolCallId, Usage
from agentkit_loop._limits import Limits, Spent, is_unpriced, is_unreported, limit_reached
from agentkit_loop._state import State


class Budget:
    """The purse of the turn that runs; a tool gets its `Share` by `context.get(Share)`.

    May be used from any thread; one call charges from one thread at a time. What is charged here
    is not counted a second time: it stands for a call until that call's result, which has to
    bring the same usage, is there.

    Args:
        state: Gives the session as it stands.
        above: The purse of the run whose tool this run is; None if it is nobody's.
    """

    def __init__(self, state: Callable[[], State], above: Share | None = None) -> None:
        self._state = state
        self._above = above
        self._charged: dict[ToolCallId, Usage] = {}

    @property
    def limits(self) -> Limits:
        """What the turn may spend."""
        return self._state().config.limits

    def limit_reached(self) -> str | None:
        """Name the limit that forbids another request, here or further up; None if none does."""
        if self._above is not None and (limit := self._above.limit_reached()) is not None:
            return limit
        state = self._state()
        if state.turn is None:
            return None
        turn = state.turn
        aside = list(self._charged.values())
        usage = sum(aside, turn.usage)
        spent = Spent(
            model_calls=turn.model_calls,
            usage=usage,
            unreported=turn.unreported or any(map(is_unreported, aside)),
            unpriced=turn.unpriced or any(map(is_unpriced, aside)),
            duration_ms=state.clock - turn.started_at,
        )
        # Answers of this agent's own model are no business of its tools.
        return limit_reached(replace(state.config.limits, max_model_calls=None), spent)

    def share(self, call_id: ToolCallId) -> Share:
        """Give a call its own way to the purse."""
        return Share(self, call_id)

    def charge(self, call_id: ToolCallId, usage: Usage) -> None:
        """Count what a call has used; adds to what it was charged before."""
        self._charged[call_id] = self._charged.get(call_id, Usage()) + usage
        if self._above is not None:
            self._above.charge(usage)

    def settle(self, call_id: ToolCallId) -> None:
        """Forget what a call was charged: its result is there and has it."""
        self._charged.pop(call_id, None)


class Share:
    """A budget, as one call sees it."""

    def __init__(self, budget: Budget, call_id: ToolCallId) -> None:
        self._budget = budget
        self._call_id = call_id

    @property
    def limits(self) -> Limits:
        """What the turn may spend."""
        return self._budget.limits

    def limit_reached(self) -> str | None:
        """Name the limit that forbids another request; None if none does."""
        return self._budget.limit_reached()

    def charge(self, usage: Usage) -> None:
        """Count what the call has used. Its result has to bring the sum of it as `usage`."""
        self._budget.charge(self._call_id, usage)
