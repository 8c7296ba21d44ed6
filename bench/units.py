"""The units of the table: for each, the jobs of two sizes, the goal, and how it is counted.

The cost of a unit is the difference between the two sizes divided by the difference of the sizes,
so that what a turn costs once cancels out. Of sessions at once, the whole counts: one size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from answers import Dialect
from columns import BOTH

Sizes = tuple[int, ...]


@dataclass(frozen=True)
class Unit:
    """What is measured in one line of the table."""

    name: str
    job: str
    """With `{}` where the size goes."""
    sizes: Sizes
    goal: float
    """The highest ratio to the floor that we want."""
    dialects: tuple[Dialect, ...] = ("openai",)
    quick_sizes: Sizes | None = None
    """None: too long for the quick form."""
    counted_sizes: Sizes | None = None
    """For counting instructions; None: not counted."""
    sessions: int = 1
    """How many there are at once. If it is more than 1, the cost is that of each of them."""

    def jobs(self, sizes: Sizes) -> list[str]:
        return [self.job.format(size) for size in sizes]

    def cost(self, spent: Sequence[float], sizes: Sizes) -> float:
        """Return the cost of one unit, from the costs of the jobs of all sizes."""
        if self.sessions > 1:
            return spent[-1] / self.sessions
        return (spent[-1] - spent[0]) / (sizes[-1] - sizes[0])


UNITS = (
    Unit(
        "text, per delta",
        "text-{}",
        (2_000, 20_000),
        0.33,
        BOTH,
        quick_sizes=(500, 5_000),
        counted_sizes=(100, 1_100),
    ),
    Unit(
        "tool arguments, per delta",
        "tool-{}",
        (2_000, 20_000),
        0.33,
        BOTH,
        quick_sizes=(500, 5_000),
        counted_sizes=(100, 1_100),
    ),
    Unit("deltas 1 ms apart", "paced-{}", (100, 1_000), 0.9, quick_sizes=(50, 350)),
    Unit("round of 1 call", "loop-{}-1", (10, 50), 0.9, BOTH, (5, 25), (2, 12)),
    Unit("round of 8 calls", "loop-{}-8", (10, 50), 1.2, BOTH, (5, 25), (2, 12)),
    Unit("100 sessions at once", "sessions-100-{}", (200,), 0.33, quick_sizes=(200,), sessions=100),
    Unit("1,000 sessions at once", "sessions-1000-{}", (200,), 0.1, sessions=1_000),
    Unit(
        "history, cold, per message",
        "cold-{}",
        (1_000, 5_000),
        4.0,
        BOTH,
        quick_sizes=(100, 2_100),
        counted_sizes=(50, 450),
    ),
    Unit(
        "history, a session that goes on",
        "warm-{}",
        (1_000, 5_000),
        1.0,
        BOTH,
        quick_sizes=(100, 2_100),
        counted_sizes=(50, 550),
    ),
)

MANY_SESSIONS = 1_000
"""From so many at once, the opening of their connections and their memory are measured too."""
PEAK_GOAL = 1.3
"""The highest ratio to the floor of the memory of each of 1,000 sessions at once."""
REST_GOAL_KIB = 6.0
"""The most that we want a session at rest to hold."""
IMPORT_GOAL = 1.3
"""The highest ratio to the floor of the CPU time of importing core, loop and providers."""
MOST_MB = 5.0
MOST_DISTRIBUTIONS = 12
"""The most that core, tools-core, loop, providers and what they require may be together."""
