"""The columns of agentkit: a whole agent with `connect`, the default HTTP client and one reporter.

`stream` reads the turn's events with `Agent.stream`, as interfaces do; `run` waits for its result.
The reporter counts events. Agents are assembled once per model; each turn is a session of its own,
apart from the turns that go on. No limits are set and nothing is retried.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

from answers import Dialect
from tools import Tally, counted_tools
from worker import SHORT_MODEL, Work, Worker, messages

from agentkit_core import Item
from agentkit_core.provider import AppendText
from agentkit_loop import Agent, Session, TurnResult
from agentkit_loop.events import ContentDelta, Envelope, Event, ModelCallStarted, TurnFinished
from agentkit_providers import connect
from agentkit_tools_core import Tool, tool


class Streamed(Worker):
    def __init__(self, base_url: str, dialect: Dialect) -> None:
        super().__init__(base_url, dialect)
        self.agents: dict[str, Agent] = {}
        self.sessions: dict[str, Session] = {}
        self.open = AsyncExitStack()
        self.tally = Tally()
        self.tools: list[Tool] = [tool(function) for function in counted_tools(self.tally)]
        self.events = 0

    def report(self, envelope: Envelope) -> None:
        self.events += 1

    def agent(self, model: str) -> Agent:
        if model not in self.agents:
            provider = "anthropic" if self.dialect == "anthropic" else "compatible"
            connected = connect(
                f"{provider}:{model}",
                base_url=self.base_url,
                api_key="bench-key",
                max_response_bytes=200_000_000,
            )
            self.agents[model] = Agent(model=connected, tools=self.tools, reporters=[self.report])
        return self.agents[model]

    async def prepare(self, job: str) -> None:
        self.items = [
            Item.assistant(text) if number % 2 else Item.user(text)
            for number, text in enumerate(messages(job))
        ]
        if job.startswith("warm"):
            if job not in self.sessions:
                agent = self.agent(SHORT_MODEL)
                session = await self.open.enter_async_context(agent.session(history=self.items))
                await session.prompt("hi")
                self.sessions[job] = session
            self.session = self.sessions[job]

    async def turn(self, model: str, prompt: str) -> Work:
        self.tally.reset()
        return await self.read(self.agent(model).stream(prompt, history=self.items))

    async def go_on(self, model: str, prompt: str) -> Work:
        return await self.read(self.session.stream(prompt))

    async def begin(self, model: str) -> object:
        session = await self.open.enter_async_context(self.agent(model).session())
        await session.prompt("hi")
        return session

    async def read(self, events: AsyncIterator[Event]) -> Work:
        """Read the events of a turn, as an interface does."""
        pieces: list[str] = []
        last = ""
        async for event in events:
            if type(event) is ContentDelta:
                pieces += [delta.chunk for delta in event.deltas if type(delta) is AppendText]
            elif type(event) is ModelCallStarted:
                pieces.clear()
            elif type(event) is TurnFinished:
                last = event.result.text
        if not is_text(last, pieces) or not self.events:
            raise SystemExit("the events do not have the text of the last answer")
        return self.work(last, len(pieces))

    def work(self, text: str, deltas: int) -> Work:
        return Work(text, deltas, self.tally.written, self.tally.calls)

    async def close(self) -> None:
        await self.open.aclose()


def is_text(text: str, pieces: list[str]) -> bool:
    """Whether pieces come to a text; joined 64 KB at a time, since all would be a second text."""
    at, count = 0, 1 + (1 << 16) * len(pieces) // max(1, len(text))
    for first in range(0, len(pieces), count):
        joined = "".join(pieces[first : first + count])
        if not text.startswith(joined, at):
            return False
        at += len(joined)
    return at == len(text)


class Run(Streamed):
    deltas = 0
    """Since the last turn began; of sessions at once, those of all."""

    def report(self, envelope: Envelope) -> None:
        self.events += 1
        event = envelope.event
        if type(event) is ContentDelta:
            self.deltas += len(event.deltas)

    async def turn(self, model: str, prompt: str) -> Work:
        self.tally.reset()
        self.deltas = 0
        return self.finish(await self.agent(model).run(prompt, history=self.items))

    async def go_on(self, model: str, prompt: str) -> Work:
        self.deltas = 0
        return self.finish(await self.session.prompt(prompt))

    def finish(self, result: TurnResult) -> Work:
        if not self.events:
            raise SystemExit("the reporter heard of no event")
        return self.work(result.text, self.deltas)
