"""Structured results: a value of the type that was asked for, or a clear account of why not."""

from dataclasses import dataclass
from typing import Any

import msgspec
import pytest

from agentkit_core import FailureKind, Item, JsonSchemaFormat, ModelResponse, ToolCall
from agentkit_loop import (
    Agent,
    ApprovalRequiredError,
    Hook,
    InvalidResultType,
    Limits,
    LoopConfig,
    NoResult,
    ResultMode,
    RetryAnswer,
    RunFacts,
    TurnEnd,
    TypedResult,
)
from agentkit_loop.testing import Reply, ScriptedModel, call, fail, say
from agentkit_tools_core import tool


@dataclass
class Line:
    text: str
    cents: int


@dataclass
class Invoice:
    customer: str
    lines: list[Line]


GOOD = '{"result": {"customer": "Ada", "lines": [{"text": "tea", "cents": 250}]}}'
ADA = Invoice("Ada", [Line("tea", 250)])


async def test_the_answer_is_a_value_of_the_type_and_the_turn_is_there_too() -> None:
    model = ScriptedModel(say(GOOD))

    answer = await Agent(model=model).run("Read it.", result_type=Invoice)

    assert answer.value == ADA
    assert answer.has_value
    assert answer.turn.text == GOOD
    wanted = model.requests[0].options.response_format
    assert isinstance(wanted, JsonSchemaFormat)
    assert wanted.schema["required"] == ["result"]


def test_it_works_without_an_event_loop() -> None:
    assert Agent(model=ScriptedModel(GOOD)).run_blocking("go", result_type=Invoice).value == ADA


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (int, '{"result": 42}', 42),
        (int, "42", 42),
        (list[str], '{"result": ["a", "b"]}', ["a", "b"]),
        (list[str], '["a", "b"]', ["a", "b"]),
        (bool, '```json\n{"result": true}\n```', True),
        (Invoice, GOOD.removeprefix('{"result": ').removesuffix("}"), ADA),
        (dict[str, int], '{"a": 1}', {"a": 1}),
    ],
)
async def test_any_type_will_do_and_so_will_what_models_make_of_the_wrapping(
    kind: type[Any], text: str, value: object
) -> None:
    answer: TypedResult[Any] = await Agent(model=ScriptedModel(text)).run("go", result_type=kind)

    assert answer.value == value


async def test_what_does_not_fit_goes_back_to_the_model_with_what_is_wrong() -> None:
    bad = '{"result": {"customer": "Ada", "lines": [{"text": "tea", "cents": "many"}]}}'
    model = ScriptedModel("Here you are!", bad, GOOD)

    answer = await Agent(model=model).run("go", result_type=Invoice)

    assert answer.value == ADA
    assert "not JSON" in _last_text(model, 1)
    assert "lines.0.cents" in _last_text(model, 2)


async def test_a_model_that_cannot_do_it_is_asked_a_bounded_number_of_times() -> None:
    model = ScriptedModel(*["no"] * 10)

    answer = await Agent(model=model).run("go", result_type=int, result_retries=2)

    assert len(model.requests) == 3
    assert not answer.has_value
    with pytest.raises(NoResult, match=r"type int.*not JSON") as raised:
        _ = answer.value
    assert raised.value.turn is answer.turn
    assert answer.turn.end is TurnEnd.COMPLETED


async def test_tools_may_be_called_on_the_way() -> None:
    @tool
    def price() -> int:
        """Say the price."""
        return 250

    model = ScriptedModel(call("price"), GOOD)

    answer = await Agent(model=model, tools=[price]).run("go", result_type=Invoice)

    assert answer.value == ADA
    assert len(answer.turn.items) == 3


@pytest.mark.parametrize("retries", [0, 2])
async def test_by_a_tool_the_call_ends_the_turn(retries: int) -> None:
    given: dict[str, Any] = msgspec.json.decode(GOOD)
    model = ScriptedModel(call("final_result", given), "never asked for")

    answer = await Agent(model=model).run(
        "go", result_type=Invoice, result_mode=ResultMode.TOOL, result_retries=retries
    )

    assert answer.value == ADA
    assert [spec.name for spec in model.requests[0].tools] == ["final_result"]
    assert model.requests[0].options.response_format is None
    assert len(model.requests) == 1


async def test_by_a_tool_wrong_arguments_and_plain_answers_are_tried_again() -> None:
    model = ScriptedModel(
        call("final_result", {"result": "many"}), "It is 7.", call("final_result", {"result": 7})
    )

    answer = await Agent(model=model).run("go", result_type=int, result_mode=ResultMode.TOOL)

    assert answer.value == 7
    assert "final_result" in _last_text(model, 2)


async def test_by_a_tool_the_tries_are_bounded_too() -> None:
    wrong: list[ToolCall] = [call("final_result", {"result": "x"}, f"c{n}") for n in range(9)]
    model = ScriptedModel(*wrong)

    answer = await Agent(model=model).run(
        "go", result_type=int, result_mode=ResultMode.TOOL, result_retries=1
    )

    assert not answer.has_value
    assert len(model.requests) == 2
    assert answer.problem is not None


@pytest.mark.parametrize(
    ("script", "config", "end"),
    [
        ([fail(FailureKind.AUTH, retryable=False)], LoopConfig(), TurnEnd.ERROR),
        (["no", "no"], LoopConfig(limits=Limits(max_model_calls=1)), TurnEnd.LIMIT),
    ],
)
async def test_a_turn_that_fails_is_a_result_without_a_value(
    script: list[Any], config: LoopConfig, end: TurnEnd
) -> None:
    answer = await Agent(model=ScriptedModel(*script), config=config).run("go", result_type=int)

    assert answer.turn.end is end
    with pytest.raises(NoResult) as raised:
        _ = answer.value
    assert raised.value.turn.end is end


async def test_only_the_prompt_that_wants_it_is_answered_in_that_form() -> None:
    model = ScriptedModel("1", "plain", call("final_result", {"result": 3}), "plain")
    async with Agent(model=model).session() as session:
        assert (await session.prompt("go", result_type=int)).value == 1
        assert (await session.prompt("go")).text == "plain"
        by_tool = await session.prompt("go", result_type=int, result_mode=ResultMode.TOOL)
        assert by_tool.value == 3
        await session.prompt("go")

    assert [len(one.tools) for one in model.requests] == [0, 0, 1, 0]
    assert model.requests[1].options.response_format is None


async def test_approvals_are_needed_as_ever() -> None:
    @tool(needs_approval=True)
    def look() -> str:
        """Look."""
        return "7"

    agent = Agent(model=ScriptedModel(call("look"), "7"), tools=[look])
    with pytest.raises(ApprovalRequiredError):
        await agent.run("go", result_type=int)


def test_a_type_that_no_json_can_be_read_as_is_refused_before_anything_happens() -> None:
    model = ScriptedModel("never")

    with pytest.raises(InvalidResultType):
        Agent(model=model).run_blocking("go", result_type=complex)
    assert model.requests == []


async def test_reasoning_and_several_texts_do_not_disturb_it() -> None:
    reply = Reply.of('{"resul', 't": 5}')
    assert (await Agent(model=ScriptedModel(reply)).run("go", result_type=int)).value == 5


@pytest.mark.parametrize("mode", ResultMode)
async def test_tools_that_are_changed_meanwhile_stay_changed_and_hide_no_result(
    mode: ResultMode,
) -> None:
    @tool
    def later() -> str:
        """Be there later."""
        return ""

    @tool
    def change() -> str:
        """Change the tools."""
        session.settings.tools = [later]
        return "changed"

    last = '{"result": 1}' if mode is ResultMode.FORMAT else call("final_result", {"result": 1})
    model = ScriptedModel(call("change", {}, "c0"), last)
    async with Agent(model=model, tools=[change]).session() as session:
        typed = await session.prompt("go", result_type=int, result_mode=mode)

        assert typed.value == 1
        assert [spec.name for spec in session.settings.tools.specs()] == ["later"]
        assert session.view.tools == ("later",)


async def test_a_value_that_a_hook_of_the_host_refuses_is_none() -> None:
    class Even(Hook):
        def after_response(self, response: ModelResponse, facts: RunFacts, /) -> RetryAnswer | None:
            odd = facts.model_calls == 0
            return RetryAnswer((Item.user("an even one"),)) if odd else None

    model = ScriptedModel('{"result": 1}', "nothing of the kind", '{"result": 2}')
    typed = await Agent(model=model, hooks=[Even()]).run("go", result_type=int)

    assert typed.value == 2


async def test_what_a_hook_of_the_host_adds_in_the_end_calls_for_another_value() -> None:
    class Once(Hook):
        def before_finish(self, answer: Item, facts: RunFacts, /) -> list[Item]:
            return [Item.user("sure?")] if facts.model_calls == 1 else []

    model = ScriptedModel('{"result": 1}', "hm", '{"result": 2}')
    typed = await Agent(model=model, hooks=[Once()]).run("go", result_type=int)

    assert typed.value == 2
    assert len(model.requests) == 3


async def test_a_type_with_a_field_of_that_name_may_come_bare() -> None:
    @dataclass
    class Match:
        result: str
        goals: int

    bare = ScriptedModel('{"result": "won", "goals": 3}')
    wrapped = ScriptedModel('{"result": {"result": "won", "goals": 3}}')

    for model in (bare, wrapped):
        typed = await Agent(model=model).run("go", result_type=Match)
        assert typed.value == Match("won", 3)


def _last_text(model: ScriptedModel, at: int) -> str:
    last: Item = model.requests[at].items[-1]
    return last.text
