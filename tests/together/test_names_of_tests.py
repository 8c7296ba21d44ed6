"""The page about testing explains every id in the name of a test."""

import re

from together.sources import ROOT, python_files

PAGE = ROOT / "docs" / "testing.md"
NAME = re.compile(r"def test_((?:[a-z]\d\d_)+)")
RANGE = re.compile(r"\b([a-z])(\d\d) to [a-z](\d\d)\b")


def explained() -> tuple[set[str], set[str]]:
    """Return the ids of the page's tables, and the letters that it explains as a whole."""
    rows = [line.split("|")[1] for line in PAGE.read_text("utf-8").splitlines() if "|" in line]
    cells = " ".join(rows)
    ids = set(re.findall(r"\b[a-z]\d\d\b", cells))
    for letter, first, last in RANGE.findall(cells):
        ids |= {f"{letter}{number:02}" for number in range(int(first), int(last) + 1)}
    return ids, set(re.findall(r"\b[a-z]\b", cells))


def test_the_page_about_testing_explains_every_id() -> None:
    ids, letters = explained()
    used = {
        name
        for path in python_files(ROOT / "tests")
        for names in NAME.findall(path.read_text(encoding="utf-8"))
        for name in names.strip("_").split("_")
    }

    assert len(used) > 100
    assert {name for name in used - ids if name[0] not in letters} == set()
