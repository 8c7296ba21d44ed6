"""Every Python block of every page runs, from the top of the page to its end, offline."""

from pathlib import Path

import pytest

from together.pages import PAGES, program_of, run_page
from together.sources import ROOT


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


def test_the_program_of_a_page_keeps_line_numbers_and_leaves_out_what_is_skipped(
    tmp_path: Path,
) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# Page\n\n```python\nx = 1\n```\n\n<!-- skip: next, for a reason -->\n```python\nskipped\n"
        "```\n\n```python\n>>> x\n1\n```\n\n```sh\nls\n```\n\n```python\ny = x\n```\n",
        encoding="utf-8",
    )

    lines = program_of(page).splitlines()

    assert {number: line for number, line in enumerate(lines, start=1) if line} == {
        4: "x = 1",
        page.read_text(encoding="utf-8").splitlines().index("y = x") + 1: "y = x",
    }
