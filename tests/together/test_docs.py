"""Every Python block of every page runs, from the top of the page to its end, offline.

A block may `await` at its top, as in `python -m asyncio`. `<!-- skip: next -->` before a block
keeps it from being run, and asks for a reason in the page.
"""

import ast
import asyncio
import inspect
from pathlib import Path

import pytest
from sybil import Example, Sybil
from sybil.parsers.markdown import CodeBlockParser, PythonCodeBlockParser, SkipParser

from together.sources import ROOT

PAGES = sorted([ROOT / "README.md", *ROOT.glob("packages/*/README.md"), *ROOT.glob("docs/**/*.md")])


def run_block(example: Example) -> None:
    """Run a block in the page's namespace, with an event loop if it awaits."""
    # Empty lines in front give errors the line that they have in the page.
    source = "\n" * (example.line + example.parsed.line_offset) + example.parsed
    code = compile(source, example.path, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    running = eval(code, example.namespace)
    if inspect.iscoroutine(running):
        asyncio.run(running)


class PythonOrDoctest(PythonCodeBlockParser):
    """Blocks of Python; those that begin with `>>>` are compared with what they print."""

    def __init__(self) -> None:
        super().__init__()
        self.codeblock_parser = CodeBlockParser("python", run_block)


def run_page(path: Path) -> int:
    """Run all blocks of a page; say how many there were."""
    page = Sybil(parsers=[PythonOrDoctest(), SkipParser()], path=str(path.parent)).parse(path)
    # What a page defines should look as if it stood in a module: dataclasses and the like ask.
    page.namespace["__name__"] = f"page_{path.stem}"
    examples = list(page.examples())
    for example in examples:
        example.evaluate()
    return len(examples)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_snippets_of_a_page_run(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)

    run_page(path)


@pytest.mark.parametrize("path", [path for path in PAGES if path.name == "README.md"], ids=str)
def test_a_readme_shows_code(path: Path) -> None:
    assert "```python\n" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("block", "raised"),
    [
        ("1 / 0", ZeroDivisionError),
        ("import asyncio\nawait asyncio.sleep(0)\n1 / 0", ZeroDivisionError),
        (">>> 1 + 1\n3", AssertionError),
    ],
)
def test_a_snippet_that_is_wrong_fails(tmp_path: Path, block: str, raised: type[Exception]) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"# Page\n\n```python\nx = 1\n```\n\n```python\n{block}\n```\n")

    with pytest.raises(raised):
        run_page(page)
