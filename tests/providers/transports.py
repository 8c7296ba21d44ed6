"""Asks a model in each way that there is: event loops, blocking calls, and HTTP clients."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, NamedTuple, TypeVar

import pytest
import trio

from agentkit_core import ModelRequest, ModelResponse
from agentkit_core.provider import ModelEvent
from agentkit_providers import HttpModel
from agentkit_providers.model._callers_client import CallersClient

T = TypeVar("T")
Batch = tuple[ModelEvent, ...]


class Transport(NamedTuple):
    """A way to send requests and read responses.

    Attributes:
        backend: `asyncio`, `trio`, or `blocking` for no event loop.
        client: `default`, or the library that the caller's client is of.
    """

    backend: str
    client: str

    def __call__(self, model: HttpModel, request: ModelRequest) -> list[Batch]:
        """Send a request and collect the batches of the response."""

        async def read() -> list[Batch]:
            return [events async for events in model.stream(request)]

        return self._run(model, read, lambda: list(model.stream_blocking(request)))

    def ask_in_turn(
        self, model: HttpModel, request: ModelRequest, *, times: int
    ) -> list[ModelResponse]:
        """Send a request several times over the connections of one client."""

        async def ask() -> list[ModelResponse]:
            return [await model.complete(request) for _ in range(times)]

        return self._run(
            model, ask, lambda: [model.complete_blocking(request) for _ in range(times)]
        )

    def _run(
        self, model: HttpModel, ask: Callable[[], Awaitable[T]], ask_blocking: Callable[[], T]
    ) -> T:
        if self.client == "default":
            return ask_blocking() if self.backend == "blocking" else self._in_loop(ask)
        library = pytest.importorskip(self.client)
        if self.backend == "blocking":
            with library.Client(trust_env=False, verify=False) as client:
                model._client = CallersClient(client)
                return ask_blocking()

        async def ask_with_client() -> T:
            async with library.AsyncClient(trust_env=False, verify=False) as client:
                model._client = CallersClient(client)
                return await ask()

        return self._in_loop(ask_with_client)

    def _in_loop(self, ask: Callable[[], Awaitable[T]]) -> T:
        async def main() -> T:
            return await ask()

        return asyncio.run(main()) if self.backend == "asyncio" else trio.run(main)


@asynccontextmanager
async def pooled_client(library: str, max_connections: int) -> AsyncIterator[Any]:
    """Make a client for an event loop; None for the default one, which has no limit."""
    if library == "default":
        yield None
        return
    module = pytest.importorskip(library)
    limits = module.Limits(max_connections=max_connections)
    async with module.AsyncClient(limits=limits, trust_env=False, verify=False) as client:
        yield client
        assert not client.is_closed


BACKENDS = ("asyncio", "trio", "blocking")
TRANSPORTS = [
    Transport(backend, client) for client in ("default", "httpx", "httpx2") for backend in BACKENDS
]
