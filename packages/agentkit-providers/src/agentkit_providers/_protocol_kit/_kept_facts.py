"""What the requests of one projection share: facts of models and of tools, worked out once."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Final, TypeVar

T = TypeVar("T")

_MOST: Final = 512


class KeptFacts:
    """What was worked out for earlier requests; all sessions with a projection share it.

    Facts of models are kept by the model's name. Facts of tools are kept by the identity of what
    they are about, a tool's spec or all specs of a request, since neither changes. There are at
    most 512 of each; where there are more, all are worked out again. A copy, and one that is
    unpickled, begins empty.
    """

    __slots__ = ("_of_models", "_of_values")

    def __init__(self) -> None:
        self._of_models: dict[str, tuple[object, Any]] = {}
        self._of_values: dict[tuple[int, Hashable], tuple[object, Any]] = {}

    def of_model(self, model: str, quirks: object, make: Callable[[], T]) -> T:
        """Return what is known of a model, for these quirks."""
        known = self._of_models.get(model)
        if known is None or known[0] is not quirks:
            if len(self._of_models) >= _MOST:
                self._of_models.clear()
            known = self._of_models[model] = (quirks, make())
        fact: T = known[1]
        return fact

    def of(self, value: object, what: Hashable, make: Callable[[], T]) -> T:
        """Return what was worked out of a value that never changes.

        Args:
            value: The value; it is kept too, so that no other one gets its id.
            what: What the result depends on besides the value.
            make: Works it out. What it raises is not kept.
        """
        key = (id(value), what)
        known = self._of_values.get(key)
        if known is None:
            if len(self._of_values) >= _MOST:
                self._of_values.clear()
            known = self._of_values[key] = (value, make())
        fact: T = known[1]
        return fact

    def __reduce__(self) -> tuple[type[KeptFacts], tuple[()]]:
        return KeptFacts, ()
