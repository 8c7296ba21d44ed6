"""Put together what the documentation's site is built from: `python docs/assemble.py FOLDER`.

The folder gets

- the pages of `docs/`,
- `reference/`, a page for each public module, whose text mkdocstrings makes from the docstrings,
- `llms.txt`, a list of all pages for language models, and `llms-full.txt`, the pages themselves,
- `../mkdocs.yml`, the settings of the site: entries of the navigation that are folders have become
  lists of the pages in them.

It needs the standard library only, and no network. What is in `assets/` of that folder stays: the
script that draws diagrams, if it was put there.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
DOCS: Final = ROOT / "docs"
_TITLE: Final = re.compile(r"^# (.+)$", re.MULTILINE)
_FOLDER_ENTRY: Final = re.compile(r"^(\s*- [^:\n]+:) ([\w-]+)/$", re.MULTILINE)
_PARAGRAPH: Final = re.compile(r"^(?![#|`<\[\s-]).+(?:\n(?!\n).+)*", re.MULTILINE)
_LINK: Final = re.compile(r"\[([^\]]+)\]\([^)]*\)")


def public_modules() -> Iterator[tuple[str, Path]]:
    """Name each module that is public by its path, with its file, sorted by package and name."""
    for source in sorted(ROOT.glob("packages/*/src/*")):
        for path in sorted(source.rglob("*.py")):
            parts = path.relative_to(source.parent).with_suffix("").parts
            parts = parts[:-1] if parts[-1] == "__init__" else parts
            if not any(part.startswith("_") for part in parts):
                yield ".".join(parts), path


def title_of(page: str) -> str:
    """Return the heading of a page."""
    found = _TITLE.search(page)
    if found is None:
        raise ValueError("a page needs a first line such as '# Title'")
    return found[1].replace("`", "")


def summary_of(page: str) -> str:
    """Return the first sentence of a page as plain text; empty if it has no paragraph."""
    found = _PARAGRAPH.search(page)
    if found is None:
        return ""
    text = " ".join(_LINK.sub(r"\1", found[0]).split())
    return text.partition(". ")[0].removesuffix(".").removesuffix(":") + "."


def assemble(folder: Path) -> None:
    """Write everything into a folder, in place of what was there."""
    for old in folder.iterdir() if folder.is_dir() else ():
        if old.name != "assets":
            shutil.rmtree(old) if old.is_dir() else old.unlink()
    ignored = shutil.ignore_patterns("*.py", "__pycache__")
    shutil.copytree(DOCS, folder, ignore=ignored, dirs_exist_ok=True)
    reference = folder / "reference"
    reference.mkdir()
    for name, _ in public_modules():
        (reference / f"{name}.md").write_text(f"# {name}\n\n::: {name}\n", encoding="utf-8")
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    settings = _FOLDER_ENTRY.sub(
        lambda entry: f"{entry[1]} {_pages_in(folder / entry[2])}", settings
    )
    (folder.parent / "mkdocs.yml").write_text(settings, encoding="utf-8")
    pages = {path: path.read_text(encoding="utf-8") for path in sorted(DOCS.rglob("*.md"))}
    (folder / "llms.txt").write_text(_list_of(pages), encoding="utf-8")
    (folder / "llms-full.txt").write_text("\n\n".join(pages.values()), encoding="utf-8")


def _pages_in(folder: Path) -> str:
    """List the pages of a folder as an entry of the navigation; JSON is YAML too."""
    entries = []
    for path in sorted(folder.glob("*.md"), key=lambda path: path.stem):
        title = title_of(path.read_text(encoding="utf-8"))
        entries.append({title: path.relative_to(folder.parent).as_posix()})
    return json.dumps(entries)


def _list_of(pages: dict[Path, str]) -> str:
    """Write the list of pages that `llms.txt` is."""
    lines = [
        "# agentkit",
        "",
        "> Small Python packages for building LLM agents; each can be installed by itself.",
        "",
        "The text of all pages is in [llms-full.txt](llms-full.txt).",
        "",
        "## Pages",
        "",
    ]
    for path, page in pages.items():
        address = path.relative_to(DOCS).with_suffix("").as_posix().removesuffix("index")
        lines.append(f"- [{title_of(page)}]({address}): {summary_of(page)}")
    lines += ["", "## Reference", ""]
    lines += [
        f"- [{name}](reference/{name}): {_first_line(path)}" for name, path in public_modules()
    ]
    return "\n".join(lines) + "\n"


def _first_line(module: Path) -> str:
    """Return the first line of a module's docstring, without the name of the module."""
    text = module.read_text(encoding="utf-8").partition('"""')[2].partition('"""')[0]
    return text.strip().splitlines()[0]


if __name__ == "__main__":
    assemble(Path(sys.argv[1]))
