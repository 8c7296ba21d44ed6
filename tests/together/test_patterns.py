"""Patterns over a model's text take steps in proportion to it, whatever the text.

All patterns of the packages are looked at, except those for a provider's errors: these are cut to
8,192 bytes before a pattern reads them.
"""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest

from support.pattern_steps import can_grow, steps
from together.sources import MODULE_OF, ROOT, python_files

_SEARCHES = frozenset({"search", "sub", "subn", "finditer", "findall", "split"})
_METHODS = _SEARCHES | {"match", "fullmatch"}

BEFORE = ("", "```", '"', '{"a":"')
REPEATED = (
    "`", "```", " ", "\n", "a", "a ", "<a", ">", "0", '"', "\\", "{", "x=", "/", "-", ".", "'", "1."
)  # fmt: skip
AFTER = "!x\n"
"""Not the end that any pattern expects, so that all is given up and tried again."""


def patterns() -> Iterator[tuple[str, re.Pattern[Any], bool]]:
    """Each pattern that can repeat without limit: its place, and whether texts are searched."""
    for package in MODULE_OF:
        folder = ROOT / "packages" / package / "src"
        for path in python_files(folder):
            source = path.read_text("utf-8")
            if "re.compile(" not in source and "compiled(" not in source:
                continue
            name = ".".join(path.relative_to(folder).with_suffix("").parts)
            if name.startswith("agentkit_providers.failures"):
                continue
            uses = uses_of(ast.parse(source))
            for variable, value in vars(importlib.import_module(name)).items():
                for pattern in patterns_in(value, is_used=variable in uses):
                    if can_grow(pattern):
                        methods = uses.get(variable, _SEARCHES)
                        yield f"{name}.{variable}", pattern, bool(methods & _SEARCHES)


def uses_of(tree: ast.AST) -> dict[str, set[str]]:
    """The methods of patterns that a module calls, by the name of the pattern or of its text."""
    uses: dict[str, set[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in _METHODS:
            owner: ast.AST = node.value
            if isinstance(owner, ast.Call) and owner.args:
                owner = owner.args[0]
            if isinstance(owner, ast.Name):
                uses.setdefault(owner.id, set()).add(node.attr)
    return uses


def patterns_in(value: object, *, is_used: bool) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, str) and is_used:
        yield re.compile(value)
    elif isinstance(value, tuple):
        for member in value:
            yield from patterns_in(member, is_used=False)


PATTERNS = {name: (pattern, is_searched) for name, pattern, is_searched in patterns()}


def grows_too_fast(pattern: re.Pattern[Any], *, is_searched: bool) -> list[str]:
    """The texts for which four times as much takes more than five times the steps."""
    bad: list[str] = []
    for before, piece in product(BEFORE, REPEATED):
        few, many = (
            steps(pattern, before + piece * times + AFTER, is_searched=is_searched)
            for times in (6, 24)
        )
        if many > 5 * few + 50:
            bad.append(f"{before}{piece}…: {few} steps, then {many}")
    return bad


@pytest.mark.parametrize("name", PATTERNS)
def test_vs01_steps_of_a_pattern_grow_with_the_text_and_no_faster(name: str) -> None:
    pattern, is_searched = PATTERNS[name]

    assert not grows_too_fast(pattern, is_searched=is_searched)


@pytest.mark.parametrize(
    ("text", "is_searched"),
    [(r"(a+)+b", False), (r"\s*\n```", True), (r"<[^>]*>", True), (r"\A```\s*\n.*?```\Z", False)],
)
def test_a_pattern_that_tries_too_much_is_noticed(text: str, is_searched: bool) -> None:
    assert grows_too_fast(re.compile(text, re.DOTALL), is_searched=is_searched)


def test_patterns_are_found() -> None:
    assert len(PATTERNS) > 20
    assert "agentkit_loop.extensions._structured._FENCED" in PATTERNS
    assert "agentkit_core._streaming._partial_json._STRING" in PATTERNS
