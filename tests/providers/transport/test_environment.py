"""Proxies, certificates, deadlines and keep-alive of our own HTTP clients."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest

from agentkit_core import FailureKind, Item, ModelOptions, ModelRequest, Timeouts
from agentkit_providers import connect
from agentkit_providers.replay import ReplayServer, openai_chat
from agentkit_providers.transport import _clients
from agentkit_providers.transport._environment import is_exempt, tls_context
from providers.transports import Transport


@pytest.fixture(params=[False, True], ids=["default", "left to httpx"])
def over(
    request: pytest.FixtureRequest,
    default_transport: Transport,
    monkeypatch: pytest.MonkeyPatch,
) -> Transport:
    """Our own clients: the default one, and those that we make of httpx for proxies."""
    if request.param:
        monkeypatch.setattr(_clients, "plain_target", lambda url: None)
    return default_transport


ASK = """
import asyncio, sys
from agentkit_core import Item, ModelRequest, Timeouts, ModelOptions
from agentkit_loop import Agent
from agentkit_providers import connect
url, how = sys.argv[1:]
model = connect("compatible:m", base_url=url)
options = ModelOptions(timeouts=Timeouts(connect_s=2, first_byte_s=5))
request = ModelRequest(model="m", items=[Item.user("hi")], options=options)
if how == "run":
    result = Agent(model=model).run_blocking("hi")
    print(result.text or result.error or result.item.failure)
else:
    if how == "async":
        call = asyncio.run(model.complete(request))
    else:
        call = model.complete_blocking(request)
    print(call.failure.message if call.failure else call.item.text)
"""
VARIABLES = {"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR"}


def ask_in_a_process(url: str, how: str, **environment: str) -> str:
    pytest.importorskip("agentkit_loop", reason="asks through an agent too; runs with all packages")

    known = {name: value for name, value in os.environ.items() if name.upper() not in VARIABLES}
    done = subprocess.run(
        [sys.executable, "-c", ASK, url, how],
        capture_output=True,
        text=True,
        check=False,
        env={**known, **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def ask_here(url: str, how: str, **environment: str) -> str:
    """The text of an answer, or of a failure, under these settings and no others."""
    request = ModelRequest(
        model="m",
        items=[Item.user("hi")],
        options=ModelOptions(timeouts=Timeouts(connect_s=2, first_byte_s=5)),
    )
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.upper() in VARIABLES]:
            patch.delenv(name)
        for name, value in environment.items():
            patch.setenv(name, value)
        tls_context.cache_clear()  # a process reads its certificates once
        model = connect("compatible:m", base_url=url)
        if how == "async":
            response = asyncio.run(model.complete(request))
        else:
            response = model.complete_blocking(request)
    tls_context.cache_clear()
    return response.failure.message if response.failure else response.item.text


HARMLESS: list[dict[str, str]] = [
    {"NO_PROXY": "localhost,127.0.0.0/8,127.0.0.1,::1/128", "HTTP_PROXY": "http://127.0.0.1:1"},
    {"no_proxy": "127.0.0.0/8", "http_proxy": "::::"},
    {"NO_PROXY": "*", "ALL_PROXY": "socks5://127.0.0.1:1"},
    {"NO_PROXY": ",,[::1,http://[,:80,*:*,%%", "SSL_CERT_FILE": "/nowhere/x.pem"},
    {"SSL_CERT_DIR": "/nowhere", "HTTPS_PROXY": "what is this"},
    {"SSLKEYLOGFILE": "/nowhere/keys"},
]


@pytest.mark.parametrize("environment", HARMLESS, ids=lambda env: "-".join(env))
@pytest.mark.parametrize("how", ["blocking", "async"])
def test_vp05_what_needs_none_of_the_settings_works(environment: dict[str, str], how: str) -> None:
    with ReplayServer([openai_chat.text("works")]) as server:
        assert ask_here(server.url, how, **environment) == "works"


# A process takes half a second: each way of asking has one setting of each kind, all at once.
@pytest.mark.parametrize("how", ["blocking", "async", "run"])
def test_vp05_a_process_that_starts_with_settings_that_it_does_not_need_works(how: str) -> None:
    harmless = HARMLESS[0] | HARMLESS[3] | HARMLESS[4] | HARMLESS[5] | {"NO_PROXY": "127.0.0.1"}
    with ReplayServer([openai_chat.text("works")]) as server:
        assert ask_in_a_process(server.url, how, **harmless) == "works"


BROKEN: list[tuple[str, str, str]] = [
    ("HTTP_PROXY", "http://[::1", "http"),
    ("HTTP_PROXY", "http://host:99999999", "http"),
    ("http_proxy", "ftp://host:1", "http"),
    ("ALL_PROXY", "http://", "http"),
    ("ALL_PROXY", "socks5://127.0.0.1:1", "http"),
    ("HTTPS_PROXY", "http://a..b:1", "https"),
    ("SSL_CERT_FILE", "/nowhere/x.pem", "https"),
    ("SSL_CERT_FILE", "/etc", "https"),
    ("SSL_CERT_FILE", __file__, "https"),
]


@pytest.mark.parametrize(("variable", "value", "scheme"), BROKEN)
@pytest.mark.parametrize("how", ["blocking", "async"])
def test_vp05_a_setting_that_cannot_be_used_is_named(
    variable: str, value: str, scheme: str, how: str
) -> None:
    assert variable in ask_here(f"{scheme}://127.0.0.1:9", how, **{variable: value})


@pytest.mark.parametrize(
    ("host", "port", "no_proxy", "expected"),
    [
        ("api.example.com", None, "example.com", True),
        ("api.example.com", None, ".example.com", True),
        ("api.example.com", None, "*.example.com", True),
        ("badexample.com", None, "example.com", False),
        ("example.com", 80, "example.com:80", True),
        ("example.com", 81, "example.com:80", False),
        ("10.1.2.3", None, "10.0.0.0/8", True),
        ("11.1.2.3", None, "10.0.0.0/8", False),
        ("::1", 5, "::1/128", True),
        ("::1", 5, "[::1]:5", True),
        ("a.b", None, "x, a.b", True),
        ("a.b", None, "", False),
        ("a.b", None, ". : * .*.", True),
    ],
)
def test_vp05_no_proxy_is_read_as_people_write_it(
    host: str, port: int | None, no_proxy: str, expected: bool
) -> None:
    assert is_exempt(host, port, no_proxy) is expected


@contextmanager
def dripping(start: bytes, drip: bytes) -> Iterator[str]:
    """A server that sends a start, and then a little every 0.1 s."""
    stop = threading.Event()

    def serve(listener: socket.socket) -> None:
        with suppress(OSError):
            connection, _ = listener.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(start)
                while not stop.wait(0.03):
                    connection.sendall(drip)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(2.0)  # on a busy machine, the time may be over before it is asked
        thread = threading.Thread(target=serve, args=(listener,))
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        stop.set()
    thread.join()


STREAM = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"
DRIPS = {
    "headers": (b"HTTP/1.1 200 OK\r\n", b"x-a: b\r\n"),
    "the first line": (b"HTTP/1.1 200 ", b"O"),
    "comments": (STREAM, b": ping\n"),
    "one line": (STREAM, b"d"),
    "an error": (b"HTTP/1.1 500 No\r\ncontent-length: 99999\r\n\r\n", b"x"),
    "a whole answer": (
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99999\r\n\r\n{",
        b" ",
    ),
}


@pytest.mark.parametrize("name", DRIPS)
def test_vs09_the_total_time_holds_however_slowly_bytes_come(
    name: str, over: Transport, ask: Callable[..., ModelRequest]
) -> None:
    with dripping(*DRIPS[name]) as url:
        model = connect("compatible:m", base_url=url)
        began = time.monotonic()
        last: Any = over(model, ask(first_byte_s=10, idle_s=10, total_s=0.3))[-1][-1]

        assert time.monotonic() - began < 2
        if name != "an error":
            assert last.failure.kind is FailureKind.TIMEOUT
            assert "total_s" in last.failure.message


@pytest.mark.parametrize("name", ["headers", "the first line", "an error"])
def test_vs09_the_time_to_the_head_does_not_begin_anew_with_every_byte(
    name: str, over: Transport, ask: Callable[..., ModelRequest]
) -> None:
    with dripping(*DRIPS[name]) as url:
        model = connect("compatible:m", base_url=url)
        began = time.monotonic()
        last: Any = over(model, ask(connect_s=0.2, first_byte_s=0.2))[-1][-1]

        assert time.monotonic() - began < 2
        if name != "an error":
            assert last.failure.kind is FailureKind.TIMEOUT
            assert "first_byte_s" in last.failure.message


def test_vp14_connections_of_our_own_clients_are_kept_alive(
    over: Transport, ask: Callable[..., ModelRequest], monkeypatch: pytest.MonkeyPatch
) -> None:
    options = set()
    real = socket.socket.setsockopt

    def record(self: socket.socket, *values: Any) -> None:
        options.add(values)
        real(self, *values)

    monkeypatch.setattr(socket.socket, "setsockopt", record)
    with ReplayServer([openai_chat.text("hi")]) as server:
        over(connect("compatible:m", base_url=server.url), ask())

    assert (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1) in options
    if hasattr(socket, "TCP_KEEPIDLE"):
        idle = [value for *place, value in options if place[1] == socket.TCP_KEEPIDLE]
        assert idle
        assert max(idle) <= 180
