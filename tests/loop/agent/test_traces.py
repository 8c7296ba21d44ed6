"""What a trace needs: whose session it is, whose model, and what is around a tool call (VU10)."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import pytest
from msgspec.structs import replace

from agentkit_core import ModelOptions, ModelRequest, RetryPolicy, SessionId, ToolChoiceMode
from agentkit_loop import Agent, Hook, Limits, LoopConfig, RunFacts
from agentkit_loop.events import Envelope, ModelCallStarted, RunStarted
from agentkit_loop.testing import ScriptedModel, call, fail, say
from agentkit_tools_core import ToolContext, ToolFacts, ToolInvocation, tool
from support.forms import FORMS, Form


@tool
def look() -> str:
    """Look."""
    return "seen"


class Named(ScriptedModel):
    """A model that says whose it is."""

    provider = "acme"


@pytest.mark.parametrize("form", FORMS)
def test_vu10_an_inner_session_says_which_call_it_answers(form: str) -> None:
    forms, told = Form(form), list[Envelope]()
    inner = Agent(
        model=ScriptedModel(call("pay"), say("done")),
        tools=[tool(name="pay", needs_approval=True)(lambda: "paid")],
        reporters=[told.append],
    )
    outer = Agent(
        model=ScriptedModel(call("clerk", {"task": "go"}, "c7"), say("x")),
        tools=[inner.as_tool("clerk", "Files.", blocking=forms.is_blocking)],
        reporters=[told.append],
    )

    async def test() -> None:
        async with forms.opened(outer, session_id=SessionId("outer")) as session:
            session.submit("go")
            await forms.do(session, "next")
            session.approve(session.pending_approvals[0].id)  # the inner session goes on elsewhere
            await forms.do(session, "continue_")

    forms.run(test)
    started = [each for each in told if isinstance(each.event, RunStarted)]
    assert [
        (each.event.resumed, each.event.parent_session_id, each.event.parent_call_id)  # type: ignore[union-attr]
        for each in started
    ] == [(False, None, None), (False, "outer", "c7"), (True, "outer", "c7")]
    assert started[1].session_id == started[2].session_id != "outer"


@pytest.mark.parametrize("form", FORMS)
def test_vu10_a_model_call_says_whose_model_it_is_and_how_it_is_asked(form: str) -> None:
    forms, told = Form(form), list[Envelope]()
    options = ModelOptions(max_output_tokens=5)
    agent = Agent(model=Named(say("x")), options=options, reporters=[told.append])

    async def test() -> None:
        async with forms.opened(agent) as session:
            await forms.do(session, "prompt", "go")
            session.settings.change_model(ScriptedModel(say("y")))
            session.settings.use_once(ModelOptions(seed=1))
            await forms.do(session, "prompt", "go")
            snapshot = session.snapshot()
        resumed = Agent(model=Named(say("x")), options=options, reporters=[told.append])
        async with forms.opened(resumed, "resume", snapshot) as session:
            await forms.do(session, "prompt", "go")

    forms.run(test)
    calls = [each.event for each in told if isinstance(each.event, ModelCallStarted)]
    assert [(event.provider, event.options) for event in calls] == [
        ("acme", options),
        (None, ModelOptions(seed=1)),
        ("acme", options),
    ]


class Choosing(Hook):
    """Asks another model in another way, each time."""

    def __init__(self) -> None:
        self.times = 0

    def before_request(self, request: ModelRequest, facts: RunFacts) -> ModelRequest:
        self.times += 1
        options = replace(request.options, seed=self.times)
        return replace(request, model=f"other-{self.times}", options=options)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("hooks", [[], [Hook()], [Choosing], [Choosing, Choosing]], ids=len)
def test_vu10_what_is_told_of_a_call_is_what_is_sent(form: str, hooks: list[Any]) -> None:
    forms, told = Form(form), list[Envelope]()
    model = ScriptedModel(
        fail(), call("look"), fail(), say("x"), call("look"), call("look"), say("y")
    )
    agent = Agent(
        model=model,
        tools=[look],
        options=ModelOptions(tool_choice=ToolChoiceMode.REQUIRED),
        hooks=[hook() if isinstance(hook, type) else hook for hook in hooks],
        config=LoopConfig(limits=Limits(max_tool_calls=1), retry=RetryPolicy(first_wait_s=0)),
        reporters=[told.append],
    )

    async def test() -> None:
        async with forms.opened(agent) as session:
            await forms.do(session, "prompt", "go")
            session.settings.use_once(ModelOptions(seed=9))
            await forms.do(session, "prompt", "go")

    forms.run(test)
    calls = [each.event for each in told if isinstance(each.event, ModelCallStarted)]
    assert [(event.model, event.options) for event in calls] == [
        (request.model, request.options) for request in model.requests
    ]
    assert len(calls) >= 6


SPAN: ContextVar[str] = ContextVar("span", default="none")


class Spans(Hook):
    """Notes what is around which call."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.lines: list[str] = []

    @contextmanager
    def around_tool(self, call: ToolInvocation, facts: ToolFacts) -> Iterator[None]:
        self.lines.append(f"{self.name} in {call.name} of {facts.parent}")
        before = SPAN.set(f"{SPAN.get()}/{self.name}:{call.name}")
        try:
            yield
        finally:
            SPAN.reset(before)
            self.lines.append(f"{self.name} out")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", ["sync", "inline", "async", "nested", "failing"])
def test_vu10_hooks_are_around_each_call_and_what_they_set_is_seen_within(
    form: str, kind: str
) -> None:
    forms, seen = Form(form), list[str]()
    if forms.is_blocking and kind == "async":
        pytest.skip("needs an event loop")

    def look() -> str:
        """Look."""
        seen.append(SPAN.get())
        if kind == "failing":
            raise ValueError("no")
        return "ok"

    async def look_async() -> str:
        """Look."""
        return look()

    def nest(context: ToolContext) -> str:
        """Call another one."""
        return context.call_blocking("inner", {}).text

    own: Any = {"async": look_async, "nested": nest}.get(kind, look)
    tools = [tool(name="act", inline=kind == "inline")(own), tool(name="inner")(look)]
    first, second = Spans("a"), Spans("b")
    second.lines = first.lines
    agent = Agent(model=ScriptedModel(call("act"), say("x")), tools=tools, hooks=[first, second])

    forms.run(lambda: forms.do(agent, "run", "go"))

    inner = kind == "nested"
    assert seen == ["none/a:act/b:act" + ("/a:inner/b:inner" if inner else "")]
    assert first.lines[:2] == ["a in act of None", "b in act of None"]
    assert first.lines[-2:] == ["b out", "a out"]
    assert len(first.lines) == (8 if inner else 4)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("when", ["before", "after", "no manager"])
def test_vu10_a_hook_around_a_call_that_fails_makes_its_result_an_error(
    form: str, when: str
) -> None:
    forms, ran = Form(form), list[int]()

    class Broken(Hook):
        def around_tool(self, call: ToolInvocation, facts: ToolFacts) -> Any:
            if when == "no manager":
                return 5

            @contextmanager
            def around() -> Iterator[None]:
                if when == "before":
                    raise RuntimeError("no span")
                yield
                raise RuntimeError("no span")

            return around()

    @tool
    def act() -> str:
        """Act."""
        ran.append(1)
        return "acted"

    agent = Agent(model=ScriptedModel(call("act"), say("x")), tools=[act], hooks=[Broken()])
    turn = forms.run(lambda: forms.do(agent, "run", "go"))

    (result,) = turn.items[1].tool_results
    assert result.is_error
    assert len(ran) == (1 if when == "after" else 0)
