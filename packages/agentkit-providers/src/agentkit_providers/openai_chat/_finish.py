"""How responses end: the vendors' finish reasons, and the failures that some of them mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeVar

from agentkit_core import FailureKind, FinishReason, ProviderFailure

_REASONS: Final[Mapping[str, FinishReason]] = {
    word: reason
    for reason, words in {
        FinishReason.COMPLETED: "stop end eos end_turn stop_sequence complete completed",
        FinishReason.MAX_TOKENS: "length max_tokens max_output_tokens model_length",
        FinishReason.TOOL_CALL: "tool_calls tool_call function_call function_calls tool_use",
        FinishReason.BLOCKED: "content_filter content_filtered sensitive safety refusal recitation "
        "blocklist prohibited_content",
    }.items()
    for word in words.split()
}
_FAILURES: Final[Mapping[str, FailureKind]] = {
    "error": FailureKind.SERVER,
    "abort": FailureKind.SERVER,  # vLLM, SGLang: the server stopped, for a reason of its own
    "aborted": FailureKind.SERVER,
    "cancelled": FailureKind.SERVER,
    "network_error": FailureKind.SERVER,  # Z.ai
    "insufficient_system_resource": FailureKind.OVERLOADED,  # DeepSeek
    "malformed_function_call": FailureKind.SERVER,  # Gemini: worth another attempt
    "model_context_window_exceeded": FailureKind.CONTEXT_LENGTH,  # Z.ai
}
"""Finish reasons of responses that failed."""

T = TypeVar("T")


def finish_reason(word: str, *, calls: bool, refused: bool) -> FinishReason:
    """Map a vendor's finish reason to ours.

    Args:
        word: The vendor's word in lower case; empty where there was none.
        calls: Whether the response has tool calls. With calls the reason is `TOOL_CALL` even where
            the vendor says that the model stopped, and without calls it never is.
        refused: Whether the model refused.
    """
    if refused:
        return FinishReason.BLOCKED
    reason = (_lookup(word, _REASONS) or FinishReason.OTHER) if word else FinishReason.COMPLETED
    if calls and reason in (FinishReason.COMPLETED, FinishReason.OTHER):
        return FinishReason.TOOL_CALL
    if reason is FinishReason.TOOL_CALL and not calls:
        return FinishReason.COMPLETED
    return reason


def failed_finish(word: str) -> ProviderFailure | None:
    """The failure that a finish reason means; None for reasons that mean none."""
    kind = _lookup(word.lower(), _FAILURES)
    if kind is None:
        return None
    return ProviderFailure(
        kind=kind,
        message=f"the model stopped with the finish reason {word!r}",
        retryable=kind is not FailureKind.CONTEXT_LENGTH,
        code=word,
    )


def _lookup(word: str, table: Mapping[str, T]) -> T | None:
    """Look up a word, or the halves of a word with a colon.

    Google's endpoint names the filter and what the filter found:
    `function_call_filter: MALFORMED_FUNCTION_CALL`.
    """
    entry = table.get(word)
    if entry is not None or ":" not in word:
        return entry
    filter_name, _, finding = word.partition(":")
    return table.get(finding.strip()) or table.get(filter_name.strip())
