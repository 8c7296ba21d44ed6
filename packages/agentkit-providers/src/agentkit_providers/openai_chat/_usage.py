"""Usage: the vendors' token counts, made disjoint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentkit_core import Usage
from agentkit_providers._protocol_kit._token_totals import VendorCounts, disjoint_tokens
from agentkit_providers._protocol_kit._usage_fields import count, nested_counts, reported_cost
from agentkit_providers.openai_chat._metadata_keys import USAGE_KEY
from agentkit_providers.openai_chat._quirks import Quirks


def parse_usage(report: Mapping[str, Any], quirks: Quirks, *, final: bool) -> Usage | None:
    """Read a usage report.

    The vendors' prompt count includes cached tokens, which are subtracted; where there are more
    cached tokens than prompt tokens (Azure's Grok), 0 remain. Where there is a total, it decides
    what belongs to which count; otherwise `quirks` says whether the completion count includes
    reasoning. Mistral's total includes tokens of sound, of which it reports only the seconds.

    Args:
        report: The vendor's report.
        quirks: How the vendor differs from OpenAI.
        final: Whether it is the response's last word on its counts; otherwise they are only a lower
            bound.

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
        tokens=disjoint_tokens(
            VendorCounts(
                prompt=prompt,
                output=completion,
                cache_read=cached,
                cache_write=cache_write,
                reasoning=reasoning,
                total=count(report, "total_tokens"),
                excludes_reasoning=quirks.completion_tokens_exclude_reasoning,
                rest_is_prompt=bool(report.get("prompt_audio_seconds")),
            )
        ),
        cost=cost,
        requests=1,
        reported_requests=1 if final else 0,
        priced_requests=1 if cost.amounts else 0,
        metadata={USAGE_KEY: dict(report)},
    )
