"""Finds the commands that a command runs through programs such as `env`, `sudo`, `timeout`, `sh`.

Such wrappers take a command as their last arguments; a shell takes a line after `-c`. With an
option that is unknown here, the inner command is unknown too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Set
from typing import Final

from agentkit_core.values import Record
from agentkit_tools_core._policies._exec_options import has_running_options, runs_by_option
from agentkit_tools_core._policies._program_usage import UNKNOWN_WORD, words
from agentkit_tools_core._policies._shell_line import parse_line


class Commands(Record, frozen=True):
    """All commands that a command runs, as far as they can be determined.

    Attributes:
        commands: The words of each command: first the command itself, then those that it runs.
        shells: The positions in `commands` of shells that only run a line.
        wrappers: The positions in `commands` of other programs that only run a command.
        set_keys: The environment variables that the commands set.
        complete: Whether nothing else can run.
    """

    commands: tuple[tuple[str, ...], ...]
    shells: frozenset[int] = frozenset()
    wrappers: frozenset[int] = frozenset()
    set_keys: frozenset[str] = frozenset()
    complete: bool = True


class _Options(Record, frozen=True):
    bare: str = ""
    """Letters of options without a value."""
    valued: str = ""
    """Letters of options with a value."""
    words: int = 0
    """The number of words before the command."""
    assigns: bool = False
    """Whether `NAME=value` may come before the command."""


Names = Callable[[str], Set[str]]
"""Returns all base names of a program: its own, and those of the file that it leads to."""

MULTI_CALL: Final = frozenset({"busybox", "coreutils", "toybox"})
"""Files that contain many programs: the file alone does not tell which program runs."""
_MAX_DEPTH: Final = 8
_WRAPPERS: Final = {
    "busybox": _Options(),
    "command": _Options("Vpv"),
    "doas": _Options("n", "u"),
    "env": _Options("i0v", "u", assigns=True),
    "exec": _Options("c"),
    "ionice": _Options("t", "cn"),
    "nice": _Options("", "n"),
    "nohup": _Options(),
    "setsid": _Options("cfw"),
    "stdbuf": _Options("", "eio"),
    "sudo": _Options("AEHKPSbkn", "gpu", assigns=True),
    "time": _Options("pv"),
    "timeout": _Options("v", "ks", words=1),
    "toybox": _Options(),
    "xargs": _Options("0rtpx", "ELPadns"),
}
_SHELLS: Final = frozenset({"ash", "bash", "dash", "ksh", "mksh", "sh", "zsh"})
_SHELL_FLAGS: Final = re.compile(r"-(?=[a-z])[eiluvx]*(?P<line>c?)[eiluvx]*")
"""Options that all shells read alike; after a lone dash, the next word is a file to run."""
_OPAQUE: Final = words(
    "- . aa-exec abduco alias at autoload bash-static batch bind builtin bwrap "
    "capsh catchsegv cgexec choom chpst chronic chroot chrt cmd compgen complete "
    "cpulimit crontab csh daemonize dbus-run-session declare dtach dumb-init elvish "
    "emulate enable entr envdir envuidgid eval expect export fakechroot fakeroot fc "
    "firejail fish flock functions gdb getopts gosu hash history hush hyperfine "
    "jobs ksh93 let linux32 linux64 lksh local loksh ltrace mapfile mosh nameref "
    "newgrp nsenter nu numactl oksh osh parallel pdksh perf pkexec posh powershell "
    "prlimit proot proxychains proxychains4 pwsh rbash read readarray readonly rksh "
    "rlogin rlwrap rsh run-parts run0 runcon runuser rzsh sched screen script sem "
    "setarch setlock setpriv setuidgid sg softlimit source ssh ssh-agent sshpass "
    "start-stop-daemon static-sh strace su su-exec systemd-run taskset tcsh tini "
    "tmux torsocks trap typeset uclampset unalias unbuffer unset unshare valgrind "
    "vared wait watch wsl xonsh xvfb-run yash zle zmodload zsh-static zsh5"
)
"""Programs that run others in ways that are not analysed here, and words of shells that change the
meaning of later words or run a command in an argument (`read 'x[$(reboot)]'`)."""
_RUNNERS: Final = _OPAQUE.union(_WRAPPERS, _SHELLS)
_SUFFIX: Final = re.compile(r"\.(?:exe|com|bat|cmd)\Z", re.IGNORECASE)


def base_name(program: str) -> str:
    """Return the name of a program without its folder and without `.exe`, in lower case."""
    return _SUFFIX.sub("", re.split(r"[/\\]", program)[-1]).casefold()


def unwrap(argv: tuple[str, ...], names: Names, *, depth: int = _MAX_DEPTH) -> Commands:
    """Find all commands that a command runs.

    Args:
        argv: The program and its arguments; at least the program.
        names: Returns the names of a program.
        depth: How deeply commands may be nested.
    """
    name = base_name(argv[0])
    incomplete = Commands((argv,), complete=False)
    if name in _OPAQUE or depth == 0:
        return incomplete
    if name in _SHELLS:
        lines = _parse_shell(argv)
        if lines is None:
            return incomplete
        return _with_inner(argv, [tuple(words) for words in lines], names, depth, is_shell=True)
    options = _WRAPPERS.get(name)
    if options is None:
        # A link to a shell is a shell too, whatever its name.
        for other_name in names(argv[0]) - MULTI_CALL:
            if other_name in _RUNNERS or runs_by_option(other_name, argv[1:]):
                return incomplete
        return Commands((argv,))
    wrapped = _wrapped_command(argv[1:], options)
    if wrapped is None:
        return incomplete
    inner, keys = wrapped
    if not inner:
        return Commands((argv,), wrappers=frozenset({0}), set_keys=keys)
    if name != "xargs":
        return _with_inner(argv, [inner], names, depth, keys)
    # Further words come from the input: they may be a command, or options that run one.
    result = _with_inner(argv, [(*inner, UNKNOWN_WORD)], names, depth)
    programs = [command[0] for command in result.commands]
    if any(word == UNKNOWN_WORD or has_running_options(base_name(word)) for word in programs):
        return incomplete
    return result


def _with_inner(
    argv: tuple[str, ...],
    inner: list[tuple[str, ...]],
    names: Names,
    depth: int,
    keys: frozenset[str] = frozenset(),
    *,
    is_shell: bool = False,
) -> Commands:
    commands = [argv]
    shells, wrappers = ({0}, set[int]()) if is_shell else (set[int](), {0})
    set_keys = {*keys}
    complete = True
    for command in inner:
        nested = unwrap(command, names, depth=depth - 1)
        shells |= {len(commands) + at for at in nested.shells}
        wrappers |= {len(commands) + at for at in nested.wrappers}
        commands += nested.commands
        set_keys |= nested.set_keys
        complete = complete and nested.complete
    return Commands(
        tuple(commands), frozenset(shells), frozenset(wrappers), frozenset(set_keys), complete
    )


def _wrapped_command(
    words: tuple[str, ...], options: _Options
) -> tuple[tuple[str, ...], frozenset[str]] | None:
    """Find the command after the options of a wrapper, and the variables that are set.

    None if there is an unknown option; an empty command if there is none.
    """
    at = 0
    while at < len(words) and words[at].startswith("-") and words[at] != "-":
        word = words[at]
        at += 1
        if word == "--":
            break
        letters = word[1:].lstrip(options.bare)
        if not letters:
            continue
        if letters[0] not in options.valued:
            return None
        at += len(letters) == 1  # the value is the next word
    at += options.words
    keys = set[str]()
    while options.assigns and at < len(words) and "=" in words[at]:
        keys.add(words[at].partition("=")[0])
        at += 1
    # `env - rm` runs `rm`, and `sudo` accepts options after variables.
    if words[at : at + 1] and words[at].startswith("-"):
        return None
    return words[at:], frozenset(keys)


def _parse_shell(argv: tuple[str, ...]) -> list[list[str]] | None:
    """Return the commands in the line of a shell; None if there is no line or it is unclear."""
    for at, word in enumerate(argv[1:], start=1):
        flags = _SHELL_FLAGS.fullmatch(word)
        if flags is None:
            return None  # a script, or an unknown option
        if flags["line"]:
            line = argv[at + 1 : at + 2]
            # A word that looks like an option is an option; the line would come after it.
            return parse_line(line[0]) if line and line[0][:1] not in ("-", "+") else None
    return None
