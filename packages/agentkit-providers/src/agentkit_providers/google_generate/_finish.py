"""How responses end: the vendor's finish reasons, and the failures that some of them mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from agentkit_core import FailureKind, FinishReason, ProviderFailure

_REASONS: Final[Mapping[str, FinishReason]] = {
    word: reason
    for reason, words in {
        FinishReason.COMPLETED: "STOP",
        FinishReason.MAX_TOKENS: "MAX_TOKENS",
        FinishReason.TOOL_CALL: "UNEXPECTED_TOOL_CALL TOO_MANY_TOOL_CALLS",
        FinishReason.BLOCKED: "SAFETY RECITATION LANGUAGE BLOCKLIST PROHIBITED_CONTENT SPII "
        "MODEL_ARMOR IMAGE_SAFETY IMAGE_PROHIBITED_CONTENT IMAGE_RECITATION",
    }.items()
    for word in words.split()
}
_FAILURES: Final[Mapping[str, tuple[FailureKind, bool]]] = {
    "MALFORMED_FUNCTION_CALL": (FailureKind.SERVER, True),
    "MALFORMED_RESPONSE": (FailureKind.SERVER, True),
    "MISSING_THOUGHT_SIGNATURE": (FailureKind.INVALID_REQUEST, False),
}
"""Finish reasons of responses that failed: the kind, and whether another attempt may succeed."""
_FAILURES_WITHOUT_CALLS: Final = frozenset({"UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS"})
"""With calls, the client can answer these; without calls, the response failed."""


def finish_reason(word: str, *, calls: bool) -> FinishReason:
    """Map a vendor's finish reason to ours.

    Args:
        word: The vendor's word; empty where there was none.
        calls: Whether the response has tool calls. With calls the reason is `TOOL_CALL`, since the
            vendor has no word of its own for that.
    """
    reason = _REASONS.get(word, FinishReason.OTHER) if word else FinishReason.COMPLETED
    if calls and reason in (FinishReason.COMPLETED, FinishReason.OTHER):
        return FinishReason.TOOL_CALL
    return reason


def failed_finish(word: str, detail: object, *, calls: bool) -> ProviderFailure | None:
    """The failure that a finish reason means; None for reasons that mean none.

    Args:
        word: The vendor's word.
        detail: The vendor's message about it; ignored where it is not a text.
        calls: Whether the response has tool calls.
    """
    if word in _FAILURES_WITHOUT_CALLS and not calls:
        kind, retryable = FailureKind.SERVER, True
    elif word in _FAILURES:
        kind, retryable = _FAILURES[word]
    else:
        return None
    suffix = f": {detail}" if isinstance(detail, str) and detail else ""
    return ProviderFailure(
        kind=kind,
        message=f"the model stopped with the finish reason {word}{suffix}"[:2000],
        retryable=retryable,
        code=word,
    )
