"""Revisions of tools: computed once for a tool, and again when anything that they cover changes."""

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from agentkit_tools_core import Executor, tool, tool_revision
from agentkit_tools_core._contract import _revision


def adder(step: int) -> Callable[[int], int]:
    def add(a: int) -> int:
        """Add."""
        return a + step

    return add


def doubled(a: int) -> int:
    """Double."""
    return a * 2


@pytest.fixture
def digests(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    computed: list[object] = []
    digest_of = _revision._digest_of

    def count(spec: Any, pieces: Any) -> str:
        computed.append(spec)
        return digest_of(spec, pieces)

    monkeypatch.setattr(_revision, "_digest_of", count)
    return computed


def test_the_revision_of_a_tool_is_computed_once(digests: list[object]) -> None:
    add = tool(adder(1))
    executor = Executor([add])

    revisions = {executor.revision("add") for _ in range(5)}

    assert len(digests) == 1
    assert revisions == {tool_revision(add)}


def test_other_code_of_the_same_function_is_another_revision(digests: list[object]) -> None:
    function = adder(1)
    executor = Executor([tool(function)])
    before = executor.revision("add")

    function.__code__ = function.__code__.replace(co_consts=("Add.", 7))

    assert executor.revision("add") != before
    assert len(digests) == 2


def test_another_function_that_a_function_calls_is_another_revision() -> None:
    work: Callable[[int], int] = doubled

    @tool
    def call_it(a: int) -> int:
        """Call it."""
        return work(a)

    executor = Executor([call_it])
    before = executor.revision("call_it")

    work = adder(1)

    assert executor.revision("call_it") == tool_revision(call_it) != before


def test_another_spec_of_the_same_tool_is_another_revision() -> None:
    add = tool(adder(1))
    executor = Executor([add])
    before = executor.revision("add")

    add._spec = replace(add.spec, description="Subtract.")

    assert executor.revision("add") == tool_revision(add) != before


def test_a_version_that_a_tool_says_itself_is_read_in_every_call() -> None:
    class Versioned:
        spec = tool(adder(1)).spec
        is_async = inline = False
        revision = "1"

        def permissions(self, request: object) -> tuple[()]:
            return ()

        def bind(self, arguments: object) -> object:
            return arguments

        def invoke(self, arguments: object, context: object) -> str:
            return ""

    versioned = Versioned()
    executor = Executor([versioned])
    before = executor.revision("add")

    versioned.revision = "2"

    assert executor.revision("add") == tool_revision(versioned) != before


def test_a_source_that_makes_a_tool_for_each_call_fills_no_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_revision, "_MAX_KNOWN", 3)
    known = _revision.CheckedTools()
    made = [tool(adder(step)) for step in range(10)]

    assert len({known.revision_of(each) for each in made}) == 1
    assert len(known._revisions) <= 3
