"""Reasoning details: entries in which aggregators send reasoning that they want back.

A stream may cut an entry anywhere, and the entry's signature comes last; what is sent back must be
complete. The decoder joins the entries that it reads, the encoder joins those of several parts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from agentkit_providers.openai_chat._wire_events import Delta

_GROWING_FIELDS: Final = ("text", "summary")


def visible_text(details: Iterable[Mapping[str, Any]]) -> str:
    """Join the texts of entries; encrypted entries have none."""
    return "".join(
        text
        for entry in details
        for name in _GROWING_FIELDS
        if isinstance(text := entry.get(name), str)
    )


class DetailsJoin:
    """Joins the pieces of entries, in one pass."""

    def __init__(self) -> None:
        self._entries: list[dict[str, Any]] = []
        self._texts: list[dict[str, list[str]]] = []  # of each entry, the pieces of its texts

    def __bool__(self) -> bool:
        return bool(self._entries)

    def add(self, details: Iterable[Mapping[str, Any]]) -> None:
        """Take the next entries, whole or in pieces."""
        for piece in details:
            if not piece:
                continue
            if self._entries and _continues(self._entries[-1], piece):
                entry, texts = self._entries[-1], self._texts[-1]
                entry.update({key: value for key, value in piece.items() if value is not None})
            else:
                entry, texts = dict(piece), {}
                self._entries.append(entry)
                self._texts.append(texts)
            for name in _GROWING_FIELDS:
                if isinstance(text := piece.get(name), str):
                    texts.setdefault(name, []).append(text)

    def entries(self) -> list[dict[str, Any]]:
        """The complete entries."""
        return [
            {**entry, **{name: "".join(pieces) for name, pieces in texts.items()}}
            for entry, texts in zip(self._entries, self._texts, strict=True)
        ]


def _continues(entry: Mapping[str, Any], piece: Mapping[str, Any]) -> bool:
    if piece.get("type") != entry.get("type") or piece.get("index") != entry.get("index"):
        return False
    if entry.get("signature") and piece.get("text"):
        return False  # a signature closes its text
    # Encrypted entries are never cut.
    return "data" not in piece and "data" not in entry


def reasoning_source(delta: Delta, details: list[dict[str, Any]]) -> tuple[str, str]:
    """Choose the field that is read, since aggregators send the same text in two.

    Returns:
        The field's name and its text.
    """
    for field in ("reasoning_content", "reasoning", "reasoning_text"):
        text = getattr(delta, field)
        if text and type(text) is str:
            return field, text
    return "reasoning_details", visible_text(details)
