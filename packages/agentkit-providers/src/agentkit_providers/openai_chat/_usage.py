"""Usage: the vendors' counts, made disjoint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentkit_core import TokenUsage, Usage
from agentkit_providers._protocol_kit._usage_fields import cost_of, count, counts_in
from agentkit_providers.openai_chat._metadata_keys import USAGE_KEY
from agentkit_providers.openai_chat._quirks import Quirks


def usage_of(raw: Mapping[str, Any], quirks: Quirks) -> Usage | None:
    """Read one report; None when it holds no count, as some servers send before the end.

    Cached tokens are part of the vendors' prompt count and are taken out of it; where they are
    more than the prompt (Azure's Grok), none are left over. Whether reasoning is part of the
    completion count is settled by the total, where there is one.
    """
    prompt, completion = count(raw, "prompt_tokens"), count(raw, "completion_tokens")
    if prompt is None and completion is None:
        return None
    details = counts_in(raw, "prompt_tokens_details")
    cached = count(details, "cached_tokens")
    if cached is None:
        cached = count(raw, "prompt_cache_hit_tokens")  # DeepSeek
    if cached is None:
        cached = count(raw, "cached_tokens")  # Moonshot
    written = count(details, "cache_write_tokens")
    reasoning = count(counts_in(raw, "completion_tokens_details"), "reasoning_tokens")
    if reasoning is None:
        reasoning = count(raw, "reasoning_tokens")  # Copilot
    cost = cost_of(raw, quirks.cost_currency)
    return Usage(
        tokens=TokenUsage(
            input=None if prompt is None else max(0, prompt - (cached or 0) - (written or 0)),
            output=_output(prompt, completion, reasoning, count(raw, "total_tokens"), quirks),
            cache_read=cached,
            cache_write=written,
            reasoning=reasoning,
        ),
        cost=cost,
        requests=1,
        reported_requests=1,
        priced_requests=1 if cost.amounts else 0,
        metadata={USAGE_KEY: dict(raw)},
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
