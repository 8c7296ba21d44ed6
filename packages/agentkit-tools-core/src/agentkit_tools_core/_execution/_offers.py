"""Which descriptions the model gets, when results have added hidden tools."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from agentkit_core import ToolSpec

_Specs = tuple[ToolSpec, ...]

_MOST_KEPT: Final = 64
"""For how many selections of added tools the descriptions are kept."""


class Offers:
    """Combines the visible tools of a source with hidden ones that were added.

    The same tuples give the same object, so that what is computed of it is computed once.
    """

    __slots__ = ("_kept",)

    def __init__(self) -> None:
        self._kept: dict[tuple[str, ...], tuple[_Specs, _Specs, _Specs]] = {}

    def combine(self, visible: _Specs, hidden: _Specs, added: Collection[str]) -> _Specs:
        """Return the visible tools, then the added ones; see `Executor.specs`."""
        if type(added) is not tuple:
            return _combine(visible, hidden, added)
        kept = self._kept.get(added)
        if kept is None or kept[0] is not visible or kept[1] is not hidden:
            if len(self._kept) >= _MOST_KEPT:
                self._kept.clear()
            kept = self._kept[added] = (visible, hidden, _combine(visible, hidden, added))
        return kept[2]


def _combine(visible: _Specs, hidden: _Specs, added: Collection[str]) -> _Specs:
    by_name = {spec.name: spec for spec in hidden}
    for spec in visible:
        by_name.pop(spec.name, None)
    names = dict.fromkeys(added)
    in_order = names if isinstance(added, Sequence) else by_name
    return (*visible, *(by_name[name] for name in in_order if name in by_name and name in names))
