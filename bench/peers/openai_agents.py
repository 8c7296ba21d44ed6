"""openai-agents: `Runner.run_streamed` over its Chat Completions model; without tracing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agents import Agent, OpenAIChatCompletionsModel, Runner, function_tool
from answers import Dialect
from openai import AsyncOpenAI
from tools import Tally, counted_tools
from worker import TIMEOUT_S, Conversing, Work


class OpenAIAgents(Conversing[list[Any]]):
    def __init__(self, base_url: str, dialect: Dialect) -> None:
        super().__init__(base_url, dialect)
        self.client = AsyncOpenAI(
            base_url=base_url, api_key="bench-key", max_retries=0, timeout=TIMEOUT_S
        )
        self.tally = Tally()
        self.tools = [function_tool(function) for function in counted_tools(self.tally)]
        self.agents: dict[str, Any] = {}

    def new_history(self, texts: Sequence[str]) -> list[Any]:
        return [
            {"role": "assistant" if number % 2 else "user", "content": text}
            for number, text in enumerate(texts)
        ]

    async def converse(self, model: str, prompt: str, history: list[Any]) -> tuple[Work, list[Any]]:
        self.tally.reset()
        if model not in self.agents:
            asked = OpenAIChatCompletionsModel(model, self.client)
            self.agents[model] = Agent(name="bench", model=asked, tools=self.tools)
        given = [*history, {"role": "user", "content": prompt}]
        result = Runner.run_streamed(self.agents[model], input=given, max_turns=None)
        texts = [
            event.data.delta
            async for event in result.stream_events()
            if event.type == "raw_response_event"
            and event.data.type == "response.output_text.delta"
        ]
        work = Work("".join(texts), len(texts), self.tally.written, self.tally.calls)
        return work, result.to_input_list()

    async def close(self) -> None:
        await self.client.close()
