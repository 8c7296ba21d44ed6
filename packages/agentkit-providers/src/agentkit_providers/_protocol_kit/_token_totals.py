"""Disjoint token counts from a vendor's counts, which may overlap and disagree.

Vendors and gateways differ in what belongs to which count: a prompt count may or may not include
cached tokens, an output count may or may not include reasoning. Where the vendor reports a total,
it decides: the reading whose prompt and output add up to it is taken.
"""

from __future__ import annotations

from itertools import product

from msgspec import Struct

from agentkit_core import TokenUsage


class VendorCounts(Struct, frozen=True, kw_only=True):
    """The counts of one request as a vendor reports them; None for those that it does not report.

    Attributes:
        prompt: Tokens of the prompt.
        output: Tokens of the answer.
        cache_read: Prompt tokens that were read from a cache.
        cache_write: Prompt tokens that were written to a cache.
        reasoning: Tokens of reasoning.
        total: All tokens; 0 counts as not reported.
        excludes_reasoning: Whether the vendor's output count is known to exclude reasoning.
        rest_is_prompt: Whether tokens of the total that no count names belong to the prompt, such
            as sound; otherwise they are output, such as hidden reasoning.
    """

    prompt: int | None = None
    output: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    reasoning: int | None = None
    total: int | None = None
    excludes_reasoning: bool = False
    rest_is_prompt: bool = False


def disjoint_tokens(counts: VendorCounts) -> TokenUsage:
    """Make counts disjoint.

    Returns:
        Counts whose prompt and output add up to the vendor's total where there is one. Cached and
        written tokens are never more than the prompt then, reasoning never more than the output.
    """
    prompt, output = _settle(counts)
    read, written, reasoning = counts.cache_read, counts.cache_write, counts.reasoning
    if counts.total and prompt is not None:
        read = None if read is None else min(read, prompt)
        written = None if written is None else min(written, prompt - (read or 0))
    if output is not None and reasoning is not None:
        reasoning = min(reasoning, output)
    return TokenUsage(
        input=None if prompt is None else max(0, prompt - (read or 0) - (written or 0)),
        output=output,
        cache_read=read,
        cache_write=written,
        reasoning=reasoning,
    )


def _settle(counts: VendorCounts) -> tuple[int | None, int | None]:
    """The tokens of the whole prompt and of the whole output."""
    prompt, output, total = counts.prompt, counts.output, counts.total
    known_output = _known_output(counts)
    if not total:
        return prompt, known_output
    if prompt is None or output is None:
        if prompt is None and known_output is not None:
            prompt = max(0, total - known_output)
        elif output is None and prompt is not None:
            known_output = max(0, total - prompt)
        return prompt, known_output
    reasoning, read, written = (
        counts.reasoning or 0,
        counts.cache_read or 0,
        counts.cache_write or 0,
    )
    prompts = (prompt, prompt + read + written, prompt + read, prompt + written)
    for whole_prompt, whole_output in product(prompts, (output, output + reasoning)):
        if whole_prompt + whole_output == total:
            return whole_prompt, whole_output
    rest = total - prompt - (known_output or 0)
    if rest < 0 or counts.rest_is_prompt:
        return max(0, prompt + rest), min(known_output or 0, total)
    return prompt, (known_output or 0) + rest


def _known_output(counts: VendorCounts) -> int | None:
    """The tokens of the output without regard to the total."""
    output, reasoning = counts.output, counts.reasoning
    if output is None or not reasoning:
        return output
    return output + reasoning if counts.excludes_reasoning or reasoning > output else output
