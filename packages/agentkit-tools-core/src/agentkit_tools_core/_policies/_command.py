"""A policy for commands: allowed and denied programs, environment variables and folders."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
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
from agentkit_tools_core._policies._command_rules import CommandRules, split_entry
from agentkit_tools_core._policies._exec_wrappers import Commands, base_name, unwrap
from agentkit_tools_core._policies._path import UnlistedAction, entries_of
from agentkit_tools_core._policies._paths import UnresolvablePath, is_within, resolve_path
from agentkit_tools_core._policies._requests import AnyPath

_ALLOW: Final = Allow()
_HARMLESS: Final = frozenset(
    {"CI", "COLUMNS", "FORCE_COLOR", "LANG", "LANGUAGE", "LINES", "NO_COLOR", "TERM", "TZ"}
)
_HARMLESS_BEGIN: Final = "LC_"
"""Variables that cannot make a program run other code, as `PATH`, `LD_PRELOAD`, `GIT_SSH` can."""
_RUNNING: Final = re.compile(
    "BASH_.*|BASHOPTS|BROWSER|CDPATH|CVS_RSH|DYLD_.*|.*EDITOR|ENV|GIT_.*|HOME|IFS|.*_OPTIONS|"
    "LD_.*|LESS.*|MAKEFLAGS|.*PAGER|PATH|PERL5.*|PROMPT_COMMAND|PS4|PYTHON.*|RSYNC_RSH|RUBY.*|"
    "SHELL|SHELLOPTS|SSH_ASKPASS|VISUAL|XDG_CONFIG_.*|ZDOTDIR|.*\\(\\)|.*%%",
    re.IGNORECASE,
)
"""Variables by which a program is told to run other code."""
_CHANGING_FOLDER: Final = frozenset({"cd", "chdir", "popd", "pushd"})


class CommandPolicy(Record, frozen=True, kw_only=True):
    """Decides requests of the kind `shell.command`; it has no opinion on others.

    The rules, in order: denied programs and variables are denied; for a folder outside of the
    allowed ones, a person is asked; without a list of allowed programs, the rest is allowed;
    commands that the list covers are allowed; the rest is unknown.

    An entry is a program, or a program and its first arguments: `git status` covers `git status
    -s`, but neither `git push` nor `git statusx`. It allows what it names, and further words only
    if they are known to be harmless: `find` covers `find . -name x`, but not `find . -delete`; `git
    log` covers `git log -5`, but not `git log --output=x`. Words of programs that are not known
    here are unknown. An entry that ends with ` *` covers all further words: `pytest *`.

    A denied program is denied under every name that leads to it: `rm` covers `/bin/rm`, `./rm`,
    `rm.exe` and a link to it. It is denied too if a command that cannot be determined mentions it,
    and not allowed if a program that might run it gets its name. An allowed program is only the
    file that its name finds: `ls` covers `/bin/ls` if that is what `PATH` finds, but neither `./ls`
    nor another `ls` elsewhere.

    For a program that runs others (`sh -c`, `env`, `sudo`, `timeout`, …), all commands are checked
    that it runs. `sudo` needs an entry of its own, a shell does not. If these commands cannot be
    determined (a script, `$(…)`, a redirection to a file), the command is unknown, whatever the
    lists say. The same applies to well-known options that run a program (`find -exec`,
    `tar --to-command`, `rg --pre`, `git -c`), and to commands that set variables which are neither
    harmless (`LANG`) nor listed.

    Limits: what a program reads is not analysed: scripts, makefiles, the configuration and hooks of
    `git`, tests that `pytest` runs. Denying `rm` does not prevent a script from deleting files. A
    copy or hard link of a denied program is another program. File names that a shell inserts for
    `*` may look like options. If that matters, run commands in a sandbox.

    Attributes:
        allowed: Allowed programs, with or without first arguments, written as in a shell. Empty
            means that all programs are allowed that are not denied.
        denied: Denied programs, written in the same way. An entry with arguments denies commands
            that begin so; for `git push`, a person is asked about `git -C . push`.
        denied_env: Names of environment variables that a call must not set.
        allowed_env: Names of variables that allowed commands may set, besides the harmless ones.
        allowed_cwds: Folders that commands may run in; resolved when the policy is made. Empty
            means any folder.
        unknown: The decision about commands that are not allowed, or cannot be determined.
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
            TypeError: A list is a single string, or an entry is not a string.
            ValueError: An entry is empty or has an unclosed quote, a folder cannot be resolved, or
                `unknown` is not an `UnlistedAction`.
        """
        for name in ("allowed", "denied", "denied_env", "allowed_env"):
            entries = entries_of(name, getattr(self, name))
            for entry in entries:
                if not isinstance(entry, str):
                    raise TypeError(f"{name} contains {entry!r}, which is not a string")
                words = split_entry(entry)
                if not words or not words[0]:
                    raise ValueError(f"{name} contains an empty entry; remove it")
                if "/" in words[0] and not Path(words[0]).is_absolute():
                    raise ValueError(
                        f"{name} contains the relative path {entry!r}; use a name or an absolute "
                        f"path"
                    )
            force_setattr(self, name, entries)
        try:
            folders = tuple(map(resolve_path, self.allowed_cwds))
        except UnresolvablePath as error:
            raise ValueError(f"allowed_cwds contains an invalid path: {error}") from None
        entries_of("allowed_cwds", self.allowed_cwds)
        force_setattr(self, "allowed_cwds", folders)
        force_setattr(self, "unknown", UnlistedAction(self.unknown))

    def __call__(self, request: PermissionRequest, facts: PolicyFacts) -> Decision | None:
        """Decide about a request; it looks for programs and resolves links, and runs nothing."""
        if request.kind != "shell.command":
            return None
        argv = _strings_of(request.metadata.get("shell.argv"))
        keys = _strings_of(request.metadata.get("shell.env_keys", []))
        program = request.metadata.get("shell.executable")
        cwd = request.metadata.get("shell.cwd", ".")
        is_valid = program is None or isinstance(program, str)
        if not argv or keys is None or not is_valid or not isinstance(cwd, str):
            return Deny("a shell.command request has no valid argv", "unknown_request")
        try:
            folder = resolve_path(cwd)
        except UnresolvablePath as error:
            return Deny(f"{cwd}: {error}", "command_not_allowed")
        # The name in argv[0] may differ from the name of the file that runs.
        rules = CommandRules(folder)
        runs = [unwrap(argv, rules.names_of)]
        if isinstance(program, str) and program != argv[0]:
            runs.append(unwrap((program, *argv[1:]), rules.names_of))
        return self._decide(runs, {*keys}, folder, rules)

    def _decide(
        self, runs: list[Commands], keys: set[str], folder: Path, rules: CommandRules
    ) -> Decision:
        keys = keys.union(*(run.set_keys for run in runs))
        for key in self.denied_env:
            if any(key.casefold() == other.casefold() for other in keys):
                return Deny(f"the variable {key} must not be set", "command_not_allowed")
        commands = [command for run in runs for command in run.commands]
        for command in commands:
            if entry := rules.denied_by(command, self.denied):
                return Deny(f"{command[0]} is not allowed ({entry})", "command_not_allowed")
        complete = all(run.complete for run in runs)
        mentioned = self._mentioned(runs, rules)
        if mentioned and not complete:
            return Deny(f"it may run {mentioned}, which is not allowed", "command_not_allowed")
        if self.allowed_cwds and not any(
            is_within(folder, Path(root)) for root in self.allowed_cwds
        ):
            return Ask(f"{folder} is outside the folders that commands may run in")
        if any(base_name(command[0]) in _CHANGING_FOLDER for command in commands):
            if self.allowed_cwds:
                return Ask("it changes to another folder")
            # `./x` was looked up in this folder, but runs in another.
            programs = [command[0] for command in commands]
            if any("/" in name and not Path(name).is_absolute() for name in programs):
                complete = False
        if mentioned:
            return Ask(f"it may run {mentioned}, which is not allowed")
        if not self.allowed:
            # What cannot be determined may be denied.
            if self.denied and any(
                _RUNNING.fullmatch(key) for key in {*keys} - {*self.allowed_env}
            ):
                complete = False
            return _ALLOW if complete or not self.denied else self._unknown("part of it")
        if not complete:
            return self._unknown("part of it")
        for key in sorted(keys.difference(_HARMLESS, self.allowed_env)):
            if not key.startswith(_HARMLESS_BEGIN):
                return self._unknown(f"a command with the variable {key}")
        for run in runs:
            for at, command in enumerate(run.commands):
                if not self._is_allowed(command, run, at, rules):
                    return self._unknown(shlex.join(command))
        return _ALLOW

    def _mentioned(self, runs: list[Commands], rules: CommandRules) -> str | None:
        for run in runs:
            for at, command in enumerate(run.commands):
                # What a wrapper or a shell runs is a command of its own in the list.
                is_read = at in run.wrappers or at in run.shells
                if not is_read and (entry := rules.mentioned_in(command, self.denied)):
                    return entry
        return None

    def _is_allowed(
        self, command: tuple[str, ...], run: Commands, at: int, rules: CommandRules
    ) -> bool:
        if at in run.shells:
            return rules.is_found_by_name(command[0], base_name(command[0]))
        if at in run.wrappers:
            names = [split_entry(entry)[0] for entry in self.allowed]
            return any(rules.is_found_by_name(command[0], name) for name in names)
        return rules.is_allowed(command, self.allowed)

    def _unknown(self, what: str) -> Decision:
        reason = f"{what} is not among the allowed commands"
        if self.unknown is UnlistedAction.DENY:
            return Deny(reason, "command_not_allowed")
        return Ask(reason)


def _strings_of(value: JsonValue) -> tuple[str, ...] | None:
    if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
        return None
    return tuple(str(word) for word in value)
