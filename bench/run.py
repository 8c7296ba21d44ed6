"""Prints the table: what each unit costs, beside the floor, in one run on this machine.

    python bench/run.py                       # everything; takes half an hour
    python bench/run.py --quick               # smaller sizes, ratios only; under two minutes
    python bench/run.py --only history        # the units whose name has this word
    python bench/run.py --repeat 3 --json FILE

Each sample is a new process, and the columns take turns. A ratio compares the minima of all
samples; the one in brackets compares their medians.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import NamedTuple

from answers import Dialect
from measure import sample
from model_server import model_server
from units import UNITS, Unit

COLUMNS = ("floor", "run", "stream")
MANY_FILES = 4_096


class Row(NamedTuple):
    """One line: the cost of a unit for each column, in µs."""

    unit: Unit
    dialect: Dialect
    least: dict[str, float]
    median: dict[str, float]

    def ratio(self, column: str) -> float:
        return self.least[column] / self.least["floor"]

    def median_ratio(self, column: str) -> float:
        return self.median[column] / self.median["floor"]


def measure(
    unit: Unit, dialect: Dialect, sizes: tuple[int, int], base_url: str, repeat: int
) -> Row:
    jobs = unit.jobs(sizes)
    samples: dict[str, list[dict[str, float]]] = {column: [] for column in COLUMNS}
    for _ in range(repeat):
        for column, taken in samples.items():
            taken.append(sample(column, dialect, base_url, jobs))
    streams = int(unit.job.split("-")[1]) if unit.job.startswith("streams") else 1

    def cost(taken: list[dict[str, float]], middle: bool) -> float:
        small, large = (
            (statistics.median if middle else min)([spent[job] for spent in taken]) for job in jobs
        )
        return unit.slope(small, large, sizes) / streams * 1e6

    least = {column: cost(taken, middle=False) for column, taken in samples.items()}
    median = {column: cost(taken, middle=True) for column, taken in samples.items()}
    return Row(unit, dialect, least, median)


def line(row: Row, *, quick: bool) -> str:
    cells = [f"{row.unit.name} ({row.dialect})".ljust(44), f"≤{row.unit.goal:.2f}x"]
    if not quick:
        cells.append(f"{row.least['floor']:9.2f} µs")
    for column in COLUMNS[1:]:
        cell = f"{row.ratio(column):5.2f}x"
        cells.append(cell if quick else f"{cell} ({row.median_ratio(column):5.2f}x)")
    return "  ".join(cells)


def as_json(rows: Sequence[Row]) -> str:
    entries = [
        {
            "unit": row.unit.name,
            "dialect": row.dialect,
            "goal": row.unit.goal,
            "least_us": row.least,
            "median_us": row.median,
        }
        for row in rows
    ]
    return json.dumps({"date": f"{date.today()}", "rows": entries}, indent=2) + "\n"


def allow_files() -> None:
    """Allow this process and those that it starts a connection for each stream."""
    try:
        import resource
    except ImportError:
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < MANY_FILES:
        wanted = MANY_FILES if hard == resource.RLIM_INFINITY else min(MANY_FILES, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="smaller sizes; ratios only")
    parser.add_argument("--only", default="", metavar="WORD", help="units whose name has this")
    parser.add_argument("--repeat", type=int, help="samples of each (default: 5, quick 2)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the costs there")
    options = parser.parse_args()
    repeat = options.repeat or (2 if options.quick else 5)
    allow_files()
    floor = [] if options.quick else ["floor".rjust(12)]
    width = 6 if options.quick else 15
    titles = [column.rjust(width) for column in COLUMNS[1:]]
    print("  ".join(["unit".ljust(44), "goal  ", *floor, *titles]), flush=True)
    rows: list[Row] = []
    with model_server() as base_url:
        for unit in UNITS:
            sizes = unit.quick_sizes if options.quick else unit.sizes
            if sizes is None or options.only not in unit.name:
                continue
            for dialect in unit.dialects[:1] if options.quick else unit.dialects:
                rows.append(measure(unit, dialect, sizes, base_url, repeat))
                print(line(rows[-1], quick=options.quick), flush=True)
    if options.json:
        options.json.write_text(as_json(rows), encoding="utf-8")
    missed = [row.unit.name for row in rows if row.ratio("stream") > row.unit.goal]
    if missed:
        print(f"over the goal: {', '.join(dict.fromkeys(missed))}", file=sys.stderr)


if __name__ == "__main__":
    main()
