"""How answers end: the vendors' finish reasons, and the failures that are found while reading."""

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
    "abort": FailureKind.SERVER,  # vLLM, SGLang: stopped on their side, for a reason of theirs
    "aborted": FailureKind.SERVER,
    "cancelled": FailureKind.SERVER,
    "network_error": FailureKind.SERVER,  # Z.ai
    "insufficient_system_resource": FailureKind.OVERLOADED,  # DeepSeek
    "malformed_function_call": FailureKind.SERVER,  # Gemini: worth another try
    "model_context_window_exceeded": FailureKind.CONTEXT_LENGTH,  # Z.ai
}
"""Finish reasons that mean that the answer failed."""

T = TypeVar("T")


def finish_reason(word: str, *, calls: bool, refused: bool) -> FinishReason:
    """Map a finish reason.

    Args:
        word: The vendor's own, in lower case; empty when there was none.
        calls: Whether the answer has calls. They make it a tool turn, whatever the word, and
            without any it is none.
        refused: Whether the model refused.
    """
    if refused:
        return FinishReason.BLOCKED
    reason = (_named(word, _REASONS) or FinishReason.OTHER) if word else FinishReason.COMPLETED
    if calls and reason in (FinishReason.COMPLETED, FinishReason.OTHER):
        return FinishReason.TOOL_CALL
    if reason is FinishReason.TOOL_CALL and not calls:
        return FinishReason.COMPLETED
    return reason


def failed_finish(word: str) -> ProviderFailure | None:
    """The failure that a finish reason means; None for those that mean none."""
    kind = _named(word.lower(), _FAILURES)
    if kind is None:
        return None
    return ProviderFailure(
        kind=kind,
        message=f"the model stopped with the finish reason {word!r}",
        retryable=kind is not FailureKind.CONTEXT_LENGTH,
        code=word,
    )


def _named(word: str, table: Mapping[str, T]) -> T | None:
    """Look a word up: itself, or what it consists of.

    Google's endpoint says which filter it was and what that found:
    `function_call_filter: MALFORMED_FUNCTION_CALL`.
    """
    found = table.get(word)
    if found is not None or ":" not in word:
        return found
    whole, _, detail = word.partition(":")
    return table.get(detail.strip()) or table.get(whole.strip())


def without_choice() -> ProviderFailure:
    """A whole answer that answers nothing."""
    return ProviderFailure(
        kind=FailureKind.PROTOCOL, message="the answer holds no choice", retryable=True
    )
