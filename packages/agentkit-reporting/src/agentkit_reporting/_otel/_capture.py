"""What was said, as attributes of model calls: only if the host wants it, and only so much of it.

Images, files, structured values, and what tools are given and return, are described and not copied.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

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

    def input(self, items: Sequence[Item]) -> str:
        """Write the newest items as the messages of a request."""
        return self._write(reversed(items[-self.max_messages :]), newest_first=True)

    def output(self, items: Sequence[Item], reason: FinishReason | None) -> str:
        """Write the first items as the messages of an answer."""
        return self._write(items[: self.max_messages], reason=reason)

    def _write(
        self,
        items: Iterable[Item],
        *,
        newest_first: bool = False,
        reason: FinishReason | None = None,
    ) -> str:
        left = self.max_bytes - _BRACKETS
        written: list[bytes] = []
        for item in items:
            message = to_json(_message(item, reason))
            if len(message) + (_COMMA if written else 0) > left:
                message = to_json({"type": "truncated", "original_bytes": len(message)})
            left -= len(message) + (_COMMA if written else 0)
            if left < 0:
                break
            written.append(message)
            if message.startswith(b'{"type":"truncated"'):
                break
        if newest_first:
            written.reverse()
        return f"[{b','.join(written).decode()}]"


def _message(item: Item, reason: FinishReason | None) -> dict[str, JsonValue]:
    parts: list[JsonValue] = [_part(part) for part in item.parts[:_MOST_PARTS]]
    message: dict[str, JsonValue] = {"role": _ROLES.get(item.kind, "system"), "parts": parts}
    if reason is not None:
        message["finish_reason"] = names.REASONS.get(reason, reason.value)
    return message


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
            return {"type": "tool_call_response", "id": call_id, "result": left_out}
        case Media(modality=modality, mime_type=mime_type):
            return {"type": "media", "modality": modality.value, "mime_type": mime_type}
        case File(name=name, mime_type=mime_type):
            return {"type": "file", "name": name, "mime_type": mime_type}
        case Structured(value=value):
            return {"type": "structured", "bytes": len(to_json(value))}
        case Custom(kind=kind):
            return {"type": kind}


def _left_out(size: int) -> dict[str, JsonValue]:
    return {"left_out_bytes": size}
