"""Options that make otherwise harmless programs run other programs.

These are the programs that agents use most. The list is not complete, and new versions of a program
may have new options.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from agentkit_core.values import Record


class _Options(Record, frozen=True):
    exact: frozenset[str] = frozenset()
    """Whole words that are such an option."""
    long: tuple[str, ...] = ()
    """Options with two dashes; many programs accept abbreviations of them."""
    short: str = ""
    """Letters of options, alone or combined with other letters in one word."""
    leading: frozenset[str] = frozenset()
    """Prefixes of options that count only before the first word that is not an option."""
    bare_letters: bool = False
    """Whether the first word may consist of option letters without a dash."""
    reads_code: bool = False
    """Whether the shell's built-in version evaluates `$(…)` in its arguments."""


_GIT: Final = _Options(
    long=("--exec", "--open-files-in-pager", "--receive-pack", "--upload-pack"),
    short="O",
    leading=frozenset({"-c", "--config-env", "--exec-path"}),
)
_FIND: Final = _Options(exact=frozenset({"-exec", "-execdir", "-ok", "-okdir"}))
_FD: Final = _Options(long=("--exec", "--exec-batch"), short="xX")
_TAR: Final = _Options(
    long=(
        "--checkpoint-action",
        "--info-script",
        "--new-volume-script",
        "--rmt-command",
        "--rsh-command",
        "--to-command",
        "--use-compress-program",
    ),
    short="FI",
    bare_letters=True,
)
_TEST: Final = _Options(short="v", reads_code=True)
"""`test -v 'x[$(reboot)]'` and `printf -v` run the command in a subscript."""
_OPTIONS: Final = {
    "[": _TEST,
    "fd": _FD,
    "fdfind": _FD,
    "find": _FIND,
    "gfind": _FIND,
    "git": _GIT,
    "gtar": _TAR,
    "printf": _TEST,
    "rg": _Options(long=("--hostname-bin", "--pre")),
    "rsync": _Options(long=("--rsh", "--rsync-path"), short="e"),
    "sort": _Options(long=("--compress-program",)),
    "split": _Options(long=("--filter",)),
    "tar": _TAR,
    "test": _TEST,
    "zip": _Options(exact=frozenset({"-TT"}), long=("--unzip-command",)),
}


def has_running_options(name: str) -> bool:
    """Whether a program is known to have options that run other programs."""
    return name in _OPTIONS


def runs_by_option(name: str, words: Sequence[str]) -> bool:
    """Whether one of a program's words may be an option that runs another program.

    Args:
        name: The program's base name.
        words: Its arguments.
    """
    options = _OPTIONS.get(name)
    if options is None:
        return False
    leading = True
    for at, word in enumerate(words):
        leading = leading and word.startswith("-")
        if leading and any(word.startswith(prefix) for prefix in options.leading):
            return True
        if word in options.exact or (options.reads_code and not {*"$`"}.isdisjoint(word)):
            return True
        if word.startswith("--"):
            option = word.partition("=")[0]
            if len(option) > len("--") and any(long.startswith(option) for long in options.long):
                return True
            continue
        may_be_letters = word.startswith("-") or (at == 0 and options.bare_letters)
        if may_be_letters and not {*options.short}.isdisjoint(word):
            return True
    return False
