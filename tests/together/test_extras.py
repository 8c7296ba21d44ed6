"""Without the libraries of its extras, a package can be imported, and says what is missing."""

from __future__ import annotations

import subprocess
import sys

import pytest

from together.sources import MODULE_OF

WITHOUT_EXTRAS = """
import importlib, pkgutil, sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("rich", "markdown_it", "opentelemetry"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
package = importlib.import_module(sys.argv[1])
for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
    try:
        importlib.import_module(module.name)
    except ImportError as error:
        if "pip install '" not in str(error):
            print(module.name, error)
"""


@pytest.mark.parametrize("module", [MODULE_OF["agentkit-reporting"]])
def test_every_module_of_an_extra_says_what_to_install(module: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_EXTRAS, module], capture_output=True, text=True, check=True
    )

    assert done.stdout == ""
