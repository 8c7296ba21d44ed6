"""What was said, as attributes of model calls: only if the host wants it, and only so much of it.

Images, files, structured values, and what tools are given and return, are described and not copied.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from agentkit_core import (
    Custom,
    File,
    FinishReason,
    Item,
    ItemKind,
    JsonValue,
    Media,
    Part,
    Reasoning,
    Structured,
    Text,
    ToolCall,
    ToolResult,
    to_json,
)
from agentkit_core.settings import Settings
from agentkit_reporting._otel import _names as names

_MOST_PARTS: Final = 256
_ROLES: Final = {ItemKind.ASSISTANT: "assistant", ItemKind.TOOL: "tool", ItemKind.USER: "user"}
_COMMA: Final = 1
_BRACKETS: Final = 2


class Message(NamedTuple):
    """A message as JSON.

    Attributes:
        role: Who says it, in the words of the conventions.
        size: How long its JSON is, in bytes.
        json: Its JSON; empty if it is longer than a capture may have.
    """

    role: str
    size: int
    json: bytes


class MessageCapture(Settings, frozen=True, kw_only=True):
    """How much of what is said goes into the spans of model calls.

    The newest messages of the input are kept, and the beginning of the output, in the order in
    which they were said. A message that does not fit is replaced by its size.

    Attributes:
        max_messages: How many messages of a request, and of an answer, at least 1.
        max_bytes: How many bytes of JSON each of the two attributes may have, at least 2.
    """

    max_messages: int = 20
    max_bytes: int = 16_384

    def __post_init__(self) -> None:
        """Check the numbers.

        Raises:
            ValueError: One is too small.
        """
        if self.max_messages < 1:
            raise ValueError(f"max_messages is {self.max_messages}; it has to be at least 1")
        if self.max_bytes < _BRACKETS:
            raise ValueError(f"max_bytes is {self.max_bytes}; it has to be at least {_BRACKETS}")

    def message(self, item: Item, reason: FinishReason | None = None) -> Message:
        """Write an item as a message, of which no more is kept than fits."""
        role = _ROLES.get(item.kind, "system")
        parts: list[JsonValue] = [_part(part) for part in item.parts[:_MOST_PARTS]]
        content: dict[str, JsonValue] = {"role": role, "parts": parts}
        if reason is not None:
            content["finish_reason"] = names.REASONS.get(reason, reason.value)
        json = to_json(content)
        fits = len(json) <= self.max_bytes - _BRACKETS
        return Message(role, len(json), json if fits else b"")

    def input(self, messages: Sequence[Message]) -> str:
        """Write the newest messages of a request."""
        return _in_brackets(self._fitting(reversed(messages[-self.max_messages :]))[::-1])

    def output(self, items: Sequence[Item], reason: FinishReason | None) -> str:
        """Write the first items as the messages of an answer."""
        messages = (self.message(item, reason) for item in items[: self.max_messages])
        return _in_brackets(self._fitting(messages))

    def _fitting(self, messages: Iterable[Message]) -> list[bytes]:
        left = self.max_bytes - _BRACKETS
        written: list[bytes] = []
        for message in messages:
            comma = _COMMA if written else 0
            if message.json and comma + message.size <= left:
                written.append(message.json)
                left -= comma + message.size
                continue
            instead = _size_only(message)
            if comma + len(instead) <= left:
                written.append(instead)
            break
        return written


def _in_brackets(messages: Iterable[bytes]) -> str:
    return f"[{b','.join(messages).decode()}]"


def _size_only(message: Message) -> bytes:
    part: dict[str, JsonValue] = {"type": "truncated", "original_bytes": message.size}
    return to_json({"role": message.role, "parts": [part]})


def _part(part: Part) -> JsonValue:
    match part:
        case Text(text=text):
            return {"type": "text", "content": text}
        case Reasoning(summary=summary):
            return {"type": "reasoning", "content": summary or ""}
        case ToolCall(id=call_id, name=name):
            size = len(to_json(part.raw_input or part.input))
            return {"type": "tool_call", "id": call_id, "name": name, "arguments": _left_out(size)}
        case ToolResult(call_id=call_id, output=output):
            left_out = _left_out(len(to_json(output)))
            return {"type": "tool_call_response", "id": call_id, "response": left_out}
        case Media(modality=modality, mime_type=mime_type):
            return {"type": "media", "modality": modality.value, "mime_type": mime_type}
        case File(name=name, mime_type=mime_type):
            # A `file` is one that the provider stores, and has its id.
            return {"type": "document", "name": name, "mime_type": mime_type}
        case Structured(value=value):
            return {"type": "structured", "bytes": len(to_json(value))}
        case Custom(kind=kind):
            return {"type": kind}


def _left_out(size: int) -> dict[str, JsonValue]:
    return {"left_out_bytes": size}
