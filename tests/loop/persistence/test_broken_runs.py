"""What waits for a person is kept through whatever else breaks the run."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import anyio
import pytest

from agentkit_core import ApprovalRequest, SessionId
from agentkit_loop import Agent, Hook, ReporterFailed, TurnEnd
from agentkit_loop.events import Envelope, ToolExecutionStarted
from agentkit_loop.stores import MemoryStore
from agentkit_loop.testing import Reply, ScriptedModel, call, say
from agentkit_tools_core import ToolContext, ToolFacts, ToolInvocation, tool

NAME = SessionId("kept")
RAN: list[str] = []


class Unheard(BaseException):
    """An exception of another library that is no `Exception`."""


ERRORS = [SystemExit(2), KeyboardInterrupt(), GeneratorExit(), Unheard("x")]
errors = pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)


@tool(needs_approval=True)
def pay() -> str:
    """Pay."""
    RAN.append("pay")
    return "paid"


@tool
async def sibling() -> str:
    """Run beside the others."""
    await anyio.sleep(0.01)
    return "done"


@tool
def quick() -> str:
    """Run beside the others."""
    return "done"


def breaking(error: BaseException, where: str) -> dict[str, Any]:
    """What an agent is made of that breaks there, with calls in one round of which one waits."""

    @tool(inline=where == "inline tool")
    def parse() -> str:
        """Parse some arguments."""
        if "tool" in where or where == "child":
            raise error
        return "parsed"

    @tool
    async def parse_later() -> str:
        """Parse after a wait."""
        await anyio.sleep(0.01)
        raise error

    @tool
    def parent(context: ToolContext) -> str:
        """Call a tool."""
        return context.call_blocking("parse").text

    class Broken(Hook):
        def after_tool(self, call: ToolInvocation, result: Any, facts: ToolFacts) -> None:
            if where == "after_tool":
                raise error

    def ask(request: ApprovalRequest) -> bool:
        raise error

    async def ask_later(request: ApprovalRequest) -> bool:
        await anyio.sleep(0)
        raise error

    name = {"async tool": "parse_later", "child": "parent"}.get(where, "parse")
    more = [call("sibling", {}, "c3")] if where in ("async tool", "tool beside others") else []
    tools: list[Any] = [pay, parse, parse_later, parent, sibling]
    made: dict[str, Any] = {
        "model": ScriptedModel(Reply.of(call("pay", {}, "c1"), call(name, {}, "c2"), *more)),
        "tools": tools,
        "hooks": [Broken()],
    }
    if where == "on_approval":
        made["on_approval"] = ask
    if where == "async on_approval":
        made["on_approval"] = ask_later
    return made


BLOCKING = ["tool", "inline tool", "child", "after_tool", "on_approval"]
CONCURRENT = [*BLOCKING, "async tool", "tool beside others", "async on_approval"]
FORMS = ["next", "prompt", "stream"]


def check(store: MemoryStore) -> None:
    RAN.clear()
    tools: list[Any] = [pay, sibling, quick]
    with Agent(model=ScriptedModel(say("x")), tools=tools).session_blocking(
        session_id=NAME, store=store
    ) as session:
        assert [request.call.name for request in session.pending_approvals] == ["pay"]
        session.approve(session.pending_approvals[0].id)
        result = session.continue_()
    assert result.text == "x"
    assert RAN == ["pay"]
    results = {result.call_id: result for result in session.transcript[2].tool_results}
    assert results["c1"].text == "paid"  # type: ignore[index]


@errors
@pytest.mark.parametrize("where", BLOCKING)
@pytest.mark.parametrize("form", FORMS)
def test_vl18_an_approval_that_waits_is_kept_without_an_event_loop(
    error: BaseException, where: str, form: str
) -> None:
    store = MemoryStore()
    agent = Agent(**breaking(error, where))

    with (
        suppress(BaseException),
        agent.session_blocking(session_id=NAME, store=store) as session,
    ):
        if form == "next":
            session.submit("go")
            session.next()
            session.next()
        elif form == "prompt":
            session.prompt("go")
        else:
            for _ in session.stream("go"):
                pass

    check(store)


@errors
@pytest.mark.parametrize("where", CONCURRENT)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_vl18_an_approval_that_waits_is_kept_on_an_event_loop(
    error: BaseException, where: str, form: str, backend: str
) -> None:
    store = MemoryStore()
    agent = Agent(**breaking(error, where))

    async def main() -> None:
        with suppress(BaseException):
            async with agent.session(session_id=NAME, store=store) as session:
                if form == "next":
                    session.submit("go")
                    await session.next()
                    await session.next()
                elif form == "prompt":
                    await session.prompt("go")
                else:
                    async for _ in session.stream("go"):
                        pass

    anyio.run(main, backend=backend)

    check(store)


@errors
def test_vl18_the_session_itself_goes_on_as_well(error: BaseException) -> None:
    RAN.clear()
    parts = breaking(error, "tool")
    calls = Reply.of(call("pay", {}, "c1"), call("parse", {}, "c2"))
    agent = Agent(**{**parts, "model": ScriptedModel(calls, "x")})

    with agent.session_blocking() as session:
        session.submit("go")
        with pytest.raises(type(error)):
            session.next()
        session.approve(session.pending_approvals[0].id)
        assert session.continue_().text == "x"

    assert RAN == ["pay"]


def test_vl18_where_nothing_waits_the_turn_is_cancelled() -> None:
    parts = breaking(SystemExit(2), "tool")
    agent = Agent(**{**parts, "model": ScriptedModel(call("parse"), "x")})

    with agent.session_blocking() as session:
        with pytest.raises(SystemExit):
            session.prompt("go")
        assert session.view.last is not None
        assert session.view.last.end is TurnEnd.CANCELLED


async def test_vl18_who_cancels_the_run_means_to() -> None:
    store = MemoryStore()
    calls = Reply.of(call("pay", {}, "c1"), call("sibling", {}, "c2"))
    agent = Agent(model=ScriptedModel(calls), tools=[pay, sibling])

    with anyio.CancelScope() as scope:

        def strike(envelope: Envelope) -> None:
            if isinstance(envelope.event, ToolExecutionStarted):
                scope.cancel()

        async with agent.session(session_id=NAME, store=store) as session:
            session.subscribe(strike)
            await session.prompt("go")

    async with agent.session(session_id=NAME, store=store) as session:
        assert session.pending_approvals == ()


def test_vl18_a_reporter_that_stops_the_run_and_a_host_that_leaves_a_stream_mean_to() -> None:
    def stop(envelope: Envelope) -> None:
        if isinstance(envelope.event, ToolExecutionStarted):
            raise ReporterFailed("enough")

    calls = Reply.of(call("pay", {}, "c1"), call("quick", {}, "c2"))
    with Agent(
        model=ScriptedModel(calls), tools=[pay, quick], reporters=[stop]
    ).session_blocking() as session:
        with pytest.raises(ReporterFailed):
            session.prompt("go")
        assert session.pending_approvals == ()
    with Agent(model=ScriptedModel(calls), tools=[pay, quick]).session_blocking() as session:
        stream = session.stream("go")
        for event in stream:
            if isinstance(event, ToolExecutionStarted):
                break
        stream.close()
        assert session.pending_approvals == ()


def inside(made: dict[str, Any], where: str) -> dict[str, Any]:
    """What an outer agent is made of that has the agent of `made` as a tool, at some depth."""
    agent = Agent(**made)
    blocking = not where.startswith("async")

    @tool
    def caller(context: ToolContext) -> str:
        """Call the inner agent."""
        return context.call_blocking("inner", {"task": "go"}).text

    @tool
    async def async_caller(context: ToolContext) -> str:
        """Call the inner agent."""
        return (await context.call("inner", {"task": "go"})).text

    first = {"child": "caller", "async child": "async_caller"}.get(where, "inner")
    if "twice" in where:
        middle = agent.as_tool("innermost", "Works.", blocking=blocking)
        agent = Agent(model=ScriptedModel(call("innermost", {"task": "go"}), "mid"), tools=[middle])
    inner = agent.as_tool("inner", "Works.", blocking=blocking)
    arguments: dict[str, Any] = {"task": "go"} if first == "inner" else {}
    return {
        "model": ScriptedModel(
            Reply.of(call(first, arguments, "o1"), call("quick", {}, "o2")), "x"
        ),
        "tools": [inner, caller, async_caller, quick],
    }


INNER = ["agent", "agent twice", "child"]
ASYNC_INNER = [*INNER, *(f"async {where}" for where in INNER)]


def check_inner(store: MemoryStore, where: str) -> None:
    RAN.clear()
    done: dict[str, Any] = {"model": ScriptedModel("inner done"), "tools": [pay, quick]}
    made = inside(done, where)
    if "twice" in where:
        # The agent between goes on after its call.
        middle = Agent(**done).as_tool(
            "innermost", "Works.", blocking=not where.startswith("async")
        )
        between = Agent(model=ScriptedModel("mid"), tools=[middle])
        made["tools"][0] = between.as_tool(
            "inner", "Works.", blocking=not where.startswith("async")
        )
    made["model"] = ScriptedModel("x")

    async def main() -> None:
        async with Agent(**made).session(session_id=NAME, store=store) as session:
            (request,) = session.pending_approvals
            assert "Pay" in request.summary or "pay" in request.summary
            session.approve(request.id)
            assert (await session.continue_()).text == "x"
            results = {part.call_id: part for part in session.transcript[2].tool_results}
            assert results["o1"].text == ("mid" if "twice" in where else "inner done")  # type: ignore[index]

    anyio.run(main)
    assert RAN == ["pay"]


@errors
@pytest.mark.parametrize("where", INNER)
def test_vl18_approvals_of_an_inner_agent_are_kept_without_an_event_loop(
    error: BaseException, where: str
) -> None:
    store = MemoryStore()
    with Agent(**inside(breaking(error, "tool"), where)).session_blocking(
        session_id=NAME, store=store
    ) as session:
        with pytest.raises(type(error)) as raised:
            session.prompt("go")
        assert raised.value is error

    check_inner(store, where)


@errors
@pytest.mark.parametrize("where", ASYNC_INNER)
@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_vl18_approvals_of_an_inner_agent_are_kept_on_an_event_loop(
    error: BaseException, where: str, backend: str
) -> None:
    store = MemoryStore()
    agent = Agent(**inside(breaking(error, "tool"), where))
    seen: list[BaseException] = []

    async def main() -> None:
        try:
            async with agent.session(session_id=NAME, store=store) as session:
                await session.prompt("go")
        except BaseException as raised:
            seen.append(raised)

    anyio.run(main, backend=backend)

    assert seen == [error]
    check_inner(store, where)
