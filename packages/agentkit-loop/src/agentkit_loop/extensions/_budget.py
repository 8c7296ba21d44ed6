"""Budgets: what a turn has spent at this moment, for tools that ask models themselves.

The kernel counts what a tool used when its result is there. A tool that asks a model more than
once, or runs a whole agent, says here what it uses while it goes on, and asks before each request
whether there is anything left: so do its siblings, of the same purse.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from agentkit_core import ToolCallId, TurnId, Usage
from agentkit_loop.kernel._limits import Limits, Spent, is_unpriced, is_unreported, limit_reached
from agentkit_loop.kernel._state import State

_Path = tuple[ToolCallId, ...]


class Budget:
    """The purse of the turn that runs; a tool gets its `TurnBudget` by `context.get(TurnBudget)`.

    May be used from any thread; one call charges from one thread at a time. What is charged here
    is not counted a second time: it stands for a call until that call's result, which has to
    bring the same usage, is there.

    Args:
        state: Gives the session as it stands.
        now_ms: Says what time it is; the session hears of that only when something happens.
        above: The purse of the run whose tool this run is; None if it is nobody's.
        told: Takes what each call was charged, for the kernel.
    """

    def __init__(
        self,
        state: Callable[[], State],
        now_ms: Callable[[], int],
        parent: TurnBudget | None = None,
        *,
        on_charge: Callable[[ToolCallId, Usage], None] = lambda call_id, usage: None,
    ) -> None:
        self._state = state
        self._on_charge = on_charge
        self._now_ms = now_ms
        self._parent = parent
        self._charged: dict[_Path, tuple[TurnId | None, Usage]] = {}
        """By call, with the turn in which it was charged last."""

    @property
    def limits(self) -> Limits:
        """What the turn may spend."""
        return self._state().config.limits

    def limit_reached(self) -> str | None:
        """Name the limit that forbids another request, here or further up; None if none does."""
        if self._parent is not None and (limit := self._parent.limit_reached()) is not None:
            return limit
        state = self._state()
        if state.turn is None:
            return None
        turn = state.turn
        aside = self._charged_now(state)
        usage = sum(aside, turn.usage)
        spent = Spent(
            model_calls=turn.model_calls,
            usage=usage,
            unreported=turn.unreported or any(map(is_unreported, aside)),
            unpriced=turn.unpriced or any(map(is_unpriced, aside)),
            duration_ms=max(state.clock, self._now_ms()) - turn.started_at,
        )
        # Answers of this agent's own model are no business of its tools.
        return limit_reached(replace(state.config.limits, max_model_calls=None), spent)

    def share(self, call_id: ToolCallId) -> TurnBudget:
        """Give a call its own way to the purse."""
        return TurnBudget(self, call_id)

    def charge(self, path: _Path, usage: Usage) -> None:
        """Count what a call has used; adds to what it was charged before.

        Args:
            path: The call, then the calls within it that lead to the one that used it.
            usage: What was used.
        """
        turn = self._state().turn
        _, before = self._charged.get(path, (None, Usage()))
        self._charged[path] = None if turn is None else turn.id, before + usage
        self._on_charge(path[0], usage)
        if self._parent is not None:
            self._parent.charge_within(path, usage)

    def settle(self, call_id: ToolCallId) -> None:
        """Forget what a call was charged: its result is there and has it."""
        self._forget((call_id,))

    def take_back(self, path: _Path) -> None:
        """Forget, here and further up, what a call was charged that stops to ask.

        When it goes on, maybe in another process, it is charged anew.
        """
        self._forget(path)
        if self._parent is not None:
            self._parent.take_back(path)

    def _forget(self, path: _Path) -> None:
        for one in list(self._charged):
            if one[: len(path)] == path:
                self._charged.pop(one, None)

    def _charged_now(self, state: State) -> list[Usage]:
        """What is charged for this turn's calls and for those in the background.

        Nobody settles for a call that was cut short: that ends with the turn.
        """
        now = None if state.turn is None else state.turn.id
        return [
            used
            for path, (turn_id, used) in list(self._charged.items())
            if turn_id == now or path[0] in state.background
        ]


class TurnBudget:
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
        """Count what the call has used. Its result has to bring the sum of it as `usage`.

        A call that stopped to ask says so anew when it goes on, for all that it has used.
        """
        self._budget.charge((self._call_id,), usage)

    def charge_within(self, path: tuple[ToolCallId, ...], usage: Usage) -> None:
        """Count what calls of a run have used that is itself this call's work."""
        self._budget.charge((self._call_id, *path), usage)

    def take_back(self, path: tuple[ToolCallId, ...]) -> None:
        """Forget what calls of that run were charged."""
        self._budget.take_back((self._call_id, *path))
