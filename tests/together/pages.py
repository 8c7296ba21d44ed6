"""The pages of the documentation, and what their Python blocks come to.

The blocks of one page are one program, from the top of the page to its end. A block may `await` at
its top level, as in `python -m asyncio`. `<!-- skip: next -->` before a block leaves it out of the
program, and asks for a reason in the page.
"""

from __future__ import annotations

import ast
import asyncio
import doctest
import inspect
from pathlib import Path

from sybil import Document, Example, Sybil
from sybil.parsers.markdown import CodeBlockParser, PythonCodeBlockParser, SkipParser
from sybil.typing import Evaluator

from together.sources import ROOT

PAGES = sorted([ROOT / "README.md", *ROOT.glob("packages/*/README.md"), *ROOT.glob("docs/**/*.md")])
"""Pages whose Python blocks are run and type-checked."""

OTHER_PAGES = sorted({*ROOT.glob("*.md"), *ROOT.glob("bench/*.md")} - {*PAGES})
"""Pages without Python blocks."""


class _PythonBlocks(PythonCodeBlockParser):
    """Blocks of Python; those that begin with `>>>` are compared with what they print."""

    def __init__(self, evaluate: Evaluator) -> None:
        super().__init__()
        self.codeblock_parser = CodeBlockParser("python", evaluate)


def run_page(path: Path) -> int:
    """Run all blocks of a page, one after the other; return how many there were."""
    page = _parse(path, _run_block)
    # What a page defines should look as if it stood in a module: dataclasses and the like ask.
    page.namespace["__name__"] = f"page_{path.stem}"
    examples = list(page.examples())
    for example in examples:
        example.evaluate()
    return len(examples)


def program_of(path: Path) -> str:
    """Return the blocks of a page as one module; each line keeps the number it has in the page.

    Left out are blocks that begin with `>>>` and those that are skipped. Without blocks, the
    program is empty.
    """
    lines: list[str] = []

    def append_block(example: Example) -> None:
        first_line = example.line + example.parsed.line_offset
        lines.extend([""] * (first_line - len(lines)))
        lines.extend(str(example.parsed).splitlines())

    for example in _parse(path, append_block).examples():
        if not isinstance(example.parsed, doctest.Example):
            example.evaluate()
    return "\n".join([*lines, ""]) if lines else ""


def module_of(path: Path) -> str:
    """Return a name that the program of a page can be imported by, different for each page."""
    name = path.relative_to(ROOT).with_suffix("").as_posix()
    return "".join(letter if letter.isalnum() else "_" for letter in name)


def _parse(path: Path, evaluate: Evaluator) -> Document:
    sybil = Sybil(parsers=[_PythonBlocks(evaluate), SkipParser()], path=str(path.parent))
    return sybil.parse(path)


def _run_block(example: Example) -> None:
    # Empty lines in front give errors the line that they have in the page.
    source = "\n" * (example.line + example.parsed.line_offset) + example.parsed
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    code = compile(source, example.path, "exec", flags=flags, dont_inherit=True)
    running = eval(code, example.namespace)
    if inspect.iscoroutine(running):
        asyncio.run(running)
