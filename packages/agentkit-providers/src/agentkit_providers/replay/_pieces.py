"""How replayed answers are cut: texts before each word, arguments into halves."""

from __future__ import annotations

import re


def split_words(text: str) -> list[str]:
    """Cut a text before each word; the pieces join to the same text."""
    return re.findall(r"\s?\S+|\s+", text)


def split_halves(text: str) -> list[str]:
    """Cut a text in the middle; empty halves are left out."""
    middle = len(text) // 2
    return [half for half in (text[:middle], text[middle:]) if half]
