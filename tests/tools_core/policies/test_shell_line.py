"""A line for a shell is taken apart as a shell would, or not at all."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit_tools_core._policies._shell_line import parse_line


@pytest.mark.parametrize(
    ("line", "commands"),
    [
        ("", []),
        ("ls", [["ls"]]),
        (" ls\t-l ", [["ls", "-l"]]),
        ("ls; pwd\n\nwho &", [["ls"], ["pwd"], ["who"]]),
        ("a && b || c | d", [["a"], ["b"], ["c"], ["d"]]),
        ("a&&b", [["a"], ["b"]]),
        ('echo "a && b"', [["echo", "a && b"]]),
        ("echo 'a; $(b)' c", [["echo", "a; $(b)", "c"]]),
        ('echo "\\$x \\" \\y"', [["echo", '$x " \\y']]),
        ("r''m \\-f", [["rm", "-f"]]),
        ('"r"m', [["rm"]]),
        ("r\\\nm x", [["rm", "x"]]),
        ("ls *.py [a]", [["ls", "*.py", "[a]"]]),
        ("echo a#b ~ A=1", [["echo", "a#b", "~", "A=1"]]),
        ("ls 2>&1", [["ls"]]),
        ("ls >/dev/null 2> /dev/null </dev/null", [["ls"]]),
        ("echo '' x", [["echo", "", "x"]]),
    ],
)
def test_a_plain_line_is_understood(line: str, commands: list[list[str]]) -> None:
    assert parse_line(line) == commands


@pytest.mark.parametrize(
    "line",
    [
        "ls $(touch x)", "ls `touch x`", 'ls "$(touch x)"', 'ls "`touch x`"', "ls $x", "ls $'x'",
        "ls > ~/.profile", "ls >> x", "ls < x", "ls <(touch x)", "ls >/dev/null2", "ls 2>&1x",
        "ls >/dev/null$(x)", "(ls)", "{ ls; }", "{rm,-rf,x}", "A=1 reboot", "a+=1", "=rm",
        "if ls; then rm; fi", "! ls", "for x in y; do rm; done", "function f", "f() ls",
        "# ls", "ls # rm", "l* x", "~/x", "/bin/r[m] x", "ls 'x", 'ls "x', "ls \\", "; ls",
        "ls ;; rm", "ls | | rm", "ls\rrm", "ls\0", "ls\x0brm", "time ls", "A\\\n=1 rm",
        "i\\\nf ls; th\\\nen rm; fi", "noglob rm", "repeat 2 rm", "foreach x",
    ],
)  # fmt: skip
def test_z04_what_may_mean_more_is_not_understood(line: str) -> None:
    assert parse_line(line) is None


words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)


@given(st.lists(st.lists(words, min_size=1, max_size=4), max_size=4), st.sampled_from(";|&\n"))
def test_quoted_words_come_out_as_they_went_in(commands: list[list[str]], by: str) -> None:
    line = f" {by} ".join("'c' " + shlex.join(command) for command in commands)

    assert parse_line(line) == [["c", *command] for command in commands]


@given(st.text(st.sampled_from("ab '\"\\;&|\n$`(<*=#"), max_size=12))
def test_what_is_understood_is_what_shlex_makes_of_it(line: str) -> None:
    result = parse_line(line)
    if result is None:
        return
    plain = shlex.shlex(line.replace("\\\n", ""), posix=True, punctuation_chars=";&|\n")
    plain.whitespace, plain.commenters, plain.whitespace_split = " \t", "", True
    flat = [word for command in result for word in command]
    if "\\" not in line:  # escapes inside quotes are another matter there
        assert flat == [
            value for value in plain if not value or set(value) - set(";&|\n") or "'" in line
        ]
