"""The ports of a run: models, stores, clocks and reporters, as structural types.

Any object with these methods fits, without importing anything from here. Ports that wait have two
forms, one to await and one that blocks; each driver uses its own.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Protocol, runtime_checkable

from agentkit_core import ModelRequest, SessionId
from agentkit_core.provider import ModelEvent
from agentkit_loop.events import Envelope
from agentkit_loop.persistence._records import (
    BlockingStore,
    Lease,
    LeasingStore,
    LogEntry,
    Saved,
    Store,
)

__all__ = [
    "AsyncClosable",
    "BlockingModel",
    "BlockingModelSession",
    "BlockingStore",
    "Clock",
    "Closable",
    "Lease",
    "LeasingStore",
    "LogEntry",
    "Model",
    "ModelSession",
    "NamesProvider",
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

    With a stateless provider, each request contains the whole context. With a stateful one, the
    session may keep a handle to what the provider has seen; after a rewrite of the transcript it
    sends the whole history again.
    """

    def respond(self, request: ModelRequest, /) -> AsyncIterator[Sequence[ModelEvent]]:
        """Call the model once.

        Returns:
            Batches of events in order, one batch for each network read. If the iterator is an
            `AsyncClosable`, it is closed at the end or when it is left early, to free the
            connection. The last event is a `ResponseFinished` or a `ResponseFailed`: failures of
            the provider and of the network are events, not exceptions.

        Raises:
            AgentkitError: The host made a mistake, such as a missing key; the turn is cancelled and
                the host gets the error. `NormalizeError`, for items that the model cannot express,
                fails the turn instead.
        """
        ...

    async def close(self) -> None:
        """Free what the session holds, such as connections; calling it again does nothing."""
        ...


@runtime_checkable
class Model(Protocol):
    """A language model; many sessions may share it."""

    @property
    def name(self) -> str:
        """The model's id at its provider; it becomes `ModelRequest.model`."""
        ...

    def open(self, session_id: SessionId, /) -> ModelSession:
        """Open a session; no I/O happens before the first request."""
        ...


@runtime_checkable
class NamesProvider(Protocol):
    """A model, of either form, that says whose it is; traces have the name."""

    @property
    def provider(self) -> str:
        """The name of the provider, such as `openai`."""
        ...


class BlockingModelSession(Protocol):
    """A `ModelSession` for callers without an event loop."""

    def respond(self, request: ModelRequest, /) -> Iterator[Sequence[ModelEvent]]:
        """Call the model once; see `ModelSession.respond`. The iterator may be a `Closable`."""
        ...

    def close(self) -> None:
        """Free what the session holds, such as connections; calling it again does nothing."""
        ...


@runtime_checkable
class BlockingModel(Protocol):
    """A `Model` for callers without an event loop; one object may be both."""

    @property
    def name(self) -> str:
        """The model's id at its provider."""
        ...

    def open_blocking(self, session_id: SessionId, /) -> BlockingModelSession:
        """Open a session; no I/O happens before the first request."""
        ...


class Clock(Protocol):
    """A driver's source of time; the kernel has none and is passed the time."""

    def now_ms(self) -> int:
        """Milliseconds since the Unix epoch, UTC."""
        ...

    async def sleep(self, seconds: float, /) -> None:
        """Wait, cancellably; not at all if `seconds` is 0 or less."""
        ...

    def sleep_blocking(self, seconds: float, /) -> None:
        """Block the thread; not at all if `seconds` is 0 or less."""
        ...


Reporter = Callable[[Envelope], None]
"""Called with each event of a run, in order, on the thread of the run; must return quickly.

An exception is logged and changes nothing, except `ReporterFailed`, which stops the turn.
"""


def provider_of(model: object) -> str | None:
    """Return the name of a model's provider; None if the model does not say."""
    return model.provider if isinstance(model, NamesProvider) else None
