"""Fixtures for the tests of agentkit-providers: replay servers, models at them, requests."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from agentkit_core import Item, ModelOptions, ModelRequest, Timeouts
from agentkit_providers import Endpoint, HttpModel
from agentkit_providers.replay import ReplayServer, Script
from providers.transports import BACKENDS, TRANSPORTS, Transport
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


@pytest.fixture(
    params=[
        pytest.param(one, marks=pytest.mark.slow if one.client == "httpx2" else ())
        for one in TRANSPORTS
    ],
    ids=lambda one: f"{one.backend}-{one.client}",
)
def batches(request: pytest.FixtureRequest) -> Transport:
    """Sends a request and collects the batches of the response, in each way that there is."""
    transport: Transport = request.param
    return transport


@pytest.fixture(params=BACKENDS)
def default_transport(request: pytest.FixtureRequest) -> Transport:
    """The same with the default client only."""
    return Transport(request.param, "default")
