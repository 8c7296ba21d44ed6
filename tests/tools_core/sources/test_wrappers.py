"""Sources stand around sources: what is told and what is called always agree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from agentkit_core import ToolCallId, ToolSpec
from agentkit_tools_core import (
    Collision,
    CombinedTools,
    DuplicateTool,
    FilteredTools,
    HiddenTools,
    InvalidToolName,
    PrefixedTools,
    RenamedTools,
    Tool,
    ToolContext,
    ToolInvocation,
    ToolRegistry,
    ToolSource,
    hidden_specs,
    tool,
)
from agentkit_tools_core.permissions import PermissionRequest
from agentkit_tools_core.testing import ScriptedTool, check_tool


def registry(*names: str) -> ToolRegistry:
    return ToolRegistry(map(ScriptedTool, names))


def told(source: ToolSource) -> list[str]:
    return [spec.name for spec in source.specs()]


def hidden(source: ToolSource) -> list[str]:
    return [spec.name for spec in hidden_specs(source)]


def test_t13_prefixed_tools_are_found_by_the_long_name_alone() -> None:
    source = PrefixedTools("gh", registry("x", "y"))

    assert told(source) == ["gh_x", "gh_y"]
    assert source.get("x") is None
    result = source.get("gh_x")
    assert result is not None
    assert result.spec.name == "gh_x"


def test_t13_a_prefixed_tool_sees_its_own_name() -> None:
    received: list[str] = []

    def propose(request: ToolInvocation) -> list[PermissionRequest]:
        received.append(request.name)
        return []

    @tool(permissions=propose)
    def own(context: ToolContext) -> str:
        """Say the name."""
        return context.request.name

    result = PrefixedTools("a", PrefixedTools("b", ToolRegistry([own]))).get("a_b_own")
    assert result is not None
    request = ToolInvocation(ToolCallId("1"), "a_b_own")
    context = ToolContext(request)
    result.permissions(request)

    assert result.invoke(result.bind({}), context) == "own"
    assert received == ["own"]
    assert context.request.name == "a_b_own", "the caller's context is left alone"
    check_tool(result)


def test_t13_what_a_tool_has_beyond_the_contract_is_found_through_a_prefix() -> None:
    inner = ScriptedTool("x")
    result: Any = PrefixedTools("p", ToolRegistry([inner])).get("p_x")

    assert result.calls is inner.calls


def test_t13_filtered_tools_are_neither_told_nor_called() -> None:
    source = FilteredTools(registry("x", "y"), lambda spec: spec.name != "x")

    assert told(source) == ["y"]
    assert source.get("x") is None
    assert source.get("y") is not None


def test_t13_an_old_name_leads_nowhere() -> None:
    source = RenamedTools(registry("x", "y"), {"x": "z"})

    assert told(source) == ["z", "y"]
    assert source.get("x") is None
    assert source.get("z") is not None
    assert source.get("y") is not None


def test_t13_names_can_be_exchanged() -> None:
    second = ScriptedTool("y")
    source = RenamedTools(ToolRegistry([ScriptedTool("x"), second]), {"x": "y", "y": "x"})
    result: Any = source.get("x")

    assert told(source) == ["y", "x"]
    assert result.spec.name == "x"
    assert result.calls is second.calls


@pytest.mark.parametrize("names", [{"x": "y"}, {"x": "z", "q": "z"}])
def test_t13_a_new_name_means_one_tool(names: dict[str, str]) -> None:
    with pytest.raises(DuplicateTool):
        RenamedTools(registry("x", "y"), names)


def test_t13_unadvertised_tools_are_hidden_and_can_be_called() -> None:
    source = PrefixedTools("p", HiddenTools(registry("x")))

    assert told(source) == []
    assert hidden(source) == ["p_x"]
    assert source.get("p_x") is not None


def test_t03_names_are_checked_with_the_prefix() -> None:
    inner = registry("x" * 62)
    PrefixedTools("p", inner)

    with pytest.raises(InvalidToolName):
        PrefixedTools("pp", inner)
    with pytest.raises(InvalidToolName):
        PrefixedTools("p", HiddenTools(registry("x" * 63)))
    with pytest.raises(InvalidToolName):
        RenamedTools(inner, {"later": "a.b"})
    with pytest.raises(InvalidToolName):
        PrefixedTools("", inner)


def test_t03_what_is_added_later_is_checked_when_it_is_told() -> None:
    inner = registry("x")
    source = PrefixedTools("p", inner)
    inner.register(ScriptedTool("y" * 63))

    with pytest.raises(InvalidToolName):
        source.specs()
    inner.remove("y" * 63)
    assert told(source) == ["p_x"]


A, B = ScriptedTool("x"), ScriptedTool("x")


@pytest.mark.parametrize(
    ("collision", "winner"), [(Collision.FIRST_WINS, A), (Collision.LAST_WINS, B)]
)
def test_t15_of_two_tools_with_one_name_one_is_told_and_called(
    collision: Collision, winner: ScriptedTool
) -> None:
    source = CombinedTools(ToolRegistry([A]), ToolRegistry([B]), collision=collision)

    assert source.get("x") is winner
    assert source.specs() == (winner.spec,)


def test_t15_a_collision_may_be_refused_now_and_later() -> None:
    first, second = registry("x"), registry("y")
    source = CombinedTools(first, second, collision=Collision.REFUSE)
    second.register(ScriptedTool("x"))

    with pytest.raises(DuplicateTool):
        source.specs()
    with pytest.raises(DuplicateTool):
        CombinedTools(first, second, collision=Collision.REFUSE)


def test_t15_a_hidden_tool_that_wins_is_not_told_in_the_words_of_another() -> None:
    source = CombinedTools(HiddenTools(ToolRegistry([A])), ToolRegistry([B]))

    assert source.get("x") is A
    assert told(source) == []
    assert hidden(source) == ["x"]


names = st.sampled_from("abcdef")
inner_registries = st.lists(st.lists(names, unique=True), max_size=4)
wrappings: list[Callable[[ToolSource], ToolSource]] = [
    lambda source: source,
    lambda source: PrefixedTools("p", source),
    lambda source: FilteredTools(source, lambda spec: spec.name[-1] not in "ab"),
    lambda source: RenamedTools(source, {"a": "A", "p_b": "B"}),
    lambda source: HiddenTools(source),
]
wrapped = st.lists(st.sampled_from(wrappings), max_size=3)
collisions = st.sampled_from([Collision.FIRST_WINS, Collision.LAST_WINS])


@given(inner_registries, wrapped, collisions, st.lists(wrapped, min_size=4, max_size=4))
def test_t16_what_is_told_can_be_called_by_that_name_and_nothing_is_told_twice(
    inner: list[list[str]],
    around: list[Callable[[ToolSource], ToolSource]],
    collision: Collision,
    each: list[list[Callable[[ToolSource], ToolSource]]],
) -> None:
    sources: list[ToolSource] = [registry(*value) for value in inner]
    try:
        for at, chain in enumerate(each[: len(sources)]):
            for wrap in chain:
                sources[at] = wrap(sources[at])
        source: ToolSource = CombinedTools(*sources, collision=collision)
        for wrap in around:
            source = wrap(source)
    except DuplicateTool:
        reject()  # two renamed into one

    specs: list[ToolSpec] = [*source.specs(), *hidden_specs(source)]
    assert len({spec.name for spec in specs}) == len(specs)
    for spec in specs:
        result = source.get(spec.name)
        assert result is not None
        assert result.spec == spec


@given(wrapped, st.lists(st.tuples(st.integers(0, 1), names, st.booleans()), max_size=8))
def test_t16_every_change_inside_shows_outside_and_in_the_revision(
    around: list[Callable[[ToolSource], ToolSource]], changes: list[tuple[int, str, bool]]
) -> None:
    inner = [registry("a"), registry()]
    source: ToolSource = CombinedTools(*inner)
    for wrap in around:
        source = wrap(source)

    for which, name, added in changes:
        before = (source.revision, source.specs(), hidden_specs(source))
        steps = inner[which].revision
        if added:
            inner[which].register(ScriptedTool(name), replace=True)
        else:
            inner[which].remove(name)
        after = (source.revision, source.specs(), hidden_specs(source))
        assert (after[0] > before[0]) == (inner[which].revision > steps)
        if after[0] == before[0]:
            assert after[1] is before[1]
            assert after[2] is before[2]


def test_t16_a_change_while_the_specs_are_read_is_read_the_next_time() -> None:
    inner = registry("x")

    def change(spec: ToolSpec) -> bool:
        if len(inner) == 1 and armed:
            inner.register(ScriptedTool("y"))
        return True

    armed: list[bool] = []
    source = FilteredTools(inner, change)
    armed.append(True)
    inner.register(ScriptedTool("x"), replace=True)

    assert told(source) == ["x"]
    assert told(source) == ["x", "y"]


class CountedSource(ToolRegistry):
    """A registry that counts how often it is read."""

    reads = 0

    def specs(self) -> tuple[ToolSpec, ...]:
        CountedSource.reads += 1
        return super().specs()

    def get(self, name: str) -> Tool | None:
        CountedSource.reads += 1
        return super().get(name)


@pytest.mark.parametrize("collision", Collision)
def test_many_sources_are_combined_by_reading_each_once(collision: Collision) -> None:
    CountedSource.reads = 0
    sources = [CountedSource([ScriptedTool(f"tool_{number}")]) for number in range(100)]
    combined = CombinedTools(*sources, collision=collision)

    assert [spec.name for spec in combined.specs()] == [f"tool_{number}" for number in range(100)]
    assert CountedSource.reads == 100


def test_many_tools_get_new_names_by_reading_each_name_a_few_times() -> None:
    class CountedName(str):
        reads = 0

        def __eq__(self, other: object) -> bool:
            CountedName.reads += 1
            return str(self) == other

        __hash__ = str.__hash__

    names = {f"old_{number}": CountedName(f"new_{number}") for number in range(200)}
    RenamedTools(ToolRegistry(map(ScriptedTool, names)), names)

    assert CountedName.reads < 10 * 200
