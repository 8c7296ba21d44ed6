"""From a request to the bytes of a Responses request.

`SendableHistory` has made the history fit; here its items are written one by one, each as one or
several input items, and kept for the conversation's next request. Options come first and the input
last, in fixed order: a longer conversation begins with the bytes of the shorter one, and providers
cache by prefix.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from agentkit_core import Item, ItemKind, ModelRequest, to_json
from agentkit_core.provider import SendableHistory, Target, WireRequest
from agentkit_providers._protocol_kit._plain_text import plain_text
from agentkit_providers.openai_responses._assistant_items import own_items
from agentkit_providers.openai_responses._cache_marks import marked
from agentkit_providers.openai_responses._encode_items import outputs, said
from agentkit_providers.openai_responses._encode_options import body_options, cache_of, extra_fields
from agentkit_providers.openai_responses._quirks import Quirks
from agentkit_providers.openai_responses._replay import (
    answers_after,
    awaited_id,
    replayed,
)
from agentkit_providers.openai_responses._wire_request import (
    InputItem,
    InputMessage,
)

PATH: Final = "/responses"


class OpenAIResponsesEncoder:
    """Writes the requests of one conversation; what was written of its history is kept.

    Args:
        target_of: Says what a model can be sent.
        quirks: How the vendor wants it.
    """

    def __init__(self, target_of: Callable[[str], Target], quirks: Quirks) -> None:
        self._target_of = target_of
        self._quirks = quirks
        self._history: SendableHistory | None = None
        self._stored = False
        self._written: list[bytes] = []  # the input of each sendable item, joined by commas
        self._open_at: int | None = None  # the first item that later ones may yet change

    def encode(self, request: ModelRequest, /) -> WireRequest:
        """Write a request; see `agentkit_core.provider.Projection`.

        Raises:
            UnsupportedContent: The request must have something that the vendor cannot do.
        """
        quirks = self._quirks
        items = self._sendable(request)
        body, metadata = body_options(request, quirks)
        written = to_json(body)
        if "input" not in body:
            stored = extra_fields(request.options).get("store") is True
            cache = cache_of(request)
            if cache is not None and cache.marks and quirks.cache_breakpoints:
                target = self._target_of(request.model)
                lists = [self._input_of(items, at, stored=stored) for at in range(len(items))]
                given = to_json(marked(lists, cache, request, target))[1:-1]
            else:
                given = self._input(items, stored=stored)
            written = b"".join((written[:-1], b',"input":[', given, b"]}"))
        return WireRequest(
            path=PATH,
            body=written,
            headers={"content-type": "application/json"},
            metadata=metadata,
        )

    def _sendable(self, request: ModelRequest) -> Sequence[Item]:
        """The request's items as they can be sent; what was written of others is dropped."""
        target = self._target_of(request.model)
        if self._history is None or self._history.target != target:
            self._history = SendableHistory(target)
            self._written.clear()
        del self._written[self._history.update(request.items) :]
        return self._history.items

    def _input(self, items: Sequence[Item], *, stored: bool) -> bytes:
        written = self._written
        if stored is not self._stored:
            self._stored = stored
            written.clear()
        if self._open_at is not None:
            del written[self._open_at :]
            self._open_at = None
        for at in range(len(written), len(items)):
            written.append(to_json(self._input_of(items, at, stored=stored))[1:-1])
        return b",".join(filter(None, written))

    def _input_of(self, items: Sequence[Item], at: int, *, stored: bool) -> list[InputItem]:
        """Write one item that the vendor can be sent: as several input items, or none."""
        item, quirks = items[at], self._quirks
        match item.kind:
            case ItemKind.ASSISTANT:
                answered = frozenset[str]()
                if any(awaited_id(part) is not None for part in item.parts):
                    answered, may_change = answers_after(items, at)
                    if may_change and self._open_at is None:
                        self._open_at = at
                parts = replayed(item.parts, quirks, stored=stored, answered=answered)
                return list(own_items(parts, quirks))
            case ItemKind.TOOL:
                return outputs(item, items[at - 1] if at else None, quirks)
            case ItemKind.SYSTEM | ItemKind.DEVELOPER:
                text = "\n".join(filter(None, map(plain_text, item.parts)))
                return [InputMessage(item.kind.value, text)] if text else []
            case _:
                return list(said(item.parts, _called_before(items, at)))


def _called_before(items: Sequence[Item], at: int) -> frozenset[str]:
    """Which of the vendor's own tools wait for an answer of the client."""
    for item in reversed(items[:at]):
        if item.kind is ItemKind.ASSISTANT:
            return frozenset(one for part in item.parts if (one := awaited_id(part)) is not None)
    return frozenset()
