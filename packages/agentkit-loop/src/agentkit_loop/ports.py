"""What a run needs from outside: a model, a clock, reporters, a store. Structural types.

Nobody has to import this to fit: whatever has these methods will do. Each port that waits
has two forms, one to await and one that blocks, and every driver uses its own.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Protocol, runtime_checkable

from agentkit_core import ModelRequest, SessionId
from agentkit_core.provider import ModelEvent
from agentkit_loop.events import Envelope
from agentkit_loop.persistence._records import BlockingStore, LogEntry, Saved, Store

__all__ = [
    "AsyncClosable",
    "BlockingModel",
    "BlockingModelSession",
    "BlockingStore",
    "Clock",
    "Closable",
    "LogEntry",
    "Model",
    "ModelSession",
    "Reporter",
    "Saved",
    "Store",
]


@runtime_checkable
class AsyncClosable(Protocol):
    """An iterator that can be closed before its end, such as an async generator."""

    async def aclose(self) -> None:
        """Free what the iterator holds; calling it again does nothing."""
        ...


@runtime_checkable
class Closable(Protocol):
    """An `AsyncClosable` for callers without an event loop, such as a generator."""

    def close(self) -> None:
        """Free what the iterator holds; calling it again does nothing."""
        ...


class ModelSession(Protocol):
    """One conversation with a model.

    A stateless provider rebuilds the context from each request. A stateful one may keep a
    handle on what it has seen, and falls back to the whole history after a rewrite.
    """

    def respond(self, request: ModelRequest, /) -> AsyncIterator[Sequence[ModelEvent]]:
        """Ask once.

        Returns:
            Batches of events, one per network read, in order; an iterator to be closed with
            `aclose` when it is left early, which frees the connection. The last event is a
            `ResponseFinished` or a `ResponseFailed`: what the provider or the network does
            wrong is an event, never an exception.

        Raises:
            AgentkitError: The host made a mistake (a missing key); the turn is cancelled and
                the host gets it. What the model cannot express (`NormalizeError`) fails the turn.
        """
        ...

    async def close(self) -> None:
        """Free what the session holds; calling it again does nothing."""
        ...


@runtime_checkable
class Model(Protocol):
    """A model that sessions can be opened with; may be shared by many."""

    @property
    def name(self) -> str:
        """The model's id, as its provider knows it; goes into `ModelRequest.model`."""
        ...

    def open(self, session_id: SessionId, /) -> ModelSession:
        """Open a session; no I/O happens before the first request."""
        ...


class BlockingModelSession(Protocol):
    """A `ModelSession` for callers without an event loop."""

    def respond(self, request: ModelRequest, /) -> Iterator[Sequence[ModelEvent]]:
        """Ask once; see `ModelSession.respond`. The iterator has a `close` of its own."""
        ...

    def close(self) -> None:
        """Free what the session holds; calling it again does nothing."""
        ...


@runtime_checkable
class BlockingModel(Protocol):
    """A `Model` for callers without an event loop; one object may be both."""

    @property
    def name(self) -> str:
        """The model's id, as its provider knows it."""
        ...

    def open_blocking(self, session_id: SessionId, /) -> BlockingModelSession:
        """Open a session; no I/O happens before the first request."""
        ...


class Clock(Protocol):
    """Where a driver's time comes from; the kernel is only told."""

    def now_ms(self) -> int:
        """Milliseconds since the Unix epoch, UTC."""
        ...

    async def sleep(self, seconds: float, /) -> None:
        """Wait, cancellably; at most 0 means not at all."""
        ...

    def sleep_blocking(self, seconds: float, /) -> None:
        """Wait, for callers without an event loop; at most 0 means not at all."""
        ...


Reporter = Callable[[Envelope], None]
"""Takes each event of a run, in order, on the thread of the run; must be quick.

What it raises is logged and changes nothing, except `ReporterFailed`, which stops the turn.
"""
