"""The floor: httpx, a minimal SSE split and a typed msgspec decode, which keep only text.

It checks nothing, retries nothing, has no events, no limits and no permissions, and runs the calls
of a round one after the other. A client that uses httpx in the usual way cannot do less.
"""

from __future__ import annotations

from typing import Any

import httpx
import msgspec
from answers import SHORT, Dialect
from msgspec import Struct
from worker import Work, Worker, messages


class FunctionDelta(Struct):
    name: str | None = None
    arguments: str | None = None


class ToolCallDelta(Struct):
    index: int
    id: str | None = None
    function: FunctionDelta | None = None


class ChatDelta(Struct):
    content: str | None = None
    tool_calls: list[ToolCallDelta] | None = None


class Choice(Struct):
    delta: ChatDelta
    finish_reason: str | None = None


class Chunk(Struct):
    choices: list[Choice]


class TextDelta(Struct, tag="text_delta"):
    text: str


class InputJsonDelta(Struct, tag="input_json_delta"):
    partial_json: str


class ToolUseBlock(Struct, tag="tool_use"):
    id: str
    name: str


class TextBlock(Struct, tag="text"):
    pass


class MessageStart(Struct, tag="message_start"):
    pass


class BlockStart(Struct, tag="content_block_start"):
    index: int
    content_block: ToolUseBlock | TextBlock


class BlockDelta(Struct, tag="content_block_delta"):
    index: int
    delta: TextDelta | InputJsonDelta


class BlockStop(Struct, tag="content_block_stop"):
    index: int


class MessageDelta(Struct, tag="message_delta"):
    pass


class MessageStop(Struct, tag="message_stop"):
    pass


MessageEvent = MessageStart | BlockStart | BlockDelta | BlockStop | MessageDelta | MessageStop


class Call:
    __slots__ = ("arguments", "id", "name")

    def __init__(self, call_id: str, name: str) -> None:
        self.id, self.name = call_id, name
        self.arguments: list[str] = []


class Answer:
    """The texts and calls of an answer, as far as it has come."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.calls: dict[int, Call] = {}

    def add_chunk(self, chunk: Chunk) -> None:
        for choice in chunk.choices:
            delta = choice.delta
            if delta.content:
                self.texts.append(delta.content)
            elif delta.tool_calls:
                for part in delta.tool_calls:
                    function = part.function
                    if function is None:
                        continue
                    if part.id is not None:
                        self.calls[part.index] = Call(part.id, function.name or "")
                    if function.arguments:
                        self.calls[part.index].arguments.append(function.arguments)

    def add_event(self, event: MessageEvent) -> None:
        if type(event) is BlockDelta:
            delta = event.delta
            if type(delta) is TextDelta:
                self.texts.append(delta.text)
            elif type(delta) is InputJsonDelta:
                self.calls[event.index].arguments.append(delta.partial_json)
        elif type(event) is BlockStart:
            block = event.content_block
            if type(block) is ToolUseBlock:
                self.calls[event.index] = Call(block.id, block.name)


decode_chunk = msgspec.json.Decoder(Chunk).decode
decode_event = msgspec.json.Decoder(MessageEvent).decode
encode = msgspec.json.Encoder().encode

TOOLS = {
    "write": {
        "type": "object",
        "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
        "required": ["path", "content"],
        "additionalProperties": False,
    },
    "add": {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
        "required": ["a", "b"],
        "additionalProperties": False,
    },
}
DESCRIPTIONS = {"write": "Write a file.", "add": "Add two numbers."}
LIMITS = httpx.Limits(max_connections=None, max_keepalive_connections=None)


class Floor(Worker):
    def __init__(self, base_url: str, dialect: Dialect) -> None:
        super().__init__(base_url, dialect)
        self.client = httpx.AsyncClient(base_url=base_url, timeout=600, limits=LIMITS)
        self.conversations: dict[str, list[dict[str, Any]]] = {}

    def body(self, model: str, conversation: list[dict[str, Any]]) -> bytes:
        body: dict[str, Any] = {"model": model, "messages": conversation, "stream": True}
        if self.dialect == "anthropic":
            tools = [
                {"name": name, "description": DESCRIPTIONS[name], "input_schema": schema}
                for name, schema in TOOLS.items()
            ]
            return encode({**body, "max_tokens": 1024, "tools": tools})
        functions = [
            {"name": name, "description": DESCRIPTIONS[name], "parameters": schema}
            for name, schema in TOOLS.items()
        ]
        tools = [{"type": "function", "function": function} for function in functions]
        return encode({**body, "tools": tools})

    async def ask(self, model: str, conversation: list[dict[str, Any]]) -> Answer:
        chat = self.dialect == "openai"
        headers = {"content-type": "application/json", "authorization": "Bearer bench-key"}
        answer = Answer()
        async with self.client.stream(
            "POST",
            "/chat/completions" if chat else "/messages",
            content=self.body(model, conversation),
            headers=headers,
        ) as response:
            response.raise_for_status()
            rest = b""
            async for piece in response.aiter_bytes():
                lines = (rest + piece if rest else piece).split(b"\n")
                rest = lines.pop()
                for line in lines:
                    if not line.startswith(b"data: ") or line == b"data: [DONE]":
                        continue
                    if chat:
                        answer.add_chunk(decode_chunk(line[6:]))
                    else:
                        answer.add_event(decode_event(line[6:]))
        return answer

    async def prepare(self, job: str) -> None:
        self.conversation: list[dict[str, Any]] = [
            {"role": "assistant" if number % 2 else "user", "content": text}
            for number, text in enumerate(messages(job))
        ]
        if job.startswith("warm"):
            if job not in self.conversations:
                await self.converse(f"bench-text-{SHORT}", self.conversation)
                self.conversations[job] = self.conversation
            self.conversation = self.conversations[job]

    async def turn(self, model: str) -> Work:
        return await self.converse(model, [*self.conversation])

    async def go_on(self, model: str) -> Work:
        return await self.converse(model, self.conversation)

    async def converse(self, model: str, conversation: list[dict[str, Any]]) -> Work:
        """Run one turn on `conversation`, which gets the new messages."""
        conversation.append({"role": "user", "content": "hi"})
        written = runs = 0
        while True:
            answer = await self.ask(model, conversation)
            calls = list(answer.calls.values())
            if not calls:
                text = "".join(answer.texts)
                conversation.append({"role": "assistant", "content": text})
                return Work(len(text), written, runs)
            results = []
            for call in calls:
                arguments = msgspec.json.decode("".join(call.arguments))
                runs += 1
                if call.name == "write":
                    written += len(arguments["content"])
                    results.append("ok")
                else:
                    results.append(str(arguments["a"] + arguments["b"]))
            self.append_round(conversation, calls, results)

    def append_round(
        self, conversation: list[dict[str, Any]], calls: list[Call], results: list[str]
    ) -> None:
        if self.dialect == "anthropic":
            used = [
                {
                    "type": "tool_use",
                    "id": call.id,
                    "name": call.name,
                    "input": msgspec.json.decode("".join(call.arguments)),
                }
                for call in calls
            ]
            answered = [
                {"type": "tool_result", "tool_use_id": call.id, "content": result}
                for call, result in zip(calls, results, strict=True)
            ]
            conversation.append({"role": "assistant", "content": used})
            conversation.append({"role": "user", "content": answered})
            return
        called = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": "".join(call.arguments)},
            }
            for call in calls
        ]
        conversation.append({"role": "assistant", "content": None, "tool_calls": called})
        conversation += [
            {"role": "tool", "tool_call_id": call.id, "content": result}
            for call, result in zip(calls, results, strict=True)
        ]

    async def close(self) -> None:
        await self.client.aclose()
