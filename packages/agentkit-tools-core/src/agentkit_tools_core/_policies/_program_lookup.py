"""Finds the file of a program, and all names that lead to it."""

from __future__ import annotations

import os
from itertools import takewhile
from pathlib import Path
from typing import Final

from agentkit_tools_core._policies._exec_wrappers import base_name
from agentkit_tools_core._policies._paths import UnresolvablePath, resolve_path

_MAX_LINKS: Final = 40


def is_found_by_name(program: str, name: str, folder: Path) -> bool:
    """Whether a program is the file that a name finds, and has that name itself.

    Args:
        program: The name or path of the program.
        name: The name or absolute path to compare with.
        folder: The folder that the program runs in.
    """
    file = find_program(program, folder)
    if program == name and "/" not in program and "\\" not in program:
        # A program that does not exist runs nothing, unless a relative folder of PATH contains it.
        return file is not None or _absolute_path() == os.get_exec_path()
    expected = find_program(name, folder)
    return file is not None and file == expected and base_name(program) == base_name(name)


def find_program(program: str, folder: Path) -> Path | None:
    """Return the file of a program, with links resolved; None if there is none."""
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
    import shutil  # takes long to import, and few processes need it

    path = shutil.which(program, path=os.pathsep.join(_absolute_path()))
    return None if path is None else Path(path)


def _absolute_path() -> list[str]:
    """The folders of `PATH` before the first relative one."""
    return [*takewhile(os.path.isabs, os.get_exec_path())]


def names_of(program: str, folder: Path) -> set[str]:
    """Return all base names of a program: its own, and those of the links that lead to its file."""
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
