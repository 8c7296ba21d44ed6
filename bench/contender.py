"""The contender: a whole agent with `connect`, the concurrent driver and one reporter."""

from __future__ import annotations

from worker import Worker, run

from agentkit_core import Item
from agentkit_loop import Agent
from agentkit_loop.events import Envelope
from agentkit_providers import HttpModel, connect
from agentkit_tools_core import Tool, tool


class Contender(Worker):
    def __init__(self, base_url: str) -> None:
        super().__init__(base_url)
        self.models: dict[str, HttpModel] = {}
        self.written = self.runs = self.events = 0

        @tool
        async def write(path: str, content: str) -> str:
            """Write a file."""
            self.written += len(content)
            self.runs += 1
            return "ok"

        @tool
        async def add(a: int, b: int) -> str:
            """Add two numbers."""
            self.runs += 1
            return str(a + b)

        self.tools: list[Tool] = [write, add]

    def report(self, envelope: Envelope) -> None:
        self.events += 1

    def agent(self, model: str) -> Agent:
        if model not in self.models:
            self.models[model] = connect(
                f"compatible:{model}", base_url=self.base_url, api_key="bench"
            )
        return Agent(model=self.models[model], tools=self.tools, reporters=[self.report])

    async def turn(self, model: str, history: int) -> tuple[int, int, int]:
        self.written = self.runs = 0
        agent = self.agent(model)
        items = [Item.user(text) for text in self.messages(history)]
        result = await agent.run(items)
        return len(result.text), self.written, self.runs

    async def close(self) -> None:
        """Do nothing: connections are closed with their event loop."""


if __name__ == "__main__":
    run(Contender)
