"""What both drivers do with a model's response: read it batch by batch, and answer the call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from agentkit_core.provider import (
    ModelEvent,
    ResponseFailed,
    ResponseFinished,
    ResponseStarted,
    UsageReported,
)
from agentkit_loop.drivers._engine import Engine
from agentkit_loop.drivers._model_reading import ModelReading
from agentkit_loop.events import ContentDelta
from agentkit_loop.kernel._inputs import ModelFailed, ModelResponded

_NO_DELTAS: Final = frozenset({ResponseStarted, UsageReported, ResponseFinished, ResponseFailed})
"""Model events that are not dispatched as they come; the event at the response's end has them."""


def take_batch(engine: Engine, reading: ModelReading[Any], batch: Sequence[ModelEvent]) -> bool:
    """Take the events of one network read: fold them and dispatch their deltas as one event.

    Returns:
        Whether to read on at once: the response is still wanted, and no host waits for events.
    """
    reading.has_begun = True
    reading.fold.feed(batch)
    deltas = tuple(batch)
    if not _NO_DELTAS.isdisjoint(map(type, deltas)):
        deltas = tuple(event for event in deltas if type(event) not in _NO_DELTAS)
    if deltas:
        engine.events.dispatch(ContentDelta(deltas), reading.turn_id)  # type: ignore[arg-type]
    return (
        not engine.stops_after_read
        and engine.events.stopped_by is None
        and reading.effect.id in engine.state.out
    )


def end_of_response(engine: Engine, reading: ModelReading[Any]) -> ModelResponded | ModelFailed:
    """Build the answer to a model call whose response has been read to its end."""
    response = reading.fold.finish()
    if response.failure is None:
        engine.hooks.forget_request()
        return ModelResponded(reading.effect.id, response)
    return ModelFailed(reading.effect.id, response, engine.jitter())
