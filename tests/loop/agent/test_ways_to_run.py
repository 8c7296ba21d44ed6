"""Every way to run an agent: its text, its dependencies, its conversation, its instructions."""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from agentkit_core import FinishReason, Item, Reasoning, SessionId, TurnId
from agentkit_loop import (
    Agent,
    ApprovalRequiredError,
    Hook,
    Limits,
    LoopConfig,
    NoResult,
    ResultMode,
    RunFacts,
    TurnEnd,
    TurnNotCompleted,
    TurnResult,
)
from agentkit_loop.events import Event, TurnFinished
from agentkit_loop.stores import MemoryStore
from agentkit_loop.testing import Reply, ScriptedModel, call, fail, say
from agentkit_tools_core import ToolContext, tool
from support.forms import FORMS, Form

# VU07: text as text


@tool
def look() -> str:
    """Look something up."""
    return "found"


@pytest.mark.parametrize("form", FORMS)
def test_vu07_the_text_comes_in_pieces_without_reasoning_and_arguments(form: str) -> None:
    forms = Form(form)
    answer = Reply.of(Reasoning("hm, hm, hm, hm"), "Let me look this up. ", call("look"))
    model = ScriptedModel(answer, "It is found, in the end.")

    async def test() -> None:
        pieces = await forms.do(Agent(model=model, tools=[look]), "stream_text", "go")
        assert "".join(pieces) == "Let me look this up. It is found, in the end."
        assert len(pieces) > 4
        assert all(pieces)

    forms.run(test)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("owner", ["agent", "session"])
@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (fail(retryable=False), "scripted failure"),
        (Reply.of("cut off", finish_reason=FinishReason.MAX_TOKENS), "limit on its length"),
        (Reply.of("no", finish_reason=FinishReason.BLOCKED), "refused"),
    ],
)
def test_vu07_a_text_that_is_not_the_whole_answer_ends_with_an_error(
    form: str, owner: str, reply: Any, words: str
) -> None:
    forms, agent = Form(form), Agent(model=ScriptedModel(reply))

    async def test() -> None:
        if owner == "agent":
            with pytest.raises(TurnNotCompleted, match=words):
                await forms.do(agent, "stream_text", "go")
            return
        async with forms.opened(agent) as session:
            with pytest.raises(TurnNotCompleted, match=words):
                await forms.do(session, "stream_text", "go")

    forms.run(test)


@pytest.mark.parametrize("form", FORMS)
def test_vu07_a_text_waits_for_an_approval_and_goes_on_without_a_prompt(form: str) -> None:
    forms = Form(form)
    model = ScriptedModel(Reply.of("First. ", call("pay")), "Then.")
    agent = Agent(model=model, tools=[tool(needs_approval=True, name="pay")(lambda: "paid")])

    async def test() -> None:
        async with forms.opened(agent) as session:
            with pytest.raises(ApprovalRequiredError):
                await forms.do(session, "stream_text", "go")
            session.approve(session.pending_approvals[0].id)
            assert "".join(await forms.do(session, "stream_text")) == "Then."

    forms.run(test)


# VL33: dependencies


class User:
    def __init__(self, name: str) -> None:
        self.name = name


class Place:
    def __init__(self, name: str) -> None:
        self.name = name


@tool
def who(context: ToolContext) -> str:
    """Say who asks, and where."""
    return f"{context.get(User).name} in {context.get(Place).name}"


@tool
async def outer_who(context: ToolContext) -> str:
    """Say who asks, by another tool."""
    return (await context.call("who", {})).text


def answers_of(model: ScriptedModel) -> list[str]:
    """What the tools of the last request have answered."""
    return [result.text for item in model.requests[-1].items for result in item.tool_results]


RUNS = ["run", "stream", "stream_text", "session", "resume"]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("way", RUNS)
def test_vl33_each_way_to_run_takes_dependencies_that_win_and_belong_to_that_run(
    form: str, way: str
) -> None:
    forms = Form(form)
    script: list[Any] = [call("who"), say("x")]
    model = ScriptedModel(*script, *script)
    agent = Agent(
        model=model, tools=[who], dependencies={User: User("nobody"), Place: Place("Rome")}
    )
    own: dict[type, object] = {User: User("ada")}

    async def run(dependencies: dict[type, object] | None) -> None:
        options = {} if dependencies is None else {"dependencies": dependencies}
        if way in ("session", "resume"):
            async with forms.opened(agent) as session:
                snapshot = session.snapshot()
            args = (snapshot,) if way == "resume" else ()
            async with forms.opened(agent, way, *args, **options) as session:
                await forms.do(session, "prompt", "go")
        else:
            await forms.do(agent, way, "go", **options)

    async def test() -> None:
        await run(own)
        assert answers_of(model) == ["ada in Rome"]
        await run(None)
        assert answers_of(model) == ["nobody in Rome"]

    forms.run(test)


@pytest.mark.parametrize("form", ["asyncio", "trio"])
def test_vl33_calls_of_tools_within_tools_have_them_too(form: str) -> None:
    forms = Form(form)
    model = ScriptedModel(call("outer_who"), say("x"))
    agent = Agent(model=model, tools=[who, outer_who])

    async def test() -> None:
        own = {User: User("ada"), Place: Place("Oslo")}
        await forms.do(agent, "run", "go", dependencies=own)
        assert answers_of(model) == ["ada in Oslo"]

    forms.run(test)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize(
    ("inner", "outer", "run", "expected"),
    [
        ({}, {}, {User: "run", Place: "run"}, "run in run"),
        ({}, {User: "outer", Place: "outer"}, {}, "outer in outer"),
        ({User: "inner"}, {User: "outer", Place: "outer"}, {}, "inner in outer"),
        ({User: "inner", Place: "inner"}, {Place: "outer"}, {User: "run"}, "run in inner"),
    ],
)
def test_vl33_inner_agents_have_the_dependencies_of_the_run(
    form: str,
    depth: int,
    inner: dict[type, str],
    outer: dict[type, str],
    run: dict[type, str],
    expected: str,
) -> None:
    def named(kinds: dict[type, str]) -> dict[type, object]:
        return {kind: kind(name) for kind, name in kinds.items()}

    forms = Form(form)
    innermost = ScriptedModel(call("who"), say("x"), call("who"), say("x"))
    agent = Agent(model=innermost, tools=[who], dependencies=named(inner))
    for at in range(depth):
        task = call("inner", {"task": "go"})
        agent = Agent(
            model=ScriptedModel(task, say("x"), task, say("x")),
            tools=[agent.as_tool("inner", "Works.", blocking=form == "blocking")],
            dependencies=named(outer) if at == depth - 1 else None,
        )

    async def test() -> None:
        await forms.do(agent, "run", "go", dependencies=named(run))
        assert answers_of(innermost) == [expected]
        if run:  # they belong to that run alone
            await forms.do(agent, "run", "go")
            assert expected not in answers_of(innermost)

    forms.run(test)


# VL30: from run to run


def ends() -> dict[str, tuple[list[Any], dict[str, Any]]]:
    limit = LoopConfig(limits=Limits(max_model_calls=1))
    return {
        "completed": ([say("Hello.")], {}),
        "after tools": ([call("look"), say("Hello.")], {}),
        "failed": ([fail(retryable=False)], {}),
        "cut off": ([Reply.of("He", finish_reason=FinishReason.MAX_TOKENS)], {}),
        "at a limit": ([call("look")], {"config": limit}),
    }


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", list(ends()))
def test_vl30_a_result_has_the_conversation_to_go_on_from(form: str, name: str) -> None:
    forms = Form(form)
    script, options = ends()[name]
    before = [Item.user("My name is Ada."), Item.assistant("Hello, Ada.")]
    agent = Agent(
        model=ScriptedModel(*script, *script, say("Ada.")),
        tools=[look],
        instructions="Be brief.",
        **options,
    )

    async def test() -> None:
        result = await forms.do(agent, "run", "Go.", history=before)
        texts = [item.text for item in result.conversation]
        assert texts[:3] == ["My name is Ada.", "Hello, Ada.", "Go."]
        assert result.conversation[3:] == result.items
        async with forms.opened(agent, history=before) as session:
            events = await forms.events(session, "Go.")
            finished = next(event for event in events if isinstance(event, TurnFinished))
            assert [item.text for item in finished.result.conversation] == texts
            assert session.transcript == finished.result.conversation
            assert session.view.last is not None
            assert session.view.last.conversation == session.transcript
        later = await forms.do(
            Agent(model=ScriptedModel(say("Ada."))), "run", "Who?", history=result.conversation
        )
        assert [item.text for item in later.conversation][: len(texts)] == texts

    forms.run(test)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("mode", ResultMode)
def test_vl30_a_typed_result_has_it_too_and_so_has_one_without_a_value(
    form: str, mode: ResultMode
) -> None:
    forms = Form(form)

    async def test() -> None:
        by_tool = call("final_result", {"result": 5})
        good = by_tool if mode is ResultMode.TOOL else say("5")
        agent = Agent(model=ScriptedModel(good, fail(retryable=False)))
        typed = await forms.do(agent, "run", "How many?", result_type=int, result_mode=mode)
        assert typed.value == 5
        assert typed.conversation[0].text == "How many?"
        failed = await forms.do(agent, "run", "How many?", result_type=int, result_mode=mode)
        with pytest.raises(NoResult, match="scripted failure") as raised:  # VU09: it says why
            _ = failed.value
        assert raised.value.turn.conversation[0].text == "How many?"

    forms.run(test)


def test_vl30_copies_keep_the_conversation_and_records_do_not_grow_by_it() -> None:
    events: list[Event] = []
    agent = Agent(model=ScriptedModel(say("x")), reporters=[lambda told: events.append(told.event)])
    result = agent.run_blocking("hi", history=[Item.user("long ago" * 100)])

    for other in (copy.copy(result), copy.deepcopy(result), pickle.loads(pickle.dumps(result))):
        assert (other, other.conversation) == (result, result.conversation)
    assert "long ago" not in repr(result)


def test_vl30_a_result_that_a_crash_kept_from_the_host_has_it_too() -> None:
    store, name = MemoryStore(), SessionId("s")
    results: list[TurnResult] = []
    with Agent(model=ScriptedModel(say("x"))).session_blocking(
        session_id=name, store=store
    ) as session:
        session.prompt("hi")
    with Agent(
        model=ScriptedModel(),
        reporters=[
            lambda told: (
                results.append(told.event.result) if isinstance(told.event, TurnFinished) else None
            )
        ],
    ).session_blocking(session_id=name, store=store) as session:
        assert session.transcript
    assert [result.conversation for result in results] == [session.transcript]


# VL35: instructions that are worked out


def fixed(facts: RunFacts) -> str:
    return f"Call {facts.model_calls + 1} of {facts.session_id[:7]}."


async def awaited(facts: RunFacts) -> str:
    return fixed(facts)


def items(facts: RunFacts) -> list[Item]:
    return [Item.system(fixed(facts)), Item.system("Be brief.")]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("function", [fixed, awaited, items])
def test_vl35_a_function_is_asked_for_each_request(form: str, function: Callable[..., Any]) -> None:
    forms = Form(form)
    if forms.is_blocking and function is awaited:
        pytest.skip("needs an event loop")
    model = ScriptedModel(call("look"), say("x"))
    agent = Agent(model=model, tools=[look], instructions=function)

    async def test() -> None:
        result = await forms.do(agent, "run", "hi")
        firsts = [request.items[0].text for request in model.requests]
        assert firsts == ["Call 1 of session.", "Call 2 of session."]
        assert result.conversation[0].kind.value == "user"

    forms.run(test)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("fault", [ValueError("no"), 5, [{"role": "system"}]])
def test_vl35_a_function_that_fails_ends_the_turn_as_an_error(form: str, fault: Any) -> None:
    forms = Form(form)

    def function(_: RunFacts) -> Any:
        if isinstance(fault, Exception):
            raise fault
        return fault

    async def test() -> None:
        model = ScriptedModel(say("x"))
        result = await forms.do(Agent(model=model, instructions=function), "run", "hi")
        assert result.end == "error"
        assert result.error is not None
        assert not model.requests

    forms.run(test)


@pytest.mark.parametrize("form", FORMS)
def test_vl35_hooks_see_them_and_a_session_may_set_its_own(form: str) -> None:
    forms, seen, model = Form(form), list[str](), ScriptedModel(say("x"), say("y"))

    class Look(Hook):
        def before_request(self, request: Any, facts: RunFacts, /) -> Any:
            seen.append(request.items[0].text)
            return replace(request, items=(*request.items, Item.user("and more")))

    agent = Agent(model=model, instructions=lambda _: "Today is Tuesday.", hooks=[Look()])

    async def test() -> None:
        async with forms.opened(agent) as session:
            await forms.do(session, "prompt", "hi")
            session.settings.instructions = "Today is my day."
            await forms.do(session, "prompt", "hi")
        assert seen == ["Today is Tuesday.", "Today is my day."]
        assert model.requests[0].items[-1].text == "and more"

    forms.run(test)


@pytest.mark.parametrize("end", TurnEnd)
def test_vu07_each_end_of_a_turn_can_be_described_in_one_line(end: TurnEnd) -> None:
    described = TurnResult(turn_id=TurnId("t"), end=end).describe_end()

    assert described
    assert "\n" not in described
