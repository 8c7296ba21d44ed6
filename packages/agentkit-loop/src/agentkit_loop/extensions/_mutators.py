"""Mutators: edits of the transcript between model calls, as one transaction.

Each is shown the items that the last one made, and what comes out in the end is taken as a whole
if it keeps the rules of a transcript, else nothing is. They never see a round that is under way.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence

from msgspec import Struct

from agentkit_core import Item
from agentkit_loop.events import MutationPoint
from agentkit_loop.extensions._hooks import RunFacts
from agentkit_loop.kernel._effects import RunMutators
from agentkit_loop.kernel._inputs import MutatorsDone
from agentkit_tools_core.sync import await_if_needed


class Mutation(Struct, frozen=True):
    """What a mutator may want to know besides the items."""

    point: MutationPoint
    facts: RunFacts


Mutator = Callable[
    [tuple[Item, ...], Mutation], Sequence[Item] | Awaitable[Sequence[Item] | None] | None
]
"""Makes another transcript of one; None, or the same items, changes nothing. What it raises
changes nothing either, and ends the turn unless the configuration says otherwise."""


async def mutate(
    mutators: Iterable[Mutator], items: tuple[Item, ...], effect: RunMutators, facts: RunFacts
) -> MutatorsDone:
    """Ask all mutators, one after another; never raises but for what is no `Exception`."""
    mutation, names = Mutation(effect.point, facts), list[str]()
    for mutator in mutators:
        try:
            made = await await_if_needed(mutator(items, mutation))
            made = None if made is None else tuple(made)
            for item in made or ():
                if not isinstance(item, Item):
                    raise TypeError(f"a transcript is made of items, not of {item!r}")
        except Exception as error:
            text = f"mutator {_name(mutator)} failed: {type(error).__name__}: {error}"
            return MutatorsDone(effect.id, error=text)
        if made is not None and made != items:
            items = made
            names.append(_name(mutator))
    if not names:
        return MutatorsDone(effect.id)
    return MutatorsDone(effect.id, items, tuple(names))


def _name(mutator: Mutator) -> str:
    return getattr(mutator, "__name__", None) or type(mutator).__name__
