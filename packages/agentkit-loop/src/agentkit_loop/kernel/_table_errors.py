"""The error of a kernel that leaves its own table."""

from __future__ import annotations

from agentkit_core import AgentkitError


class IllegalTransition(AgentkitError):
    """A handler chose a transition that the table does not have; this is a bug of this library.

    Args:
        phase: The phase that the session was in.
        input_type: The name of the input's type.
        target: The phase that the handler chose.

    Attributes:
        phase: The phase that the session was in.
        input_type: The name of the input's type.
        target: The phase that the handler chose.
    """

    def __init__(self, phase: str, input_type: str, target: str) -> None:
        super().__init__(
            f"{input_type} led from phase {phase} to {target}, which the table does not allow; "
            f"this is a bug in agentkit-loop, please report it"
        )
        self.phase = phase
        self.input_type = input_type
        self.target = target
