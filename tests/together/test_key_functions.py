"""Runs whose model gets its key from a function, in both drivers."""

from __future__ import annotations

import anyio
import pytest

from agentkit_core import FailureKind
from agentkit_loop import Agent, TurnEnd
from agentkit_providers import HttpModel, UnusableKey, connect
from agentkit_providers.replay import Answer, openai_chat
from support.vendor import Vendor

URL = "http://vendor.example/v1"
KEY = "token-0123456789"


async def later() -> str:
    await anyio.sleep(0)
    return KEY


def plain() -> str:
    return KEY


async def test_vp15_a_run_fetches_its_key_and_once_more_where_it_is_refused() -> None:
    for function in (plain, later):
        vendor = Vendor([Answer.error(401), openai_chat.text("ok")])
        model = connect("azure:m", base_url=URL, api_key=function, client=vendor.client())

        assert (await Agent(model=model).run("hi")).text == "ok"
        assert [request.headers["api-key"] for request in vendor.requests] == [KEY, KEY]


def blocking(vendor: Vendor, function: object) -> HttpModel:
    client = vendor.blocking_client()
    return connect("azure:m", base_url=URL, api_key=function, client=client)  # type: ignore[arg-type]


def test_vp15_a_blocking_run_takes_a_plain_function_and_refuses_an_async_one() -> None:
    vendor = Vendor([openai_chat.text("ok")])

    assert Agent(model=blocking(vendor, plain)).run_blocking("hi").text == "ok"
    with pytest.raises(UnusableKey, match="asynchronous"):
        Agent(model=blocking(vendor, later)).run_blocking("hi")
    assert len(vendor.requests) == 1


def test_vp15_a_function_that_raises_ends_the_turn_as_a_failure() -> None:
    def failing() -> str:
        raise RuntimeError("no token")

    result = Agent(model=blocking(Vendor([]), failing)).run_blocking("hi")

    assert result.end is TurnEnd.ERROR
    assert result.failure is not None
    assert result.failure.kind is FailureKind.AUTH
    assert "RuntimeError: no token" in result.failure.message
