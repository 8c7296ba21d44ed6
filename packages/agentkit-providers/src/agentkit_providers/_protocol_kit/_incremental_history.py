"""What was encoded of a conversation's history, kept for the conversation's next request.

A long conversation costs each request only what is new: items that stayed the same are encoded
once. Every protocol's encoder owns one of these.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import chain
from operator import attrgetter
from typing import Any, Generic, TypeVar

from msgspec import Struct

from agentkit_core import Item
from agentkit_core.provider import SendableHistory, Target


class EncodedItem(Struct, frozen=True):
    """One sendable item as it is written into a request.

    Attributes:
        data: The item's JSON values, joined by commas; empty where nothing of the item is sent.
        is_final: False where items that follow may yet change what is written of this one.
        is_notable: Whether it matters for more of a request than its own place, as instructions at
            the top do. `IncrementalHistory.notable` finds such items without a search.
    """

    data: bytes
    is_final: bool = True
    is_notable: bool = False


E = TypeVar("E", bound=EncodedItem)

EncodeItem = Callable[[Sequence[Item], int], E]
"""Encodes the item at an index of the sendable items. May look at the items around it."""


class IncrementalHistory(Generic[E]):
    """The history of one conversation, made sendable and encoded item by item."""

    __slots__ = ("_data", "_sendable", "_settings", "encoded", "notable")

    def __init__(self) -> None:
        self._sendable: SendableHistory | None = None
        self._settings: Hashable = None
        self.encoded: list[E] = []
        """What was encoded, for each of the sendable items from the first on."""
        self.notable: list[int] = []
        """The indices of what is notable among `encoded`, in ascending order."""
        self._data: list[bytes] = []

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
            self._forget_from(0)
        self._forget_from(self._sendable.update(items))
        return self._sendable.items

    def set_settings(self, settings: Hashable) -> None:
        """Say what else the encoding of items depends on, after `update` and before `encode`.

        Args:
            settings: With another value than before, all items are encoded again.
        """
        if settings != self._settings:
            self._settings = settings
            self._forget_from(0)

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
            self._forget_from(len(encoded) - 1)
        for at in range(len(encoded), len(items)):
            item = encode_item(items, at)
            encoded.append(item)
            if item.is_notable:
                self._note(at, item)
        self._keep(encoded[len(self._data) :])
        return encoded

    def data(self) -> list[bytes]:
        """Return what is written of the items, those without anything left out; a new list."""
        return list(filter(None, self._data))

    def _note(self, at: int, item: E) -> None:
        """Take note of a notable item before the next is encoded."""
        self.notable.append(at)

    def _keep(self, new: list[E]) -> None:
        """Take what was encoded of the next items."""
        self._data += [item.data for item in new]

    def _forget_from(self, count: int) -> None:
        """Forget what was encoded from an index on."""
        if count >= len(self.encoded):
            return
        del self.encoded[count:], self._data[count:]
        while self.notable and self.notable[-1] >= count:
            self.notable.pop()


class GroupedHistory(IncrementalHistory[E]):
    """A history in which neighbours of one group are written as one message.

    Args:
        group: The name of the attribute of the encoded items that says to which group one belongs.
        starts: How a message of each group starts, up to its first item. What belongs to another
            group, or is empty, is not among the messages.
    """

    __slots__ = ("_before", "_group_of", "_open", "_starts")

    def __init__(self, group: str, starts: Mapping[Any, bytes]) -> None:
        super().__init__()
        self._group_of = attrgetter(group)
        self._starts = {group: (start, b"]}," + start) for group, start in starts.items()}
        self._before: list[bytes] = []  # what stands before the data of each item
        self._open: list[Any] = []  # the group of the message that is open after each item

    def messages(self, replaced: Iterable[tuple[int, bytes]] = ()) -> Iterable[bytes]:
        """Return the messages in pieces, to be joined without a separator.

        Args:
            replaced: Indices of items, each with what is written instead of the item's data.
        """
        data = self._data
        for at, other in replaced:
            if data is self._data:
                data = data.copy()
            if data[at]:
                data[at] = other
        pieces = chain.from_iterable(zip(self._before, data, strict=True))
        return chain(pieces, (b"]}",)) if self._open and self._open[-1] is not None else pieces

    def _keep(self, new: list[E]) -> None:
        all_data, all_before, all_open = self._data, self._before, self._open
        open_group = all_open[-1] if all_open else None
        for item, group in zip(new, map(self._group_of, new), strict=True):
            data = item.data
            if group is open_group and data:
                before = b","
            elif data and (starts := self._starts.get(group)) is not None:
                before = starts[open_group is not None]
                open_group = group
            else:
                before = data = b""
            all_data.append(data)
            all_before.append(before)
            all_open.append(open_group)

    def _forget_from(self, count: int) -> None:
        super()._forget_from(count)
        del self._before[count:], self._open[count:]
