"""pydantic-ai: `Agent.run_stream`, its text delta by delta without waiting for more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from answers import Dialect
from pydantic_ai import Agent, ModelRequest, ModelResponse, TextPart, UsageLimits, UserPromptPart
from tools import Tally, counted_tools
from worker import TIMEOUT_S, Conversing, Work

NO_LIMITS = UsageLimits(request_limit=None)


class PydanticAI(Conversing[list[Any]]):
    def __init__(self, base_url: str, dialect: Dialect) -> None:
        super().__init__(base_url, dialect)
        self.tally = Tally()
        self.agents: dict[str, Any] = {}
        if dialect == "openai":
            from openai import AsyncOpenAI
            from pydantic_ai.models.openai import OpenAIChatModel
            from pydantic_ai.providers.openai import OpenAIProvider

            client: Any = AsyncOpenAI(
                base_url=base_url, api_key="bench-key", max_retries=0, timeout=TIMEOUT_S
            )
            self.provider, self.model = OpenAIProvider(openai_client=client), OpenAIChatModel
        else:
            from anthropic import AsyncAnthropic
            from pydantic_ai.models.anthropic import AnthropicModel
            from pydantic_ai.providers.anthropic import AnthropicProvider

            url = base_url.removesuffix("/v1")
            client = AsyncAnthropic(
                base_url=url, api_key="bench-key", max_retries=0, timeout=TIMEOUT_S
            )
            self.provider = AnthropicProvider(anthropic_client=client)
            self.model = AnthropicModel
        self.client = client

    def new_history(self, texts: Sequence[str]) -> list[Any]:
        return [
            ModelResponse(parts=[TextPart(text)])
            if number % 2
            else ModelRequest(parts=[UserPromptPart(text)])
            for number, text in enumerate(texts)
        ]

    async def converse(self, model: str, prompt: str, history: list[Any]) -> tuple[Work, list[Any]]:
        self.tally.reset()
        if model not in self.agents:
            made = self.model(model, provider=self.provider)
            self.agents[model] = Agent(made, tools=counted_tools(self.tally))
        running = self.agents[model].run_stream(
            prompt, message_history=history, usage_limits=NO_LIMITS
        )
        async with running as result:
            texts = [text async for text in result.stream_text(delta=True, debounce_by=None)]
        work = Work("".join(texts), len(texts), self.tally.written, self.tally.calls)
        return work, result.all_messages()

    async def close(self) -> None:
        await self.client.close()
