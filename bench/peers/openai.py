"""The openai SDK: `chat.completions.create(stream=True)`, with a loop written by hand."""

from __future__ import annotations

from typing import Any

from answers import Dialect
from hand_written import Answer, Call, HandWritten, History
from openai import AsyncOpenAI
from worker import TIMEOUT_S


class OpenAISDK(HandWritten):
    def __init__(self, base_url: str, dialect: Dialect) -> None:
        super().__init__(base_url, dialect)
        self.client = AsyncOpenAI(
            base_url=base_url, api_key="bench-key", max_retries=0, timeout=TIMEOUT_S
        )

    async def ask(self, model: str, conversation: History) -> Answer:
        answer = Answer()
        messages: Any = conversation
        tools: Any = self.tools
        stream = await self.client.chat.completions.create(
            model=model, messages=messages, tools=tools, stream=True
        )
        async for chunk in stream:
            for choice in chunk.choices:
                if choice.delta.content:
                    answer.texts.append(choice.delta.content)
                for part in choice.delta.tool_calls or ():
                    if part.function is None:
                        continue
                    if part.id:
                        answer.calls[part.index] = Call(part.id, part.function.name or "")
                    if part.function.arguments:
                        answer.calls[part.index].arguments.append(part.function.arguments)
        return answer

    async def close(self) -> None:
        await self.client.close()
