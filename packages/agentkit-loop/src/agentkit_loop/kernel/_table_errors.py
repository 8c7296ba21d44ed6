"""The error of a kernel that leaves its own table."""

from __future__ import annotations

from agentkit_core import AgentkitError


class IllegalTransition(AgentkitError):
    """A phase took an edge that the table does not have: a fault of this library."""

    def __init__(self, phase: str, given: str, target: str) -> None:
        super().__init__(f"{given} led from {phase} to {target}, which is no edge of the table")
        self.phase = phase
        self.given = given
        self.target = target
