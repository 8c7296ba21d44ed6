"""Fixtures for the tests of agentkit-providers: replay servers, models at them, requests."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
import trio

from agentkit_core import Item, ModelOptions, ModelRequest, Timeouts
from agentkit_core.provider import ModelEvent
from agentkit_providers import Endpoint, HttpModel
from agentkit_providers.replay import ReplayServer, Script
from support.tiny_chat import TinyChat


@pytest.fixture
def serve() -> Iterator[Callable[[Script], ReplayServer]]:
    """Starts replay servers, and stops them after the test."""
    with ExitStack() as stack:
        yield lambda script: stack.enter_context(ReplayServer(script))


@pytest.fixture
def tiny() -> Callable[..., HttpModel]:
    """Makes a model of an unknown provider at a server."""

    def make(server: ReplayServer, **options: Any) -> HttpModel:
        row = Endpoint(name="tiny", base_url=server.url, key_required=False)
        return HttpModel("m", endpoint=row, projection=TinyChat(), **options)

    return make


@pytest.fixture
def ask() -> Callable[..., ModelRequest]:
    """Makes a request, with limits on waiting where a test needs them."""

    def make(*, streamed: bool = True, **timeouts: float | None) -> ModelRequest:
        options = ModelOptions(timeouts=Timeouts(**timeouts))
        items = (Item.user("hello"),)
        return ModelRequest(model="m", items=items, options=options, streamed=streamed)

    return make


@pytest.fixture(params=["asyncio", "trio", "blocking"])
def batches(request: pytest.FixtureRequest) -> Callable[..., list[tuple[ModelEvent, ...]]]:
    """Sends a request and collects the batches of the response, with and without an event loop."""

    async def read(model: HttpModel, asked: ModelRequest) -> list[tuple[ModelEvent, ...]]:
        return [events async for events in model.stream(asked)]

    def with_asyncio(model: HttpModel, asked: ModelRequest) -> list[tuple[ModelEvent, ...]]:
        return asyncio.run(read(model, asked))

    def with_trio(model: HttpModel, asked: ModelRequest) -> list[tuple[ModelEvent, ...]]:
        return trio.run(read, model, asked)

    def without_a_loop(model: HttpModel, asked: ModelRequest) -> list[tuple[ModelEvent, ...]]:
        return list(model.stream_blocking(asked))

    return {"asyncio": with_asyncio, "trio": with_trio, "blocking": without_a_loop}[request.param]
