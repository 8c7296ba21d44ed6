"""Programs that mostly do something harmless, and run others when an option says so.

Those that agents meet most; it is no complete list, and no program promises to grow no more.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from agentkit_core.values import Record


class _Options(Record, frozen=True):
    exact: frozenset[str] = frozenset()
    """Words that are such an option."""
    long: tuple[str, ...] = ()
    """Such options with two dashes; many programs take beginnings of them, too."""
    short: str = ""
    """Letters of such options, alone or in one word with others."""
    leading: frozenset[str] = frozenset()
    """Beginnings of words that are such an option before the first word that is none."""
    bare_letters: bool = False
    """Whether the first word may be letters of options without a dash."""
    reads_code: bool = False
    """Whether a shell's own form of it looks for `$(…)` in its words."""


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
"""`test -v 'x[$(reboot)]'` and `printf -v` run what stands in a subscript."""
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
    """Whether a program of that base name is known to have options that run another."""
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
        if leading and any(word.startswith(one) for one in options.leading):
            return True
        if word in options.exact or (options.reads_code and not {*"$`"}.isdisjoint(word)):
            return True
        if word.startswith("--"):
            given = word.partition("=")[0]
            if len(given) > len("--") and any(one.startswith(given) for one in options.long):
                return True
            continue
        may_be_letters = word.startswith("-") or (at == 0 and options.bare_letters)
        if may_be_letters and not {*options.short}.isdisjoint(word):
            return True
    return False
