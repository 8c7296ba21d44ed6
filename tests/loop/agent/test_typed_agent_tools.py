"""Agents as tools with a typed result (VL34)."""

from typing import Any

import pytest
from msgspec import Struct

from agentkit_core import to_json
from agentkit_loop import Agent, InvalidResultType, ResultMode
from agentkit_loop.testing import Reply, ScriptedModel, call, say
from agentkit_tools_core import tool
from support.forms import FORMS, Form
from support.sessions import ok


class Count(Struct):
    """How many there are."""

    number: int
    of: str


RESULTS: dict[str, tuple[Any, Any, str]] = {
    "int": (int, 5, "5"),
    "list": (list[int], [1, 2], "[1,2]"),
    "struct": (Count, {"number": 5, "of": "apples"}, '{"number":5,"of":"apples"}'),
}


def answer_of(mode: ResultMode, value: Any) -> Reply:
    """An answer that gives a value, as the mode asks for it."""
    if mode is ResultMode.TOOL:
        return Reply.of(call("final_result", {"result": value}, "r1"))
    return Reply.of(to_json({"result": value}).decode())


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("mode", ResultMode)
@pytest.mark.parametrize("name", RESULTS)
def test_vl34_the_outer_model_reads_the_value_as_json(
    form: str, mode: ResultMode, name: str
) -> None:
    forms, (kind, value, text) = Form(form), RESULTS[name]
    wrong = answer_of(mode, {"no": "value"})
    inner = Agent(model=ScriptedModel(wrong, answer_of(mode, value)))
    count = inner.as_tool(
        "count", "Counts.", blocking=forms.is_blocking, result_type=kind, result_mode=mode
    )
    outer = Agent(model=ScriptedModel(call("count", {"task": "Count."}), say("x")), tools=[count])

    turn = forms.run(lambda: forms.do(outer, "run", "go"))

    (result,) = turn.items[1].tool_results
    assert not result.is_error
    assert result.text.replace(" ", "").replace("\n", "") == text


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("mode", ResultMode)
def test_vl34_where_no_value_comes_the_call_has_failed_and_says_why(
    form: str, mode: ResultMode
) -> None:
    forms = Form(form)
    inner = Agent(model=ScriptedModel(*[answer_of(mode, "many")] * 2))
    count = inner.as_tool(
        "count",
        "Counts.",
        blocking=forms.is_blocking,
        result_type=int,
        result_mode=mode,
        result_retries=1,
    )
    outer = Agent(model=ScriptedModel(call("count", {"task": "Count."}), say("x")), tools=[count])

    turn = forms.run(lambda: forms.do(outer, "run", "go"))

    (result,) = turn.items[1].tool_results
    assert result.is_error
    assert "no valid result" in result.text
    assert "int" in result.text


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("mode", ResultMode)
def test_vl34_the_value_outlives_an_approval_in_another_process(
    form: str, mode: ResultMode
) -> None:
    forms = Form(form)
    pay = tool(name="pay", needs_approval=True)(ok)

    def outer(*script: Any, then: Any = ()) -> Agent:
        inner = Agent(model=ScriptedModel(*script), tools=[pay])
        count = inner.as_tool(
            "count", "Counts.", blocking=forms.is_blocking, result_type=int, result_mode=mode
        )
        return Agent(model=ScriptedModel(*then), tools=[count])

    async def test() -> None:
        first = outer(call("pay", {}, "p1"), then=[call("count", {"task": "Count."})])
        async with forms.opened(first) as session:
            session.submit("go")
            await forms.do(session, "next")
            snapshot = session.snapshot()
        second = outer(answer_of(mode, 5), then=[say("x")])
        async with forms.opened(second, "resume", snapshot) as session:
            session.approve(session.pending_approvals[0].id)
            turn = await forms.do(session, "continue_")
        assert turn.items[1].tool_results[0].text == "5"

    forms.run(test)


def test_vl34_a_type_that_cannot_be_read_is_refused_when_the_tool_is_made() -> None:
    with pytest.raises(InvalidResultType, match="complex"):
        Agent(model=ScriptedModel()).as_tool("count", "Counts.", result_type=complex)
