"""How answers end: the vendors' finish reasons, and the failures that are found while reading."""

from __future__ import annotations

from typing import Final

from agentkit_core import FailureKind, FinishReason, ProviderFailure

_REASONS: Final = {
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
_FAILURES: Final = {
    "error": FailureKind.SERVER,
    "network_error": FailureKind.SERVER,  # Z.ai
    "insufficient_system_resource": FailureKind.OVERLOADED,  # DeepSeek
    "malformed_function_call": FailureKind.SERVER,  # Gemini: worth another try
    "model_context_window_exceeded": FailureKind.CONTEXT_LENGTH,  # Z.ai
}
"""Finish reasons that mean that the answer failed."""

_SHOWN: Final = 200
"""How much of a payload that cannot be read is shown."""
_RAW: Final = 8192
"""How much of it is kept."""


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
    reason = _REASONS.get(word, FinishReason.OTHER) if word else FinishReason.COMPLETED
    if calls and reason in (FinishReason.COMPLETED, FinishReason.OTHER):
        return FinishReason.TOOL_CALL
    if reason is FinishReason.TOOL_CALL and not calls:
        return FinishReason.COMPLETED
    return reason


def failed_finish(word: str) -> ProviderFailure | None:
    """The failure that a finish reason means; None for those that mean none."""
    kind = _FAILURES.get(word.lower())
    if kind is None:
        return None
    return ProviderFailure(
        kind=kind,
        message=f"the model stopped with the finish reason {word!r}",
        retryable=kind is not FailureKind.CONTEXT_LENGTH,
        code=word,
    )


def unreadable(payload: bytes, error: Exception) -> ProviderFailure:
    """An event that is no JSON, or not of the shape that the protocol has."""
    shown = payload[:_SHOWN].decode("utf-8", "replace")
    return ProviderFailure(
        kind=FailureKind.PROTOCOL,
        message=f"the answer is not what Chat Completions send ({error}): {shown}",
        raw=payload[:_RAW].decode("utf-8", "replace"),
    )


def cut_off() -> ProviderFailure:
    """A body that is over before its answer is."""
    return ProviderFailure(
        kind=FailureKind.STREAM_CUT,
        message="the answer ended before its end mark",
        retryable=True,
    )


def without_choice() -> ProviderFailure:
    """A whole answer that answers nothing."""
    return ProviderFailure(
        kind=FailureKind.PROTOCOL, message="the answer holds no choice", retryable=True
    )
