"""The words of git that are harmless: they only read the repository that they are run in.

Aliases are not listed, so they count as harmful: an alias can run any program. Subcommands that
change something are listed only with the plain words that a host expects when it allows them.
"""

from __future__ import annotations

from typing import Final

from agentkit_tools_core._policies._program_usage import NOTHING, Usage, words

_DIFF_LONG: Final = words(
    "abbrev binary cached check color color-words compact-summary cumulative "
    "diff-algorithm diff-filter dirstat exit-code find-copies find-renames "
    "full-index function-context histogram ignore-all-space ignore-blank-lines "
    "ignore-space-at-eol ignore-space-change ignore-submodules inter-hunk-context "
    "merge-base minimal name-only name-status no-color no-ext-diff no-patch "
    "no-prefix no-renames no-textconv numstat patch patch-with-stat patience quiet "
    "raw relative shortstat staged stat submodule summary text unified word-diff "
    "word-diff-regex"
)
_LOG_LONG: Final = _DIFF_LONG | words(
    "abbrev-commit after all all-match ancestry-path author basic-regexp before "
    "boundary branches cherry cherry-mark cherry-pick children committer date "
    "date-order decorate decorate-refs encoding extended-regexp first-parent "
    "fixed-strings follow format full-history glob graph grep invert-grep "
    "left-right log-size max-count max-parents merges min-parents no-abbrev-commit "
    "no-decorate no-merges no-notes no-walk not oneline parents perl-regexp pretty "
    "regexp-ignore-case relative-date remotes reverse root shortstat show-notes "
    "simplify-merges since skip source tags topo-order until use-mailmap "
    "walk-reflogs"
)
_DIFF_LETTERS: Final = "abcpRrsuwzm"
_DIFF: Final = Usage(
    letters=_DIFF_LETTERS, valued="UGS", attached="BCDMlX", long=_DIFF_LONG, numbers=True
)
_LOG: Final = Usage(
    letters=_DIFF_LETTERS + "EFPgiqtv",
    valued="GLSUn",
    attached="BCDMlX",
    long=_LOG_LONG,
    long_valued=words("author committer grep max-count since after until before skip"),
    numbers=True,
)
_LIST_REFS: Final = Usage(
    long=words(
        "all color column contains count exclude format heads ignore-case list merged "
        "no-color no-column no-contains no-merged points-at remotes show-current sort "
        "tags verbose"
    ),
    letters="ailrv",
    numbers=True,
    # A word would be the name of a new branch or tag.
    max_words=0,
)
_NAMES: Final = r"\w[\w./@-]*"
"""Names of branches and remotes: no URL, and none of the marks that delete or force."""
_REPORTS: Final = Usage(
    letters="abcdehilnprstuvwzEFHIZ",
    attached="CM",
    valued="L",
    numbers=True,
    long=words(
        "abbrev abbrev-ref all always branch cached cached-mtime contains count debug "
        "deleted directory dirty exact-match exclude-standard first-parent "
        "fixed-strings full-name git-dir git-common-dir heads ignored ignore-case "
        "incremental is-inside-work-tree killed left-right line-number line-porcelain "
        "local long match max-count modified name-only name-status null numbered "
        "objects others porcelain reverse root short show-current show-stash "
        "show-toplevel show-prefix stage stat summary symbolic symbolic-full-name tags "
        "unmerged untracked-files verify word-regexp invert-match files-with-matches "
        "show-function heading break"
    ),
    long_valued=words("format sort"),
)
_GREP: Final = Usage(
    letters="aciEFGhHIlLnoPpqrvwWz",
    valued="ABCefm",
    long=_REPORTS.long | words("and or not extended-regexp perl-regexp untracked no-color color"),
    numbers=True,
)

_WHEN_NAMED: Final = {
    "add": Usage(letters="Aunv", long=words("all update verbose")),
    "commit": Usage(letters="aqsv", valued="m", long=words("all quiet signoff message")),
    "fetch": Usage(letters="apqv", long=words("all prune quiet tags verbose"), word=_NAMES),
    "pull": Usage(letters="qv", long=words("ff-only quiet rebase verbose"), word=_NAMES),
    "push": Usage(letters="quv", long=words("quiet set-upstream verbose"), word=_NAMES),
    "switch": Usage(letters="q", valued="c", long=words("quiet"), word=_NAMES),
}
"""Subcommands that change something, for entries that name them: `git commit` allows `-m text`."""

GIT: Final = Usage(
    letters="P",
    valued="C",
    long=words("no-pager no-optional-locks literal-pathspecs version"),
    when_named=_WHEN_NAMED,
    subcommands={
        "log": _LOG,
        "show": _LOG,
        "whatchanged": _LOG,
        "reflog": Usage(subcommands={"show": _LOG}, letters="n", numbers=True),
        "shortlog": Usage(letters="cens", long=_LOG_LONG, numbers=True),
        "rev-list": Usage(long=_LOG_LONG | {"count", "objects"}, valued="n", numbers=True),
        "diff": _DIFF,
        "diff-tree": _DIFF,
        "diff-index": _DIFF,
        "diff-files": _DIFF,
        "grep": _GREP,
        "branch": _LIST_REFS,
        "tag": _LIST_REFS,
        "for-each-ref": Usage(long=_LIST_REFS.long),
        "cat-file": Usage(letters="epst"),
        "remote": Usage(letters="v", subcommands={"get-url": Usage()}),
        "stash": Usage(subcommands={"list": _LOG, "show": _LOG}, alone=False),
        "worktree": Usage(subcommands={"list": NOTHING}),
        "submodule": Usage(subcommands={"status": Usage()}),
        "config": Usage(
            letters="lz",
            long=words("get get-all get-regexp list local global system show-origin null"),
            # A second word would be the value to set, and a word without a dot a subcommand.
            max_words=1,
            word=r"[^.]+\..+",
            alone=False,
        ),
        "help": NOTHING,
        "version": NOTHING,
        **dict.fromkeys(
            words(
                "blame check-ignore cherry count-objects describe ls-files ls-tree merge-base "
                "name-rev rev-parse show-branch show-ref status"
            ),
            _REPORTS,
        ),
    },
)
