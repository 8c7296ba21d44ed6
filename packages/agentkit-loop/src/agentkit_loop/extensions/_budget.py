"""Budgets: what a turn has spent at this moment, for tools that call models themselves.

The kernel counts what a tool has used when the tool's result comes. A tool that calls a model more
than once, or runs a whole agent, charges its usage to the budget as it goes. Before each model call
it checks the limits, and so do other tools of the same turn.
"""

from __future__ import annotations

from typing import Protocol

from msgspec.structs import replace

from agentkit_core import ToolCallId, TurnId, Usage
from agentkit_loop.kernel._limits import (
    Limits,
    Spent,
    any_limit_reached,
    is_unpriced,
    is_unreported,
)
from agentkit_loop.kernel._state import State

_Path = tuple[ToolCallId, ...]
"""A call, then the calls within it that lead to the one that used something."""


class Spender(Protocol):
    """The calls of a session, as its budget sees them."""

    @property
    def state(self) -> State:
        """The session's present state."""
        ...

    def now_ms(self) -> int:
        """Return the time in milliseconds; the state has only the time of the last step."""
        ...

    def report_spending(self, call_id: ToolCallId, usage: Usage) -> None:
        """Tell the kernel of a charge."""
        ...


class Budget:
    """The budget of the running turn; a tool gets its share by `context.get(TurnBudget)`.

    May be used from any thread, as long as each call charges from one thread at a time. Charges
    stand for a call only until its result comes, which has to contain the same usage; nothing is
    counted twice.

    Args:
        spender: The calls of the session.
        parent: The budget of the run whose tool this session is; None if it is no tool.
    """

    __slots__ = ("_charges", "_parent", "_spender")

    def __init__(self, spender: Spender, parent: TurnBudget | None = None) -> None:
        self._spender = spender
        self._parent = parent
        self._charges: dict[_Path, tuple[TurnId | None, Usage]] = {}
        """By call, with the turn in which it was charged last."""

    @property
    def limits(self) -> Limits:
        """The limits of the turn."""
        return self._spender.state.config.limits

    def limit_reached(self) -> str | None:
        """Name the limit that forbids another model call; None if none does.

        Limits of the run whose tool this session is count as well.
        """
        if self._parent is not None and (limit := self._parent.limit_reached()) is not None:
            return limit
        state = self._spender.state
        if state.turn is None:
            return None
        turn = state.turn
        charged = self._present_charges(state)
        spent = Spent(
            model_calls=turn.model_calls,
            usage=sum(charged, turn.usage),
            unreported=turn.unreported or any(map(is_unreported, charged)),
            unpriced=turn.unpriced or any(map(is_unpriced, charged)),
            duration_ms=max(state.clock, self._spender.now_ms()) - turn.started_at,
        )
        # The number of model calls limits the agent's own model only, not those of its tools.
        config = state.config
        return any_limit_reached(
            replace(config.limits, max_model_calls=None),
            replace(config.session_limits, max_model_calls=None),
            spent,
            state.spent,
        )

    def share(self, call_id: ToolCallId) -> TurnBudget:
        """Return a call's share of the budget."""
        return TurnBudget(self, call_id)

    def charge(self, path: _Path, usage: Usage) -> None:
        """Add what a call has used to what it was charged before.

        Args:
            path: The call, then the calls within it that lead to the one that used something.
            usage: What was used since the last charge.
        """
        turn = self._spender.state.turn
        _, before = self._charges.get(path, (None, Usage()))
        self._charges[path] = None if turn is None else turn.id, before + usage
        self._spender.report_spending(path[0], usage)
        if self._parent is not None:
            self._parent.charge_within(path, usage)

    def settle(self, call_id: ToolCallId) -> None:
        """Remove the charges of a call whose result has come: the result contains them."""
        self._remove((call_id,))

    def take_back(self, path: _Path) -> None:
        """Remove the charges of a call that stops to ask, here and in the parent's budget.

        When it goes on, perhaps in another process, it is charged again for everything.
        """
        self._remove(path)
        if self._parent is not None:
            self._parent.take_back(path)

    def _remove(self, path: _Path) -> None:
        for charged in list(self._charges):
            if charged[: len(path)] == path:
                self._charges.pop(charged, None)

    def _present_charges(self, state: State) -> list[Usage]:
        """Return the charges of this turn's calls and of background calls.

        The charge of a call that was cut short is never settled; it counts until its turn ends.
        """
        turn_id = None if state.turn is None else state.turn.id
        return [
            usage
            for path, (charged_in, usage) in list(self._charges.items())
            if charged_in == turn_id or path[0] in state.background
        ]


class TurnBudget:
    """One call's share of the running turn's budget.

    Tools get it with `context.get(TurnBudget)`. May be used from any thread.
    """

    __slots__ = ("_budget", "_call_id")

    def __init__(self, budget: Budget, call_id: ToolCallId) -> None:
        self._budget = budget
        self._call_id = call_id

    @property
    def limits(self) -> Limits:
        """The limits of the turn."""
        return self._budget.limits

    def limit_reached(self) -> str | None:
        """Name the limit that forbids another model call; None if none does."""
        return self._budget.limit_reached()

    def charge(self, usage: Usage) -> None:
        """Charge what the call has used since the last charge.

        The call's result has to contain the sum of all charges as its `usage`. A call that stopped
        to ask and goes on has to charge everything again, what it used before included.
        """
        self._budget.charge((self._call_id,), usage)

    def charge_within(self, path: tuple[ToolCallId, ...], usage: Usage) -> None:
        """Charge what calls of an inner run have used, which this call runs.

        Args:
            path: The inner call, then the calls within it that lead to the one that used something.
            usage: What was used since the last charge.
        """
        self._budget.charge((self._call_id, *path), usage)

    def take_back(self, path: tuple[ToolCallId, ...]) -> None:
        """Remove the charges of calls of an inner run, which stop to ask."""
        self._budget.take_back((self._call_id, *path))
