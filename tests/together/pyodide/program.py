"""Runs inside Pyodide: pytest on some test files, then an agent. `run.mjs` calls `main`."""

import os
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

IMPOSSIBLE_HERE = ("nesting", "too_deep", "holds_itself", "[[[[", "threads")
"""Parts of the names of tests that start threads or use up the stack on purpose: where Python
raises RecursionError elsewhere, WebAssembly ends the program."""


class OnlyThePossible:
    """A pytest plugin that deselects those tests."""

    def pytest_collection_modifyitems(
        self, config: "pytest.Config", items: "list[pytest.Item]"
    ) -> None:
        """Keep the tests that can run; pytest calls it when it has collected all tests."""
        left_out = [item for item in items if any(part in item.name for part in IMPOSSIBLE_HERE)]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


async def converse() -> None:
    """Run an agent on the event loop of JavaScript: anyio, without threads."""
    from agentkit_loop import Agent, Hook
    from agentkit_loop.testing import Reply, ScriptedModel, call
    from agentkit_tools_core import tool

    @tool
    async def add(a: int, b: int) -> int:
        """Add."""
        return a + b

    @tool(inline=True, detach_after_s=0)
    def note(text: str) -> str:
        """Note."""
        return text

    calls = Reply.of(*(call("add", {"a": n, "b": n}, f"c{n}") for n in range(3)))
    model = ScriptedModel(calls, call("note", {"text": "x"}), "done")
    agent = Agent(model=model, tools=[add, note], hooks=[Hook()])
    result = await agent.run("go")
    assert result.text == "done", result
    assert [answer.output.value for answer in result.items[1].tool_results] == [0, 2, 4]  # type: ignore[union-attr]
    with agent.session_blocking() as session:
        saved = session.snapshot()
    print(f"an agent ran on the event loop of JavaScript; {len(saved)} bytes of a blocking session")


async def main(tests: list[str]) -> int:
    """Run test files, given relative to the project; the exit status is pytest's."""
    sources = [str(path) for path in Path("/project/packages").glob("*/src")]
    sys.path[:0] = ["/site", "/project/tests", *sources]
    os.chdir("/project")
    os.environ["AGENTKIT_WALKS"] = "200"  # each takes ten times as long here

    try:
        threading.Thread(target=print).start()
    except RuntimeError:
        print(f"Python {sys.version.split()[0]} on {sys.platform}, without threads")
    else:
        raise AssertionError("there are threads here, so this proves nothing")

    import pytest

    # The project's own settings name plugins that need threads and signals.
    settings = ["-c", "/dev/null", "--rootdir=/project", "--import-mode=importlib", "-W", "error"]
    settings += ["-o", "markers=slow"]
    off = ["-p", "no:cacheprovider", "-p", "no:faulthandler"]
    arguments = [*settings, *off, "--hypothesis-profile=quick", "-m", "not slow", *tests]
    status = int(pytest.main(arguments, plugins=[OnlyThePossible()]))
    if status == 0:
        await converse()
    return status
