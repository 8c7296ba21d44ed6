"""The public names of every package are written down, so that a change shows in review.

Run this file to write them anew: `python tests/together/test_api.py --write`.
"""

import importlib
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from together.sources import MODULE_OF, public_modules, public_names

FOLDER = Path(__file__).with_name("api")

PUBLIC_MODULES = [name for package in MODULE_OF for name in public_modules(package)]


def surface(package: str) -> str:
    """The public modules of a package, sorted, and below each its names."""
    blocks = []
    for module, path in sorted(public_modules(package).items()):
        blocks.append("\n".join([module, *(f"    {name}" for name in public_names(path))]))
    return "\n\n".join(blocks) + "\n"


@pytest.mark.parametrize("package", MODULE_OF)
def test_the_public_names_are_those_that_were_agreed(package: str) -> None:
    agreed = (FOLDER / f"{package}.txt").read_text(encoding="utf-8")

    assert surface(package) == agreed, f"if you mean it: python {__file__} --write"


@pytest.mark.parametrize("module", PUBLIC_MODULES)
def test_every_public_name_is_there(module: str) -> None:
    package = next(name for name, top in MODULE_OF.items() if top == module.partition(".")[0])
    try:
        imported = importlib.import_module(module)
    except ImportError as error:
        if "pip install" not in str(error):
            raise
        pytest.skip(str(error))

    missing = [
        name for name in public_names(public_modules(package)[module])
        if not hasattr(imported, name)
    ]  # fmt: skip

    assert not missing


if __name__ == "__main__" and "--write" in sys.argv:
    FOLDER.mkdir(exist_ok=True)
    for distribution in MODULE_OF:
        (FOLDER / f"{distribution}.txt").write_text(surface(distribution), encoding="utf-8")
