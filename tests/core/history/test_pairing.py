"""Every call has its one result, in the item right after it, whatever was stored."""

import pytest
from msgspec.structs import replace

from agentkit_core import Item, TextOutput, ToolCall, ToolCallId, ToolFailure, ToolResult, repair
from support.operations import steps


def call(call_id: str) -> ToolCall:
    return ToolCall(ToolCallId(call_id), "look")


def result(call_id: str, text: str = "seen") -> ToolResult:
    return ToolResult(ToolCallId(call_id), TextOutput(text))


def shape(items: tuple[Item, ...]) -> list[str]:
    """Each item in short: `user`, `calls a b`, `a=seen b=lost`."""
    return [
        " ".join(f"{tool_result.call_id}={seen(tool_result)}" for tool_result in item.tool_results)
        or " ".join(["calls", *(tool_call.id for tool_call in item.tool_calls)])
        * bool(item.tool_calls)
        or item.kind.value
        for item in items
    ]


def seen(value: ToolResult) -> str:
    assert isinstance(value.output, TextOutput)
    return "lost" if value.failure is ToolFailure.INTERRUPTED else value.output.text


HI, GO = Item.user("hi"), Item.user("go on")
A, B, AB = (
    Item.assistant(call("a")),
    Item.assistant(call("b")),
    Item.assistant(call("a"), call("b")),
)


@pytest.mark.parametrize(
    ("items", "repaired"),
    [
        pytest.param([HI, AB, Item.tool(result("a")), GO],
                     ["user", "calls a b", "a=seen b=lost", "user"], id="r01 one is missing"),
        pytest.param([HI, AB, GO], ["user", "calls a b", "a=lost b=lost", "user"], id="r01 all"),
        pytest.param([HI, A], ["user", "calls a", "a=lost"], id="r01 at the end"),
        pytest.param([Item.tool(result("z")), HI], ["user"], id="r02 no call"),
        pytest.param([A, Item.tool(result("a", "1"), result("a", "2"))],
                     ["calls a", "a=1"], id="twice"),
        pytest.param([A, Item.tool(result("a", "1")), Item.tool(result("a", "2")), GO],
                     ["calls a", "a=1", "user"], id="twice, in two items"),
        pytest.param([A, HI, Item.tool(result("a"))], ["calls a", "a=seen", "user"], id="late"),
        pytest.param([A, B, Item.tool(result("b"), result("a"))],
                     ["calls a", "a=seen", "calls b", "b=seen"], id="all at the end"),
        pytest.param([AB, Item.tool(result("b")), Item.tool(result("a"))],
                     ["calls a b", "a=seen b=seen"], id="r12 one round, one item, in call order"),
        pytest.param([Item.tool(result("a")), A], ["calls a", "a=lost"], id="before its call"),
        pytest.param([replace(AB, interrupted=True), Item.tool(result("b")), GO],
                     ["calls b", "b=seen", "user"], id="interrupted"),
        pytest.param([replace(A, interrupted=True), GO], ["assistant", "user"], id="nothing left"),
    ],
)  # fmt: skip
def test_r01_r02_calls_and_results_are_paired(items: list[Item], repaired: list[str]) -> None:
    assert shape(repair(items)) == repaired


def test_a_result_belongs_to_the_nearest_open_call_of_its_id() -> None:
    items = [
        A,
        Item.tool(result("a", "1")),
        A,
        Item.tool(result("a", "2")),
        A,
        A,
        Item.tool(result("a", "4")),
    ]
    created = repair(items)
    answers = [seen(tool_result) for item in created for tool_result in item.tool_results]
    ids = [tool_call.id for item in created for tool_call in item.tool_calls]

    assert answers == ["1", "2", "lost", "4"]
    assert len(set(ids)) == 4


def test_calls_of_one_item_with_one_id_are_answered_in_order() -> None:
    twice = Item.assistant(call("a"), call("a"))
    (calls, results) = repair([twice, Item.tool(result("a", "1"), result("a", "2"))])

    assert [seen(tool_result) for tool_result in results.tool_results] == ["1", "2"]
    assert len({tool_call.id for tool_call in calls.tool_calls}) == 2


def test_t08_calls_without_ids_get_different_ones() -> None:
    empty = Item.assistant(call(""), call(""))
    (calls, results) = repair([empty, Item.tool(result(""), result(""))])

    first, second = (tool_call.id for tool_call in calls.tool_calls)
    assert first
    assert second
    assert first != second
    assert [tool_result.call_id for tool_result in results.tool_results] == [first, second]


def test_the_same_call_twice_in_an_interrupted_item_with_one_answer() -> None:
    same = call("a")
    item = replace(Item.assistant(same, same), interrupted=True)
    (calls, results) = repair([item, Item.tool(result("a"))])

    assert len(calls.tool_calls) == len(results.tool_results) == 1


def test_a_made_up_result_says_that_it_is_one() -> None:
    (_, results) = repair([A])
    (made_up,) = results.tool_results

    assert made_up.is_error
    assert not made_up.started
    assert made_up.failure is ToolFailure.INTERRUPTED
    assert isinstance(made_up.output, TextOutput)
    assert "may not have been executed" in made_up.output.text


def test_the_tool_item_keeps_what_else_it_holds() -> None:
    stamped = replace(Item.tool(result("b"), result("a")), created_at=5, metadata={"x.y": 1})
    (_, created) = repair([AB, stamped])

    assert (created.created_at, created.metadata) == (5, {"x.y": 1})


@pytest.mark.parametrize("rounds", [True, False], ids=["in many items", "in one item"])
def test_pairing_and_renaming_many_calls_of_one_id_is_linear(rounds: bool) -> None:
    def history(size: int) -> list[Item]:
        if rounds:
            return [A] * size + [Item.tool(result("a"))] * size
        return [Item.assistant(*[call("a")] * size), Item.tool(*[result("a")] * size)]

    few, many = history(50), history(500)

    assert steps(lambda: repair(many)) <= 11 * steps(lambda: repair(few))
    assert not any(
        tool_result.is_error for item in repair(many) for tool_result in item.tool_results
    )
