"""Programs that run other programs, and what stands behind them.

`env`, `sudo`, `timeout` and their like take a command as their last arguments, a shell takes a
line after `-c`. Options that are not known here leave the command unknown, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Set
from typing import Final

from agentkit_core.values import Record
from agentkit_tools_core._policies._exec_options import has_running_options, runs_by_option
from agentkit_tools_core._policies._shell_line import commands_of


class Commands(Record, frozen=True):
    """All that a command runs, as far as it can be seen.

    Attributes:
        seen: The words of each command: first the whole, then what it runs, and what that runs.
        shells: Which of them only stand for the lines that they run, by their place in `seen`.
        set_keys: Environment variables that are set on the way.
        all_seen: Whether there is nothing else that may run.
    """

    seen: tuple[tuple[str, ...], ...]
    shells: frozenset[int] = frozenset()
    set_keys: frozenset[str] = frozenset()
    all_seen: bool = True


class _Options(Record, frozen=True):
    bare: str = ""
    """Letters of options without a value."""
    valued: str = ""
    """Letters of options that take one."""
    words: int = 0
    """How many words stand before the command."""
    assigns: bool = False
    """Whether `NAME=value` may stand before it."""


Names = Callable[[str], Set[str]]
"""Says by which base names a program goes, its own and those of the file that it leads to."""

MULTI_CALL: Final = frozenset({"busybox", "coreutils", "toybox"})
"""One file that is many programs by many names: what a name leads to says nothing."""
_MAX_DEPTH: Final = 8
_WRAPPERS: Final = {
    "busybox": _Options(),
    "command": _Options("Vpv"),
    "doas": _Options("n", "u"),
    "env": _Options("i0v", "u", assigns=True),
    "exec": _Options("cl", "a"),
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
_SHELL_FLAGS: Final = re.compile(r"-[eiluvx]*(?P<line>c?)[eiluvx]*")
_NOT_SEEN_THROUGH: Final = frozenset(
    [
        "-",
        ".",
        "alias",
        "at",
        "autoload",
        "batch",
        "bind",
        "builtin",
        "bwrap",
        "chpst",
        "chronic",
        "chroot",
        "chrt",
        "cmd",
        "compgen",
        "complete",
        "crontab",
        "csh",
        "dbus-run-session",
        "declare",
        "emulate",
        "enable",
        "entr",
        "eval",
        "expect",
        "export",
        "fakeroot",
        "fc",
        "firejail",
        "fish",
        "flock",
        "functions",
        "gdb",
        "getopts",
        "hash",
        "history",
        "hyperfine",
        "jobs",
        "let",
        "linux32",
        "linux64",
        "local",
        "ltrace",
        "mapfile",
        "nameref",
        "nsenter",
        "nu",
        "numactl",
        "parallel",
        "perf",
        "pkexec",
        "powershell",
        "prlimit",
        "proot",
        "pwsh",
        "read",
        "readarray",
        "readonly",
        "rlwrap",
        "run-parts",
        "runuser",
        "sched",
        "screen",
        "script",
        "setarch",
        "setpriv",
        "sg",
        "source",
        "ssh",
        "ssh-agent",
        "sshpass",
        "start-stop-daemon",
        "strace",
        "su",
        "systemd-run",
        "taskset",
        "tcsh",
        "tmux",
        "trap",
        "typeset",
        "unalias",
        "unbuffer",
        "unset",
        "unshare",
        "valgrind",
        "vared",
        "wait",
        "watch",
        "xvfb-run",
        "zle",
        "zmodload",
    ]
)
"""Programs that run what they are told to in ways that are not read here, and words of shells that
change what later words mean or run what stands in one (`read 'x[$(reboot)]'`)."""
_RUNNING: Final = _NOT_SEEN_THROUGH.union(_WRAPPERS, _SHELLS)
_FED: Final = "\ufffd"
"""Stands for the words that `xargs` reads."""
_SUFFIX: Final = re.compile(r"\.(?:exe|com|bat|cmd)\Z", re.IGNORECASE)


def base_name(program: str) -> str:
    """Say what a program is called, without its folder and without `.exe`, in small letters."""
    return _SUFFIX.sub("", re.split(r"[/\\]", program)[-1]).casefold()


def unwrap(argv: tuple[str, ...], names: Names, *, depth: int = _MAX_DEPTH) -> Commands:
    """Find all that a command runs.

    Args:
        argv: The program and its arguments, at least the program.
        names: Says by which names programs go.
        depth: How many programs may stand inside each other.
    """
    name = base_name(argv[0])
    unseen = Commands((argv,), all_seen=False)
    if name in _NOT_SEEN_THROUGH or depth == 0:
        return unseen
    if name in _SHELLS:
        lines = _line_of(argv)
        if lines is None:
            return unseen
        return _with_inner(argv, [tuple(one) for one in lines], names, depth, reads_line=True)
    options = _WRAPPERS.get(name)
    if options is None:
        # A link to a shell is a shell, by a name that says nothing of it.
        for one in names(argv[0]) - MULTI_CALL:
            if one in _RUNNING or runs_by_option(one, argv[1:]):
                return unseen
        return Commands((argv,))
    found = _behind(argv[1:], options)
    if found is None:
        return unseen
    inner, keys = found
    if not inner:
        return Commands((argv,), set_keys=keys)
    if name != "xargs":
        return _with_inner(argv, [inner], names, depth, keys)
    # More words come from where nobody can look now: they may be a command, or options that run
    # one.
    fed = _with_inner(argv, [(*inner, _FED)], names, depth)
    if any(one[0] == _FED or has_running_options(base_name(one[0])) for one in fed.seen):
        return unseen
    return fed


def _with_inner(
    argv: tuple[str, ...],
    inner: list[tuple[str, ...]],
    names: Names,
    depth: int,
    keys: frozenset[str] = frozenset(),
    *,
    reads_line: bool = False,
) -> Commands:
    seen = [argv]
    shells = {0} if reads_line else set[int]()
    all_seen = True
    for one in inner:
        below = unwrap(one, names, depth=depth - 1)
        shells |= {len(seen) + at for at in below.shells}
        seen += below.seen
        keys |= below.set_keys
        all_seen = all_seen and below.all_seen
    return Commands(tuple(seen), frozenset(shells), keys, all_seen)


def _behind(
    words: tuple[str, ...], options: _Options
) -> tuple[tuple[str, ...], frozenset[str]] | None:
    """Find the command behind options; None where one is not known. Empty if there is none."""
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
    # `env - rm` runs `rm`, and `sudo` goes on with options.
    return (
        None if words[at : at + 1] and words[at].startswith("-") else (words[at:], frozenset(keys))
    )


def _line_of(argv: tuple[str, ...]) -> list[list[str]] | None:
    """Read the line that a shell is given; None where there is none, or it is not understood."""
    for at, word in enumerate(argv[1:], start=1):
        found = _SHELL_FLAGS.fullmatch(word)
        if found is None:
            return None  # a script, or an option that is not known
        if found["line"]:
            line = argv[at + 1 : at + 2]
            # What looks like an option is one, and the line comes after it.
            return commands_of(line[0]) if line and line[0][:1] not in ("-", "+") else None
    return None
