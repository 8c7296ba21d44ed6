"""What the floors share: a minimal SSE split and a typed msgspec decode, which keep only text.

They check nothing, retry nothing, and have no events, no limits and no permissions.
"""

from __future__ import annotations

from typing import Any

import msgspec
from answers import Dialect
from hand_written import Answer, Call, HandWritten, History
from msgspec import Struct


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


decode_chunk = msgspec.json.Decoder(Chunk).decode
decode_event = msgspec.json.Decoder(MessageEvent).decode
encode = msgspec.json.Encoder().encode


class Reader:
    """Reads the body of one answer, read by read."""

    def __init__(self, dialect: Dialect) -> None:
        self.answer = Answer()
        self.is_chat = dialect == "openai"
        self.rest = b""

    def feed(self, read: bytes) -> None:
        lines = (self.rest + read if self.rest else read).split(b"\n")
        self.rest = lines.pop()
        for line in lines:
            if not line.startswith(b"data: ") or line == b"data: [DONE]":
                continue
            if self.is_chat:
                self.add_chunk(decode_chunk(line[6:]))
            else:
                self.add_event(decode_event(line[6:]))

    def add_chunk(self, chunk: Chunk) -> None:
        for choice in chunk.choices:
            delta = choice.delta
            if delta.content:
                self.answer.texts.append(delta.content)
            elif delta.tool_calls:
                calls = self.answer.calls
                for part in delta.tool_calls:
                    function = part.function
                    if function is None:
                        continue
                    if part.id is not None:
                        calls[part.index] = Call(part.id, function.name or "")
                    if function.arguments:
                        calls[part.index].arguments.append(function.arguments)

    def add_event(self, event: MessageEvent) -> None:
        if type(event) is BlockDelta:
            delta = event.delta
            if type(delta) is TextDelta:
                self.answer.texts.append(delta.text)
            elif type(delta) is InputJsonDelta:
                self.answer.calls[event.index].arguments.append(delta.partial_json)
        elif type(event) is BlockStart:
            block = event.content_block
            if type(block) is ToolUseBlock:
                self.answer.calls[event.index] = Call(block.id, block.name)


class Floor(HandWritten):
    """A hand-written loop; how bytes are sent and received is left to the columns."""

    parse = staticmethod(msgspec.json.Decoder().decode)

    @property
    def path(self) -> str:
        return "/chat/completions" if self.dialect == "openai" else "/messages"

    def body(self, model: str, conversation: History) -> bytes:
        body: dict[str, Any] = {"model": model, "messages": conversation, "stream": True}
        if self.dialect == "anthropic":
            body["max_tokens"] = 1024
        return encode({**body, "tools": self.tools})
