"""What the transports need of an HTTP client, whichever it is: our own, or one of httpx's kind."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from typing import Protocol

import anyio

from agentkit_providers.transport._call import Call
from agentkit_providers.transport._connection_trace import ConnectionTrace
from agentkit_providers.transport._pool_limits import DRAIN_S


class Exchange(Protocol):
    """A request that has been sent, and its response, with an event loop.

    Attributes:
        status: The HTTP status.
        headers: The headers of the response, names in lower case.
        chunks: The body as it was sent, compressed or not.
    """

    @property
    def status(self) -> int: ...

    @property
    def headers(self) -> dict[str, str]: ...

    @property
    def chunks(self) -> AsyncIterator[bytes]: ...

    async def leave(self, *, is_whole: bool) -> None:
        """Free the connection, whatever happens; the last call to an exchange.

        Args:
            is_whole: Whether nothing but the end of the body is missing. It is waited for, but not
                for long, since only then the connection can be used again.
        """
        ...


class Sender(Protocol):
    """An HTTP client with an event loop."""

    async def send(
        self, call: Call, limits: dict[str, float | None], trace: ConnectionTrace
    ) -> Exchange:
        """Send a request once and read the head of the response; redirects are not followed.

        Args:
            call: The request.
            limits: The limits on waiting, in seconds: `connect`, `read`, `write`, `pool`. The limit
                for reads changes once the head is known; the client looks it up at each.
            trace: Learns whether the connection was opened before.
        """
        ...


class BlockingExchange(Protocol):
    """The same as `Exchange` without an event loop."""

    @property
    def status(self) -> int: ...

    @property
    def headers(self) -> dict[str, str]: ...

    @property
    def chunks(self) -> Iterator[bytes]: ...

    def leave(self, *, is_whole: bool) -> None:
        """Free the connection, whatever happens; the last call to an exchange."""
        ...


class BlockingSender(Protocol):
    """The same as `Sender` without an event loop."""

    def send(
        self, call: Call, limits: dict[str, float | None], trace: ConnectionTrace
    ) -> BlockingExchange:
        """Send a request once and read the head of the response; redirects are not followed."""
        ...


async def exhaust(chunks: AsyncIterator[bytes]) -> None:
    """Read a body to its end, or to an exception: the response was complete before."""
    with suppress(Exception):
        async for _ in chunks:
            pass


async def end_chunks(chunks: AsyncIterator[bytes]) -> None:
    """End the generators that read a body from a connection that is closed.

    They may still be in the middle of a read. The garbage collector would close them later, with
    tasks and warnings. Reading once more from the closed connection ends them now.
    """
    with anyio.move_on_after(DRAIN_S, shield=True):
        await exhaust(chunks)
