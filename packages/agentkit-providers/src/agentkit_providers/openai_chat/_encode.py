"""From a request to the bytes of a Chat Completions request.

The sendable items of the history are encoded one by one, and kept for the conversation's next
request. Options come first and messages last, in a fixed order: the bytes of a longer conversation
begin with those of the shorter one, since providers cache by prefix.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from agentkit_core import Item, ModelRequest, to_json
from agentkit_core.provider import Target, WireRequest
from agentkit_providers._protocol_kit._incremental_history import EncodedItem, IncrementalHistory
from agentkit_providers.openai_chat._cache_marks import cache_control, mark_messages
from agentkit_providers.openai_chat._encode_items import encode_item
from agentkit_providers.openai_chat._encode_options import encode_options
from agentkit_providers.openai_chat._quirks import Quirks
from agentkit_providers.openai_chat._thinking import encode_thinking
from agentkit_providers.openai_chat._wire_request import Message

PATH: Final = "/chat/completions"


class OpenAIChatEncoder:
    """Writes the requests of one conversation, and keeps what it wrote of the history.

    Args:
        target_of: Says what a model can be sent.
        quirks: How the vendor differs from OpenAI.
    """

    def __init__(self, target_of: Callable[[str], Target], quirks: Quirks) -> None:
        self._target_of = target_of
        self._quirks = quirks
        self._history = IncrementalHistory[EncodedItem]()

    def encode(self, request: ModelRequest, /) -> WireRequest:
        """Write a request; see `agentkit_core.provider.Projection`.

        Raises:
            UnsupportedContent: The request requires something that the vendor cannot do.
        """
        quirks = self._quirks
        target = self._target_of(request.model)
        thinking = encode_thinking(request, quirks).is_on
        items = self._history.update(request.items, target, settings=thinking)
        options = encode_options(request, items, quirks)
        body = to_json(options.body)
        if "messages" not in options.body:
            mark = cache_control(request, quirks)

            def messages_of(sendable: Sequence[Item]) -> list[Message]:
                return [
                    message
                    for at in range(len(sendable))
                    for message in encode_item(sendable, at, quirks, thinking=thinking)
                ]

            if mark is None:
                messages = self._messages(items, thinking=thinking)
            else:
                # Marks stand elsewhere in every request, so nothing that was written can be kept.
                marked = messages_of(items)
                mark_messages(marked, request, target, messages_of, mark)
                messages = list(map(to_json, marked))
            body = _with_messages(body, messages)
        return WireRequest(
            path=PATH,
            body=body,
            headers={"content-type": "application/json"},
            metadata=options.metadata,
        )

    def _messages(self, items: Sequence[Item], *, thinking: bool) -> list[bytes]:
        def encode(items: Sequence[Item], at: int) -> EncodedItem:
            messages = encode_item(items, at, self._quirks, thinking=thinking)
            return EncodedItem(_join(map(to_json, messages)))

        return [encoded.data for encoded in self._history.encode(items, encode) if encoded.data]


def _join(messages: Iterable[bytes]) -> bytes:
    return b",".join(messages)


def _with_messages(body: bytes, messages: list[bytes]) -> bytes:
    """Add messages at the end of a body that has none; all bytes are copied once."""
    if not messages:
        return body[:-1] + b',"messages":[]}'
    messages[0] = body[:-1] + b',"messages":[' + messages[0]
    messages[-1] += b"]}"
    return _join(messages)
