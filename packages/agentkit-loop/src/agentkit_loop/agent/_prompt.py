"""Prompts: what a host says to a model, as items."""

from __future__ import annotations

from collections.abc import Sequence

from agentkit_core import Item

Prompt = str | Item | Sequence[Item]
"""What a host says to the model. A text becomes a user item."""


def items_of(prompt: Prompt) -> tuple[Item, ...]:
    """Convert a prompt to items; the caller's list is copied.

    Returns:
        The items; none for a blank text, since no provider accepts a blank message.
    """
    match prompt:
        case str():
            return (Item.user(prompt),) if prompt.strip() else ()
        case Item():
            return (prompt,)
        case _:
            return tuple(prompt)


def instructions_of(instructions: Prompt | None) -> tuple[Item, ...]:
    """Convert instructions to items: a text becomes a system item; None means no instructions."""
    if isinstance(instructions, str):
        return (Item.system(instructions),)
    return () if instructions is None else items_of(instructions)
