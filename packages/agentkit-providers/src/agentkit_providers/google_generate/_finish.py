"""How answers end: the vendor's finish reasons, and the failures that are found while reading."""

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
"""Finish reasons that mean that the answer failed: how, and whether it is worth another try."""
_FAILURES_WITHOUT_CALLS: Final = frozenset({"UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS"})
"""These end a turn of calls where the calls are there, to be answered; else nothing is left."""


def finish_reason(word: str, *, calls: bool) -> FinishReason:
    """Map a finish reason.

    Args:
        word: The vendor's own; empty when there was none.
        calls: Whether the answer has calls. They make it a tool turn, for the vendor has no
            word for that, and without any it is none.
    """
    reason = _REASONS.get(word, FinishReason.OTHER) if word else FinishReason.COMPLETED
    if calls and reason in (FinishReason.COMPLETED, FinishReason.OTHER):
        return FinishReason.TOOL_CALL
    return reason


def failed_finish(word: str, message: object, *, calls: bool) -> ProviderFailure | None:
    """The failure that a finish reason means; None for those that mean none.

    Args:
        word: The vendor's own.
        message: What it says of it, if anything.
        calls: Whether the answer has calls.
    """
    if word in _FAILURES_WITHOUT_CALLS and not calls:
        kind, retryable = FailureKind.SERVER, True
    elif word in _FAILURES:
        kind, retryable = _FAILURES[word]
    else:
        return None
    said = f": {message}" if isinstance(message, str) and message else ""
    return ProviderFailure(
        kind=kind,
        message=f"the model stopped with the finish reason {word}{said}"[:2000],
        retryable=retryable,
        code=word,
    )


def without_candidate() -> ProviderFailure:
    """A whole answer that answers nothing."""
    return ProviderFailure(
        kind=FailureKind.PROTOCOL, message="the answer holds no candidate", retryable=True
    )
