"""Limits of whole sessions, kept over stores; and what is told of missing prices (VU11)."""

from decimal import Decimal
from typing import Any

import pytest

from agentkit_core import CostUsage, SessionId, TokenUsage, Usage
from agentkit_loop import Agent, Limits, LoopConfig, SessionLimits, read_session_blocking
from agentkit_loop.events import Diagnostic, Event
from agentkit_loop.stores import MemoryStore
from agentkit_loop.testing import Reply, ScriptedModel, call, say
from agentkit_tools_core import tool
from support.forms import FORMS, Form
from support.sessions import ok, recorded

NAME = SessionId("s")
USED = Usage(TokenUsage(10, 5), CostUsage({"USD": Decimal("0.10")}), 1, 1, 1)


def priced(*parts: Any) -> Reply:
    """An answer of 15 tokens and ten cents."""
    return Reply.of(*(parts or ("ok",)), usage=USED)


LIMITS: dict[str, tuple[SessionLimits, str, int]] = {
    "model calls": (SessionLimits(max_model_calls=3), "session_max_model_calls", 3),
    "requests": (SessionLimits(max_requests=3), "session_max_requests", 3),
    "tokens": (SessionLimits(max_tokens=31), "session_max_tokens", 3),
    "cost": (SessionLimits(max_cost={"USD": Decimal("0.25")}), "session_max_cost", 3),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", LIMITS)
def test_vu11_a_session_ends_its_turns_at_its_limits_over_stores_too(form: str, name: str) -> None:
    forms, store, (limits, end, turns) = Form(form), MemoryStore(), LIMITS[name]
    model = ScriptedModel(*[priced()] * 9)
    agent = Agent(model=model, config=LoopConfig(session_limits=limits))

    async def test() -> None:
        for turn in range(turns + 2):
            async with forms.opened(agent, session_id=NAME, store=store) as session:
                result = await forms.do(session, "prompt", "go")
                assert (result.limit == end) is (turn >= turns), turn
                assert session.view.session_usage.requests == min(turn + 1, turns)
        stored = read_session_blocking(store, NAME)
        assert stored is not None
        assert stored.session_usage.tokens.total == 15 * turns
        assert len(model.requests) == turns

    forms.run(test)


@pytest.mark.parametrize("form", FORMS)
def test_vu11_the_session_can_go_on_with_other_limits(form: str) -> None:
    forms = Form(form)
    config = LoopConfig(session_limits=SessionLimits(max_model_calls=1))
    agent = Agent(model=ScriptedModel(*[priced()] * 3), config=config)

    async def test() -> None:
        async with forms.opened(agent) as session:
            await forms.do(session, "prompt", "go")
            assert (await forms.do(session, "prompt", "go")).end == "limit"
            session.settings.config = LoopConfig(session_limits=SessionLimits(max_model_calls=2))
            assert (await forms.do(session, "continue_")).end == "completed"

    forms.run(test)


@pytest.mark.parametrize("form", FORMS)
def test_vu11_tool_calls_count_for_the_session(form: str) -> None:
    forms, ran = Form(form), list[int]()

    @tool
    def act() -> str:
        """Act."""
        ran.append(1)
        return "acted"

    script = [Reply.of(call("act", {}, f"c{at}"), call("act", {}, f"d{at}")) for at in range(2)]
    model = ScriptedModel(script[0], say("one"), script[1], say("two"))
    config = LoopConfig(session_limits=SessionLimits(max_tool_calls=3))

    async def test() -> None:
        async with forms.opened(Agent(model=model, tools=[act], config=config)) as session:
            await forms.do(session, "prompt", "go")
            assert (await forms.do(session, "prompt", "go")).text == "two"
        assert len(ran) == 3

    forms.run(test)


@pytest.mark.parametrize("form", FORMS)
def test_vu11_agents_that_are_tools_keep_to_the_limits_of_the_outer_session(form: str) -> None:
    forms = Form(form)
    inner_model = ScriptedModel(*[priced(call("act"))] * 9)
    inner = Agent(model=inner_model, tools=[tool(name="act")(ok)])
    outer = Agent(
        model=ScriptedModel(priced(), priced(call("clerk", {"task": "go"})), priced()),
        tools=[inner.as_tool("clerk", "Files.", blocking=forms.is_blocking)],
        config=LoopConfig(session_limits=SessionLimits(max_requests=5)),
    )

    async def test() -> None:
        async with forms.opened(outer) as session:
            await forms.do(session, "prompt", "go")
            assert (await forms.do(session, "prompt", "go")).limit == "session_max_requests"
        assert len(inner_model.requests) == 3

    forms.run(test)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("of", ["turn", "session"])
def test_vu11_a_model_without_a_price_under_a_limit_of_costs_is_told_at_its_first_answer(
    form: str, of: str
) -> None:
    forms, events = Form(form), list[Event]()
    cost = {"USD": Decimal(1)}
    config = (
        LoopConfig(limits=Limits(max_cost=cost))
        if of == "turn"
        else LoopConfig(session_limits=SessionLimits(max_cost=cost))
    )
    agent = Agent(model=ScriptedModel(say("x")), config=config, reporters=[recorded(events)])

    forms.run(lambda: forms.do(agent, "run", "go"))

    (told,) = (event.message for event in events if isinstance(event, Diagnostic))
    assert "without a price" in told
    assert "max_cost" in told


def test_vu11_nothing_is_told_where_the_price_is_known_or_not_limited() -> None:
    events: list[Event] = []
    limits = LoopConfig(limits=Limits(max_cost={"USD": Decimal(1)}))
    for model, config in ((ScriptedModel(priced()), limits), (ScriptedModel(say("x")), None)):
        Agent(model=model, config=config, reporters=[recorded(events)]).run_blocking("go")
    assert not [event for event in events if isinstance(event, Diagnostic)]
