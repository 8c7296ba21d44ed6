"""Reads a person's answer to an approval request."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Final

from agentkit_core import ApprovalKind, ApprovalRequest, JsonValue
from agentkit_loop import ApprovalDecision, GrantScope

_SCOPES: Final = {
    "y": GrantScope.ONCE,
    "yes": GrantScope.ONCE,
    "s": GrantScope.SESSION,
    "a": GrantScope.KIND,
    "always": GrantScope.KIND,
}
_OFFER: Final = "  y yes, s these arguments in this session, a always, n no: "
_NO: Final = frozenset({"n", "no", ""})


def ask(request: ApprovalRequest, read: Callable[[str], str]) -> ApprovalDecision:
    """Ask for a decision; the end of the input denies."""
    try:
        match request.want:
            case ApprovalKind.APPROVAL:
                return _ask_yes_or_no(read)
            case ApprovalKind.QUESTION:
                return _ask_question(request, read)
            case ApprovalKind.AUTH:
                answer = read("  Enter when you have logged in, or the code; n = no: ").strip()
                if answer.lower() in ("n", "no"):
                    return ApprovalDecision(approve=False)
                return ApprovalDecision(approve=True, answer=answer or None)
    except EOFError:
        return ApprovalDecision(approve=False, reason="Nobody has answered.")


def _ask_yes_or_no(read: Callable[[str], str]) -> ApprovalDecision:
    while True:
        answer = read(_OFFER).strip().lower()
        if answer in _SCOPES:
            return ApprovalDecision(approve=True, scope=_SCOPES[answer])
        if answer in _NO:
            return ApprovalDecision(approve=False)


def _ask_question(request: ApprovalRequest, read: Callable[[str], str]) -> ApprovalDecision:
    answer = read("  your answer (empty = none): ").strip()
    if not answer:
        return ApprovalDecision(approve=False, reason="The person gave no answer.")
    return ApprovalDecision(approve=True, answer=_value(answer, request.schema))


def _value(answer: str, schema: dict[str, JsonValue] | None) -> JsonValue:
    """Return the answer as what the tool expects: JSON, unless it takes a text."""
    if schema is None or schema.get("type", "string") == "string":
        return answer
    try:
        value: JsonValue = json.loads(answer)
    except ValueError:
        return answer
    return value
