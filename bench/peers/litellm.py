"""litellm: `acompletion(stream=True)`, with a loop written by hand; no callbacks, no telemetry.

It takes messages of Chat Completions for every provider, and translates them.
"""

from __future__ import annotations

import litellm
from answers import Dialect
from hand_written import Answer, Call, HandWritten, History
from tools import declarations
from worker import TIMEOUT_S

litellm.telemetry = False
litellm.suppress_debug_info = True


class LiteLLM(HandWritten):
    def __init__(self, base_url: str, dialect: Dialect) -> None:
        super().__init__(base_url, "openai")
        self.tools = declarations("openai")
        self.prefix = dialect
        self.base_url = base_url if dialect == "openai" else base_url.removesuffix("/v1")

    async def ask(self, model: str, conversation: History) -> Answer:
        answer = Answer()
        stream = await litellm.acompletion(
            model=f"{self.prefix}/{model}",
            messages=conversation,
            tools=self.tools,
            stream=True,
            max_tokens=1024,
            api_base=self.base_url,
            api_key="bench-key",
            max_retries=0,
            timeout=TIMEOUT_S,
        )
        async for chunk in stream:
            for choice in chunk.choices:
                if choice.delta.content:
                    answer.texts.append(choice.delta.content)
                for part in choice.delta.tool_calls or ():
                    if part.id and part.index not in answer.calls:
                        answer.calls[part.index] = Call(part.id, part.function.name)
                    if part.function.arguments:
                        answer.calls[part.index].arguments.append(part.function.arguments)
        return answer

    async def close(self) -> None:
        pass  # its clients are its own affair
