"""Connections for event loops: what a read waits for, and that its limit costs next to nothing."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpcore
import pytest

from agentkit_providers.transport._anyio_streams import AnyioStream, AsyncioStream, connect

pytestmark = pytest.mark.anyio

LONG_S = 600.0
SHORT_S = 0.02


@asynccontextmanager
async def connected() -> AsyncIterator[tuple[AnyioStream, socket.socket]]:
    """Open a connection; gives it and its other end, which belongs to the server."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        stream = await connect("127.0.0.1", listener.getsockname()[1], None, LONG_S)
        server, _ = listener.accept()
        with server:
            try:
                yield stream, server
            finally:
                await stream.aclose()


async def test_a_read_gets_what_has_come_and_then_the_end() -> None:
    async with connected() as (stream, server):
        server.sendall(b"hello")
        assert await stream.read(3, LONG_S) == b"hel"
        assert await stream.read(100, LONG_S) == b"lo"
        server.close()
        assert await stream.read(100, LONG_S) == b""


async def test_a_read_that_waits_too_long_has_a_timeout() -> None:
    async with connected() as (stream, _):
        with pytest.raises(httpcore.ReadTimeout), anyio.fail_after(5):
            await stream.read(100, SHORT_S)


async def test_a_shorter_limit_counts_after_a_longer_one() -> None:
    """As the limit between two reads of an answer does after the one for its first byte."""
    async with connected() as (stream, server):
        server.sendall(b"head")
        assert await stream.read(100, LONG_S) == b"head"
        with pytest.raises(httpcore.ReadTimeout), anyio.fail_after(5):
            await stream.read(100, SHORT_S)


async def test_each_read_has_the_whole_limit() -> None:
    async with connected() as (stream, server):
        for _ in range(4):
            async with anyio.create_task_group() as group:

                async def send() -> None:
                    await anyio.sleep(0.03)
                    server.sendall(b"x")

                group.start_soon(send)
                assert await stream.read(100, 0.05) == b"x"


async def test_there_is_no_limit_between_two_reads() -> None:
    """A connection waits for the next request, and a host for as long as it likes."""
    async with connected() as (stream, server):
        server.sendall(b"a")
        assert await stream.read(100, SHORT_S) == b"a"
        await anyio.sleep(SHORT_S * 2)
        server.sendall(b"b")
        assert await stream.read(100, SHORT_S) == b"b"


async def test_what_came_while_the_event_loop_was_busy_is_not_late() -> None:
    async with connected() as (stream, server):

        async def block() -> None:
            server.sendall(b"in time")
            time.sleep(SHORT_S * 2)  # as code of a host may

        async with anyio.create_task_group() as group:
            group.start_soon(block)
            assert await stream.read(100, SHORT_S) == b"in time"
        server.sendall(b"more")
        assert await stream.read(100, LONG_S) == b"more"


async def test_a_cancelled_read_leaves_what_comes_to_the_next() -> None:
    async with connected() as (stream, server):
        with anyio.move_on_after(SHORT_S):
            await stream.read(100, LONG_S)
        server.sendall(b"later")
        assert await stream.read(100, LONG_S) == b"later"


async def test_a_connection_that_is_closed_meanwhile_is_no_timeout() -> None:
    async with connected() as (stream, _), anyio.create_task_group() as group:

        async def close() -> None:
            await anyio.sleep(SHORT_S)
            await stream.aclose()

        group.start_soon(close)
        with pytest.raises(httpcore.ReadError):
            await stream.read(100, LONG_S)


async def test_a_server_that_does_not_listen_is_a_failed_connection() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(httpcore.ConnectError):
        await connect("127.0.0.1", port, None, LONG_S)


@pytest.mark.parametrize("anyio_backend", ["asyncio"])  # trio has no timers apart from scopes
async def test_many_reads_set_one_timer_and_closing_takes_it_back(
    monkeypatch: pytest.MonkeyPatch, anyio_backend: str
) -> None:
    timers: list[asyncio.TimerHandle] = []
    loop = asyncio.get_running_loop()
    call_at = loop.call_at

    def counted(*args: Any, **options: Any) -> asyncio.TimerHandle:
        timers.append(call_at(*args, **options))
        return timers[-1]

    async with connected() as (stream, server):
        assert isinstance(stream, AsyncioStream)
        with monkeypatch.context() as patch:
            patch.setattr(loop, "call_at", counted)
            for _ in range(50):
                server.sendall(b"x")
                await stream.read(100, LONG_S)

        assert len(timers) == 1
        assert not timers[0].cancelled()
    assert timers[0].cancelled()
