"""A policy for programs: which may run, which must not, where, and with what variables."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final

from msgspec.structs import force_setattr

from agentkit_core import JsonValue
from agentkit_core.values import Record
from agentkit_tools_core._contract._permissions import (
    Allow,
    Ask,
    Decision,
    Deny,
    PermissionRequest,
    PolicyFacts,
)
from agentkit_tools_core._policies._exec_wrappers import MULTI_CALL, Commands, base_name, unwrap
from agentkit_tools_core._policies._path import UnlistedAction, listed
from agentkit_tools_core._policies._paths import UnresolvablePath, is_within, resolve_path
from agentkit_tools_core._policies._program_lookup import find_program, is_found_by_name, names_of
from agentkit_tools_core._policies._requests import AnyPath

_ALLOW: Final = Allow()
_HARMLESS: Final = frozenset(
    {"CI", "COLUMNS", "FORCE_COLOR", "LANG", "LANGUAGE", "LINES", "NO_COLOR", "TERM", "TZ"}
)
_HARMLESS_BEGIN: Final = "LC_"
"""Variables that choose no code. Of others nobody knows: `PATH`, `LD_PRELOAD`, `GIT_SSH`, …"""
_CHANGING_FOLDER: Final = frozenset({"cd", "chdir", "popd", "pushd"})


class CommandPolicy(Record, frozen=True, kw_only=True):
    """Decides requests of the kind `shell.command`; of others it has no opinion.

    In this order: a denied program or variable is denied; a folder outside the allowed ones is
    asked for; without a list of allowed programs, what is left is allowed; what is on the list
    is allowed; all else is unknown.

    An entry is a program, or a program and its first arguments: `git status` covers `git status
    -s`, neither `git push` nor `git statusx`. A denied program is denied under every name that
    leads to it: `rm` covers `/bin/rm`, `./rm`, `rm.exe` and a link to it. An allowed one is only
    what the name itself finds: `ls` covers `/bin/ls` where that is what `PATH` finds, and
    neither `./ls` nor another `ls` somewhere else.

    A program that runs another (`sh -c`, `env`, `sudo`, `timeout`, …) is judged together with
    all that stands behind it. `sudo` needs an entry of its own, a shell does not. Where that
    cannot be read (a script, `$(…)`, a redirection to a file) the command is unknown, whatever
    the lists say; so it is where one of the better-known options runs a program (`find -exec`,
    `tar --to-command`, `rg --pre`, `git -c`). A command that sets variables is unknown too, if
    they are neither harmless (`LANG`) nor listed.

    The limits: a program with a language of its own, or that does what a file says (`python`,
    `awk`, `sed`, `make`, `npx`, `git` with aliases and hooks), is not looked into: to allow it is
    to allow all that it can do, and to deny `rm` does not deny what a script deletes. A copy or
    hard link of a denied program is another program. The names of files that a shell puts for a
    `*` may look like options. Where that matters, run the commands in a sandbox.

    Attributes:
        allowed: Programs, with first arguments or without, spelled as for a shell.
        denied: Likewise. With arguments it is a courtesy: `git push` does not cover `git -C .
            push`.
        denied_env: Names of environment variables that a call must not set.
        allowed_env: Names of variables that commands of `allowed` may be run with, besides the
            harmless ones.
        allowed_cwds: Folders to run in; resolved when the policy is made. Empty means anywhere.
    """

    allowed: Sequence[str] = ()
    denied: Sequence[str] = ()
    denied_env: Sequence[str] = ()
    allowed_env: Sequence[str] = ()
    allowed_cwds: Sequence[AnyPath] = ()
    unknown: UnlistedAction = UnlistedAction.ASK

    def __post_init__(self) -> None:
        """Check the lists.

        Raises:
            TypeError: A list is a single text, or an entry is none.
            ValueError: An entry is empty or badly quoted, a folder cannot be followed, or
                `unknown` is no `UnlistedAction`.
        """
        for name in ("allowed", "denied", "denied_env", "allowed_env"):
            given = listed(name, getattr(self, name))
            for one in given:
                if not isinstance(one, str):
                    raise TypeError(f"{name} holds {one!r}, which is no text")
                words = shlex.split(one)
                if not words or not words[0]:
                    raise ValueError(f"{name} holds an empty entry")
                if "/" in words[0] and not Path(words[0]).is_absolute():
                    raise ValueError(f"{name} holds {one!r}; write a name, or a path from the root")
            force_setattr(self, name, given)
        try:
            folders = tuple(map(resolve_path, self.allowed_cwds))
        except UnresolvablePath as error:
            raise ValueError(f"allowed_cwds holds a path that leads nowhere: {error}") from None
        listed("allowed_cwds", self.allowed_cwds)
        force_setattr(self, "allowed_cwds", folders)
        force_setattr(self, "unknown", UnlistedAction(self.unknown))

    def __call__(self, request: PermissionRequest, facts: PolicyFacts) -> Decision | None:
        """Decide; looks for programs and reads links, and runs nothing."""
        if request.kind != "shell.command":
            return None
        argv = _texts(request.metadata.get("shell.argv"))
        keys = _texts(request.metadata.get("shell.env_keys", []))
        program = request.metadata.get("shell.executable")
        cwd = request.metadata.get("shell.cwd", ".")
        named = program is None or isinstance(program, str)
        if not argv or keys is None or not named or not isinstance(cwd, str):
            return Deny("a shell.command request has no argv to judge", "unknown_request")
        try:
            folder = resolve_path(cwd)
        except UnresolvablePath as error:
            return Deny(f"{cwd}: {error}", "command_not_allowed")
        # The name that a program is given may be another than that of its file.
        names = partial(names_of, folder=folder)
        runs = [unwrap(argv, names)]
        if isinstance(program, str) and program != argv[0]:
            runs.append(unwrap((program, *argv[1:]), names))
        return self._judge(runs, {*keys}, folder)

    def _judge(self, runs: list[Commands], keys: set[str], folder: Path) -> Decision:
        keys = keys.union(*(one.set_keys for one in runs))
        for key in self.denied_env:
            if any(key.casefold() == one.casefold() for one in keys):
                return Deny(f"the variable {key} must not be set", "command_not_allowed")
        commands = [command for one in runs for command in one.seen]
        for command in commands:
            for entry in self.denied:
                if _is_denied(command, entry, folder):
                    reason = f"{command[0]} is not allowed ({entry})"
                    return Deny(reason, "command_not_allowed")
        if self.allowed_cwds and not any(
            is_within(folder, Path(root)) for root in self.allowed_cwds
        ):
            return Ask(f"{folder} is outside the folders that commands may run in")
        all_seen = all(one.all_seen for one in runs)
        if any(base_name(command[0]) in _CHANGING_FOLDER for command in commands):
            if self.allowed_cwds:
                return Ask("it leaves the folder that it is started in")
            # `./x` was looked for here, and is run there.
            if any("/" in one[0] and not Path(one[0]).is_absolute() for one in commands):
                all_seen = False
        if not self.allowed:
            # What is not understood may hide what is denied.
            return _ALLOW if all_seen or not self.denied else self._unknown("part of it")
        if not all_seen:
            return self._unknown("part of it")
        for key in sorted(keys.difference(_HARMLESS, self.allowed_env)):
            if not key.startswith(_HARMLESS_BEGIN):
                return self._unknown(f"what runs with the variable {key}")
        for one in runs:
            for at, command in enumerate(one.seen):
                if at in one.shells:
                    allowed = is_found_by_name(command[0], base_name(command[0]), folder)
                else:
                    allowed = any(_is_allowed(command, entry, folder) for entry in self.allowed)
                if not allowed:
                    return self._unknown(shlex.join(command))
        return _ALLOW

    def _unknown(self, what: str) -> Decision:
        reason = f"{what} is not among the allowed commands"
        if self.unknown is UnlistedAction.DENY:
            return Deny(reason, "command_not_allowed")
        return Ask(reason)


def _texts(value: JsonValue) -> tuple[str, ...] | None:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        return None
    return tuple(str(one) for one in value)


def _is_denied(command: tuple[str, ...], entry: str, folder: Path) -> bool:
    program, *arguments = shlex.split(entry)
    if [*command[1 : len(arguments) + 1]] != arguments:
        return False
    if "/" not in program and base_name(program) in names_of(command[0], folder):
        return True
    found, meant = find_program(command[0], folder), find_program(program, folder)
    if found is None or meant is None:
        return False
    return found == meant and found.name.casefold() not in MULTI_CALL


def _is_allowed(command: tuple[str, ...], entry: str, folder: Path) -> bool:
    program, *arguments = shlex.split(entry)
    if [*command[1 : len(arguments) + 1]] != arguments:
        return False
    return is_found_by_name(command[0], program, folder)
