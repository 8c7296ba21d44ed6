"""What is offered is the same object until something changes, and is worked out once."""

from __future__ import annotations

from agentkit_tools_core import CombinedTools, Executor, HiddenTools, Tool, ToolRegistry, tool
from support.operations import operations


def tools(count: int) -> list[Tool]:
    def made(number: int) -> Tool:
        @tool(name=f"t{number}")
        def plain() -> str:
            """Do it."""
            return ""

        return plain

    return [made(number) for number in range(count)]


def test_equal_names_are_offered_as_the_same_object_until_a_tool_changes() -> None:
    visible, hidden = ToolRegistry(tools(1)), ToolRegistry(tools(4)[1:])
    executor = Executor(CombinedTools(visible, HiddenTools(hidden)))

    first = executor.specs(("t3", "t1"))
    assert [spec.name for spec in first] == ["t0", "t3", "t1"]
    assert executor.specs(tuple(f"t{number}" for number in (3, 1))) is first
    assert executor.specs(("t1",)) is not first

    hidden.remove("t3")
    assert [spec.name for spec in executor.specs(("t3", "t1"))] == ["t0", "t1"]
    other = executor.with_tools(tools(1))
    assert other.specs(("t3", "t1")) == other.specs()


def test_vs07_many_added_tools_are_work_in_proportion() -> None:
    def work(count: int) -> int:
        executor = Executor(HiddenTools(ToolRegistry(tools(count))))
        names = tuple(f"t{number}" for number in range(count))
        looked_at = 0

        class Counted(str):
            __slots__ = ()

            def __eq__(self, other: object) -> bool:
                nonlocal looked_at
                looked_at += 1
                return super().__eq__(other)

            __hash__ = str.__hash__

        executor.specs([Counted(name) for name in names])
        executor.specs(names)
        assert operations(lambda: executor.specs(names)) < 100
        return looked_at

    assert work(200) <= 4.2 * work(50)


def test_only_so_many_selections_are_kept() -> None:
    executor = Executor(HiddenTools(ToolRegistry(tools(3))))

    for number in range(300):
        assert len(executor.specs(("t1", f"unknown{number}"))) == 1
    assert executor.specs(("t1",)) is executor.specs(("t1",))
