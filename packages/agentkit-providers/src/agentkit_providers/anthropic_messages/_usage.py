"""Usage: the vendor's token counts, which are disjoint already."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentkit_core import TokenUsage, Usage
from agentkit_providers._protocol_kit._usage_fields import count, nested_counts, reported_cost
from agentkit_providers.anthropic_messages._metadata_keys import USAGE_KEY
from agentkit_providers.anthropic_messages._quirks import Quirks


def merge_report(known: dict[str, Any], report: Any) -> None:
    """Merge a later usage report into the earlier ones.

    Counts of a stream are running totals: a number replaces the earlier one. Null, which gateways
    send for what they do not know, changes nothing.

    Args:
        known: The earlier reports, merged; it is changed.
        report: The later report; ignored where it is not an object.
    """
    if isinstance(report, dict):
        known.update((key, value) for key, value in report.items() if value is not None)


def parse_usage(report: Mapping[str, Any], quirks: Quirks, *, final: bool) -> Usage | None:
    """Read a usage report.

    Args:
        report: The vendor's report.
        quirks: How the vendor differs from Anthropic.
        final: Whether the counts are those of the complete response; counts at its beginning are
            only a lower bound.

    Returns:
        None where the report holds no count.
    """
    prompt, output = count(report, "input_tokens"), count(report, "output_tokens")
    if prompt is None and output is None:
        return None
    cost = reported_cost(report, quirks.cost_currency)
    cache_creation = nested_counts(report, "cache_creation")
    return Usage(
        tokens=TokenUsage(
            input=prompt,
            output=output,
            cache_read=count(report, "cache_read_input_tokens"),
            cache_write=count(report, "cache_creation_input_tokens"),
            cache_write_1h=count(cache_creation, "ephemeral_1h_input_tokens"),
            reasoning=count(nested_counts(report, "output_tokens_details"), "thinking_tokens"),
        ),
        cost=cost,
        requests=1,
        reported_requests=1 if final else 0,
        priced_requests=1 if cost.amounts else 0,
        metadata={USAGE_KEY: dict(report)},
    )
