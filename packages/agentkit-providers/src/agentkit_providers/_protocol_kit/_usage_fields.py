"""Counts and costs in usage reports, whatever stands in their places."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from agentkit_core import CostUsage


def count(raw: Mapping[str, Any], name: str) -> int | None:
    """A count of tokens, at least 0; None where there is none."""
    found = raw.get(name)
    if isinstance(found, float) and found.is_integer():
        found = int(found)
    if isinstance(found, bool) or not isinstance(found, int):
        return None
    return max(0, found)


def counts_in(raw: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """An object of counts; empty where there is none."""
    found = raw.get(name)
    return found if isinstance(found, Mapping) else {}


def cost_of(raw: Mapping[str, Any], currency: str | None) -> CostUsage:
    """What a vendor says in `cost` that the request cost.

    Args:
        raw: The report.
        currency: In which currency it says so; None means that it is no money.
    """
    if currency is None:
        return CostUsage()
    cost = raw.get("cost")
    if isinstance(cost, Mapping):
        cost = cost.get("total_cost")
    if isinstance(cost, bool) or not isinstance(cost, int | float | str):
        return CostUsage()
    try:
        amount = Decimal(str(cost))
    except InvalidOperation:
        return CostUsage()
    return CostUsage({currency: amount}) if amount.is_finite() else CostUsage()
