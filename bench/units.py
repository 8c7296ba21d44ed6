"""The units of the table: for each, the jobs of two sizes, the goal, and how it is counted.

The cost of a unit is the difference between the two sizes divided by the difference of the sizes,
so that what a turn costs once cancels out.
"""

from __future__ import annotations

from dataclasses import dataclass

from answers import Dialect

BOTH: tuple[Dialect, ...] = ("openai", "anthropic")


@dataclass(frozen=True)
class Unit:
    """What is measured in one line of the table."""

    name: str
    job: str
    """With `{}` where the size goes."""
    sizes: tuple[int, int]
    goal: float
    """The highest ratio to the floor that we want."""
    dialects: tuple[Dialect, ...] = ("openai",)
    quick_sizes: tuple[int, int] | None = None
    """None: too long for the quick form."""
    counted_sizes: tuple[int, int] | None = None
    """For counting instructions; None: not counted."""

    def jobs(self, sizes: tuple[int, int]) -> list[str]:
        return [self.job.format(size) for size in sizes]

    @staticmethod
    def slope(small: float, large: float, sizes: tuple[int, int]) -> float:
        """Return the cost of one unit."""
        return (large - small) / (sizes[1] - sizes[0])


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
    Unit("deltas 1 ms apart", "paced-{}", (100, 1_000), 0.9, quick_sizes=(50, 550)),
    Unit("round of 1 call", "loop-{}-1", (10, 50), 0.9, BOTH, (5, 25), (2, 12)),
    Unit("round of 8 calls", "loop-{}-8", (10, 50), 1.2, BOTH, (5, 25), (2, 12)),
    Unit("100 streams, per delta", "streams-100-{}", (20, 220), 0.33, quick_sizes=(20, 420)),
    Unit("1,000 streams, per delta", "streams-1000-{}", (20, 220), 0.1),
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
