"""What users will notice is told in one fragment: which package, which issue, which kind."""

import re
from pathlib import Path

import pytest

from together.sources import MODULE_OF, ROOT

FRAGMENTS = sorted((ROOT / "changelog.d").glob("*.md"))

NAME = re.compile(
    rf"(?P<package>{'|'.join(MODULE_OF)})\.(?P<issue>[1-9]\d*)\.(?:added|changed|fixed|removed)\.md"
)


@pytest.mark.parametrize("path", FRAGMENTS, ids=lambda path: path.name)
def test_a_fragment_is_named_for_its_package_issue_and_kind(path: Path) -> None:
    assert NAME.fullmatch(path.name)


@pytest.mark.parametrize("path", FRAGMENTS, ids=lambda path: path.name)
def test_a_fragment_is_one_sentence(path: Path) -> None:
    text = path.read_text(encoding="utf-8")

    assert text.endswith(".\n")
    assert text.count("\n") == 1
    assert ". " not in text


@pytest.mark.parametrize(
    "name",
    [
        "agentkit-core.2.added.txt",
        "agentkit-core.added.md",
        "agentkit-nothing.2.added.md",
        "core.2.fixed.md",
    ],
)
def test_other_names_are_refused(name: str) -> None:
    assert not NAME.fullmatch(name)
