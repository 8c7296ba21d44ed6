"""Programs that run other programs, and what stands behind them.

`env`, `sudo`, `timeout` and their like take a command as their last arguments, a shell takes a
line after `-c`. Options that are not known here leave the command unknown, too.
"""

from __future__ import annotations

import re
from typing import Final

from msgspec import Struct

from agentkit_tools_core._command_line import commands_of


class Commands(Struct, frozen=True):
    """All that a command runs, as far as it can be seen."""

    seen: tuple[tuple[str, ...], ...]
    """The words of each command: first the whole, then what it runs, and what that runs."""
    shells: frozenset[int] = frozenset()
    """Which of them only stand for the lines that they run, by their place in `seen`."""
    set_keys: frozenset[str] = frozenset()
    """Environment variables that are set on the way."""
    all_seen: bool = True
    """Whether there is nothing else that may run."""


class _Options(Struct, frozen=True):
    bare: str = ""
    """Letters of options without a value."""
    valued: str = ""
    """Letters of options that take one."""
    words: int = 0
    """How many words stand before the command."""
    assigns: bool = False
    """Whether `NAME=value` may stand before it."""


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
        ".",
        "chroot",
        "cmd",
        "csh",
        "eval",
        "fish",
        "nsenter",
        "nu",
        "parallel",
        "powershell",
        "pwsh",
        "script",
        "setarch",
        "source",
        "ssh",
        "su",
        "tcsh",
        "trap",
        "unshare",
        "watch",
    ]
)
"""Programs that run what they are told to in ways that are not read here."""
_FED: Final = "\ufffd"
"""Stands for the words that `xargs` reads."""
_FIND_RUNS: Final = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_SUFFIX: Final = re.compile(r"\.(?:exe|com|bat|cmd)\Z", re.IGNORECASE)


def base_name(program: str) -> str:
    """Say what a program is called, without its folder and without `.exe`, in small letters."""
    return _SUFFIX.sub("", re.split(r"[/\\]", program)[-1]).casefold()


def unwrap(argv: tuple[str, ...]) -> Commands:
    """Find all that a command runs.

    Args:
        argv: The program and its arguments, at least the program.
    """
    return _unwrap(argv, _MAX_DEPTH)


def _unwrap(argv: tuple[str, ...], depth: int) -> Commands:
    name = base_name(argv[0])
    unseen = Commands((argv,), all_seen=False)
    if name in _NOT_SEEN_THROUGH or depth == 0:
        return unseen
    if name in _SHELLS:
        lines = _line_of(argv)
        if lines is None:
            return unseen
        return _with_inner(argv, [tuple(one) for one in lines], depth, reads_line=True)
    if name == "find" and not _FIND_RUNS.isdisjoint(argv):
        return unseen
    options = _WRAPPERS.get(name)
    if options is None:
        return Commands((argv,))
    found = _behind(argv[1:], options)
    if found is None:
        return unseen
    inner, keys = found
    if not inner:
        return Commands((argv,), set_keys=keys)
    if name != "xargs":
        return _with_inner(argv, [inner], depth, keys)
    # More words come from where nobody can look now: they may be a command, or options of `find`.
    fed = _with_inner(argv, [(*inner, _FED)], depth)
    if any(one[0] == _FED or base_name(one[0]) == "find" for one in fed.seen):
        return unseen
    return fed


def _with_inner(
    argv: tuple[str, ...],
    inner: list[tuple[str, ...]],
    depth: int,
    keys: frozenset[str] = frozenset(),
    *,
    reads_line: bool = False,
) -> Commands:
    seen = [argv]
    shells = {0} if reads_line else set[int]()
    all_seen = True
    for one in inner:
        below = _unwrap(one, depth - 1)
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
    return words[at:], frozenset(keys)


def _line_of(argv: tuple[str, ...]) -> list[list[str]] | None:
    """Read the line that a shell is given; None where there is none, or it is not understood."""
    for at, word in enumerate(argv[1:], start=1):
        found = _SHELL_FLAGS.fullmatch(word)
        if found is None:
            return None  # a script, or an option that is not known
        if found["line"]:
            line = argv[at + 1 : at + 2]
            return commands_of(line[0]) if line else None
    return None
