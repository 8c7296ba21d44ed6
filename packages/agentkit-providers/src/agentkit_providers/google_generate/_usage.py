"""Usage: the vendor's token counts, made disjoint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentkit_core import Usage
from agentkit_providers._protocol_kit._token_totals import VendorCounts, disjoint_tokens
from agentkit_providers._protocol_kit._usage_fields import count
from agentkit_providers.google_generate._metadata_keys import USAGE_KEY
from agentkit_providers.google_generate._quirks import Quirks


def parse_usage(report: Mapping[str, Any], quirks: Quirks, *, final: bool) -> Usage | None:
    """Read a usage report.

    The vendor's prompt count includes cached tokens, which are subtracted. It does not include what
    the vendor's own tools add to the prompt, and the candidates' count does not include thoughts;
    both are added. The vendor leaves out counts of 0, so a missing count of candidates is computed
    from the total.

    Args:
        report: The vendor's report.
        quirks: How the endpoint or the model differs; nothing of the usage depends on it here.
        final: Whether the response is over, so that the counts are complete.

    Returns:
        None where the report holds no count, as the first ones of a stream may.
    """
    prompt, total = count(report, "promptTokenCount"), count(report, "totalTokenCount")
    candidates = count(report, "candidatesTokenCount")
    thoughts = count(report, "thoughtsTokenCount")
    if prompt is None and candidates is None and thoughts is None:
        return None
    tool_prompt = count(report, "toolUsePromptTokenCount") or 0
    if candidates is None and (total is not None or thoughts is not None):
        candidates = max(0, (total or 0) - (prompt or 0) - tool_prompt - (thoughts or 0))
    tokens = disjoint_tokens(
        VendorCounts(
            prompt=None if prompt is None else prompt + tool_prompt,
            output=candidates,
            cache_read=count(report, "cachedContentTokenCount"),
            reasoning=thoughts,
            total=total,
            excludes_reasoning=True,
        )
    )
    return Usage(
        tokens,
        requests=1,
        reported_requests=1 if final else 0,
        metadata={USAGE_KEY: dict(report)},
    )
