"""What was encoded of a history is kept until anything that it depends on changes."""

from __future__ import annotations

from collections.abc import Sequence

from agentkit_core import Item, ItemKind
from agentkit_core.provider import Target
from agentkit_providers._protocol_kit._incremental_history import EncodedItem, IncrementalHistory

TARGET = Target(provider="p", api="a", model="m")
FIRST, SECOND, THIRD = Item.user("first"), Item.assistant("second"), Item.user("third")


class Encoder:
    """Encodes items as their texts; an assistant item that is the last one is not final."""

    def __init__(self) -> None:
        self.history = IncrementalHistory[EncodedItem]()
        self.encoded_texts: list[str] = []

    def encode(self, *items: Item, target: Target = TARGET, settings: object = None) -> list[bytes]:
        sendable = self.history.update(items, target)
        self.history.set_settings(settings)
        return [encoded.data for encoded in self.history.encode(sendable, self._encode_item)]

    def _encode_item(self, items: Sequence[Item], at: int) -> EncodedItem:
        item = items[at]
        self.encoded_texts.append(item.text)
        is_final = item.kind is not ItemKind.ASSISTANT or at + 1 < len(items)
        return EncodedItem(item.text.encode(), is_final)


def test_an_item_that_stayed_is_encoded_once() -> None:
    encoder = Encoder()

    assert encoder.encode(FIRST) == [b"first"]
    assert encoder.encode(FIRST, SECOND, THIRD) == [b"first", b"second", b"third"]
    assert encoder.encoded_texts == ["first", "second", "third"]


def test_an_item_that_is_not_final_is_encoded_again() -> None:
    encoder = Encoder()
    encoder.encode(FIRST, SECOND)

    assert encoder.encode(FIRST, SECOND, THIRD) == [b"first", b"second", b"third"]
    assert encoder.encoded_texts == ["first", "second", "second", "third"]


def test_a_history_that_was_rewritten_is_encoded_again() -> None:
    encoder = Encoder()
    encoder.encode(FIRST, SECOND, THIRD)
    other = Item.user("other")

    assert encoder.encode(other, SECOND) == [b"other", b"second"]


def test_another_target_or_setting_encodes_all_items_again() -> None:
    encoder = Encoder()
    encoder.encode(FIRST)
    encoder.encode(FIRST, settings="thinking")
    encoder.encode(FIRST, settings="thinking")
    encoder.encode(FIRST, settings="thinking", target=Target(provider="p", api="a", model="n"))

    assert encoder.encoded_texts == ["first"] * 3
