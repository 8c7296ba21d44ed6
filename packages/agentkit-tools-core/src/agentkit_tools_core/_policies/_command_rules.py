"""Compares one command with the entries of a policy."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from agentkit_tools_core._policies._exec_wrappers import MULTI_CALL, base_name
from agentkit_tools_core._policies._harmless_programs import usage_of
from agentkit_tools_core._policies._program_lookup import find_program, is_found_by_name, names_of
from agentkit_tools_core._policies._program_usage import is_harmless

_ANYTHING: Final = "*"
"""The last word of an entry that allows all further words."""
_SEPARATORS: Final = re.compile(r"[^\w.+-]+")


class CommandRules:
    """Compares commands that run in one folder with entries; each file is looked up once."""

    def __init__(self, folder: Path) -> None:
        """Remember nothing yet about the programs of a folder."""
        self._folder = folder
        self._find = cache(lambda program: find_program(program, folder))
        self.names_of = cache(lambda program: names_of(program, folder))
        """Returns all base names of a program."""
        self.is_found_by_name = cache(lambda program, name: is_found_by_name(program, name, folder))
        """Whether a program is the file that a name finds."""

    def denied_by(self, command: Sequence[str], entries: Iterable[str]) -> str | None:
        """Return the entry that denies a command; None if there is none."""
        for entry in entries:
            program, *arguments = split_entry(entry)
            if [*command[1 : len(arguments) + 1]] == arguments and self._is(command[0], program):
                return entry
        return None

    def mentioned_in(self, command: Sequence[str], entries: Sequence[str]) -> str | None:
        """Return a denied entry that the words of a command mention; None if there is none.

        A program can run another one that is named in its arguments. Words that are known to be
        harmless are not looked at: `grep rm x` runs nothing.
        """
        words = command[1:]
        if not entries or is_harmless(usage_of(base_name(command[0])), words):
            return None
        tokens = {token for word in words for token in _tokens_of(word)}
        paths = [word for word in words if "/" in word]
        for entry in entries:
            program, *arguments = split_entry(entry)
            if not tokens.issuperset(map(base_name, arguments)):
                continue
            if base_name(program) in tokens or any(self._is(path, program) for path in paths):
                return entry
            if arguments and self._is(command[0], program):
                return entry
        return None

    def is_allowed(self, command: Sequence[str], entries: Iterable[str]) -> bool:
        """Whether an entry allows a command with all its words."""
        return any(self._allows(entry, command) for entry in entries)

    def _allows(self, entry: str, command: Sequence[str]) -> bool:
        program, *arguments = split_entry(entry)
        words = command[1:]
        is_open = arguments[-1:] == [_ANYTHING]
        if is_open:
            arguments.pop()
        if [*words[: len(arguments)]] != arguments:
            return False
        if not self.is_found_by_name(command[0], program):
            return False
        usage = usage_of(base_name(command[0]))
        return is_open or is_harmless(usage, words, named=len(arguments))

    def _is(self, program: str, denied: str) -> bool:
        if "/" not in denied and base_name(denied) in self.names_of(program):
            return True
        file, denied_file = self._find(program), self._find(denied)
        if file is None or denied_file is None:
            return False
        return file == denied_file and file.name.casefold() not in MULTI_CALL


def split_entry(entry: str) -> list[str]:
    """Split an entry of a policy into the program and its first arguments, as a shell does."""
    return [*_split(entry)]


@cache
def _split(entry: str) -> tuple[str, ...]:
    return tuple(shlex.split(entry))


def _tokens_of(word: str) -> Iterable[str]:
    tokens = _SEPARATORS.split(word)
    if word.startswith("-") and not word.startswith("--"):
        tokens.append(word[2:])  # the value of a short option may follow its letter
    return (base_name(token.lstrip("-")) for token in tokens if token)
