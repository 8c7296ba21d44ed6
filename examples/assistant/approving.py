"""Asks a person before a call runs, with all that can be approved in one place."""

from __future__ import annotations

import sys
from typing import Final

from agentkit_core import ApprovalRequest
from agentkit_loop import ApprovalDecision, GrantScope

CHOICES: Final = {
    "y": (GrantScope.ONCE, "this call"),
    "s": (GrantScope.SESSION, "these arguments in this session"),
    "k": (GrantScope.KIND, "this kind in this session"),
}


def ask_person(request: ApprovalRequest) -> ApprovalDecision:
    """Ask on the terminal; without one, nobody can approve and the call is denied."""
    if not sys.stdin.isatty():
        return ApprovalDecision(approve=False, reason="Nobody is there to approve it.")
    offers = ", ".join(f"{key} = {text}" for key, (_, text) in CHOICES.items())
    answer = input(f"  approve? {offers}, anything else = no: ").strip().lower()
    if answer not in CHOICES:
        return ApprovalDecision(approve=False)
    scope, _ = CHOICES[answer]
    return ApprovalDecision(approve=True, scope=scope)
