"""Token counts and costs in usage reports, read without trusting their types."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from agentkit_core import CostUsage

_LARGEST_COUNT: Final = 2**53 - 1
"""Larger numbers are no counts of tokens, and not every reader of JSON can hold them."""
_LARGEST_COST: Final = Decimal(10) ** 15
_UNKNOWN: Final = CostUsage()


def count(report: Mapping[str, Any], name: str) -> int | None:
    """Read a count of tokens, at least 0; None where the field holds no whole number.

    A number that no count of tokens can reach is as good as none.
    """
    value = report.get(name)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return max(0, value) if value <= _LARGEST_COUNT else None


def nested_counts(report: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Read an object of counts; empty where the field holds none."""
    value = report.get(name)
    return value if isinstance(value, Mapping) else {}


def reported_cost(report: Mapping[str, Any], currency: str | None) -> CostUsage:
    """Read what the request cost, from the field `cost`.

    Args:
        report: The usage report.
        currency: The currency of `cost`; None where the vendor's `cost` is not money.

    Returns:
        The cost; empty where the report names none.
    """
    if currency is None:
        return _UNKNOWN
    cost = report.get("cost")
    if isinstance(cost, Mapping):
        cost = cost.get("total_cost")
    if isinstance(cost, bool) or not isinstance(cost, int | float | str):
        return _UNKNOWN
    try:
        amount = Decimal(str(cost))
    except (InvalidOperation, ValueError):
        return _UNKNOWN
    plausible = amount.is_finite() and 0 <= amount <= _LARGEST_COST
    return CostUsage({currency: amount}) if plausible else _UNKNOWN
