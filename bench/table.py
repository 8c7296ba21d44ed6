"""The table as Markdown, a line for each row when it is there, and as JSON."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from answers import Dialect

FLOOR = "floor"
JUDGED = "stream"
"""The column that has to meet the goals."""
NAME_WIDTH, CELL_WIDTH = 48, 15
ABSENT = "-"


@dataclass(frozen=True)
class Row:
    """One line.

    Attributes:
        name: What is measured.
        dialect: The protocol in which it was.
        measure: The unit of the costs, as it is printed.
        least: The cost for each column that was measured, from the minima of its samples.
        median: The same from their medians.
        goal: The most that we want of `stream`.
        is_ratio: The goal is a ratio to the floor; otherwise it is a cost.
    """

    name: str
    dialect: Dialect
    measure: str
    least: Mapping[str, float]
    median: Mapping[str, float]
    goal: float
    is_ratio: bool = True

    @property
    def is_over(self) -> bool:
        judged = self.least[JUDGED] / self.least[FLOOR] if self.is_ratio else self.least[JUDGED]
        return judged > self.goal

    def cell(self, column: str) -> str:
        """Return the ratio to the floor, and in brackets that of the medians."""
        if column not in self.least:
            return ABSENT
        if column == FLOOR:
            return f"{figure(self.least[column])} {self.measure}"
        ratio = figure(self.least[column] / self.least[FLOOR])
        median = figure(self.median[column] / self.median[FLOOR])
        bold = "**" if column == JUDGED and self.is_over else ""
        return f"{bold}{ratio} ({median}){bold}"

    def line(self, columns: Sequence[str]) -> str:
        goal = figure(self.goal) + ("" if self.is_ratio else f" {self.measure}")
        cells = [f"{self.name} ({self.dialect})".ljust(NAME_WIDTH), f"≤{goal}".ljust(10)]
        return join([*cells, *(self.cell(column).rjust(CELL_WIDTH) for column in columns)])


def figure(number: float) -> str:
    """Return a number with three digits that count, more before the point."""
    if abs(number) >= 100:
        return f"{number:,.0f}"
    return f"{number:.1f}" if abs(number) >= 10 else f"{number:.2f}"


def join(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def head(columns: Sequence[str]) -> str:
    """Return the first two lines of the table."""
    titles = ["unit".ljust(NAME_WIDTH), "goal".ljust(10)]
    titles += [column.rjust(CELL_WIDTH) for column in columns]
    rules = ["---", "---", *("---:" for _ in columns)]
    return f"{join(titles)}\n{join(rules)}"


def as_json(
    rows: Sequence[Row], footprints: Sequence[Mapping[str, Any]], versions: Mapping[str, str]
) -> str:
    entries = [
        {
            "name": row.name,
            "dialect": row.dialect,
            "measure": row.measure,
            "goal": row.goal,
            "goal_is_ratio": row.is_ratio,
            "least": dict(row.least),
            "median": dict(row.median),
        }
        for row in rows
    ]
    found = {
        "date": f"{date.today()}",
        "python": platform.python_version(),
        "versions": dict(versions),
        "rows": entries,
        "footprints": list(footprints),
    }
    return json.dumps(found, indent=2) + "\n"
