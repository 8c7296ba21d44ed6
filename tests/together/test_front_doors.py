"""Public modules stay small enough to be read with `help()`, and have each name once."""

import importlib
import pydoc
from collections import defaultdict

import pytest

from together.sources import MODULE_OF, public_modules, public_names

MOST_NAMES = {"agentkit_core": 80, "agentkit_tools_core": 60, "agentkit_loop": 60}
"""Public names of a package's root module."""

MOST_LINES = 6_000
"""Lines of `python -m pydoc` for a package's root module."""


@pytest.mark.parametrize("module", MOST_NAMES)
def test_a_root_module_has_few_names(module: str) -> None:
    names = importlib.import_module(module).__all__

    assert len(set(names)) == len(names) <= MOST_NAMES[module]


@pytest.mark.parametrize("module", MODULE_OF.values())
def test_the_help_of_a_root_module_can_be_read(module: str) -> None:
    text = pydoc.render_doc(importlib.import_module(module), renderer=pydoc.TextDoc())

    assert 20 < len(text.splitlines()) < MOST_LINES


@pytest.mark.parametrize("package", MODULE_OF)
def test_each_name_is_in_one_public_module_of_its_package(package: str) -> None:
    modules: dict[str, list[str]] = defaultdict(list)
    for module, path in public_modules(package).items():
        for name in public_names(path):
            modules[name].append(module)

    # Protocols and vendors have names of one kind, such as `Quirks`, for different things.
    repeated = {}
    for name in (name for name, places in modules.items() if len(places) > 1):
        objects = [vars(importlib.import_module(module))[name] for module in modules[name]]
        if len({id(value) for value in objects}) < len(objects):
            repeated[name] = modules[name]
    assert not repeated
