"""Usage: the vendors' token counts, made disjoint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentkit_core import Usage
from agentkit_providers._protocol_kit._token_totals import VendorCounts, disjoint_tokens
from agentkit_providers._protocol_kit._usage_fields import count, nested_counts, reported_cost
from agentkit_providers.openai_responses._metadata_keys import USAGE_KEY
from agentkit_providers.openai_responses._quirks import Quirks


def parse_usage(report: Mapping[str, Any], quirks: Quirks, *, final: bool) -> Usage | None:
    """Read a usage report.

    The vendors' input count includes cached tokens, which are subtracted. The output count includes
    reasoning at every vendor, unless the total says otherwise.

    Args:
        report: The vendor's report.
        quirks: How the vendor differs from OpenAI.
        final: Whether it is the response's last word on its counts; otherwise they are only a lower
            bound.

    Returns:
        None where the report holds no count.
    """
    prompt, output = count(report, "input_tokens"), count(report, "output_tokens")
    if prompt is None and output is None:
        return None
    details = nested_counts(report, "input_tokens_details")
    cached, cache_write = count(details, "cached_tokens"), count(details, "cache_write_tokens")
    cost = reported_cost(report, quirks.cost_currency)
    return Usage(
        tokens=disjoint_tokens(
            VendorCounts(
                prompt=prompt,
                output=output,
                cache_read=cached,
                cache_write=cache_write,
                reasoning=count(nested_counts(report, "output_tokens_details"), "reasoning_tokens"),
                total=count(report, "total_tokens"),
            )
        ),
        cost=cost,
        requests=1,
        reported_requests=1 if final else 0,
        priced_requests=1 if cost.amounts else 0,
        metadata={USAGE_KEY: dict(report)},
    )
