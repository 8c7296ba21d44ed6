"""Asking, answering and running again is a loop like any other, and is bounded like one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

import anyio
import pytest

from agentkit_core import ApprovalId, ApprovalKind, ApprovalRequest, ToolFailure
from agentkit_loop import Agent, ApprovalDecision, Limits, LoopConfig, TurnEnd, TurnResult
from agentkit_loop.testing import ManualClock, ScriptedModel, call, say
from agentkit_tools_core import ApprovalDenied, FunctionTool, ToolContext, tool
from agentkit_tools_core.permissions import PermissionRequest


def in_loop(agent: Agent) -> TurnResult:
    return anyio.run(agent.run, "go")


def in_trio(agent: Agent) -> TurnResult:
    return anyio.run(agent.run, "go", backend="trio")


def blocking(agent: Agent) -> TurnResult:
    return agent.run_blocking("go")


Run = Callable[[Agent], TurnResult]
drivers = pytest.mark.parametrize("run", [in_loop, in_trio, blocking])
AnyTool = FunctionTool[..., Any]


def asks_in_other_words() -> AnyTool:
    tries = count(1)

    @tool
    def act(context: ToolContext) -> str:
        """Ask, with words that differ each time."""
        return str(context.ask(f"Proceed? This is try {next(tries)}."))

    return act


def asks_the_same_again() -> AnyTool:
    @tool
    def act(context: ToolContext) -> str:
        """Ask until the answer will do; it never does."""
        while True:
            context.ask("Your age?")

    return act


def logs_in_again() -> AnyTool:
    @tool
    def act(context: ToolContext) -> str:
        """Log in until it works; it never does."""
        while True:
            context.authorize("Log in.")

    return act


def suspends_for_the_same() -> AnyTool:
    @tool
    def act(context: ToolContext) -> str:
        """Suspend with the same question, whatever was answered."""
        request = ApprovalRequest(
            id=ApprovalId("q"),
            call=context.request.call,
            kind="question",
            summary="Well?",
            want=ApprovalKind.QUESTION,
        )
        context.suspend([request])

    return act


def suspends_for_what_is_approved() -> AnyTool:
    @tool
    def act(context: ToolContext) -> str:
        """Suspend for the same approval, though it is approved."""
        request = ApprovalRequest(
            id=ApprovalId("a"), call=context.request.call, kind="k", summary="May I?"
        )
        context.suspend([request], takes_denials=True)

    return act


def requires_ever_more() -> AnyTool:
    tries = count(1)

    @tool
    def act(context: ToolContext) -> str:
        """Require another permission each time."""
        context.require(PermissionRequest("k", f"May I? {next(tries)}"))
        return "unreachable"

    return act


def needs_ever_more_before() -> AnyTool:
    tries = count(1)

    def permissions(call: Any) -> list[PermissionRequest]:
        return [PermissionRequest(f"kind.{next(tries)}", "May I?")]

    @tool(permissions=permissions)
    def act(context: ToolContext) -> str:
        """Need another permission each time, before it runs."""
        return "unreachable"

    return act


TOOLS = [
    asks_in_other_words,
    asks_the_same_again,
    logs_in_again,
    suspends_for_the_same,
    suspends_for_what_is_approved,
    requires_ever_more,
]


class Person:
    """Says yes to everything, and advances the clock."""

    def __init__(self, clock: ManualClock) -> None:
        self.asked: list[ApprovalRequest] = []
        self._clock = clock

    def __call__(self, request: ApprovalRequest) -> ApprovalDecision:
        self.asked.append(request)
        self._clock.advance(0.01)
        assert len(self.asked) < 500
        return ApprovalDecision(approve=True, answer="no")


def asked_by(make: Callable[[], AnyTool], config: LoopConfig, run: Run) -> tuple[int, TurnResult]:
    clock = ManualClock()
    person = Person(clock)
    model = ScriptedModel(call("act"), say("x"))
    agent = Agent(model=model, tools=[make()], on_approval=person, config=config, clock=clock)
    turn = run(agent)
    return len(person.asked), turn


@drivers
@pytest.mark.parametrize("make", TOOLS)
def test_vl13_a_call_may_ask_so_often_and_no_more(run: Run, make: Callable[[], AnyTool]) -> None:
    times, turn = asked_by(make, LoopConfig(), run)
    few, _ = asked_by(make, LoopConfig(max_asks_per_call=3), run)

    result = turn.items[1].tool_results[0]
    assert (turn.end, turn.text) == (TurnEnd.COMPLETED, "x")
    assert result.failure is ToolFailure.EXECUTION_FAILED
    assert "max_asks_per_call" in result.text
    once = make is suspends_for_what_is_approved
    assert (times, few) == ((1, 1) if once else (100, 3))


@drivers
@pytest.mark.parametrize("make", TOOLS[:4])
def test_vl13_the_time_of_a_turn_counts_for_asking_as_well(
    run: Run, make: Callable[[], AnyTool]
) -> None:
    config = LoopConfig(limits=Limits(max_duration_s=0.3))

    times, turn = asked_by(make, config, run)

    assert times == 30
    assert (turn.end, turn.limit) == (TurnEnd.LIMIT, "max_duration_s")
    assert "max_duration_s" in turn.items[1].tool_results[0].text


@drivers
def test_vl13_an_agent_as_tool_asks_for_its_tools_so_often_and_no_more(run: Run) -> None:
    clock = ManualClock()
    person = Person(clock)
    inner = Agent(
        model=ScriptedModel(call("act"), say("x")),
        tools=[asks_in_other_words()],
        config=LoopConfig(max_asks_per_call=None),
    )
    agent = Agent(
        model=ScriptedModel(call("inner", {"task": "go"}), say("y")),
        tools=[inner.as_tool("inner", "Works.", blocking=True)],
        on_approval=person,
        clock=clock,
    )

    turn = run(agent)

    assert (turn.text, len(person.asked)) == ("y", 100)


@drivers
def test_vl13_a_question_that_is_asked_again_gets_another_answer(run: Run) -> None:
    answers = iter(["old", "-3", "42"])
    asked: list[ApprovalId] = []

    def answer(request: ApprovalRequest) -> ApprovalDecision:
        asked.append(request.id)
        return ApprovalDecision(approve=True, answer=next(answers))

    @tool
    def age(context: ToolContext) -> str:
        """Ask until the answer will do."""
        while not (text := str(context.ask("Your age?"))).isdigit():
            pass
        return text

    agent = Agent(model=ScriptedModel(call("age"), say("x")), tools=[age], on_approval=answer)

    assert run(agent).items[1].tool_results[0].text == "42"
    assert len(set(asked)) == 3


@drivers
def test_vl13_a_denial_is_final_however_often_the_tool_asks(run: Run) -> None:
    asked: list[ApprovalId] = []

    def deny(request: ApprovalRequest) -> bool:
        asked.append(request.id)
        return False

    @tool
    def nag(context: ToolContext) -> str:
        """Ask three times."""
        for _ in range(3):
            try:
                context.ask("Really?")
            except ApprovalDenied:
                continue
        return "gave up"

    agent = Agent(model=ScriptedModel(call("nag"), say("x")), tools=[nag], on_approval=deny)

    assert run(agent).items[1].tool_results[0].text == "gave up"
    assert len(asked) == 1


def test_vl13_a_person_who_changes_the_arguments_is_not_asked_for_ever() -> None:
    clock = ManualClock()
    asked: list[str] = []

    def change(request: ApprovalRequest) -> ApprovalDecision:
        asked.append(request.kind)
        assert len(asked) < 500
        return ApprovalDecision(approve=True, input={})

    agent = Agent(
        model=ScriptedModel(call("act"), say("x")),
        tools=[needs_ever_more_before()],
        policy=lambda request, facts: ask_always(),
        on_approval=change,
        clock=clock,
    )

    turn = agent.run_blocking("go")

    assert "max_asks_per_call" in turn.items[1].tool_results[0].text
    assert len(asked) == 100


def ask_always() -> Any:
    from agentkit_tools_core.permissions import Ask

    return Ask("sure?")


@contextmanager
def background_session(config: LoopConfig) -> Iterator[Any]:
    @tool(detach_after_s=0)
    def act(context: ToolContext) -> str:
        """Ask in the background, with words that differ each time."""
        return str(context.ask(f"Try {next(tries)}?"))

    tries = count(1)
    agent = Agent(model=ScriptedModel(call("act"), *["x"] * 5), tools=[act], config=config)
    with agent.session_blocking() as session:
        yield session


def test_vl13_a_background_call_may_ask_so_often_and_no_more() -> None:
    with background_session(LoopConfig(max_asks_per_call=3)) as session:
        session.submit("go")
        session.next()
        times = 0
        while True:
            while not session.pending_approvals and session.view.background_calls:
                session.next()
            if not session.view.background_calls:
                break
            times += 1
            session.approve(session.pending_approvals[0].id, answer="no")

    assert times == 3
