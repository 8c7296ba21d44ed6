"""A model's response while it is being read."""

from __future__ import annotations

from typing import Generic, TypeVar

from agentkit_core import TurnId
from agentkit_core.provider import ResponseFold
from agentkit_loop.kernel._effects import CallModel

StreamT = TypeVar("StreamT")


class ModelReading(Generic[StreamT]):
    """A model's response while it is being read.

    Args:
        effect: The model call.
        turn_id: The turn that made it.

    Attributes:
        effect: The model call.
        turn_id: The turn that made it.
        fold: Builds the response from the events read so far.
        stream: The model's iterator; None until the request has been sent.
        has_begun: Whether anything of the response has come.
        has_failed: Whether the model's iterator has raised. If nothing had come, no request was
            sent: the host has made a mistake, such as a missing key.
    """

    __slots__ = ("effect", "fold", "has_begun", "has_failed", "stream", "turn_id")

    def __init__(self, effect: CallModel, turn_id: TurnId | None) -> None:
        self.effect = effect
        self.turn_id = turn_id
        self.fold = ResponseFold()
        self.stream: StreamT | None = None
        self.has_begun = False
        self.has_failed = False
