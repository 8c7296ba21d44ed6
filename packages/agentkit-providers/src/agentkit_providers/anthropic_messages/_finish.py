"""How responses end: the vendor's stop reasons, and the failure that one of them means."""

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
    """Map a vendor's stop reason to our finish reason.

    Args:
        word: The vendor's word; empty where there was none.
        calls: Whether the response has tool calls for the client. With calls the reason is
            `TOOL_CALL`, unless the response was cut off or refused, since only their results can
            follow; without calls it never is.
    """
    reason = _REASONS.get(word, FinishReason.OTHER) if word else FinishReason.COMPLETED
    if calls and reason in (FinishReason.COMPLETED, FinishReason.OTHER, FinishReason.PAUSED):
        return FinishReason.TOOL_CALL
    if reason is FinishReason.TOOL_CALL and not calls:
        return FinishReason.COMPLETED
    return reason


def failed_finish(word: str) -> ProviderFailure | None:
    """The failure that a stop reason means; None for reasons that mean none."""
    if word != _CONTEXT_WORD:
        return None
    return ProviderFailure(
        kind=FailureKind.CONTEXT_LENGTH,
        message="prompt and response together do not fit the model's context window",
        code=word,
    )
