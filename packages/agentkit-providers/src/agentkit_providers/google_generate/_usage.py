"""Usage: the vendor's counts, made disjoint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentkit_core import TokenUsage, Usage
from agentkit_providers._protocol_kit._usage_fields import count
from agentkit_providers.google_generate._metadata_keys import USAGE_KEY


def usage_of(raw: Mapping[str, Any], *, last: bool) -> Usage | None:
    """Read one report; None when it holds no count, as the first ones of a stream may.

    Cached tokens are part of the vendor's prompt count and are taken out of it; what its own
    tools put into the prompt comes on top of that count, and so do thoughts on top of the
    candidates' count. A count of 0 is left out by the vendor, so a missing one is what the
    total leaves for it.

    Args:
        raw: The report.
        last: Whether the answer is over, so that the counts are whole.
    """
    prompt, total = count(raw, "promptTokenCount"), count(raw, "totalTokenCount")
    candidates = count(raw, "candidatesTokenCount")
    thoughts = count(raw, "thoughtsTokenCount")
    if prompt is None and candidates is None and thoughts is None:
        return None
    cached, of_tools = count(raw, "cachedContentTokenCount"), count(raw, "toolUsePromptTokenCount")
    if candidates is None and total is not None:
        candidates = max(0, total - (prompt or 0) - (of_tools or 0) - (thoughts or 0))
    known_output = candidates is not None or thoughts is not None
    tokens = TokenUsage(
        input=None if prompt is None else max(0, prompt - (cached or 0)) + (of_tools or 0),
        output=(candidates or 0) + (thoughts or 0) if known_output else None,
        cache_read=cached,
        reasoning=thoughts,
    )
    return Usage(
        tokens, requests=1, reported_requests=1 if last else 0, metadata={USAGE_KEY: dict(raw)}
    )
