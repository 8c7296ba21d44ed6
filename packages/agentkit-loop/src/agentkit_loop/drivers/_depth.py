"""How deep a run is inside of others: agents may be tools of agents, in whatever way.

A context variable says it, since a tool may run an agent without telling anybody.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Final

from agentkit_loop._errors import AgentsTooDeep

_DEPTH: Final[ContextVar[int]] = ContextVar("agentkit_loop_depth", default=0)


def present_depth(most: int | None) -> int:
    """Return how many runs stand around a session that is opened here; 0 if none does.

    Args:
        most: How many there may be; None means any number.

    Raises:
        AgentsTooDeep: There are more.
    """
    depth = _DEPTH.get()
    if most is not None and depth > most:
        raise AgentsTooDeep(most)
    return depth


class inside:  # noqa: N801  (used as a function; a generator would take twice as long)
    """Run code of the host that belongs to a session of this depth."""

    __slots__ = ("_before", "_depth")

    def __init__(self, depth: int) -> None:
        self._depth = depth + 1
        self._before = 0

    def __enter__(self) -> None:
        self._before = _DEPTH.get()
        _DEPTH.set(self._depth)

    def __exit__(self, *_: object) -> None:
        # A token could not be reset here if the work is closed from another context.
        _DEPTH.set(self._before)
