"""strands-agents: `Agent.stream_async`; nothing is printed, and no message is left out.

An agent holds one conversation, so each turn makes one from the messages so far.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from answers import Dialect
from strands import Agent, tool
from strands.agent.conversation_manager import NullConversationManager
from tools import Tally, counted_tools
from worker import TIMEOUT_S, Conversing, Work


class StrandsAgents(Conversing[list[Any]]):
    def __init__(self, base_url: str, dialect: Dialect) -> None:
        super().__init__(base_url, dialect)
        self.tally = Tally()
        self.tools = [tool(function) for function in counted_tools(self.tally)]
        self.models: dict[str, Any] = {}
        self.client: Any = None

    def model(self, name: str) -> Any:
        if self.dialect == "openai":
            from openai import AsyncOpenAI
            from strands.models.openai import OpenAIModel

            if self.client is None:
                self.client = AsyncOpenAI(
                    base_url=self.base_url, api_key="bench-key", max_retries=0, timeout=TIMEOUT_S
                )
            return OpenAIModel(client=self.client, model_id=name)
        from strands.models.anthropic import AnthropicModel

        url = self.base_url.removesuffix("/v1")
        client = {"base_url": url, "api_key": "bench-key", "max_retries": 0, "timeout": TIMEOUT_S}
        return AnthropicModel(client_args=client, model_id=name, max_tokens=1024)

    def new_history(self, texts: Sequence[str]) -> list[Any]:
        return [
            {"role": "assistant" if number % 2 else "user", "content": [{"text": text}]}
            for number, text in enumerate(texts)
        ]

    async def converse(self, model: str, prompt: str, history: list[Any]) -> tuple[Work, list[Any]]:
        self.tally.reset()
        if model not in self.models:
            self.models[model] = self.model(model)
        agent = Agent(
            model=self.models[model],
            tools=self.tools,
            messages=[*history],
            callback_handler=None,
            conversation_manager=NullConversationManager(),
        )
        texts = [event["data"] async for event in agent.stream_async(prompt) if "data" in event]
        work = Work("".join(texts), len(texts), self.tally.written, self.tally.calls)
        return work, agent.messages

    async def close(self) -> None:
        if self.client is not None:
            await self.client.close()
