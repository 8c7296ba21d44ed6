"""One test for all forms of a session: on asyncio, on trio, and without an event loop."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from inspect import isawaitable
from typing import Any, TypeVar

import anyio

from agentkit_loop import Agent, BlockingSession, Session
from agentkit_loop.events import Event
from agentkit_tools_core.sync import run_at_once

T = TypeVar("T")

FORMS = ("asyncio", "trio", "blocking")
"""The forms in which a session runs."""


class Form:
    """What a test does with agents and sessions, in one form."""

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def is_blocking(self) -> bool:
        return self.name == "blocking"

    def run(self, test: Callable[[], Awaitable[T]]) -> T:
        """Run a test to its end."""
        if self.is_blocking:
            return run_at_once(test())  # type: ignore[arg-type]

        async def in_time() -> T:
            with anyio.fail_after(10):
                return await test()

        return anyio.run(in_time, backend=self.name)

    async def do(self, owner: Any, method: str, *args: Any, **options: Any) -> Any:
        """Call a method of an agent or a session, and wait for what it returns.

        For an agent, `_blocking` is appended to its name where the form wants it. What is iterated
        over comes as a list.
        """
        if isinstance(owner, Agent) and self.is_blocking:
            method = f"{method}_blocking"
        outcome = getattr(owner, method)(*args, **options)
        if isawaitable(outcome):
            return await outcome
        if hasattr(outcome, "__anext__"):
            return [piece async for piece in outcome]
        if hasattr(outcome, "__next__"):
            return list(outcome)
        return outcome

    @asynccontextmanager
    async def opened(
        self, agent: Agent, method: str = "session", *args: Any, **options: Any
    ) -> AsyncIterator[Any]:
        """Open a session of an agent, with `session` or `resume`."""
        if self.is_blocking:
            with getattr(agent, f"{method}_blocking")(*args, **options) as session:
                assert isinstance(session, BlockingSession)
                yield session
        else:
            async with getattr(agent, method)(*args, **options) as session:
                assert isinstance(session, Session)
                yield session

    async def events(self, session: Any, prompt: Any = None) -> list[Event]:
        """All events of a stream."""
        return list(await self.do(session, "stream", prompt))
