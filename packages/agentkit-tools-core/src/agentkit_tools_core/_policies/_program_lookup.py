"""Which file a program's name finds, and by which names that file goes."""

from __future__ import annotations

import os
from itertools import takewhile
from pathlib import Path
from typing import Final

from agentkit_tools_core._policies._exec_wrappers import base_name
from agentkit_tools_core._policies._paths import UnresolvablePath, resolve_path

_MAX_LINKS: Final = 40


def is_found_by_name(program: str, name: str, folder: Path) -> bool:
    """Whether a program is what a name finds, and has that name: many may lead to one file.

    Args:
        program: A name, or a path.
        name: The name, or the absolute path, that is meant.
        folder: The folder that it is run in.
    """
    found = find_program(program, folder)
    if program == name and "/" not in program and "\\" not in program:
        # Not found, it runs nothing; unless it is found where nobody can look now.
        return found is not None or _absolute_path() == os.get_exec_path()
    meant = find_program(name, folder)
    return found is not None and found == meant and base_name(program) == base_name(name)


def find_program(program: str, folder: Path) -> Path | None:
    """Find the file that a program's name leads to, links followed; None where there is none."""
    at = _at(program, folder)
    if at is None:
        return None
    try:
        return resolve_path(at)
    except UnresolvablePath:
        return None


def _at(program: str, folder: Path) -> Path | None:
    if "/" in program or os.path.isabs(program):  # noqa: PTH117
        return folder / program
    import shutil  # takes long to load, and few processes ask for a command

    found = shutil.which(program, path=os.pathsep.join(_absolute_path()))
    return None if found is None else Path(found)


def _absolute_path() -> list[str]:
    """The folders of `PATH` up to the first that depends on where a program is run."""
    return [*takewhile(os.path.isabs, os.get_exec_path())]


def names_of(program: str, folder: Path) -> set[str]:
    """All names that a program goes by: its own, and those of the links that lead to its file."""
    names = {base_name(program)}
    at = _at(program, folder)
    for _ in range(_MAX_LINKS):
        if at is None:
            break
        names.add(base_name(str(at)))
        try:
            at = at.parent / at.readlink()
        except (OSError, ValueError):
            break
    return names
