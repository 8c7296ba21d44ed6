"""What was encoded of a conversation's history, kept for the conversation's next request.

A long conversation costs each request only what is new: items that stayed the same are encoded
once. Every protocol's encoder owns one of these.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Generic, TypeVar

from msgspec import Struct

from agentkit_core import Item
from agentkit_core.provider import SendableHistory, Target


class EncodedItem(Struct, frozen=True):
    """One sendable item as it is written into a request.

    Attributes:
        data: The item's JSON values, joined by commas; empty where nothing of the item is sent.
        is_final: False where items that follow may yet change what is written of this one.
    """

    data: bytes
    is_final: bool = True


E = TypeVar("E", bound=EncodedItem)

EncodeItem = Callable[[Sequence[Item], int], E]
"""Encodes the item at an index of the sendable items. May look at the items around it."""


class IncrementalHistory(Generic[E]):
    """The history of one conversation, made sendable and encoded item by item."""

    def __init__(self) -> None:
        self._sendable: SendableHistory | None = None
        self._settings: Hashable = None
        self.encoded: list[E] = []
        """What was encoded, for each of the sendable items from the first on."""

    def update(self, items: Sequence[Item], target: Target) -> Sequence[Item]:
        """Make a request's items sendable, and forget what was encoded of those that changed.

        Args:
            items: All items of the request, oldest first.
            target: What can be sent.

        Returns:
            What `agentkit_core.provider.sendable` gives for the items.
        """
        if self._sendable is None or self._sendable.target != target:
            self._sendable = SendableHistory(target)
            self.encoded.clear()
        unchanged = self._sendable.update(items)
        del self.encoded[unchanged:]
        return self._sendable.items

    def set_settings(self, settings: Hashable) -> None:
        """Say what else the encoding of items depends on, after `update` and before `encode`.

        Args:
            settings: With another value than before, all items are encoded again.
        """
        if settings != self._settings:
            self._settings = settings
            self.encoded.clear()

    def encode(self, items: Sequence[Item], encode_item: EncodeItem[E]) -> list[E]:
        """Encode the items that are new since the last request.

        Args:
            items: What `update` returned.
            encode_item: Encodes one of them.

        Returns:
            One entry for each of the items. It is `encoded`, which grows with the next request;
            do not change it.
        """
        encoded = self.encoded
        while encoded and not encoded[-1].is_final:
            encoded.pop()
        for at in range(len(encoded), len(items)):
            encoded.append(encode_item(items, at))
        return encoded
