"""A session knows its event loop, on whatever thread that runs."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from agentkit_loop import Agent, Session
from agentkit_loop.drivers._event_loop import present_loop
from agentkit_loop.testing import ScriptedModel, say

T = TypeVar("T")


def on_two_threads(step: Callable[[asyncio.AbstractEventLoop], T]) -> list[T]:
    """Do the same twice with one event loop, on one thread after the other."""
    loop = asyncio.new_event_loop()
    try:
        with ThreadPoolExecutor(1) as first, ThreadPoolExecutor(1) as second:
            return [thread.submit(step, loop).result(10) for thread in (first, second)]
    finally:
        loop.close()


def test_sessions_are_opened_on_each_thread_on_which_an_event_loop_runs() -> None:
    agent = Agent(model=ScriptedModel(say("one"), say("two")))

    async def ask() -> str:
        async with agent.session() as session:
            return (await session.prompt("go")).text

    assert on_two_threads(lambda loop: loop.run_until_complete(ask())) == ["one", "two"]


def test_a_session_that_stays_open_goes_on_where_its_event_loop_does() -> None:
    agent = Agent(model=ScriptedModel(say("one"), say("two")))
    opened, sessions = agent.session(), list[Session]()

    async def ask() -> str:
        if not sessions:
            sessions.append(await opened.__aenter__())
        return (await sessions[0].prompt("go")).text

    assert on_two_threads(lambda loop: loop.run_until_complete(ask())) == ["one", "two"]


def test_other_threads_reach_an_event_loop_where_it_runs_now() -> None:
    async def is_called_here() -> bool:
        loop, threads = present_loop(), list[int]()
        loop.call(lambda: None)
        await asyncio.to_thread(loop.call, lambda: threads.append(threading.get_ident()))
        return threads == [threading.get_ident()]

    assert on_two_threads(lambda loop: loop.run_until_complete(is_called_here())) == [True, True]
