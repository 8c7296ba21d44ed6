"""However and from wherever a host leaves, nothing of the library is bound to its task (VL01)."""

import asyncio
import gc
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from agentkit_core import SessionId
from agentkit_loop import Agent, Session
from agentkit_loop.events import (
    Envelope,
    Event,
    RunSuspended,
    ToolDetached,
    ToolExecutionStarted,
    ToolResultReceived,
)
from agentkit_loop.stores import MemoryStore
from agentkit_loop.testing import Reply, ScriptedModel, call, say
from agentkit_tools_core import tool
from support.forms import FORMS, Form

ENDED: list[str] = []


@pytest.fixture(autouse=True)
def _nothing_ended() -> None:
    ENDED.clear()


def tool_of(detach_after_s: float | None) -> Any:
    @tool(name="lookup", detach_after_s=detach_after_s)
    async def lookup() -> str:
        """Look something up."""
        try:
            await anyio.sleep(20)
        finally:
            ENDED.append("lookup")
        return "found"

    return lookup


TOOLS: dict[str, float | None] = {"plain": None, "may detach": 5, "detaches": 0}


def agent_with(kind: str) -> Agent:
    model = ScriptedModel(call("lookup"), Reply.of("slow answer", hangs=True))
    return Agent(model=model, tools=[tool_of(TOOLS[kind])])


async def first_of(events: AsyncIterator[Event], *kinds: type) -> None:
    async for event in events:
        if isinstance(event, kinds):
            return


async def in_another_task(work: Callable[[], Awaitable[Any]]) -> None:
    async with anyio.create_task_group() as group:

        async def run() -> None:
            await work()

        group.start_soon(run)


@asynccontextmanager
async def nothing_unhandled() -> AsyncIterator[None]:
    """Fail if asyncio reports something that nobody has handled."""
    reports: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reports.append(context))
    yield
    gc.collect()
    await asyncio.sleep(0.02)
    assert reports == []


@pytest.mark.parametrize("kind", TOOLS)
def test_vl01_a_stream_that_is_dropped_does_not_cancel_the_host(kind: str) -> None:
    async def main() -> str:
        async with nothing_unhandled():
            async for event in agent_with(kind).stream("go"):
                if isinstance(event, ToolExecutionStarted):
                    break
            gc.collect()
            await asyncio.sleep(0.05)  # the host does something else, and may not be cancelled here
        others = asyncio.all_tasks() - {asyncio.current_task()}
        assert not others
        return "went on"

    assert asyncio.run(main()) == "went on"


@pytest.mark.parametrize("kind", TOOLS)
async def test_vl01_each_step_of_a_stream_may_be_taken_in_another_task(kind: str) -> None:
    events: Any = agent_with(kind).stream("go")
    seen: list[Event] = []

    async def step() -> None:
        seen.append(await anext(events))

    with anyio.fail_after(5):
        while not any(isinstance(event, ToolExecutionStarted) for event in seen):
            await in_another_task(step)
        await in_another_task(events.aclose)
    began = any(isinstance(event, ToolDetached) for event in seen)
    assert (["lookup"] if began or ENDED else []) == ENDED


@pytest.mark.parametrize("kind", TOOLS)
@pytest.mark.parametrize("stored", [False, True])
async def test_vl01_a_session_may_be_left_by_another_task_than_has_opened_it(
    kind: str, stored: bool
) -> None:
    store: Any = {"store": MemoryStore(), "session_id": SessionId("s")} if stored else {}
    opened = agent_with(kind).session(**store)
    sessions: list[Session] = []

    async def enter() -> None:
        sessions.append(await opened.__aenter__())

    async def work() -> None:
        (session,) = sessions
        with anyio.move_on_after(0.05):
            stream = session.stream("go")
            try:
                await first_of(stream, ToolDetached)
                await anyio.sleep(1)
            finally:
                with anyio.CancelScope(shield=True):
                    await stream.aclose()

    async def leave() -> None:
        await opened.__aexit__(None, None, None)

    with anyio.fail_after(5):
        await in_another_task(enter)
        await in_another_task(work)
        await in_another_task(leave)
        await anyio.sleep(0)
    assert ENDED == ["lookup"]


async def test_vl01_background_calls_end_with_their_session_before_it_is_left() -> None:
    agent = Agent(model=ScriptedModel(call("lookup"), say("ok")), tools=[tool_of(0)])
    async with agent.session() as session:
        await session.prompt("go")
        await anyio.sleep(0.01)
        assert session.view.background_calls
        assert ENDED == []
    assert ENDED == ["lookup"]


async def test_vl01_a_host_that_is_cancelled_leaves_nothing_behind() -> None:
    agent = Agent(model=ScriptedModel(call("lookup"), say("ok")), tools=[tool_of(0)])
    with anyio.move_on_after(0.05) as scope:
        async with agent.session() as session:
            await session.prompt("go")
            await anyio.sleep(1)
    assert scope.cancelled_caught
    assert ENDED == ["lookup"]


def test_vl01_a_loop_that_ends_under_an_open_stream_reports_nothing() -> None:
    reports: list[Any] = []
    kept: list[Any] = []

    async def main() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: reports.append(context))
        kept.append(agent_with("detaches").stream("go"))
        await first_of(kept[0], ToolExecutionStarted)

    asyncio.run(main())
    assert reports == []
    assert ENDED in ([], ["lookup"])


class Strike(BaseException):
    """Something that no code of a tool catches."""


async def test_vl01_an_exception_of_a_background_call_reaches_the_host_and_not_the_event_loop() -> (
    None
):
    @tool(detach_after_s=0)
    async def strike() -> str:
        """Strike."""
        await anyio.sleep(0)
        raise Strike

    def strike_again(envelope: Any) -> None:
        if isinstance(envelope.event, ToolResultReceived):
            raise Strike

    agent = Agent(
        model=ScriptedModel(call("strike"), say("ok"), say("more")),
        tools=[strike],
        reporters=[strike_again],
    )

    async def run() -> None:
        async with agent.session() as session:
            await session.prompt("go")
            await session.wait_background()
            await session.prompt("more")

    with pytest.raises(Strike):
        await run()


@pytest.mark.parametrize("form", FORMS)
def test_o02_a_reporter_that_is_interrupted_when_a_session_is_left_keeps_nothing_open(
    form: str,
) -> None:
    def report(envelope: Envelope) -> None:
        if isinstance(envelope.event, RunSuspended):
            raise KeyboardInterrupt

    model, store, forms = ScriptedModel("x", "y"), MemoryStore(), Form(form)
    stored: dict[str, Any] = {"store": store, "session_id": SessionId("s")}

    async def leave() -> None:
        async with forms.opened(Agent(model=model, reporters=[report]), **stored) as session:
            await forms.do(session, "prompt", "go")

    with pytest.raises(KeyboardInterrupt):
        forms.run(leave)

    async def go_on() -> str:
        async with forms.opened(Agent(model=model), **stored) as session:
            result = await forms.do(session, "prompt", "go")
            return str(result.text)

    assert forms.run(go_on) == "y"
