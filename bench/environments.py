"""A virtual environment for each peer, with exactly the versions in its lock file.

    python bench/environments.py [NAME...]             make them (all, if no name is given)
    python bench/environments.py --update [NAME...]    resolve the lock files anew, with uv

They are made when they are first needed, in `.bench-envs/`, and again when a lock file has changed.
uv makes them where it is installed, else the standard library and pip.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from columns import PEERS, Column

ROOT = Path(__file__).parent.parent
LOCKS = Path(__file__).parent / "locks"
FOLDER = ROOT / ".bench-envs"
PYTHON = Path("Scripts" if os.name == "nt" else "bin") / "python"
INSTALL_S = 900
SAMPLE_S = 600
"""Seconds after which a program is stopped."""
LAST_WORDS = 300
"""Characters of what a failed program printed last that a reason contains."""
Command = tuple[str | Path, ...]


class Unavailable(Exception):
    """An environment cannot be made, or a program in it has failed.

    Attributes:
        name: The environment.
        reason: In a sentence or two.
    """

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"{name}: {reason}")
        self.name, self.reason = name, reason


def requirements() -> dict[str, tuple[str, ...]]:
    """Return what each environment with a lock file is to contain."""
    return {"floor": ("httpx", "msgspec")} | {peer.name: peer.requires for peer in PEERS}


def lock(name: str) -> Path:
    return LOCKS / f"{name}.txt"


def locked_version(name: str) -> str:
    """Return the version of the library that an environment is for."""
    wanted = requirements()[name][0].partition("[")[0]
    lines = lock(name).read_text(encoding="utf-8").splitlines()
    pins = dict(line.partition(" ;")[0].split("==") for line in lines)
    return pins[wanted]


def uv() -> str | None:
    """Find uv: the one that the variable `UV` names, or one on the path or beside this Python."""
    beside = shutil.which("uv", path=str(Path(sys.executable).parent))
    return os.environ.get("UV") or shutil.which("uv") or beside


def call(
    name: str, *command: str | Path, settings: Mapping[str, str] | None = None, timeout_s: float
) -> str:
    """Run a program, with more variables of the environment; return what it printed.

    Raises:
        Unavailable: It has failed, or has taken too long.
    """
    environ = {**os.environ, **(settings or {})}
    environ.pop("PYTHONDONTWRITEBYTECODE", None)  # else each process would compile again
    try:
        done = subprocess.run(
            [*map(str, command)],
            capture_output=True,
            text=True,
            check=True,
            env=environ,
            timeout=timeout_s,
        )
    except subprocess.CalledProcessError as error:
        printed = f"{error.stdout}\n{error.stderr}".strip()
        said = printed.splitlines()[-1] if "Traceback" in printed else printed[-LAST_WORDS:]
        raise Unavailable(name, f"{Path(command[0]).name} failed: {said}") from None
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(name, str(error)) from None
    return done.stdout


def make(name: str, *arguments: str | Path, changed: Sequence[str] = ()) -> Path:
    """Make an environment anew, with what `pip install ARGUMENTS` installs; return its Python.

    Args:
        name: Its folder.
        arguments: For pip.
        changed: Names of what has to be built anew, although its version may be the same.

    Raises:
        Unavailable: It could not be made.
    """
    folder = FOLDER / name
    shutil.rmtree(folder, ignore_errors=True)
    python = folder / PYTHON
    tool = uv()
    if tool is None:
        create: Command = (sys.executable, "-m", "venv", folder)
        install: Command = (python, "-m", "pip", "install", "--quiet", *arguments)
    else:
        create = (tool, "venv", "--quiet", "--python", sys.executable, folder)
        anew = [f"--reinstall-package={package}" for package in changed]
        install = (tool, "pip", "install", "--quiet", "--python", python, *anew, *arguments)
    call(name, *create, timeout_s=INSTALL_S)
    call(name, *install, timeout_s=INSTALL_S)
    return python


@lru_cache
def locked(name: str) -> Path:
    """Return the Python of an environment with a lock file; make it if it is not there.

    Raises:
        Unavailable: It could not be made.
    """
    copy = FOLDER / name / "lock.txt"
    wanted = lock(name).read_text(encoding="utf-8")
    if copy.exists() and copy.read_text(encoding="utf-8") == wanted:
        return FOLDER / name / PYTHON
    print(f"installing {name} {locked_version(name)}", file=sys.stderr, flush=True)
    # The lock file is complete, so that nothing is resolved.
    python = make(name, "--no-deps", "-r", lock(name))
    copy.write_text(wanted, encoding="utf-8")
    return python


def run(column: Column, *arguments: str | Path) -> str:
    """Run the Python of a column; return what it printed.

    Raises:
        Unavailable: Its environment could not be made, or the program has failed.
    """
    python = locked(column.name) if column.requires else Path(sys.executable)
    settings = {"NO_PROXY": "127.0.0.1", **column.settings}
    return call(column.name, python, *arguments, settings=settings, timeout_s=SAMPLE_S)


def update(names: Sequence[str]) -> None:
    """Write lock files anew, for all platforms.

    Raises:
        Unavailable: uv is missing, or could not resolve them.
    """
    tool = uv()
    if tool is None:
        raise Unavailable("locks", "uv is not installed: pip install uv")
    plain = ("--no-header", "--no-annotate", "--no-emit-index-url", "--no-emit-find-links")
    for name in names:
        given = FOLDER / f"{name}.in"
        given.parent.mkdir(exist_ok=True)
        given.write_text("\n".join(requirements()[name]), encoding="utf-8")
        call(
            name, tool, "pip", "compile", "--quiet", "--upgrade", "--universal",
            "--python-version=3.11", *plain, "--output-file", lock(name), given,
            timeout_s=INSTALL_S,
        )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--update", action="store_true", help="resolve the lock files anew")
    parser.add_argument("names", nargs="*", metavar="NAME", help="default: all")
    options = parser.parse_args()
    names = options.names or list(requirements())
    if options.update:
        update(names)
    for name in names:
        try:
            print(f"{name} {locked_version(name)}: {locked(name)}")
        except Unavailable as error:
            print(f"skipped {error}")


if __name__ == "__main__":
    main()
