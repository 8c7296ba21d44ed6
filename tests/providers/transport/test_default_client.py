"""The default HTTP client: connections, certificates, what is written, what is left to httpx."""

from __future__ import annotations

import socket
import ssl
import subprocess
import sys
import threading
import time
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
import httpcore
import pytest
from msgspec.structs import replace

from agentkit_core import FailureKind, Item, ModelRequest, ModelResponse, SessionId
from agentkit_providers import Endpoint, HttpModel
from agentkit_providers._protocol_kit._encoded_request import RequestBody
from agentkit_providers.openai_chat import OpenAIChat
from agentkit_providers.replay import Answer, ReplayServer, Script
from agentkit_providers.transport import (
    _blocking_client,
    _clients,
    _concurrent_client,
    _environment,
    _wire_exchange,
)
from agentkit_providers.transport._network_streams import BlockingJoiningStream, JoiningStream
from providers.transports import Transport
from support.tiny_chat import TinyChat, tiny_answer

Serve = Callable[[Script], ReplayServer]
Make = Callable[..., HttpModel]
Ask = Callable[..., ModelRequest]

CERTIFICATE = Path(__file__).with_name("localhost.pem")
"""A certificate for localhost, 127.0.0.1 and ::1 that nobody else believes, and its key."""

ANSWER = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
    b'16\r\ndata: {"text": "a"}\n\n\n\r\n0b\r\ndata: END\n\n\r\n0\r\n\r\n'
)


@pytest.fixture(autouse=True)
def fresh_blocking_client(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Give each test a blocking client of its own; event loops have theirs anyway."""
    monkeypatch.setattr(_clients, "_blocking", {})
    yield
    _clients._close_blocking_clients()


def tiny_at(url: str) -> HttpModel:
    row = Endpoint(name="tiny", base_url=url, key_required=False)
    return HttpModel("m", endpoint=row, projection=TinyChat())


@contextmanager
def server_of_sockets(
    serve: Callable[[socket.socket], None], *, family: int = socket.AF_INET
) -> Iterator[int]:
    """Serve connections one after another; gives the port."""
    host = "::1" if family == socket.AF_INET6 else "127.0.0.1"
    listener = socket.create_server((host, 0), family=family)

    def accept() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                with connection, suppress(OSError):
                    serve(connection)

    thread = threading.Thread(target=accept)
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        _clients._close_blocking_clients()  # so that the thread does not wait for their requests
        # Wakes the thread up, which closing alone does not.
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()


def answer_once(connection: socket.socket, answer: bytes = ANSWER) -> bytes:
    """Read a request that has a body, and answer it; returns the head."""
    received = b""
    while not received.endswith(b"}"):
        data = connection.recv(65536)
        if not data:
            return received
        received += data
    connection.sendall(answer)
    return received.partition(b"\r\n\r\n")[0]


def text_or_message(response: ModelResponse) -> str:
    return response.failure.message if response.failure else response.item.text


# Connections that wait.


def test_idle_connections_beyond_the_limit_are_closed(
    default_transport: Transport, serve: Serve, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (_concurrent_client, _blocking_client):
        monkeypatch.setattr(module, "MAX_IDLE", 2)
    together = threading.Barrier(5)

    def answer(request: object) -> Answer:
        return tiny_answer("a").with_pace(0.1)

    server = serve(answer)
    model = tiny_at(server.url)
    if default_transport.backend == "blocking":

        def one() -> None:
            together.wait()
            model.complete_blocking(ask())

        threads = [threading.Thread(target=one) for _ in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        give_up_at = time.monotonic() + 5
        while server.open_connections > 2 and time.monotonic() < give_up_at:
            time.sleep(0.005)
        assert server.open_connections == 2
        return

    async def main() -> None:
        async with anyio.create_task_group() as group:
            for _ in range(5):
                group.start_soon(model.complete, ask())
        with anyio.fail_after(5):
            while server.open_connections > 2:
                await anyio.sleep(0.005)
        assert server.open_connections == 2

    anyio.run(main, backend=default_transport.backend)
    assert server.connections == 5


def test_a_connection_that_was_idle_for_too_long_is_closed(
    default_transport: Transport, serve: Serve, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (_concurrent_client, _blocking_client):
        monkeypatch.setattr(module, "IDLE_S", 0.0)
    server = serve([tiny_answer("a")] * 3)

    default_transport.ask_in_turn(tiny_at(server.url), ask(), times=3)

    assert server.connections == 3


@pytest.mark.parametrize("status", [200, 429])
def test_a_connection_is_used_again_also_after_an_error(
    status: int, default_transport: Transport, serve: Serve, ask: Ask
) -> None:
    answer = tiny_answer("a") if status == 200 else Answer.error(status)
    server = serve([answer] * 3)

    default_transport.ask_in_turn(tiny_at(server.url), ask(), times=3)

    assert server.connections == 1


def test_a_connection_with_bytes_that_belong_to_no_response_is_not_used_again(
    default_transport: Transport, ask: Ask
) -> None:
    """Else they would be taken for the answer to the next request."""
    junk = b"HTTP/1.1 204 Nothing\r\n\r\n" + ANSWER
    heads: list[bytes] = []

    def serve(connection: socket.socket) -> None:
        while head := answer_once(connection, junk if not heads else ANSWER):
            heads.append(head)
            if len(heads) == 2:
                break

    with server_of_sockets(serve) as port:
        model = tiny_at(f"http://127.0.0.1:{port}")
        first, second = default_transport.ask_in_turn(model, ask(), times=2)

    assert first.failure is not None
    assert second.item.text == "a"
    assert len(heads) == 2


def test_a_connection_that_the_server_closes_without_a_word_is_not_used_again(
    default_transport: Transport, ask: Ask
) -> None:
    """Also where nobody looks at the socket before the request is on its way."""
    heads: list[bytes] = []
    with server_of_sockets(lambda connection: heads.append(answer_once(connection))) as port:
        model = tiny_at(f"http://127.0.0.1:{port}")
        said = default_transport.ask_in_turn(model, ask(), times=4)

    assert [text_or_message(response) for response in said] == ["a"] * 4
    assert len([head for head in heads if head]) == 4


# Certificates.


@contextmanager
def trusting(monkeypatch: pytest.MonkeyPatch, **variables: str) -> Iterator[None]:
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    _environment.tls_context.cache_clear()
    yield
    _environment.tls_context.cache_clear()


@contextmanager
def tls_server() -> Iterator[int]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)

    def serve(connection: socket.socket) -> None:
        with context.wrap_socket(connection, server_side=True) as secure:
            while answer_once(secure):
                pass

    with server_of_sockets(serve) as port:
        yield port


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_servers_are_believed_whose_certificate_ssl_cert_file_has(
    host: str, default_transport: Transport, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    with tls_server() as port, trusting(monkeypatch, SSL_CERT_FILE=str(CERTIFICATE)):
        model = tiny_at(f"https://{host}:{port}")
        said = default_transport.ask_in_turn(model, ask(), times=2)

    assert [text_or_message(response) for response in said] == ["a", "a"]


def test_a_certificate_that_nobody_vouches_for_is_refused(
    default_transport: Transport, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    with tls_server() as port, trusting(monkeypatch):
        model = tiny_at(f"https://localhost:{port}")
        (response,) = default_transport.ask_in_turn(model, ask(), times=1)

    assert response.failure is not None
    assert response.failure.kind is FailureKind.CONNECTION
    assert "CERTIFICATE_VERIFY_FAILED" in response.failure.message


def test_a_certificate_for_another_name_is_refused(
    default_transport: Transport, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    with tls_server() as port, trusting(monkeypatch, SSL_CERT_FILE=str(CERTIFICATE)):
        monkeypatch.setattr(socket, "getaddrinfo", _everything_is_here(socket.getaddrinfo))
        model = tiny_at(f"https://other.example:{port}")
        (response,) = default_transport.ask_in_turn(model, ask(), times=1)

    assert response.failure is not None
    assert "CERTIFICATE_VERIFY_FAILED" in response.failure.message
    assert "SSL_CERT_FILE" in response.failure.message


def _everything_is_here(real: Callable[..., Any]) -> Callable[..., Any]:
    def lookup(host: Any, *rest: Any, **options: Any) -> Any:
        return real("127.0.0.1", *rest, **options)

    return lookup


async def test_x04_cancelling_a_handshake_closes_the_connection(ask: Ask) -> None:
    ended = threading.Event()

    def serve(connection: socket.socket) -> None:
        connection.settimeout(5)
        while connection.recv(65536):
            pass
        ended.set()

    with server_of_sockets(serve) as port:
        with anyio.move_on_after(0.1) as scope:
            await tiny_at(f"https://127.0.0.1:{port}").complete(ask())
        assert scope.cancelled_caught
        with anyio.fail_after(5):
            while not ended.is_set():
                await anyio.sleep(0.005)


# Addresses.


def test_an_address_may_be_of_ipv6(default_transport: Transport, ask: Ask) -> None:
    heads: list[bytes] = []
    try:
        with server_of_sockets(
            lambda connection: heads.append(answer_once(connection)), family=socket.AF_INET6
        ) as port:
            model = tiny_at(f"http://[::1]:{port}")
            (response,) = default_transport.ask_in_turn(model, ask(), times=1)
    except OSError:
        pytest.skip("there is no IPv6 here")

    assert response.item.text == "a"
    assert f"host: [::1]:{port}".encode() in heads[0].lower()


def test_a_password_in_the_address_is_sent(
    default_transport: Transport, serve: Serve, ask: Ask
) -> None:
    heads: list[bytes] = []
    with server_of_sockets(lambda connection: heads.append(answer_once(connection))) as port:
        model = tiny_at(f"http://user:pass@127.0.0.1:{port}")
        (response,) = default_transport.ask_in_turn(model, ask(), times=1)

    assert response.item.text == "a"
    assert b"authorization: basic " + b64encode(b"user:pass").lower() in heads[0].lower()


def test_a_header_of_the_callers_replaces_the_clients(
    default_transport: Transport, serve: Serve, tiny: Make, ask: Ask
) -> None:
    server = serve([tiny_answer("a")])

    default_transport(tiny(server, headers={"Host": "other", "Connection": "close"}), ask())

    assert server.requests[0].headers["host"] == "other"
    assert server.requests[0].headers["connection"] == "close"


def test_requests_through_a_proxy_of_the_environment(
    default_transport: Transport, serve: Serve, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy = serve([tiny_answer("from the proxy")])
    for name in ("NO_PROXY", "no_proxy", "http_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HTTP_PROXY", proxy.url)

    model = tiny_at("http://nowhere.example/v1")
    (response,) = default_transport.ask_in_turn(model, ask(), times=1)

    assert response.item.text == "from the proxy"
    assert proxy.requests[0].path == "http://nowhere.example/v1/tiny"


PROGRAM = """
import asyncio, sys
from agentkit_core import Item, ModelRequest
from agentkit_providers import connect
model = connect("compatible:m", base_url=sys.argv[1])
request = ModelRequest(model="m", items=[Item.user("hi")])
assert model.complete_blocking(request).failure is None
assert asyncio.run(model.complete(request)).failure is None
print("httpx" in sys.modules)
"""


def test_httpx_is_not_imported_where_it_is_not_needed() -> None:
    from agentkit_providers.replay import openai_chat

    with ReplayServer([openai_chat.text("a")] * 2) as server:
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, server.url],
            capture_output=True,
            text=True,
            check=True,
            env={"NO_PROXY": "127.0.0.1"},
        )

    assert done.stdout.strip() == "False"


def test_no_module_is_looked_for_at_each_request(
    default_transport: Transport, serve: Serve, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Looking for one that is not installed, such as sniffio, takes 0.1 ms each time."""
    missing: list[str] = []

    class Finder:
        def find_spec(self, name: str, *_: object) -> None:
            missing.append(name)
            if name == "sniffio":
                raise ModuleNotFoundError(name)

    counts: list[int] = []

    def answer(request: object) -> Answer:
        counts.append(len(missing))
        return tiny_answer("a")

    server = serve(answer)
    if default_transport.backend != "trio":  # which needs it
        monkeypatch.delitem(sys.modules, "sniffio", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Finder(), *sys.meta_path])
    default_transport.ask_in_turn(tiny_at(server.url), ask(), times=4)

    assert counts[1] == counts[3] == len(missing), missing


# What is written.


class AsyncRecording(httpcore.AsyncNetworkStream):
    def __init__(self, written: list[bytes]) -> None:
        self._written = written

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return ANSWER

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._written.append(buffer)


class BlockingRecording(httpcore.NetworkStream):
    def __init__(self, written: list[bytes]) -> None:
        self._written = written

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return ANSWER

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._written.append(buffer)


def written_for(backend: str, body: Any, size: int | None = None) -> list[bytes]:
    written: list[bytes] = []
    origin = httpcore.Origin(b"http", b"h", 80)
    headers = [("host", "h"), ("content-length", str(len(body) if size is None else size))]
    request = httpcore.Request("POST", "http://h/", headers=headers, content=body)
    if backend == "blocking":
        blocking = httpcore.HTTP11Connection(
            origin, BlockingJoiningStream(BlockingRecording(written))
        )
        blocking.handle_request(request)
        return written

    async def main() -> None:
        connection = httpcore.AsyncHTTP11Connection(origin, JoiningStream(AsyncRecording(written)))
        await connection.handle_async_request(request)

    anyio.run(main, backend=backend)
    return written


def test_head_and_body_of_a_small_request_are_one_write(default_transport: Transport) -> None:
    (whole,) = written_for(default_transport.backend, b"small")

    assert whole.startswith(b"POST / HTTP/1.1\r\n")
    assert whole.endswith(b"\r\n\r\nsmall")


def test_a_large_body_is_written_as_it_is(default_transport: Transport) -> None:
    body = b"x" * 5_000_000
    head, sent = written_for(default_transport.backend, body)

    assert head.endswith(b"\r\n\r\n")
    assert sent is body


def test_a_long_piece_is_written_before_the_next_is_made(default_transport: Transport) -> None:
    """A body of many blocks is never in memory as a whole."""
    body = RequestBody([b"x" * 1_000] * 2_000)
    blocks = list(body.blocks())
    head, *sent = written_for(default_transport.backend, _wire_exchange._Blocks(body), body.size)

    assert head.endswith(b"\r\n\r\n")
    assert len(blocks) > 1
    assert sent == blocks


def test_a_long_history_arrives_as_it_is_encoded(
    default_transport: Transport, serve: Serve, ask: Ask
) -> None:
    server = serve([Answer.error(500)])
    vendor = Endpoint(name="vendor", base_url=server.url, key_required=False)
    projection = OpenAIChat("vendor")
    model = HttpModel("m", endpoint=vendor, projection=projection)
    request = replace(ask(), items=(Item.user("x" * 700_000), Item.assistant("y" * 700_000)) * 2)

    async def respond() -> None:
        async for _ in model.open(SessionId("s")).respond(request):
            pass

    if default_transport.backend == "blocking":
        list(model.open_blocking(SessionId("s")).respond(request))
    else:
        anyio.run(respond, backend=default_transport.backend)
    assert server.requests[0].body == projection.encode(request).body


def test_a_large_request_arrives_whole(
    default_transport: Transport, serve: Serve, tiny: Make
) -> None:
    server = serve([tiny_answer("a")])
    text = "é" * 2_000_000

    default_transport(tiny(server), ModelRequest(model="m", items=[Item.user(text)]))

    assert server.requests[0].json["say"] == text
