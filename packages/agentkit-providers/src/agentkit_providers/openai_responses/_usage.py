"""Usage: the vendors' counts, made disjoint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentkit_core import TokenUsage, Usage
from agentkit_providers._protocol_kit._usage_fields import cost_of, count, counts_in
from agentkit_providers.openai_responses._metadata_keys import USAGE_KEY
from agentkit_providers.openai_responses._quirks import Quirks


def usage_of(raw: Mapping[str, Any], quirks: Quirks) -> Usage | None:
    """Read one report; None when it holds no count.

    Cached tokens are part of the prompt's count and are taken out of it; reasoning is part of the
    output's count at every vendor.
    """
    prompt, output = count(raw, "input_tokens"), count(raw, "output_tokens")
    if prompt is None and output is None:
        return None
    details = counts_in(raw, "input_tokens_details")
    cached, written = count(details, "cached_tokens"), count(details, "cache_write_tokens")
    cost = cost_of(raw, quirks.cost_currency)
    return Usage(
        tokens=TokenUsage(
            input=None if prompt is None else max(0, prompt - (cached or 0) - (written or 0)),
            output=output,
            cache_read=cached,
            cache_write=written,
            reasoning=count(counts_in(raw, "output_tokens_details"), "reasoning_tokens"),
        ),
        cost=cost,
        requests=1,
        reported_requests=1,
        priced_requests=1 if cost.amounts else 0,
        metadata={USAGE_KEY: dict(raw)},
    )
