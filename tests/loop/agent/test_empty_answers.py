"""An answer with nothing in it is asked for again once; then the turn ends as what it is: empty."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from agentkit_core import (
    Custom,
    FinishReason,
    InlineBytes,
    Media,
    Modality,
    ModelRequest,
    ModelResponse,
    Reasoning,
    Text,
)
from agentkit_loop import Agent, Hook, ResultMode, RunFacts, TurnEnd, TurnResult
from agentkit_loop.events import Diagnostic, Envelope
from agentkit_loop.testing import Reply, ScriptedModel, call, say
from agentkit_tools_core import tool

NOTHING = {
    "no part": Reply.of(),
    "an empty text": Reply.of(""),
    "white space": Reply.of(" \n\t"),
    "reasoning": Reply.of(Reasoning(summary="Hm.")),
    "a custom part": Reply.of(Custom(kind="vendor.search", value={"query": "x"})),
    "a finish reason of calls": Reply.of(finish_reason=FinishReason.TOOL_CALL),
}


@tool(inline=True)
def look() -> str:
    """Look."""
    return "seen"


def run_in_loop(agent: Agent) -> TurnResult:
    import anyio

    return anyio.run(agent.run, "go")


def run_blocking(agent: Agent) -> TurnResult:
    return agent.run_blocking("go")


Run = Callable[[Agent], TurnResult]
drivers = pytest.mark.parametrize("run", [run_in_loop, run_blocking])
nothings = pytest.mark.parametrize("nothing", NOTHING.values(), ids=NOTHING)


@drivers
@nothings
def test_vl10_an_empty_answer_is_asked_for_again(run: Run, nothing: Reply) -> None:
    heard: list[Envelope] = []
    model = ScriptedModel(nothing, "a real answer")

    turn = run(Agent(model=model, reporters=[heard.append]))

    assert (turn.text, turn.end, turn.model_calls) == ("a real answer", TurnEnd.COMPLETED, 2)
    assert model.requests[1].items == model.requests[0].items
    assert [e.event.message for e in heard if isinstance(e.event, Diagnostic)][-1:] == [
        "the model answered with nothing; it is asked again"
    ]


@drivers
@nothings
def test_vl10_a_second_empty_answer_ends_the_turn_visibly(run: Run, nothing: Reply) -> None:
    turn = run(Agent(model=ScriptedModel(nothing, nothing, "too late")))

    assert (turn.text, turn.end, turn.model_calls) == ("", TurnEnd.EMPTY, 2)
    assert turn.items == ()
    assert turn.partial is not None


@drivers
def test_vl10_nothing_after_tools_is_asked_for_again_as_well(run: Run) -> None:
    model = ScriptedModel(call("look"), Reply.of(), call("look"), Reply.of(), Reply.of())

    turn = run(Agent(model=model, tools=[look]))

    assert (turn.end, len(model.requests)) == (TurnEnd.EMPTY, 5)


@drivers
def test_vl10_what_a_hook_empties_is_empty(run: Run) -> None:
    class Censor(Hook):
        def after_response(self, response: ModelResponse, facts: RunFacts, /) -> ModelResponse:
            return replace(response, item=replace(response.item, parts=(Text(text=""),)))

    turn = run(Agent(model=ScriptedModel("a", "b", "c"), hooks=[Censor()]))

    assert turn.end is TurnEnd.EMPTY


@drivers
def test_vl10_an_answer_that_was_paused_counts_as_a_whole(run: Run) -> None:
    paused = Reply.of("All of it.", finish_reason=FinishReason.PAUSED)
    model = ScriptedModel(paused, Reply.of())

    turn = run(Agent(model=model))

    assert (turn.text, turn.end) == ("All of it.", TurnEnd.COMPLETED)


@drivers
def test_vl10_a_paused_answer_without_text_that_ends_with_nothing_is_empty(run: Run) -> None:
    paused = Reply.of(Reasoning(summary="Hm."), finish_reason=FinishReason.PAUSED)
    model = ScriptedModel(paused, Reply.of(), Reply.of())

    turn = run(Agent(model=model))

    assert (turn.text, turn.end) == ("", TurnEnd.EMPTY)


@drivers
def test_vl10_a_picture_is_an_answer(run: Run) -> None:
    picture = Media(modality=Modality.IMAGE, mime_type="image/png", data=InlineBytes(b"png"))

    turn = run(Agent(model=ScriptedModel(Reply.of(picture))))

    assert (turn.end, turn.model_calls) == (TurnEnd.COMPLETED, 1)


@pytest.mark.parametrize("mode", ResultMode)
def test_vl10_a_typed_result_that_is_empty_is_asked_for_again(mode: ResultMode) -> None:
    answer = call("final_result", {"result": 5}) if mode is ResultMode.TOOL else '{"result": 5}'
    model = ScriptedModel(Reply.of(), answer)

    came = Agent(model=model).run_blocking("go", result_type=int, result_mode=mode)

    assert came.value == 5


@pytest.mark.parametrize("mode", ResultMode)
def test_vl10_a_typed_result_that_never_comes_is_a_problem(mode: ResultMode) -> None:
    model = ScriptedModel(*[Reply.of()] * 9)

    came = Agent(model=model).run_blocking("go", result_type=int, result_mode=mode)

    assert came.has_value is False
    assert came.problem is not None
    assert len(model.requests) < 9


def test_vl10_the_conversation_goes_on_after_an_empty_turn() -> None:
    def answer(request: ModelRequest) -> Reply:
        assert [item.kind for item in request.items] == ["user"]
        return say("awake")

    with Agent(model=ScriptedModel(Reply.of(), Reply.of(), answer)).session_blocking() as session:
        assert session.prompt("go").end is TurnEnd.EMPTY
        assert session.continue_().text == "awake"
