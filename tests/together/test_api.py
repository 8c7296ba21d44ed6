"""The public names of every package are written down, so that a change shows in review.

Run this file to write them anew: `python tests/together/test_api.py --write`.
"""

import importlib
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from together.sources import MODULE_OF, imports_of, public_modules, public_names

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


MOST_NAMES = {
    "agentkit_core": 80,
    "agentkit_tools_core": 60,
    "agentkit_loop": 60,
    "agentkit_providers": 20,
}
"""How many names the root module of a package may have, so that they can be read in one go."""


@pytest.mark.parametrize(("root_module", "limit"), MOST_NAMES.items())
def test_vu08_a_root_module_has_few_names(root_module: str, limit: int) -> None:
    assert len(public_names(_path_of(root_module))) <= limit


@pytest.mark.parametrize("root_module", MODULE_OF.values())
def test_a_name_of_a_root_module_is_in_no_other_public_module(root_module: str) -> None:
    names = set(public_names(_path_of(root_module)))
    twice = [
        f"{module}.{name}"
        for package in MODULE_OF
        for module, path in public_modules(package).items()
        if module != root_module
        for name in sorted(names.intersection(public_names(path)))
    ]

    assert not twice


@pytest.mark.parametrize("package", MODULE_OF)
def test_a_class_or_function_is_in_one_public_module(package: str) -> None:
    modules_of: dict[tuple[str, str], list[str]] = {}
    for module, path in public_modules(package).items():
        for name in public_names(path):
            modules_of.setdefault(_origin(module, path, name), []).append(module)

    assert not {name: modules for name, modules in modules_of.items() if len(modules) > 1}


def _origin(public_module: str, path: Path, name: str) -> tuple[str, str]:
    """Where a public name of a module is defined, and what it is called there.

    Modules of one shape (`replay.openai_chat.text`, `replay.google_generate.text`) share names
    for different things; only the same thing in two modules counts.
    """
    for imported in imports_of(path.read_text(encoding="utf-8")):
        module, _, original = imported.name.rpartition(".")
        if original == name:
            return module, original
    return public_module, name


def _path_of(root_module: str) -> Path:
    package = next(name for name, module in MODULE_OF.items() if module == root_module)
    return public_modules(package)[root_module]


if __name__ == "__main__" and "--write" in sys.argv:
    FOLDER.mkdir(exist_ok=True)
    for distribution in MODULE_OF:
        (FOLDER / f"{distribution}.txt").write_text(surface(distribution), encoding="utf-8")
