"""Counts the user instructions of each unit, and compares them with the figures kept beside it.

    python bench/instructions.py              # compare; exits with 1 if a unit costs 5 % more
    python bench/instructions.py --update     # write instructions.json anew
    python bench/instructions.py --floor      # count the floor too, and print the ratios

Instructions are counted by valgrind's cachegrind. They repeat to less than a hundredth, whatever
else the machine does, where CPU time moves by a third. The cost of a unit is the difference between
two sizes, as in `run.py`. The figures hold for one Python, as it was compiled, and one set of
libraries, which are kept with them: with others, the counts are printed and not compared.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from answers import Dialect
from model_server import model_server
from units import UNITS, Unit

HERE = Path(__file__).parent
KEPT = HERE / "instructions.json"
MOST = 1.05
"""How many times as many as kept a unit may cost."""
NOISE = 1_000
"""Fewer instructions than this are within what a run of a whole process varies by."""
LIBRARIES = ("msgspec", "anyio", "httpcore", "httpx", "h11")
IMPORTS = {
    "import agentkit_core": "import agentkit_core",
    "import of all": "import agentkit_core, agentkit_tools_core, agentkit_loop, agentkit_providers",
}
COUNTED_UNITS = {unit: unit.counted_sizes for unit in UNITS if unit.counted_sizes is not None}
SETTINGS = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
"""The environment without what changes how Python works; compiling anew at each start is one."""
COUNTED = re.compile(r"I\s+refs:\s+([\d,]+)")
VALGRIND = ("valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null")


Command = tuple[str, ...]


class Line(NamedTuple):
    """One counted thing: a unit in a column and a dialect, or an import if there is no unit."""

    name: str
    unit: Unit | None = None
    column: str = ""
    dialect: Dialect = "openai"

    def commands(self, base_url: str) -> tuple[Command, Command]:
        """Return the arguments of the two runs of Python whose counts are subtracted.

        The first is shared by all units of a column: every job in its small size, twice. In the
        second, the second time of one job has the large size. Both prepare both sizes, so that
        what is subtracted is the turn alone.
        """
        if self.unit is None:
            return ("-c", "pass"), ("-c", IMPORTS[self.name])
        measure = (str(HERE / "measure.py"), self.column, self.dialect, base_url, "--once")
        jobs = {unit: unit.jobs(sizes) for unit, sizes in COUNTED_UNITS.items()}
        first = [small for small, _ in jobs.values()]
        shared = [f"{large},{small}" for small, large in jobs.values()]
        changed = [
            f"{small},{large}" if unit is self.unit else f"{large},{small}"
            for unit, (small, large) in jobs.items()
        ]
        return (*measure, *first, *shared), (*measure, *first, *changed)

    def per_unit(self, small: int, large: int) -> int:
        """Return the instructions of one unit."""
        if self.unit is None:
            return large - small
        return round(self.unit.cost((small, large), COUNTED_UNITS[self.unit]))


def lines(columns: tuple[str, ...], *, quick: bool) -> list[Line]:
    """List what is counted; the quick form has one dialect, and events read as they come."""
    counted = [Line(name) for name in IMPORTS]
    for unit in COUNTED_UNITS:
        for dialect in unit.dialects[:1] if quick else unit.dialects:
            counted += [
                Line(f"{unit.name} ({dialect}, {column})", unit, column, dialect)
                for column in columns
            ]
    return counted


def count(arguments: Command) -> int:
    """Return the instructions of one run of Python.

    Raises:
        SystemExit: It failed.
    """
    done = subprocess.run(
        [*VALGRIND, sys.executable, *arguments],
        capture_output=True,
        text=True,
        env={**SETTINGS, "PYTHONHASHSEED": "0", "NO_PROXY": "127.0.0.1"},
        check=False,
    )
    found = COUNTED.search(done.stderr)
    if done.returncode or found is None:
        sys.exit(f"{' '.join(arguments)} failed:\n{done.stderr[-3_000:]}")
    return int(found[1].replace(",", ""))


def counts(chosen: list[Line]) -> dict[str, int]:
    """Count every line, as many at once as there are cores."""
    with model_server() as base_url, ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        # Not counted: it compiles what was not compiled before.
        measure = str(HERE / "measure.py")
        started: set[Command] = {("-c", text) for text in IMPORTS.values()}
        started |= {
            (measure, line.column, line.dialect, base_url, "--once", "loop-1-1")
            for line in chosen
            if line.unit
        }
        for arguments in started:
            subprocess.run([sys.executable, *arguments], check=True, env=SETTINGS)
        runs = list(dict.fromkeys(run for line in chosen for run in line.commands(base_url)))
        counted = dict(zip(runs, pool.map(count, runs), strict=True))
        return {
            line.name: line.per_unit(*(counted[run] for run in line.commands(base_url)))
            for line in chosen
        }


def environment() -> dict[str, str]:
    """Name what the figures depend on, apart from the code."""
    # The same version of Python, compiled otherwise, takes other instructions.
    options = str(sysconfig.get_config_var("CONFIG_ARGS") or "")
    optimized = "optimized" if "--enable-optimizations" in options else "not optimized"
    here = {
        "python": platform.python_version(),
        "compiled": f"{platform.python_compiler()}, {optimized}",
        "libc": " ".join(platform.libc_ver()),
        "machine": platform.machine(),
    }
    return here | {name: version(name) for name in LIBRARIES}


def is_dear(name: str, number: int, kept: dict[str, int]) -> bool:
    return name in kept and number > max(kept[name] * MOST, kept[name] + NOISE)


def compare(found: dict[str, int], kept: dict[str, int]) -> int:
    """Print each line beside what is kept; return how many cost too much."""
    over = 0
    for name, number in found.items():
        before = kept.get(name)
        ratio = f"{number / before:6.3f}x" if before else "   new "
        dear = is_dear(name, number, kept)
        over += dear
        print(f"{name:52} {number / 1e3:12,.1f} k  {ratio}{'  TOO MANY' if dear else ''}")
    return over


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--update", action="store_true", help="keep the figures found")
    parser.add_argument("--quick", action="store_true", help="one dialect, one column")
    parser.add_argument("--floor", action="store_true", help="count the floor too")
    options = parser.parse_args()
    if shutil.which("valgrind") is None:
        print("skipped: valgrind is not installed (on Debian: apt install valgrind)")
        return 0
    columns: tuple[str, ...] = ("stream",) if options.quick else ("stream", "run")
    if options.floor:
        columns += ("floor",)
    chosen = lines(columns, quick=options.quick)
    kept = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    before = kept.get("environment", {})
    others = {
        key: f"{before.get(key)} (kept), {value} (here)"
        for key, value in environment().items()
        if before.get(key) != value
    }
    comparable: dict[str, int] = {} if others else kept.get("counts", {})
    found = counts(chosen)
    # On a busy machine, an answer may arrive in more reads: what is dear is counted once more.
    dear = [line for line in chosen if is_dear(line.name, found[line.name], comparable)]
    again = counts(chosen if options.update else dear) if dear or options.update else {}
    found |= {name: min(number, found[name]) for name, number in again.items()}
    if options.update:
        counted = {name: number for name, number in found.items() if "floor" not in name}
        text = json.dumps({"environment": environment(), "counts": counted}, indent=2)
        KEPT.write_text(text + "\n", encoding="utf-8")
    over = compare(found, comparable)
    if options.floor:
        for name, number in found.items():
            floor = found.get(re.sub(r"\w+\)$", "floor)", name))
            if floor and "floor" not in name:
                print(f"{name:52} {number / floor:6.2f}x of the floor")
    if others and not options.update:
        print(f"not compared: the figures in {KEPT.name} were counted in another environment:")
        for key, difference in others.items():
            print(f"  {key}: {difference}")
        return 0
    if over and not options.update:
        print(f"{over} cost over {MOST - 1:.0%} more than {KEPT.name} says; if it is worth it, ")
        print("say why in the commit that keeps the new figures: nox -s instructions -- --update")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
