"""What every driver does alike of the effects that take time: read an answer, run a tool, wait."""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Sequence
from typing import Final

from agentkit_core.provider import (
    ModelEvent,
    ResponseFailed,
    ResponseFinished,
    ResponseStarted,
    UsageReported,
)
from agentkit_loop.drivers._engine import Answering, Stepper
from agentkit_loop.events import ContentDelta
from agentkit_loop.extensions._budget import TurnBudget
from agentkit_loop.kernel._effects import StartTool
from agentkit_loop.kernel._inputs import ModelFailed, ModelResponded, ToolProgressed
from agentkit_loop.kernel._tool_run import Resumption
from agentkit_tools_core import ToolContext

_FIRST_RUN: Final = Resumption()

_NO_DELTAS: Final = frozenset({ResponseStarted, UsageReported, ResponseFinished, ResponseFailed})
"""Events of an answer that are not told as they come; their facts are told at its end."""


class Performer(Stepper, ABC):
    """Steps the kernel, and has the pieces of which a driver's own work is made."""

    def show(self, reading: Answering, batch: Sequence[ModelEvent]) -> bool:
        """Take the events of one network read: fold them, and tell their deltas as one event.

        Returns:
            Whether to read on at once: nobody wants the word, and the answer is still wanted.
        """
        reading.fold.feed(batch)
        deltas = tuple(batch)
        if not _NO_DELTAS.isdisjoint(map(type, deltas)):
            deltas = tuple(event for event in deltas if type(event) not in _NO_DELTAS)
        if deltas:
            self.teller.tell(ContentDelta(deltas), reading.turn_id)  # type: ignore[arg-type]
        return (
            not self.listened
            and self.teller.stopped_by is None
            and reading.effect.id in self.state.out
        )

    def end_of(self, reading: Answering) -> ModelResponded | ModelFailed:
        """Make the answer to a model call that has been read to its end."""
        response = reading.fold.finish()
        if response.failure is None:
            self.hooked.forget_request()
            return ModelResponded(reading.effect.id, response)
        return ModelFailed(reading.effect.id, response, self._jitter())

    def context_of(
        self, effect: StartTool, progress: Callable[[ToolProgressed], None]
    ) -> ToolContext:
        """Make what a running tool may ask."""
        resume = effect.resume or _FIRST_RUN
        return ToolContext(
            self.request_of(effect),
            progress=lambda message, data: progress(ToolProgressed(effect.id, message, data)),
            cancelled=lambda: not self.is_wanted(effect.id),
            dependencies={TurnBudget: self.budget.share(effect.call.id), **self._dependencies},
            approved=effect.granted,
            answers=resume.answers,
            denied=resume.denied,
            token=resume.token,
        )

    def end_tool(self, effect: StartTool, *, asks: bool = False) -> None:
        """Note that a tool runs no more: it is over, or stopped to ask."""
        self._begun.pop(effect.id, None)
        if asks:
            self.budget.take_back((effect.call.id,))
        else:
            self.budget.settle(effect.call.id)

    def seconds_until(self, at: int) -> float:
        """Seconds until a moment; 0 or less if it has passed."""
        return (at - self._clock.now_ms()) / 1000
