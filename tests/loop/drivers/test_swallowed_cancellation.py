"""A cancellation is noticed even if somebody catches it: nothing new is begun after it.

The table: by what the host cancels a run, and whose code catches the exception.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any

import anyio
import pytest

from agentkit_core import ApprovalRequest, Item, ModelRequest, ModelResponse, SessionId
from agentkit_core.provider import ModelEvent
from agentkit_loop import Agent, Hook, Mutation, RunFacts
from agentkit_loop.events import Envelope, ToolExecutionStarted
from agentkit_loop.ports import LogEntry
from agentkit_loop.stores import MemoryStore
from agentkit_loop.testing import Reply, ScriptedModel, call, say
from agentkit_tools_core import ToolContext, ToolFacts, ToolInvocation, tool

Swallow = Callable[[], Awaitable[None]]
Run = Callable[[Agent], Awaitable[object]]
NAME = SessionId("s")


class World:
    """An agent of which one place catches the cancellation that comes while it waits."""

    def __init__(self, place: str) -> None:
        self.place = place
        self.strike: Callable[[], object] = lambda: None
        self.struck = False
        self.has_caught = False
        self.begun_since: list[str] = []

    async def at(self, place: str) -> None:
        """Wait at a place; at the one under test, be cancelled and catch that."""
        # A call that has ended is told of; that begins nothing.
        if self.has_caught and place != "after_tool":
            self.begun_since.append(place)
        if place != self.place or self.struck:
            return
        self.struck = True
        self.strike()
        try:
            await anyio.sleep(20)
        except BaseException:
            self.has_caught = True

    def agent(self) -> Agent:
        world = self

        class Around(Hook):
            async def before_request(self, request: ModelRequest, facts: RunFacts, /) -> None:
                await world.at("before_request")

            async def after_response(self, response: ModelResponse, facts: RunFacts, /) -> None:
                await world.at("after_response")

            async def before_finish(self, answer: Item, facts: RunFacts, /) -> None:
                await world.at("before_finish")

            async def before_tool(self, call: ToolInvocation, facts: ToolFacts) -> None:
                await world.at("before_tool")

            async def after_tool(self, call: ToolInvocation, *rest: Any) -> None:
                await world.at("after_tool")

        async def mutate(items: tuple[Item, ...], mutation: Mutation) -> None:
            await world.at("mutator")

        async def approve(request: ApprovalRequest) -> bool:
            await world.at("on_approval")
            return True

        @tool(needs_approval=True)
        async def single() -> str:
            """Run alone."""
            await world.at("tool")
            return "cancelled; 3 lines of output"

        @tool
        async def parent(context: ToolContext) -> str:
            """Call another tool."""
            await world.at("parent")
            return (await context.call("child")).text

        @tool
        async def child() -> str:
            """Be called."""
            await world.at("child")
            return "done"

        @tool
        async def sibling() -> str:
            """Run beside another one."""
            await world.at("sibling")
            return "done"

        inner = Agent(
            model=Catching(world, "inner", call("single"), "inner"),
            tools=[single],
            on_approval=approve,
        )
        script = [
            call("single"),
            Reply.of(call("sibling", {}, "a"), call("sibling", {}, "b")),
            call("parent"),
            call("boss", {"task": "go"}),
            say("end"),
        ]
        return Agent(
            model=Catching(self, "model", *script),
            tools=[single, parent, child, sibling, inner.as_tool("boss", "Works.")],
            hooks=[Around()],
            mutators=[mutate],
            on_approval=approve,
        )


class Catching:
    """A scripted model that may catch a cancellation between two reads."""

    name = "catching"

    def __init__(self, world: World, place: str, *script: Any) -> None:
        self._model = ScriptedModel(*script)
        self._world = world
        self._place = place

    def open(self, session_id: SessionId, /) -> Catching:
        self._session = self._model.open(session_id)
        return self

    async def respond(self, request: ModelRequest, /) -> AsyncIterator[Sequence[ModelEvent]]:
        if self._world.has_caught:
            self._world.begun_since.append(self._place)
        first = True
        async for batch in self._session.respond(request):
            yield batch
            if first:
                first = False
                await self._world.at(self._place) if not self._world.struck else None

    async def close(self) -> None:
        return None


class Store(MemoryStore):
    def __init__(self, world: World) -> None:
        super().__init__()
        self._world = world

    async def save(
        self, session_id: SessionId, /, *, seq: int, head: bytes, log: Sequence[LogEntry]
    ) -> None:
        await super().save(session_id, seq=seq, head=head, log=log)
        if seq == 3 and not self._world.struck:
            await self._world.at("store")


async def run(agent: Agent) -> object:
    return (await agent.run("go")).end


async def run_stored(agent: Agent, world: World) -> object:
    async with agent.session(session_id=NAME, store=Store(world)) as session:
        return (await session.prompt("go")).end


async def stream(agent: Agent) -> object:
    async for _ in agent.stream("go"):
        pass
    return "completed"


async def cancelled_by_scope(world: World, work: Callable[[], Awaitable[object]]) -> object:
    with anyio.CancelScope() as scope:
        world.strike = scope.cancel
        return await work()
    return "cancelled"


async def at_a_deadline(world: World, work: Callable[[], Awaitable[object]]) -> object:
    with anyio.CancelScope() as scope:

        def strike() -> None:
            scope.deadline = anyio.current_time() + 0.01

        world.strike = strike
        return await work()
    return "cancelled"


async def by_task_cancel(world: World, work: Callable[[], Awaitable[object]]) -> object:
    task = asyncio.ensure_future(work())
    world.strike = lambda: asyncio.get_running_loop().call_soon(task.cancel)
    try:
        return await task
    except asyncio.CancelledError:
        return "cancelled"


async def by_asyncio_timeout(world: World, work: Callable[[], Awaitable[object]]) -> object:
    try:
        async with asyncio.timeout(None) as deadline:
            loop = asyncio.get_running_loop()
            world.strike = lambda: deadline.reschedule(loop.time() + 0.01)
            return await work()
    except TimeoutError:
        return "cancelled"


MEANS = [cancelled_by_scope, at_a_deadline, by_task_cancel, by_asyncio_timeout]
PLACES = [
    "tool",
    "sibling",
    "parent",
    "child",
    "inner",
    "model",
    "before_request",
    "after_response",
    "before_finish",
    "before_tool",
    "after_tool",
    "mutator",
    "on_approval",
]


@pytest.mark.parametrize("means", MEANS)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("form", [run, stream])
async def test_vl05_nothing_is_begun_after_a_cancellation_that_somebody_caught(
    anyio_backend: str, place: str, means: Any, form: Run
) -> None:
    if anyio_backend == "trio" and means in (by_task_cancel, by_asyncio_timeout):
        pytest.skip("asyncio's own means")
    world = World(place)
    agent = world.agent()

    end = await means(world, lambda: form(agent))

    assert world.has_caught
    assert end == "cancelled"
    assert world.begun_since == []


@pytest.mark.parametrize("means", MEANS)
async def test_vl05_a_store_that_catches_a_cancellation_does_not_hide_it(
    anyio_backend: str, means: Any
) -> None:
    if anyio_backend == "trio" or means in (cancelled_by_scope, at_a_deadline):
        pytest.skip("a save is shielded from cancel scopes")
    world = World("store")
    agent = world.agent()

    end = await means(world, lambda: run_stored(agent, world))

    assert world.has_caught
    assert end == "cancelled"
    assert world.begun_since == []


@pytest.mark.parametrize("means", MEANS)
async def test_vl05_a_deadline_that_passes_while_a_tool_keeps_the_thread_is_kept(
    anyio_backend: str, means: Any
) -> None:
    if means not in (at_a_deadline, by_asyncio_timeout):
        pytest.skip("not a deadline")
    if anyio_backend == "trio" and means is by_asyncio_timeout:
        pytest.skip("asyncio's own means")
    world = World("")

    @tool(inline=True)
    def busy() -> str:
        """Keep the thread."""
        world.strike()
        time.sleep(0.1)
        return "done"

    model = ScriptedModel(call("busy"), say("end"))

    end = await means(world, lambda: run(Agent(model=model, tools=[busy])))

    assert (end, len(model.requests)) == ("cancelled", 1)


async def test_vl05_a_reporter_that_cancels_keeps_the_next_tool_from_running() -> None:
    ran = []

    @tool(inline=True)
    def act() -> str:
        """Act."""
        ran.append(1)
        return "acted"

    with anyio.CancelScope() as scope:

        def report(envelope: Envelope) -> None:
            if isinstance(envelope.event, ToolExecutionStarted):
                scope.cancel()

        model = ScriptedModel(call("act"), say("end"))
        await Agent(model=model, tools=[act], reporters=[report]).run("go")

    assert scope.cancelled_caught
    assert ran == []


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_vl05_a_task_that_has_caught_an_earlier_cancellation_can_run_an_agent() -> None:
    async def clean_up() -> str:
        try:
            await anyio.sleep(20)
        except asyncio.CancelledError:
            return (await Agent(model=ScriptedModel("cleaned up")).run("go")).text
        return "not cancelled"

    task = asyncio.ensure_future(clean_up())
    await asyncio.sleep(0)
    task.cancel()

    assert await task == "cleaned up"
