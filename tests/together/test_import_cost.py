"""Importing a front door loads what the package declares and nothing it might need later.

Time is measured in bench/import_time.py; here is looked at what is in memory afterwards, which
does not depend on how busy a machine is.
"""

import importlib.metadata
import subprocess
import sys
from functools import cache

import pytest
from packaging.requirements import Requirement

from together.sources import MODULE_OF

SLOW_TO_LOAD = {
    "aiohttp", "asyncio", "email", "html.parser", "http.server", "importlib.metadata",
    "jsonschema_rs", "opentelemetry", "pydantic", "rich", "sqlite3", "ssl",
    "subprocess", "tempfile", "trio", "urllib.request",
}  # fmt: skip
"""What no front door may load beyond what its dependencies load themselves."""


@cache
def loaded_by(*modules: str) -> frozenset[str]:
    """All that is in memory after these modules were imported in a new interpreter."""
    program = f"import sys, {', '.join(modules)}; print(*sys.modules)"
    result = subprocess.run(
        [sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True
    )
    return frozenset(result.stdout.split())


def distributions_below(distribution: str) -> set[str]:
    """A distribution and all that it needs, extras aside."""
    found = [distribution]
    for name in found:
        for line in importlib.metadata.requires(name) or []:
            requirement = Requirement(line)
            wanted = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
            below = requirement.name.lower().replace("_", "-")
            if wanted and below not in found:
                found.append(below)
    return set(found)


def outsiders(package: str) -> list[str]:
    """The modules of what a package declares, siblings aside, to be imported without it."""
    names = [
        Requirement(line).name.replace("-", "_")
        for below in distributions_below(package) & {*MODULE_OF}
        for line in importlib.metadata.requires(below) or []
        if "extra ==" not in line
    ]
    return sorted({*names} - {*MODULE_OF.values()})


@pytest.mark.parametrize("package", MODULE_OF)
def test_a_front_door_loads_only_what_its_package_declares(package: str) -> None:
    owners = importlib.metadata.packages_distributions()
    allowed = distributions_below(package)
    unavoidable = loaded_by(*outsiders(package))

    strangers = {
        top
        for top in {name.partition(".")[0] for name in loaded_by(MODULE_OF[package]) - unavoidable}
        if top not in sys.stdlib_module_names and top in owners
        if not allowed & {owner.lower().replace("_", "-") for owner in owners[top]}
    }

    assert not strangers


COUNTING = """
import msgspec.json, re, sys
plain_compile, plain_decoder = re.compile, msgspec.json.Decoder

def compile(*arguments):
    print("pattern", sys._getframe(1).f_globals["__name__"])
    return plain_compile(*arguments)

def decoder(*arguments, **options):
    if arguments:
        print("decoder", sys._getframe(1).f_globals["__name__"])
    return plain_decoder(*arguments, **options)

re.compile, msgspec.json.Decoder = compile, decoder
import agentkit_core
print("core is imported")
import agentkit_loop, agentkit_providers, agentkit_reporting, agentkit_tools_core
"""


def test_imports_build_no_decoders_and_core_compiles_no_patterns() -> None:
    result = subprocess.run(
        [sys.executable, "-I", "-c", COUNTING], capture_output=True, text=True, check=True
    )
    core, _, others = result.stdout.partition("core is imported")

    assert not core
    assert "decoder agentkit_" not in others


@pytest.mark.parametrize("package", MODULE_OF)
def test_a_front_door_leaves_for_later_what_takes_long(package: str) -> None:
    added = loaded_by(MODULE_OF[package]) - loaded_by(*outsiders(package))

    assert not SLOW_TO_LOAD & added
