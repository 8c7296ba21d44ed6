"""How answers end: the stop reasons, and the failures that are found while reading."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from agentkit_core import FailureKind, FinishReason, ProviderFailure

_REASONS: Final[Mapping[str, FinishReason]] = {
    "end_turn": FinishReason.COMPLETED,
    "stop_sequence": FinishReason.COMPLETED,
    "stop": FinishReason.COMPLETED,
    "max_tokens": FinishReason.MAX_TOKENS,
    "tool_use": FinishReason.TOOL_CALL,
    "pause_turn": FinishReason.PAUSED,
    "compaction": FinishReason.PAUSED,
    "refusal": FinishReason.BLOCKED,
    "sensitive": FinishReason.BLOCKED,
}
_CONTEXT_WORD: Final = "model_context_window_exceeded"


def finish_reason(word: str, *, calls: bool) -> FinishReason:
    """Map a stop reason.

    Args:
        word: The vendor's own; empty when there was none.
        calls: Whether the answer has calls for us to run. They make it a tool turn unless it was
            cut off or refused, for nothing can follow them but their results; without any it
            is none.
    """
    reason = _REASONS.get(word, FinishReason.OTHER) if word else FinishReason.COMPLETED
    if calls and reason in (FinishReason.COMPLETED, FinishReason.OTHER, FinishReason.PAUSED):
        return FinishReason.TOOL_CALL
    if reason is FinishReason.TOOL_CALL and not calls:
        return FinishReason.COMPLETED
    return reason


def failed_finish(word: str) -> ProviderFailure | None:
    """The failure that a stop reason means; None for those that mean none."""
    if word != _CONTEXT_WORD:
        return None
    return ProviderFailure(
        kind=FailureKind.CONTEXT_LENGTH,
        message="the answer does not fit the model's context window any more",
        code=word,
    )


def without_message() -> ProviderFailure:
    """A whole answer that answers nothing."""
    return ProviderFailure(
        kind=FailureKind.PROTOCOL, message="the answer holds no message", retryable=True
    )
