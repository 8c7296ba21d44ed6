"""Usage: the vendors' token counts, made disjoint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentkit_core import TokenUsage, Usage
from agentkit_providers._protocol_kit._usage_fields import count, nested_counts, reported_cost
from agentkit_providers.openai_chat._metadata_keys import USAGE_KEY
from agentkit_providers.openai_chat._quirks import Quirks


def parse_usage(report: Mapping[str, Any], quirks: Quirks) -> Usage | None:
    """Read a usage report.

    The vendors' prompt count includes cached tokens, which are subtracted; where there are more
    cached tokens than prompt tokens (Azure's Grok), 0 remain. Whether the completion count includes
    reasoning is decided by the total where there is one, else by `quirks`.

    Args:
        report: The vendor's report.
        quirks: How the vendor differs from OpenAI.

    Returns:
        None where the report holds no count, as some servers send before the end.
    """
    prompt, completion = count(report, "prompt_tokens"), count(report, "completion_tokens")
    if prompt is None and completion is None:
        return None
    details = nested_counts(report, "prompt_tokens_details")
    cached = count(details, "cached_tokens")
    if cached is None:
        cached = count(report, "prompt_cache_hit_tokens")  # DeepSeek
    if cached is None:
        cached = count(report, "cached_tokens")  # Moonshot
    cache_write = count(details, "cache_write_tokens")
    reasoning = count(nested_counts(report, "completion_tokens_details"), "reasoning_tokens")
    if reasoning is None:
        reasoning = count(report, "reasoning_tokens")  # Copilot
    cost = reported_cost(report, quirks.cost_currency)
    return Usage(
        tokens=TokenUsage(
            input=None if prompt is None else max(0, prompt - (cached or 0) - (cache_write or 0)),
            output=_output(prompt, completion, reasoning, count(report, "total_tokens"), quirks),
            cache_read=cached,
            cache_write=cache_write,
            reasoning=reasoning,
        ),
        cost=cost,
        requests=1,
        reported_requests=1,
        priced_requests=1 if cost.amounts else 0,
        metadata={USAGE_KEY: dict(report)},
    )


def _output(
    prompt: int | None,
    completion: int | None,
    reasoning: int | None,
    total: int | None,
    quirks: Quirks,
) -> int | None:
    if completion is None or not reasoning:
        return completion
    excluded = quirks.completion_tokens_exclude_reasoning
    if total is not None and prompt is not None:
        rest = total - prompt - completion
        if rest in (0, reasoning):
            excluded = rest == reasoning
    return completion + reasoning if excluded else completion
