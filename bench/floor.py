"""The floor: httpx, a minimal SSE split and a typed msgspec decode, which keep only text."""

from __future__ import annotations

from typing import Any

import httpx
import msgspec
from msgspec import Struct
from worker import Worker, run


class FunctionDelta(Struct):
    name: str | None = None
    arguments: str | None = None


class ToolCallDelta(Struct):
    index: int
    id: str | None = None
    function: FunctionDelta | None = None


class Delta(Struct):
    content: str | None = None
    tool_calls: list[ToolCallDelta] | None = None


class Choice(Struct):
    delta: Delta
    finish_reason: str | None = None


class Chunk(Struct):
    choices: list[Choice]


class Call:
    __slots__ = ("arguments", "id", "name")

    def __init__(self, call_id: str, name: str) -> None:
        self.id, self.name = call_id, name
        self.arguments: list[str] = []


decode = msgspec.json.Decoder(Chunk).decode
encode = msgspec.json.Encoder().encode


LIMITS = httpx.Limits(max_connections=100, max_keepalive_connections=20)
"""The defaults of httpx."""


class Floor(Worker):
    def __init__(self, base_url: str, limits: httpx.Limits = LIMITS) -> None:
        super().__init__(base_url)
        self.client = httpx.AsyncClient(base_url=base_url, timeout=600, limits=limits)

    async def ask(self, model: str, messages: list[dict[str, Any]]) -> tuple[list[str], list[Call]]:
        body = encode({"model": model, "messages": messages, "stream": True})
        headers = {"content-type": "application/json", "authorization": "Bearer bench"}
        texts: list[str] = []
        calls: dict[int, Call] = {}
        async with self.client.stream(
            "POST", "/chat/completions", content=body, headers=headers
        ) as response:
            response.raise_for_status()
            rest = b""
            async for piece in response.aiter_bytes():
                lines = (rest + piece if rest else piece).split(b"\n")
                rest = lines.pop()
                for line in lines:
                    if not line.startswith(b"data: ") or line == b"data: [DONE]":
                        continue
                    for choice in decode(line[6:]).choices:
                        delta = choice.delta
                        if delta.content:
                            texts.append(delta.content)
                        elif delta.tool_calls:
                            for part in delta.tool_calls:
                                function = part.function
                                if function is None:
                                    continue
                                if part.id is not None:
                                    calls[part.index] = Call(part.id, function.name or "")
                                if function.arguments:
                                    calls[part.index].arguments.append(function.arguments)
        return texts, list(calls.values())

    async def turn(self, model: str, history: int) -> tuple[int, int, int]:
        messages: list[dict[str, Any]] = [
            {"role": "user", "content": text} for text in self.messages(history)
        ]
        return await self.converse(model, messages)

    async def converse(self, model: str, messages: list[dict[str, Any]]) -> tuple[int, int, int]:
        """Run one turn after `messages`, to which its messages are appended; see `turn`."""
        written = runs = 0
        while True:
            texts, calls = await self.ask(model, messages)
            if not calls:
                text = "".join(texts)
                messages.append({"role": "assistant", "content": text})
                return len(text), written, runs
            messages.append(
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [
                        {
                            "id": call.id,
                            "type": "function",
                            "function": {"name": call.name, "arguments": "".join(call.arguments)},
                        }
                        for call in calls
                    ],
                }
            )
            for call in calls:
                arguments = msgspec.json.decode("".join(call.arguments))
                runs += 1
                if call.name == "write":
                    written += len(arguments["content"])
                    result = "ok"
                else:
                    result = str(arguments["a"] + arguments["b"])
                messages.append({"role": "tool", "tool_call_id": call.id, "content": result})

    async def close(self) -> None:
        await self.client.aclose()


if __name__ == "__main__":
    run(Floor)
