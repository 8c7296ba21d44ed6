"""Histories that end with the assistant's words, which not every model goes on from.

Claude from 4.6 on refuses them: "This model does not support assistant message prefill. The
conversation must end with a user message" (vercel/ai#12296, langchain-ai/deepagents#1585).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from agentkit_core import Custom, FinishReason, Item, ItemKind, Reasoning, Text

GO_ON: Final = Item.user("Go on from where your last message ends.")
"""The user message after the assistant's words, for models that need one."""


def ends_with_words(items: Sequence[Item]) -> bool:
    """Whether sendable items end with an assistant item that is no paused turn.

    A turn that the vendor paused goes back as it is, and the vendor goes on with it.
    """
    if not items or items[-1].kind is not ItemKind.ASSISTANT:
        return False
    last = items[-1]
    if last.finish_reason is FinishReason.PAUSED:
        return False
    return not any(isinstance(part, Custom) for part in last.parts[-1:])


def without_reasoning(item: Item) -> Item:
    """An assistant item without its reasoning; the same item where it has none, or nothing else."""
    if item.kind is not ItemKind.ASSISTANT:
        return item
    parts = tuple(part for part in item.parts if not isinstance(part, Reasoning))
    return item if len(parts) in (0, len(item.parts)) else replace(item, parts=parts)


def without_trailing_space(item: Item) -> Item:
    """An item whose last text does not end in white space, which a model cannot go on from.

    "Final assistant content cannot end with trailing whitespace" is what Messages answers.
    """
    last = item.parts[-1] if item.parts else None
    if not isinstance(last, Text) or last.text == last.text.rstrip():
        return item
    return replace(item, parts=(*item.parts[:-1], replace(last, text=last.text.rstrip())))
