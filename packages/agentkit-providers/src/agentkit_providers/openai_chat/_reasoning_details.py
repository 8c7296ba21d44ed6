"""Reasoning details: the entries in which aggregators send reasoning that they want back.

A stream cuts an entry anywhere, and its signature comes last; what goes back must be whole
again. Both directions use this: a decoder joins what it reads, an encoder what stands in
several parts of one answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

_GROWING: Final = ("text", "summary")


def visible_text(details: Iterable[Mapping[str, Any]]) -> str:
    """The text that entries show; encrypted ones show none."""
    return "".join(
        text for one in details for name in _GROWING if isinstance(text := one.get(name), str)
    )


class DetailsJoin:
    """Joins entries that belong together, in one pass."""

    def __init__(self) -> None:
        self._entries: list[dict[str, Any]] = []
        self._grown: list[dict[str, list[str]]] = []

    def __bool__(self) -> bool:
        return bool(self._entries)

    def add(self, details: Iterable[Mapping[str, Any]]) -> None:
        """Take the next entries, whole or in pieces."""
        for one in details:
            if not one:
                continue
            if self._entries and _continues(self._entries[-1], one):
                entry, grown = self._entries[-1], self._grown[-1]
                entry.update({key: new for key, new in one.items() if new is not None})
            else:
                entry, grown = dict(one), {}
                self._entries.append(entry)
                self._grown.append(grown)
            for name in _GROWING:
                if isinstance(text := one.get(name), str):
                    grown.setdefault(name, []).append(text)

    def joined(self) -> list[dict[str, Any]]:
        """The entries, whole."""
        return [
            {**entry, **{name: "".join(pieces) for name, pieces in grown.items()}}
            for entry, grown in zip(self._entries, self._grown, strict=True)
        ]


def _continues(entry: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    if new.get("type") != entry.get("type") or new.get("index") != entry.get("index"):
        return False
    if entry.get("signature") and new.get("text"):
        return False  # a signature closes its text
    # Encrypted entries come whole.
    return "data" not in new and "data" not in entry
