"""What it takes to have a library at all: importing it, its size on disk, its distributions.

    python bench/run.py --only install
    python bench/run.py --only install --peers

Each is installed in an environment of its own. The core of agentkit, and core, tools-core, loop and
providers together, are built from this folder, each time anew. The size is that of all files but
compiled ones, the tools that install left out. An import runs in a new interpreter, which has run
it before; its cost is CPU time.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import environments
from columns import AGENTKIT, FLOOR, Column
from environments import ROOT
from table import ABSENT, figure, join
from units import IMPORT_GOAL, MOST_DISTRIBUTIONS, MOST_MB

CORE = ("agentkit-core",)
ALL = ("agentkit-core", "agentkit-tools-core", "agentkit-loop", "agentkit-providers")
INSTALLERS = ("pip", "setuptools", "wheel", "_virtualenv", "_distutils_hack", "pkg_resources")
"""What files and distributions of the tools that install begin with."""
PROGRAM = """
import importlib.metadata, json, pathlib, time
status = pathlib.Path("/proc/self/status")
def resident():
    lines = status.read_text().splitlines() if status.exists() else ["VmRSS: 0 kB"]
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024
size, began = resident(), time.process_time()
{imports}
spent, grown = time.process_time() - began, resident() - size
names = sorted(found.metadata["Name"] for found in importlib.metadata.distributions())
print(json.dumps([spent * 1e3, grown, names]))
"""


@dataclass(frozen=True)
class Footprint:
    """What one library takes.

    Attributes:
        name: The library, with its version if it comes from a lock file.
        least_ms: CPU time of importing it, the least of several times.
        median_ms: The same in the middle.
        resident_mib: By how much the import made the process grow; 0 where the system does not say.
        installed_mb: On disk, with all that it requires, in millions of bytes.
        distributions: Their names, its own included.
    """

    name: str
    least_ms: float
    median_ms: float
    resident_mib: float
    installed_mb: float
    distributions: tuple[str, ...]

    def line(self, floor: Footprint | None) -> str:
        """Return the line of the table; without a ratio if the floor is not there."""
        ratio = self.least_ms / floor.least_ms if floor else 0.0
        ours = self.name == "agentkit"
        cells = [
            f"{figure(self.least_ms)} ({figure(self.median_ms)}) ms",
            judged(figure(ratio), over=ours and ratio > IMPORT_GOAL) if floor else ABSENT,
            f"{figure(self.resident_mib)} MiB",
            judged(f"{figure(self.installed_mb)} MB", over=ours and self.installed_mb > MOST_MB),
            judged(f"{self.count}", over=ours and self.count > MOST_DISTRIBUTIONS),
        ]
        return join([self.name.ljust(24), *(cell.rjust(18) for cell in cells)])

    @property
    def count(self) -> int:
        return len(self.distributions)


HEAD = (
    join(["installed".ljust(24), *(title.rjust(18) for title in (
        "import", f"ratio, goal ≤{IMPORT_GOAL}", "resident", f"on disk, ≤{MOST_MB:.0f} MB",
        f"distributions, ≤{MOST_DISTRIBUTIONS}",
    ))])
    + f"\n{join(['---', *['---:'] * 5])}"
)  # fmt: skip


def judged(cell: str, *, over: bool) -> str:
    return f"**{cell}**" if over else cell


def is_installer(name: str) -> bool:
    return name.lower().startswith(INSTALLERS)


def installed_mb(python: Path) -> float:
    """Return the size of what is installed in an environment, in millions of bytes."""
    folder = python.parent.parent
    site = next(path for path in folder.rglob("site-packages") if path.is_dir())
    sizes = [
        path.stat().st_size
        for path in site.rglob("*")
        if path.is_file()
        and path.suffix != ".pyc"
        and not is_installer(path.relative_to(site).parts[0])
    ]
    return sum(sizes) / 1e6


def from_here(name: str, packages: Sequence[str]) -> Path:
    """Install packages of this folder in an environment of their own; return its Python."""
    paths = [ROOT / "packages" / package for package in packages]
    return environments.make(name, *paths, changed=packages)


def look(column: Column, python: Path) -> tuple[float, float, list[str]]:
    """Import once, in a new interpreter.

    Returns:
        CPU time in ms, by how much the process grew in MiB, and the names of the distributions.

    Raises:
        Unavailable: The import has failed.
    """
    program = PROGRAM.format(imports=column.imports)
    limits: Any = {"settings": column.settings, "timeout_s": environments.SAMPLE_S}
    printed = environments.call(column.name, python, "-c", program, **limits)
    spent_ms, grown_mib, names = json.loads(printed.splitlines()[-1])
    return spent_ms, grown_mib, names


def footprints(peers: Sequence[Column], repeat: int, failures: list[str]) -> list[Footprint]:
    """Measure the floor, the core, all of agentkit, and the peers, which take turns.

    Args:
        peers: Which.
        repeat: How many times each is imported.
        failures: Takes why one could not be measured.
    """
    core = Column("agentkit-core", "", "", "import agentkit_core")
    whole = Column("agentkit", "", "", AGENTKIT)
    installs = {
        "floor": (FLOOR, partial(environments.locked, "floor")),
        "agentkit-core": (core, partial(from_here, "agentkit-core", CORE)),
        "agentkit": (whole, partial(from_here, "agentkit", ALL)),
    }
    for peer in peers:
        name = f"{peer.name} {environments.locked_version(peer.name)}"
        installs[name] = (peer, partial(environments.locked, peer.name))
    installed: dict[str, tuple[Column, Path]] = {}
    for name, (column, install) in installs.items():
        try:
            installed[name] = (column, install())
            look(*installed[name])  # compiles what was not compiled before
        except environments.Unavailable as error:
            installed.pop(name, None)
            failures.append(str(error))
    looks = {name: [look(*place)] for name, place in installed.items()}
    for _ in range(repeat - 1):
        for name, place in installed.items():
            looks[name].append(look(*place))
    found = []
    for name, (_, python) in installed.items():
        spent = [spent_ms for spent_ms, _, _ in looks[name]]
        grown = min(grown_mib for _, grown_mib, _ in looks[name])
        names = tuple(each for each in looks[name][0][2] if not is_installer(each))
        size = installed_mb(python)
        found.append(Footprint(name, min(spent), statistics.median(spent), grown, size, names))
    return found
