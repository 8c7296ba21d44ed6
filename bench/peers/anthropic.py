"""The anthropic SDK: `messages.create(stream=True)`, with a loop written by hand."""

from __future__ import annotations

from typing import Any

from answers import Dialect
from anthropic import AsyncAnthropic
from hand_written import Answer, Call, HandWritten, History
from worker import TIMEOUT_S


class AnthropicSDK(HandWritten):
    def __init__(self, base_url: str, dialect: Dialect) -> None:
        super().__init__(base_url, dialect)
        url = base_url.removesuffix("/v1")
        self.client = AsyncAnthropic(
            base_url=url, api_key="bench-key", max_retries=0, timeout=TIMEOUT_S
        )

    async def ask(self, model: str, conversation: History) -> Answer:
        answer = Answer()
        messages: Any = conversation
        tools: Any = self.tools
        stream = await self.client.messages.create(
            model=model, messages=messages, tools=tools, max_tokens=1024, stream=True
        )
        async for event in stream:
            if event.type == "content_block_delta":
                if event.delta.type == "text_delta":
                    answer.texts.append(event.delta.text)
                elif event.delta.type == "input_json_delta":
                    answer.calls[event.index].arguments.append(event.delta.partial_json)
            elif event.type == "content_block_start" and event.content_block.type == "tool_use":
                block = event.content_block
                answer.calls[event.index] = Call(block.id, block.name)
        return answer

    async def close(self) -> None:
        await self.client.close()
