"""Mutators: functions of the host that edit the transcript between model calls.

Each gets the items that the one before it returned. The final items are applied as a whole if they
follow the rules of a transcript; otherwise nothing is changed. Mutators never run while tool calls
are being answered.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from types import FunctionType, MethodType

from agentkit_core import Item
from agentkit_core.values import Record
from agentkit_loop.events import MutationPoint
from agentkit_loop.extensions._hooks import RunFacts
from agentkit_loop.kernel._effects import RunMutators
from agentkit_loop.kernel._inputs import MutatorsDone
from agentkit_tools_core.sync import await_if_needed


class Mutation(Record, frozen=True):
    """When a mutator is called.

    Attributes:
        point: Before which model call of the turn.
        facts: Where the run stands.
    """

    point: MutationPoint
    facts: RunFacts


Mutator = Callable[
    [tuple[Item, ...], Mutation], Sequence[Item] | Awaitable[Sequence[Item] | None] | None
]
"""Returns the new items of the transcript; None, or equal items, changes nothing. An exception
changes nothing either, and ends the turn unless `LoopConfig.on_mutator_error` says otherwise."""


async def mutate(
    mutators: Iterable[Mutator],
    items: tuple[Item, ...],
    effect: RunMutators,
    facts: RunFacts,
    report: Callable[[Exception, str], None],
) -> MutatorsDone:
    """Run all mutators, one after another.

    An `Exception` of one becomes an error answer, and is given to `report`.
    """
    mutation, names = Mutation(effect.point, facts), list[str]()
    for mutator in mutators:
        try:
            new_items = await await_if_needed(mutator(items, mutation))
            new_items = None if new_items is None else tuple(new_items)
            for item in new_items or ():
                if not isinstance(item, Item):
                    raise TypeError(
                        f"it returned {item!r} among the items; a transcript contains only `Item`s"
                    )
        except Exception as error:
            report(error, f"mutator {_name_of(mutator)}")
            text = f"mutator {_name_of(mutator)} failed: {type(error).__name__}: {error}"
            return MutatorsDone(effect.id, error=text)
        if new_items is not None and new_items != items:
            items = new_items
            names.append(_name_of(mutator))
    if not names:
        return MutatorsDone(effect.id)
    return MutatorsDone(effect.id, items=items, mutators=tuple(names))


def _name_of(mutator: Mutator) -> str:
    has_name = isinstance(mutator, FunctionType | MethodType)
    return mutator.__name__ if has_name else type(mutator).__name__
