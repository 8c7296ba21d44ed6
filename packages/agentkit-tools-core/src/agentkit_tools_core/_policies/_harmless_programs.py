"""The programs that agents use most, with the words that are known to be harmless.

Programs that read are listed with the options by which they only read. Programs whose purpose is to
write (`mkdir`, `cp`, `rm`) are listed with the options that do nothing more than that. Everything
else is left out on purpose, and so are options that differ between systems.
"""

from __future__ import annotations

import re
from typing import Final

from agentkit_tools_core._policies._git_usage import GIT
from agentkit_tools_core._policies._program_usage import NOTHING, Usage, words

_VERSION_SUFFIX: Final = re.compile(r"(?:-|(?<![-0-9.]))[0-9][0-9.]*\Z")
_READS: Final = Usage(any_option=True)
"""No option of the program writes or runs anything, and neither does any word."""
_VERSION: Final = Usage(letters="V", long=frozenset({"version"}), max_words=0)
_INTERPRETER: Final = Usage(letters="V", long=frozenset({"version"}), max_words=0, alone=False)
"""Without words, an interpreter runs what it reads from its input."""
_LISTS: Final = Usage(
    letters="alqrA", long=frozenset({"all", "json", "quiet", "version"}), max_words=1
)

_FIND: Final = Usage(
    whole={
        **dict.fromkeys(
            words(
                "-H -L -P -O0 -O1 -O2 -O3 -a -and -daystart -depth -d -empty -executable -false "
                "-follow -ls -mount -nogroup -noleaf -not -nouser -nowarn -o -or -print -print0 "
                "-prune -quit -readable -true -warn -writable -xdev"
            ),
            0,
        ),
        **dict.fromkeys(
            words(
                "-amin -anewer -atime -cmin -cnewer -context -ctime -fstype -gid -group -ilname "
                "-iname -inum -ipath -iregex -iwholename -links -lname -maxdepth -mindepth "
                "-mmin -mtime -name -newer -newermt -newerct -newerat -newermm -path -perm "
                "-printf -regex -regextype -samefile -size -type -uid -used -user -wholename "
                "-xtype"
            ),
            1,
        ),
    },
)
_RG: Final = Usage(
    letters="abcFHhIiLlNnoPpqSsUuvwx0",
    valued="ABCEdefgjMmrTt",
    long=words(
        "case-sensitive column count count-matches crlf files files-with-matches "
        "files-without-match fixed-strings follow heading hidden ignore-case "
        "invert-match json line-number line-regexp multiline multiline-dotall no-config "
        "no-filename no-heading no-ignore no-ignore-vcs no-line-number no-messages null "
        "only-matching passthru pcre2 pretty quiet smart-case stats text trim type-list "
        "unrestricted version vimgrep with-filename word-regexp color"
    ),
    long_valued=words(
        "after-context before-context context encoding file glob iglob max-columns "
        "max-count max-depth max-filesize regexp replace sort sortr threads type "
        "type-not"
    ),
)
_FD: Final = Usage(
    letters="HIuasiFgp0L1q",
    valued="deEtScj",
    long=words(
        "absolute-path case-sensitive fixed-strings follow full-path glob hidden "
        "ignore-case no-ignore no-ignore-vcs print0 quiet unrestricted version color"
    ),
    long_valued=words(
        "changed-before changed-within exclude extension max-depth max-results min-depth size type"
    ),
)
_SORT: Final = Usage(
    letters="bdfgiMhnRrVcCmsuz",
    valued="kt",
    long=words(
        "check debug dictionary-order field-separator general-numeric-sort "
        "human-numeric-sort ignore-case ignore-leading-blanks key merge month-sort "
        "numeric-sort random-sort reverse stable unique version version-sort "
        "zero-terminated"
    ),
)
_DIFF: Final = Usage(
    letters="abBcdeiNnpqrstTuwyE",
    valued="CUxIFW",
    long=words(
        "brief color exclude ignore-all-space ignore-blank-lines ignore-case "
        "ignore-space-change new-file recursive report-identical-files side-by-side "
        "text unified version width"
    ),
    numbers=True,
)
_SED: Final = Usage(
    letters="nErsuz",
    long=frozenset({"quiet", "silent", "regexp-extended", "version"}),
    # Only to print or skip lines by number: a script can write files (`w`) and run programs (`e`).
    first_word=r"(?:[0-9]+|\$)(?:,(?:[0-9]+|\$))?[pdq]",
)
_PYTEST: Final = Usage(
    letters="qvxsl",
    valued="kmr",
    long=words(
        "co collect-only durations exitfirst failed-first ff last-failed lf maxfail "
        "no-header no-summary quiet stepwise strict-markers sw tb verbose version"
    ),
    word=r"[^@].*",
)
_RUFF: Final = Usage(
    letters="qv",
    long=frozenset({"quiet", "verbose", "version"}),
    subcommands={
        "check": Usage(
            letters="nq", long=frozenset({"no-cache", "no-fix", "output-format", "quiet", "select"})
        ),
        "rule": _LISTS,
    },
)
_MYPY: Final = Usage(
    letters="v", valued="p", long=frozenset({"pretty", "strict", "version"}), word=r"[^@].*"
)
_DOCKER: Final = Usage(
    letters="v",
    long=frozenset({"version"}),
    subcommands={"images": _LISTS, "ps": _LISTS, "version": NOTHING},
)
_KUBECTL_READS: Final = Usage(
    letters="A",
    valued="nlc",
    long=frozenset(
        {"all-containers", "all-namespaces", "previous", "show-labels", "since", "tail"}
    ),
    long_valued=frozenset({"container", "namespace", "selector"}),
)
_KUBECTL: Final = Usage(
    subcommands=dict.fromkeys(("describe", "get", "logs", "version"), _KUBECTL_READS)
)
_NPM: Final = Usage(
    letters="v",
    long=frozenset({"version"}),
    subcommands={"ls": _LISTS, "list": _LISTS, "outdated": _LISTS, "view": _LISTS},
)
_PIP: Final = Usage(
    letters="V",
    long=frozenset({"version"}),
    subcommands={"freeze": NOTHING, "list": Usage(long=frozenset({"outdated"})), "show": Usage()},
)

_USAGES: Final[dict[str, Usage]] = {
    **dict.fromkeys(
        words(
            "[ b2sum basename cat cd chdir cksum cmp comm cut dirname du echo egrep expr "
            "false fgrep fold grep groups head id ls md5sum nl nproc od paste popd printenv "
            "printf pushd pwd readlink realpath rev seq sha1sum sha224sum sha256sum "
            "sha384sum sha512sum sleep stat strings sum tac tail test tr true tty type "
            "uptime wc whereis which whoami df dir jq free ps"
        ),
        _READS,
    ),
    **dict.fromkeys(words("cargo gcc go java make rustc tsc"), _VERSION),
    **dict.fromkeys(
        words(
            "bc bun clisp dc deno ed ex ghci guile iex ipython irb julia lua luajit m4 mysql node "
            "osascript patch perl php psql pypy python r ruby sbcl scala sqlite3 tclsh vi vim wish"
        ),
        _INTERPRETER,
    ),
    # What comes in the second place is written.
    "uniq": Usage(letters="cdDiuz", valued="fsw", max_words=1),
    "xxd": Usage(letters="abeipu", valued="cglos", max_words=1),
    "hexdump": Usage(letters="bCcdovx", valued="nse"),
    # Other words set the name of the computer, or its clock.
    "hostname": Usage(letters="AdfIis", max_words=0),
    "uname": Usage(letters="aimnoprsv", max_words=0),
    "date": Usage(letters="uR", valued="dr", attached="I", long=frozenset(
        {"date", "iso-8601", "rfc-3339", "rfc-email", "universal", "utc", "reference"}
    ), word=r"\+.*"),
    "column": Usage(letters="tnx", valued="cs"),
    "join": Usage(letters="iz", valued="12aejotv"),
    "file": Usage(letters="bhikLNrsv0", long=frozenset(
        {"brief", "dereference", "mime", "mime-encoding", "mime-type", "version"}
    )),
    "tree": Usage(letters="adfiFhpsugDtrCnNq", valued="LPI", long=frozenset(
        {"dirsfirst", "du", "gitignore", "noreport", "prune", "version"}
    )),
    "fd": _FD,
    "fdfind": _FD,
    "find": _FIND,
    "gfind": _FIND,
    "git": GIT,
    "rg": _RG,
    "sort": _SORT,
    "diff": _DIFF,
    "sed": _SED,
    "tar": Usage(letters="tvzjJ", valued="f", long=frozenset({"list", "verbose"}),
                 first_word=r"t[vzjJ]*f?", word=r"[^-:][^:]*"),
    # Programs that write by what they are: what they do beyond it is left out.
    "mkdir": Usage(letters="pv", valued="m", long=frozenset({"parents", "verbose"})),
    "rmdir": Usage(letters="pv"),
    "touch": Usage(letters="acm", valued="dtr"),
    "cp": Usage(letters="aRrpfivnudLPH", long=frozenset({"archive", "recursive", "verbose"})),
    "mv": Usage(letters="finuv", long=frozenset({"force", "no-clobber", "verbose"})),
    "ln": Usage(letters="sfvnri"),
    "rm": Usage(letters="rRfvid", long=frozenset({"force", "recursive", "verbose"})),
    "tee": Usage(letters="a", long=frozenset({"append"})),
    # Tools of developers, as they check.
    "pytest": _PYTEST,
    "ruff": _RUFF,
    "mypy": _MYPY,
    "docker": _DOCKER,
    "kubectl": _KUBECTL,
    "npm": _NPM,
    "pip": _PIP,
    "pip3": _PIP,
}  # fmt: skip


def usage_of(name: str) -> Usage:
    """Return what is known about a program, by its base name; `NOTHING` if it is not listed."""
    usage = _USAGES.get(name)
    if usage is None:
        # `python3.13` is an interpreter too.
        usage = _USAGES.get(_VERSION_SUFFIX.sub("", name), NOTHING)
        return usage if usage is _INTERPRETER else NOTHING
    return usage
