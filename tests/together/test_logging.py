"""The packages log below their own names, and print nothing where no logging is configured."""

from __future__ import annotations

import logging
import re
import subprocess
import sys

import pytest

from together.sources import MODULE_OF, ROOT, python_files

FAULTS = """
import asyncio, contextlib, io, sys
from agentkit_core import *
from agentkit_loop import *
from agentkit_loop.events import Diagnostic
from agentkit_loop.testing import *
from agentkit_reporting import *
from agentkit_tools_core import *
from agentkit_tools_core import tool

def broken(*_, **__):
    raise RuntimeError("it broke")

@tool
def bad() -> str:
    "Break."
    raise RuntimeError("it broke")

@tool(needs_approval=True)
def pay() -> str:
    "Pay."
    return "paid"

class BrokenModel(ScriptedModel):
    def open_blocking(self, session_id):
        raise RuntimeError("it broke")

class BrokenFinish(Hook):
    def before_finish(self, answer, facts):
        raise RuntimeError("it broke")

class Sink:
    def put(self, *_, **__):
        raise RuntimeError("it broke")

def run(*replies, form, **settings):
    agent = Agent(model=ScriptedModel(*replies), **settings)
    with contextlib.suppress(AgentkitError):
        if form == "blocking":
            agent.run_blocking("go")
        else:
            asyncio.run(agent.run("go"))

for form in ("blocking", "asyncio"):
    run("x", form=form, reporters=[broken])
    run("x", form=form, reporters=[GuardedReporter(broken, policy="log")])
    run("x", form=form, hooks=[BrokenFinish()])
    run(call("bad"), "x", form=form, tools=[bad])
    run(call("pay"), "x", form=form, tools=[pay], on_approval=broken)
    run(call("pay"), "x", form=form, tools=[pay], policy=broken)
with contextlib.suppress(Exception):
    Agent(model=BrokenModel("x")).run_blocking("go")
import logging
assert logging.getLogger().handlers == []
print(*sorted(name for name in logging.root.manager.loggerDict if name.startswith("agentkit")))
"""


def test_vl28_nothing_is_printed_where_no_logging_is_configured() -> None:
    result = subprocess.run(
        [sys.executable, "-I", "-c", FAULTS], capture_output=True, text=True, check=False
    )

    assert result.stderr == ""
    assert result.returncode == 0
    assert {"agentkit_loop", "agentkit_tools_core", "agentkit_reporting"} <= {
        *result.stdout.split()
    }


def test_vl28_a_host_that_has_configured_logging_sees_it() -> None:
    configured = "import logging; logging.basicConfig(format='%(name)s %(message)s')\n"
    result = subprocess.run(
        [sys.executable, "-I", "-c", configured + FAULTS.replace("handlers == []", "handlers")],
        capture_output=True,
        text=True,
        check=True,
    )

    assert "agentkit_loop reporter" in result.stderr
    assert "agentkit_reporting" in result.stderr
    assert "RuntimeError: it broke" in result.stderr


@pytest.mark.parametrize("package", ["agentkit_loop", "agentkit_tools_core", "agentkit_reporting"])
def test_vl28_the_logger_of_a_package_has_a_handler_that_does_nothing(package: str) -> None:
    __import__(package)

    handlers = logging.getLogger(package).handlers
    assert any(isinstance(handler, logging.NullHandler) for handler in handlers)


LOGGER = re.compile(r"getLogger\(([^)]*)\)")
ON_ROOT = re.compile(r"logging\.(?:debug|info|warning|error|critical|exception|basicConfig|log)\(")


@pytest.mark.parametrize("package", MODULE_OF)
def test_vl28_a_package_uses_no_other_logger_than_its_own(package: str) -> None:
    for path in python_files(ROOT / "packages" / package / "src"):
        source = path.read_text(encoding="utf-8")
        assert ON_ROOT.search(source) is None, path
        assert {*LOGGER.findall(source)} <= {f'"{MODULE_OF[package]}"'}, path
        assert "warnings.warn" not in source, path
