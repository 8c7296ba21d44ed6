"""Limits: what a turn may spend, and which limit it has reached."""

from __future__ import annotations

from msgspec import Struct


class Limits(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one turn may spend; None means as much as it likes.

    Looked at before each model call, so a limit is never passed by more than the call that
    reaches it. A turn that ends by a limit keeps all it has done, and can be continued.
    """

    max_model_calls: int | None = None
    """How many answers of the model; attempts that failed do not count."""


def limit_reached(limits: Limits, *, model_calls: int) -> str | None:
    """Name the limit that forbids another model call; None if there is none.

    Args:
        limits: What the turn may spend.
        model_calls: How many answers it has had.
    """
    most = limits.max_model_calls
    return "max_model_calls" if most is not None and model_calls >= most else None
