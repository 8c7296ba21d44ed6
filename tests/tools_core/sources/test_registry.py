"""A registry keeps tools by name, in a stable order."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from agentkit_tools_core import DuplicateTool, InvalidToolName, Tool, ToolRegistry
from agentkit_tools_core.testing import ScriptedTool


@pytest.mark.parametrize("name", ["a.b", "", "x" * 65, "a b", "ä", "a\n"])
def test_t03_a_name_that_some_provider_refuses_is_not_registered(name: str) -> None:
    registry = ToolRegistry()

    with pytest.raises(InvalidToolName) as caught:
        registry.register(ScriptedTool(name))

    assert caught.value.name == name
    assert len(registry) == 0


@pytest.mark.parametrize("name", ["a", "x" * 64, "A-z_0-9"])
def test_t03_any_other_name_is(name: str) -> None:
    assert name in ToolRegistry([ScriptedTool(name)])


def test_t11_a_name_is_not_taken_twice_by_accident() -> None:
    first, second = ScriptedTool("a"), ScriptedTool("a")
    registry = ToolRegistry([first, ScriptedTool("b")])

    with pytest.raises(DuplicateTool):
        registry.register(second)
    assert registry.get("a") is first

    registry.register(second, replace=True)
    assert registry.get("a") is second
    assert registry.names == ("a", "b"), "it stands where the other one stood"


def test_what_is_no_tool_is_refused_by_name() -> None:
    def plain() -> None: ...

    with pytest.raises(TypeError, match=r"plain.*is not a tool.*@tool"):
        ToolRegistry([plain])  # type: ignore[list-item]


def test_the_order_of_registration_is_kept() -> None:
    registry = ToolRegistry(map(ScriptedTool, ["b", "c", "a"]))

    assert [spec.name for spec in registry.specs()] == ["b", "c", "a"]
    assert [tool.spec.name for tool in registry] == ["b", "c", "a"]
    assert registry.specs() is registry.specs()


def test_t16_the_revision_tells_of_every_change() -> None:
    registry = ToolRegistry()
    received = [registry.revision]
    registry.register(ScriptedTool("a"))
    received.append(registry.revision)
    registry.register(ScriptedTool("a"), replace=True)
    received.append(registry.revision)
    registry.remove("a")
    received.append(registry.revision)
    registry.remove("a")

    assert received == sorted(set(received)), "each change has a revision of its own"
    assert registry.revision == received[-1], "removing what is not there changes nothing"
    assert registry.specs() == ()
    assert registry.get("a") is None


def test_t14_all_tools_are_replaced_in_one_step() -> None:
    remaining = ScriptedTool("b")
    registry = ToolRegistry([ScriptedTool("a"), remaining])
    before = registry.revision
    registry.replace_all([ScriptedTool("c"), remaining])

    assert registry.names == ("c", "b")
    assert registry.revision == before + 1


def test_t14_the_same_tools_again_are_no_change() -> None:
    tools = [ScriptedTool("a"), ScriptedTool("b")]
    registry = ToolRegistry(tools)
    before = (registry.revision, registry.specs())
    registry.replace_all(tools)

    assert registry.revision == before[0]
    assert registry.specs() is before[1]


def test_t14_where_one_tool_is_refused_all_stays_as_it_was() -> None:
    registry = ToolRegistry([ScriptedTool("a")])
    before = registry.revision
    with pytest.raises(DuplicateTool):
        registry.replace_all([ScriptedTool("b"), ScriptedTool("b")])
    with pytest.raises(InvalidToolName):
        registry.replace_all([ScriptedTool("b"), ScriptedTool("b.c")])

    assert registry.names == ("a",)
    assert registry.revision == before


def test_a_registry_may_be_changed_while_it_is_read() -> None:
    registry = ToolRegistry([ScriptedTool("a"), ScriptedTool("b")])

    for value in registry:
        registry.remove(value.spec.name)
    assert len(registry) == 0


def test_many_tools_are_put_together_without_a_copy_for_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    copies: list[int] = []
    exchange = ToolRegistry._exchange

    def counted(self: ToolRegistry, tools: Mapping[str, Tool]) -> None:
        copies.append(len(tools))
        exchange(self, tools)

    monkeypatch.setattr(ToolRegistry, "_exchange", counted)
    tools = [ScriptedTool(f"tool_{number}") for number in range(300)]
    registry = ToolRegistry(tools)
    registry.replace_all(tools[1:])

    assert copies == [299]
    assert (registry.names[0], len(registry), registry.revision) == ("tool_1", 299, 301)
