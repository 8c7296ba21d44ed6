"""Usage: the vendor's counts, which are disjoint already."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentkit_core import TokenUsage, Usage
from agentkit_providers._protocol_kit._usage_fields import cost_of, count, counts_in
from agentkit_providers.anthropic_messages._metadata_keys import USAGE_KEY

_COUNTS = (
    "input_tokens",
    "output_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
)


def updated(known: Mapping[str, Any], report: Any) -> dict[str, Any]:
    """Lay a later report over what was known.

    Counts of a stream are running totals: a number replaces, and null, which gateways send
    for what they do not know, changes nothing.
    """
    if not isinstance(report, dict):
        return dict(known)
    return {**known, **{key: one for key, one in report.items() if one is not None}}


def usage_of(raw: Mapping[str, Any], *, final: bool, currency: str | None) -> Usage | None:
    """Read one report; None when it holds no count.

    Args:
        raw: The report.
        final: Whether these are the counts of the whole answer; those that come when it begins
            are only a lower bound.
        currency: The currency of `cost`, where that is money.
    """
    found_input, output, cache_read, cache_write = (count(raw, name) for name in _COUNTS)
    if found_input is None and output is None:
        return None
    cost = cost_of(raw, currency)
    return Usage(
        tokens=TokenUsage(
            input=found_input,
            output=output,
            cache_read=cache_read,
            cache_write=cache_write,
            cache_write_1h=count(counts_in(raw, "cache_creation"), "ephemeral_1h_input_tokens"),
            reasoning=count(counts_in(raw, "output_tokens_details"), "thinking_tokens"),
        ),
        cost=cost,
        requests=1,
        reported_requests=1 if final else 0,
        priced_requests=1 if cost.amounts else 0,
        metadata={USAGE_KEY: dict(raw)},
    )
