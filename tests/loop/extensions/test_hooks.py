"""Hooks: each is asked at its place, in order; what it raises ends the turn and nothing else."""

from collections.abc import Sequence
from typing import Any

import anyio
import pytest
from msgspec.structs import replace

from agentkit_core import Item, ModelRequest, ModelResponse, Text, ToolCall, ToolResult
from agentkit_loop import (
    Agent,
    EndTurn,
    Hook,
    LoopConfig,
    RetryAnswer,
    RunFacts,
    TurnEnd,
    TurnResult,
)
from agentkit_loop.testing import Reply, ScriptedModel, call, fail
from agentkit_tools_core import Block, ChangeInput, ToolFacts, ToolInvocation, tool


@tool
def add(a: int, b: int = 1) -> int:
    """Add."""
    return a + b


class Newest(Hook):
    """Shows the model the newest items only."""

    def before_request(self, request: ModelRequest, facts: RunFacts, /) -> ModelRequest:
        return replace(request, items=request.items[-2:])


async def test_a_context_may_be_cut_for_one_request_and_the_transcript_stays_whole() -> None:
    history = [Item.user("one"), Item.assistant("two"), Item.user("three"), Item.assistant("four")]
    model = ScriptedModel("ok")

    async with Agent(model=model, hooks=[Newest()]).session(history=history) as session:
        await session.prompt("five")

        assert [item.text for item in model.requests[0].items] == ["four", "five"]
        assert len(session.transcript) == 6


async def test_hooks_are_asked_in_order_and_each_sees_what_the_last_one_made() -> None:
    class Tag(Hook):
        def __init__(self, tag: str) -> None:
            self.tag = tag

        async def before_request(self, request: ModelRequest, facts: RunFacts, /) -> ModelRequest:
            await anyio.sleep(0)
            return replace(request, model=request.model + self.tag)

        async def after_response(
            self, response: ModelResponse, facts: RunFacts, /
        ) -> ModelResponse | None:
            item = response.item
            return replace(response, item=replace(item, parts=(Text(item.text + self.tag),)))

    model = ScriptedModel("x", name="m")
    result = await Agent(model=model, hooks=[Tag("-a"), Tag("-b")]).run("go")

    assert model.requests[0].model == "m-a-b"
    assert result.text == "x-a-b"


async def test_c07_a_request_hook_may_ask_another_model_for_one_call_only() -> None:
    class Larger(Hook):
        def before_request(self, request: ModelRequest, facts: RunFacts, /) -> ModelRequest | None:
            return replace(request, model="larger") if facts.model_calls == 1 else None

    model = ScriptedModel(call("add", {"a": 1}), call("add", {"a": 2}, "c2"), "ok", name="m")
    async with Agent(model=model, tools=[add], hooks=[Larger()]).session() as session:
        await session.prompt("go")

        assert [one.model for one in model.requests] == ["m", "larger", "m"]
        assert session.view.model == "m"


async def test_a_request_hook_may_end_the_turn_instead() -> None:
    class Enough(Hook):
        def before_request(self, request: ModelRequest, facts: RunFacts, /) -> EndTurn | None:
            return EndTurn() if facts.model_calls else None

    model = ScriptedModel(call("add", {"a": 1}), "never")
    result = await Agent(model=model, tools=[add], hooks=[Enough()]).run("go")

    assert result.end is TurnEnd.COMPLETED
    assert [item.kind.value for item in result.items] == ["assistant", "tool"]


async def test_an_answer_that_will_not_do_is_asked_for_again() -> None:
    class Polite(Hook):
        def after_response(self, response: ModelResponse, facts: RunFacts, /) -> RetryAnswer | None:
            if "please" in response.item.text:
                return None
            return RetryAnswer((Item.user("Say please."),))

    result = await Agent(model=ScriptedModel("no", "please"), hooks=[Polite()]).run("go")

    assert result.text == "please"
    assert result.model_calls == 2


async def test_a_turn_that_would_end_may_be_given_more_to_do() -> None:
    class Twice(Hook):
        async def before_finish(self, answer: Item, facts: RunFacts, /) -> Sequence[Item]:
            await anyio.sleep(0)
            return [Item.user("And?")] if facts.model_calls < 2 else []

    model = ScriptedModel("one", "two")
    result = await Agent(model=model, hooks=[Twice()]).run("go")

    assert (result.text, result.model_calls) == ("two", 2)


async def test_hooks_around_tools_block_and_change_calls_and_results() -> None:
    class Guard(Hook):
        def before_tool(self, call: ToolInvocation, facts: ToolFacts) -> Block | ChangeInput | None:
            if call.input["a"] == 13:
                return Block("unlucky")
            return ChangeInput({"a": 100, "b": 1}) if call.input["a"] == 1 else None

        def after_tool(
            self, call: ToolInvocation, result: ToolResult, facts: ToolFacts
        ) -> ToolResult:
            return replace(result, details={"seen": True})

    arguments: list[dict[str, Any]] = [{"a": 13}, {"a": 1}, {"a": 2}]
    calls = Reply.of(*(call("add", one, f"c{at}") for at, one in enumerate(arguments)))
    result = await Agent(model=ScriptedModel(calls, "ok"), tools=[add], hooks=[Guard()]).run("go")

    blocked, changed, plain = result.items[1].tool_results
    assert blocked.is_error
    assert not blocked.started
    assert changed.output.value == 101  # type: ignore[union-attr]
    assert changed.details == plain.details == {"seen": True}
    assert [one.input["a"] for one in result.items[0].tool_calls] == [13, 1, 2]


@pytest.mark.parametrize("name", ["before_request", "after_response"])
async def test_what_a_hook_raises_ends_the_turn_as_an_error_and_says_where(name: str) -> None:
    class Broken(Hook):
        pass

    def broken(*_: Any) -> None:
        raise RuntimeError("no such thing")

    setattr(Broken, name, broken)
    result = await Agent(model=ScriptedModel("said"), hooks=[Broken()]).run("go")

    assert result.end is TurnEnd.ERROR
    told = result.error or (result.failure.message if result.failure else "")
    assert "hook" in told
    assert "RuntimeError: no such thing" in told


async def test_what_came_of_an_answer_survives_a_hook_that_fails() -> None:
    class Broken(Hook):
        def after_response(self, response: ModelResponse, facts: RunFacts, /) -> None:
            raise RuntimeError("no")

    result = await Agent(model=ScriptedModel("precious"), hooks=[Broken()]).run("go")

    assert result.partial is not None
    assert result.partial.text == "precious"


@pytest.mark.parametrize(
    ("point", "answer"),
    [
        ("before_request", ValueError("held back by the check")),
        ("before_request", True),
        ("after_response", ValueError("held back by the check")),
        ("after_response", False),
        ("after_response", RetryAnswer(())),
        ("after_response", RetryAnswer((Item.assistant("Take this."),))),
        ("before_finish", ValueError("held back by the check")),
        ("before_finish", True),
        ("before_finish", False),
        ("before_finish", "no"),
        ("before_finish", [Item.assistant("Take this.")]),
        ("before_finish", ["no"]),
    ],
    ids=str,
)
@pytest.mark.parametrize("driver", ["concurrent", "blocking"])
async def test_vl24_a_check_that_fails_has_not_passed(
    point: str, answer: object, driver: str
) -> None:
    class Guard(Hook):
        pass

    def guard(*_: Any) -> object:
        if isinstance(answer, Exception):
            raise answer
        return answer

    setattr(Guard, point, guard)
    agent = Agent(
        model=ScriptedModel("the secret is 42", "never"),
        hooks=[Guard()],
        config=LoopConfig(keep_failed=True),
    )
    result = agent.run_blocking("go") if driver == "blocking" else await agent.run("go")

    assert result.end is TurnEnd.ERROR
    problem = result.error or (result.failure.message if result.failure else "")
    assert "hook" in problem
    assert result.model_calls < 2
    if point == "after_response":
        assert result.text == ""


async def test_a_response_hook_may_not_change_which_tools_are_called() -> None:
    class Meddler(Hook):
        def after_response(self, response: ModelResponse, facts: RunFacts, /) -> ModelResponse:
            (asked,) = response.item.tool_calls
            return ModelResponse(Item.assistant(ToolCall(id=asked.id, name="rm")))

    model = ScriptedModel(call("add", {"a": 1}), "never")
    result = await Agent(model=model, tools=[add], hooks=[Meddler()]).run("go")

    assert result.end is TurnEnd.ERROR
    assert result.failure is not None
    assert "which tools a response calls" in result.failure.message


def test_without_an_event_loop_plain_hooks_work_and_async_ones_are_refused() -> None:
    class Waits(Hook):
        async def before_request(self, request: ModelRequest, facts: RunFacts, /) -> None:
            await anyio.sleep(0)

    plain = ScriptedModel("ok")
    assert Agent(model=plain, hooks=[Newest()]).run_blocking("go").text == "ok"
    result: TurnResult = Agent(model=ScriptedModel("ok"), hooks=[Waits()]).run_blocking("go")
    assert result.end is TurnEnd.ERROR


async def test_the_same_request_is_sent_again_after_a_failure_and_hooks_are_asked_once() -> None:
    asked: list[int] = []

    class Counts(Hook):
        def before_request(self, request: ModelRequest, facts: RunFacts, /) -> ModelRequest:
            asked.append(facts.attempt)
            return replace(request, model="other")

    model = ScriptedModel(fail(retry_after_s=0.0), "ok")
    from agentkit_loop.testing import ManualClock

    await Agent(model=model, hooks=[Counts()], clock=ManualClock()).run("go")

    assert asked == [1]
    assert [one.model for one in model.requests] == ["other", "other"]
