"""Prints the table: what each unit costs, beside the floor, in one run on this machine.

    python bench/run.py --repeat 3            # the full table
    python bench/run.py --quick               # smaller sizes, ratios only; under two minutes
    python bench/run.py --peers               # with the columns of all peers, which it installs
    python bench/run.py --peers openai,litellm --only "1,000"
    python bench/run.py --only install        # installed size and distributions
    python bench/run.py --json FILE

Each sample is a new process, and the columns take turns. A ratio compares the minima of all
samples; the one in brackets compares their medians. What is over its goal is in bold.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import environments
import footprint
import memory
from answers import Dialect
from columns import FLOOR, OWN, PEERS, Column
from environments import Unavailable
from footprint import Footprint
from measure import Taken, sample
from model_server import model_server
from table import Row, as_json, head
from units import MANY_SESSIONS, PEAK_GOAL, REST_GOAL_KIB, UNITS, Sizes, Unit

MANY_FILES = 4_096
LEAST_IMPORTS = 5
REST, INSTALLED = "session at rest", "install: import and size"
Middle = Callable[[list[float]], float]


class Bench:
    """One run: the columns, the rows so far, and what could not be measured."""

    def __init__(self, columns: Sequence[Column], base_url: str, repeat: int) -> None:
        self.columns, self.base_url, self.repeat = columns, base_url, repeat
        self.rows: list[Row] = []
        self.footprints: list[Footprint] = []
        self.failures: list[str] = []

    def samples(
        self, what: str, columns: Sequence[Column], take: Callable[[Column], Any]
    ) -> dict[str, list[Any]]:
        """Take samples of the columns in turn; a peer that fails is left out, and named.

        Raises:
            Unavailable: A column that is no peer has failed.
        """
        found: dict[str, list[Any]] = {column.name: [] for column in columns}
        for _ in range(self.repeat):
            for column in columns:
                if column.name not in found:
                    continue
                try:
                    found[column.name].append(take(column))
                except Unavailable as error:
                    if not column.requires:
                        raise
                    del found[column.name]
                    self.failures.append(f"{what}: {error}")
        return found

    def unit(self, unit: Unit, dialect: Dialect, sizes: Sizes) -> list[Row]:
        """Measure a unit in one dialect; of many sessions at once, their memory too."""
        jobs = unit.jobs(sizes)
        speakers = [column for column in self.columns if dialect in column.dialects]
        samples: dict[str, list[dict[str, Taken]]] = self.samples(
            f"{unit.name} ({dialect})",
            speakers,
            lambda column: sample(column, dialect, self.base_url, jobs),
        )

        def cost(taken: list[dict[str, Taken]], middle: Middle) -> float:
            return unit.cost([middle([spent[job].cpu_s for spent in taken]) for job in jobs], sizes)

        least = {name: cost(taken, min) * 1e6 for name, taken in samples.items()}
        median = {name: cost(taken, statistics.median) * 1e6 for name, taken in samples.items()}
        rows = [Row(unit.name, dialect, "µs", least, median, unit.goal)]
        peaks = {
            name: [
                peak / unit.sessions / 1024
                for spent in taken
                if (peak := spent[jobs[-1]].peak_bytes) is not None
            ]
            for name, taken in samples.items()
        }
        # Of few sessions, what a process needs once would count too much.
        if unit.sessions >= MANY_SESSIONS and all(peaks.values()):
            rows.append(row_of(f"{unit.name}, memory", dialect, peaks, PEAK_GOAL))
        return rows

    def rest(self) -> Row:
        """Measure the memory of a session at rest."""
        speakers = [column for column in self.columns if "openai" in column.dialects]
        samples = self.samples(
            REST, speakers, lambda column: memory.sample("rest", column, self.base_url) / 1024
        )
        return row_of(REST, "openai", samples, REST_GOAL_KIB, is_ratio=False)

    def install(self) -> None:
        """Print the table of what is installed."""
        peers = [column for column in self.columns if column.requires]
        repeat = max(self.repeat, LEAST_IMPORTS)
        self.footprints = footprint.footprints(peers, repeat, self.failures)
        floor = next((found for found in self.footprints if found.name == FLOOR.name), None)
        lines = [found.line(floor) for found in self.footprints]
        print("", footprint.HEAD, *lines, sep="\n", flush=True)

    def json(self) -> str:
        peers = [column.name for column in self.columns if column.requires]
        versions = {name: environments.locked_version(name) for name in peers}
        return as_json(self.rows, [asdict(found) for found in self.footprints], versions)


def row_of(
    name: str,
    dialect: Dialect,
    samples: dict[str, list[float]],
    goal: float,
    *,
    is_ratio: bool = True,
) -> Row:
    """Make a row of sizes in KiB."""
    least = {column: min(sizes) for column, sizes in samples.items()}
    median = {column: statistics.median(sizes) for column, sizes in samples.items()}
    return Row(name, dialect, "KiB", least, median, goal, is_ratio)


def allow_files() -> None:
    """Allow this process and those that it starts a connection for each session."""
    try:
        import resource
    except ImportError:
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < MANY_FILES:
        wanted = MANY_FILES if hard == resource.RLIM_INFINITY else min(MANY_FILES, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def parsed(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the arguments; `peers` becomes a list of columns."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="smaller sizes; ratios only")
    parser.add_argument("--only", default="", metavar="WORD", help="rows whose name has this")
    parser.add_argument("--repeat", type=int, help="samples of each (default: 3, quick 2)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the costs there")
    parser.add_argument(
        "--peers", nargs="?", const="all", metavar="NAMES", help="all, or names joined by commas"
    )
    options = parser.parse_args(arguments)
    names = {peer.name for peer in PEERS}
    chosen = names if options.peers == "all" else {*(options.peers or "").split(",")} - {""}
    if chosen - names:
        parser.error(f"no peer is called {sorted(chosen - names)}; there are {sorted(names)}")
    options.peers = [peer for peer in PEERS if peer.name in chosen]
    return options


def installed(peers: Sequence[Column]) -> tuple[list[Column], list[str]]:
    """Install peers; return those that could be, and the reasons of the others."""
    found, failures = [], []
    for peer in peers:
        try:
            environments.locked(peer.name)
            found.append(peer)
        except Unavailable as error:
            failures.append(str(error))
    return found, failures


def main() -> None:
    options = parsed()
    allow_files()
    peers, failures = installed(options.peers)
    columns = [*OWN, *peers]
    shown = [column.name for column in columns][options.quick :]
    units = [unit for unit in UNITS if options.only in unit.name]
    with model_server() as base_url:
        bench = Bench(columns, base_url, options.repeat or (2 if options.quick else 3))
        bench.failures += failures

        def add(*rows: Row) -> None:
            if not bench.rows:
                print(head(shown))
            for row in rows:
                print(row.line(shown), flush=True)
            bench.rows += rows
            if options.json:
                options.json.write_text(bench.json(), encoding="utf-8")

        for unit in units:
            sizes = unit.quick_sizes if options.quick else unit.sizes
            if sizes is None:
                continue
            for dialect in unit.dialects[:1] if options.quick else unit.dialects:
                add(*bench.unit(unit, dialect, sizes))
        if options.only in REST:
            add(bench.rest())
        if options.only in INSTALLED and (options.only or not options.quick):
            bench.install()
        if options.json:
            options.json.write_text(bench.json(), encoding="utf-8")
    named = [f"{peer.name} {environments.locked_version(peer.name)}" for peer in peers]
    if named:
        print(f"\npeers: {', '.join(named)}")
    for failure in bench.failures:
        print(f"not measured: {failure}", file=sys.stderr)
    over = [row.name for row in bench.rows if row.is_over]
    if over:
        print(f"over the goal: {', '.join(dict.fromkeys(over))}", file=sys.stderr)


if __name__ == "__main__":
    main()
