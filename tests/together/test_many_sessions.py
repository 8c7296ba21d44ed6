"""Many sessions at once: one agent, one process, real HTTP, and each conversation its own.

All sessions of a test are in the middle of a tool call at the same moment: the tool waits until
every one of them is there. The limit of open files bounds their number: each request has a
connection, and the server, whose ends count as well, runs in the same process.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import anyio
import pytest
import trio

from agentkit_core import Item, ItemKind, Part, Text, TextOutput, ToolCall, ToolCallId, ToolResult
from agentkit_loop import Agent, Session, TurnEnd
from agentkit_providers import connect
from agentkit_providers.replay import Answer, ReplayServer, Request, openai_chat
from agentkit_tools_core import tool
from support.examples import thorough

DESCRIPTORS = Path("/dev/fd")
SPARE = 200
"""Open files that are not connections."""


@pytest.fixture
def raise_open_files() -> Iterator[Any]:
    """Gives a function that lets the process have so many files open, if it may."""
    resource = pytest.importorskip("resource", reason="the number of open files is not limited")
    before = resource.getrlimit(resource.RLIMIT_NOFILE)

    def at_least(count: int) -> None:
        soft, hard = before
        if soft != resource.RLIM_INFINITY and soft < count:
            if hard != resource.RLIM_INFINITY and hard < count:
                pytest.skip(f"needs {count} open files, and the hard limit is {hard}")
            resource.setrlimit(resource.RLIMIT_NOFILE, (count, hard))

    yield at_least
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


# What session n says, calls, is given and is told; every call id is the same.


def said(number: int) -> str:
    return f"I am number {number}. Which city is mine?"


def city(number: int) -> str:
    return f"city {number * number + 1}"


def told(number: int) -> str:
    return f"Number {number} lives in {city(number)}."


def expected(number: int) -> list[tuple[ItemKind, tuple[Part, ...], int | None]]:
    """Kind, parts and input tokens of each item."""
    call_id = ToolCallId("call_1")
    call = ToolCall(id=call_id, name="city_of", input={"number": number})
    result = ToolResult(call_id=call_id, output=TextOutput(city(number)))
    return [
        (ItemKind.USER, (Text(said(number)),), None),
        (ItemKind.ASSISTANT, (call,), 1000 + number),
        (ItemKind.TOOL, (result,), None),
        (ItemKind.ASSISTANT, (Text(told(number)),), 5000 + number),
    ]


def seen(items: tuple[Item, ...]) -> list[tuple[ItemKind, tuple[Part, ...], int | None]]:
    return [
        (item.kind, item.parts, None if item.usage is None else item.usage.tokens.input)
        for item in items
    ]


def number_in(request: Request) -> int:
    first: str = request.json["messages"][0]["content"]
    return int(first.removeprefix("I am number ").partition(".")[0])


def answer(request: Request) -> Answer:
    """Call the tool; then say of the tool's result, as it came, whose it is."""
    number = number_in(request)
    _, *rest = request.json["messages"]
    if not rest:
        return openai_chat.tool_calls([("city_of", {"number": number})], usage=(1000 + number, 5))
    words = f"Number {number} lives in {rest[-1]['content']}."
    return openai_chat.text(words, usage=(5000 + number, 7))


def tasks_alive() -> int:
    try:
        return trio.lowlevel.current_statistics().tasks_living
    except RuntimeError:
        return len(asyncio.all_tasks())


def open_files() -> int:
    return sum(1 for _ in DESCRIPTORS.iterdir())


async def converse(server: ReplayServer, count: int) -> None:
    """Have so many conversations at once."""
    inside = 0
    all_inside = anyio.Event()

    @tool
    async def city_of(number: int) -> str:
        """Say which city a number has."""
        nonlocal inside
        inside += 1
        if inside == count:
            all_inside.set()
        await all_inside.wait()
        return city(number)

    model = connect("compatible:m", base_url=server.url, api_key="key")
    agent = Agent(model=model, tools=[city_of])
    tasks = tasks_alive()

    async def ask(number: int, session: Session) -> None:
        result = await session.prompt(said(number))
        assert result.end is TurnEnd.COMPLETED, result.failure
        assert result.text == told(number)

    async with AsyncExitStack() as stack:
        sessions = [await stack.enter_async_context(agent.session()) for _ in range(count)]
        async with anyio.create_task_group() as group:
            for number, session in enumerate(sessions):
                group.start_soon(ask, number, session)

        assert tasks_alive() == tasks, "a session at rest has no task"
        assert len({session.id for session in sessions}) == count
        for number, session in enumerate(sessions):
            assert seen(session.transcript) == expected(number)
    assert tasks_alive() == tasks


@pytest.mark.timeout(180)
@pytest.mark.slow
@pytest.mark.parametrize(("backend", "count"), [("asyncio", thorough(250, 1000)), ("trio", 50)])
def test_sessions_at_once_each_have_their_own_conversation_and_leave_nothing(
    backend: str, count: int, raise_open_files: Any
) -> None:
    raise_open_files(2 * count + SPARE)
    with ReplayServer(answer) as server:
        files = open_files()
        anyio.run(converse, server, count, backend=backend)
        for _ in range(1000):  # the server learns a little later that the clients have left
            if open_files() == files and not server.open_connections:
                break
            time.sleep(0.01)
        assert server.open_connections == 0
        assert open_files() == files

    by_session: dict[int, list[list[Any]]] = defaultdict(list)
    for request in server.requests:
        by_session[number_in(request)].append(request.json["messages"])
    assert sorted(by_session) == list(range(count))
    for number, (first, second) in by_session.items():
        assert first == [{"role": "user", "content": said(number)}]
        assert second[:1] == first
        assert second[2]["content"] == city(number)
        assert len(second) == 3
