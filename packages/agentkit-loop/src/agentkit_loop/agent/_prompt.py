"""Prompts and instructions: what a host says to a model, as items."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

from agentkit_core import Item
from agentkit_loop.extensions._hooks import RunFacts

Prompt = str | Item | Sequence[Item]
"""What a host says to the model. A text becomes a user item."""

InstructionsFunction = Callable[[RunFacts], Prompt | Awaitable[Prompt | None] | None]
"""Works out the instructions of one model call; an async one needs an event loop. None means no
instructions. If it raises, the turn ends as an error."""

Instructions = Prompt | InstructionsFunction
"""What an agent is and how it behaves: the same for all requests, or worked out for each."""


def items_of(prompt: Prompt, what: str = "prompt") -> tuple[Item, ...]:
    """Convert a prompt to items; the caller's list is copied.

    Args:
        prompt: The prompt.
        what: What it is called, for the error.

    Returns:
        The items; none for a blank text, since no provider accepts a blank message.

    Raises:
        TypeError: It is not a text, an item or a list of items.
    """
    match prompt:
        case str():
            return () if not prompt or prompt.isspace() else (Item.user(prompt),)
        case Item():
            return (prompt,)
        case _:
            return require_items(prompt, what)


def instructions_of(instructions: Prompt | None) -> tuple[Item, ...]:
    """Convert instructions to items: a text becomes a system item; None means no instructions.

    Raises:
        TypeError: They are not a text, an item or a list of items.
    """
    if isinstance(instructions, str):
        return (Item.system(instructions),)
    return () if instructions is None else items_of(instructions, "instructions")


def require_items(items: Iterable[Item], what: str) -> tuple[Item, ...]:
    """Return items as a tuple if all of them are items.

    Raises:
        TypeError: They are not; the message says which one, and what to write instead.
    """
    given: object = items
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise TypeError(f"{what} is a {_name(given)}; use a list of items such as {_example(what)}")
    copied = tuple(items)
    if {*map(type, copied)} <= {Item}:  # far faster than a look at each
        return copied
    for at, item in enumerate[object](copied):
        if not isinstance(item, Item):
            example = _example(what, item)
            raise TypeError(f"{what}[{at}] is a {_name(item)}, not an Item; write {example}")
    return copied


def _name(value: object) -> str:
    return type(value).__name__


def _example(what: str, value: object = None) -> str:
    role = value.get("role") if isinstance(value, Mapping) else None
    if role in ("system", "developer") or (role is None and what == "instructions"):
        return 'Item.system("…")'
    if role == "assistant":
        return 'Item.assistant("…")'
    return 'Item.user("…")'
