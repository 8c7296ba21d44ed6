"""The replay server: answers HTTP on loopback by a script, and records the requests.

Runs its own event loop in its own thread, so that it serves blocking and concurrent clients alike.
Uses the standard library only.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import socket
import struct
import threading
from collections.abc import Callable, Iterable, Iterator
from inspect import iscoroutine
from types import TracebackType
from typing import Any, Final

from msgspec import Struct

from agentkit_providers._secrets._in_headers import may_hold_secret
from agentkit_providers.replay._answer import Answer, Cut, Garbage, Reset, Stall

_GARBAGE: Final = b"\x00\x01 this is not HTTP \xff\r\n\r\n"


class Request(Struct, frozen=True, kw_only=True):
    """A request as it arrived.

    Attributes:
        method: The HTTP method.
        path: The path, with its query if there is one. Keys in the query are masked.
        headers: The headers, names in lower case. Where the name is that of a key (`x-api-key`,
            `authorization`, `cookie`), the value is masked by `mask_key`.
        body: The body.
    """

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body as JSON; None where it is empty.

        Raises:
            ValueError: The body is not JSON.
        """
        return json.loads(self.body) if self.body else None

    @property
    def streamed(self) -> bool:
        """Whether the request asks for a stream, in its body or in its path."""
        try:
            body = self.json
        except ValueError:
            body = None
        in_body = isinstance(body, dict) and body.get("stream") is True
        return in_body or "stream" in self.path.partition("?")[0].lower()


def mask_key(value: str) -> str:
    """Mask the value of a header that holds a key, so that it can be compared but not read."""
    return f"masked:{hashlib.sha256(value.encode()).hexdigest()[:16]}"


Script = Iterable[Answer] | Callable[[Request], Answer]
"""Answers in the order of the requests, or a function that returns the answer to each request."""


class ReplayServer:
    """A model server that plays a script; a context manager.

        with ReplayServer([openai_chat.text("hello")]) as server:
            model = connect("compatible:any", base_url=server.url)

    After the last answer of the script, requests get status 500 and a JSON error that says so.
    After the `with` block, all connections are closed and the thread has ended.

    Args:
        script: The answers.
    """

    __slots__ = (
        "__weakref__",
        "_accepted",
        "_ask",
        "_conversations",
        "_loop",
        "_port",
        "_ready",
        "_stop",
        "_thread",
        "_writers",
        "connections",
        "requests",
    )

    def __init__(self, script: Script) -> None:
        self._ask = script if callable(script) else _in_order(iter(script))
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self._conversations: set[asyncio.Task[None]] = set()
        self._accepted: set[socket.socket] = set()  # those that no writer owns yet
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, name="replay-server", daemon=True)
        self._port = 0
        self.requests: list[Request] = []
        """The requests, in the order in which they arrived."""
        self.connections = 0
        """How many connections have been opened so far."""

    @property
    def url(self) -> str:
        """The base URL: `http://127.0.0.1:<port>`."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def open_connections(self) -> int:
        """How many connections are open now, idle ones included."""
        return len(self._accepted) + len(self._writers)

    def __enter__(self) -> ReplayServer:
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._loop is not None and self._stop is not None:
            self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    def _run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        with socket.create_server(("127.0.0.1", 0), backlog=1024) as listener:
            listener.setblocking(False)
            self._port = listener.getsockname()[1]
            # asyncio's own server fails an assertion when it is closed while a client connects.
            self._loop.add_reader(listener, self._accept, listener)
            self._ready.set()
            await self._stop.wait()
            self._loop.remove_reader(listener)
        conversations = list(self._conversations)
        for task in conversations:
            task.cancel()
        await asyncio.gather(*conversations, return_exceptions=True)
        for writer in list(self._writers):
            writer.transport.abort()  # a client that does not read must not delay the end
        for accepted in self._accepted:
            accepted.close()
        await asyncio.sleep(0)

    def _accept(self, listener: socket.socket) -> None:
        try:
            accepted, _ = listener.accept()
        except OSError:
            return  # the client has left again
        accepted.setblocking(False)
        # Otherwise each answer but a connection's first waits for the client's delayed ACK, some
        # 40 ms. asyncio sets it by itself only for sockets that were made with a protocol number.
        accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.connections += 1
        self._accepted.add(accepted)
        task = asyncio.ensure_future(self._converse(accepted))
        self._conversations.add(task)
        task.add_done_callback(self._conversations.discard)

    async def _converse(self, accepted: socket.socket) -> None:
        reader, writer = await asyncio.open_connection(sock=accepted)
        self._accepted.discard(accepted)
        self._writers.add(writer)
        try:
            while (request := await _read(reader)) is not None:
                self.requests.append(request)
                if not await _send(self._answer(request), request, reader, writer):
                    break
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the client has left
        except ValueError:
            writer.write(b"HTTP/1.1 400 Not HTTP\r\nconnection: close\r\n\r\n")
        writer.close()
        self._writers.discard(writer)

    def _answer(self, request: Request) -> Answer:
        try:
            answer: object = self._ask(request)
            if isinstance(answer, Answer):
                return answer
            if iscoroutine(answer):
                answer.close()
            raise TypeError(f"it gave a value of type {type(answer).__name__}; return an Answer")
        except Exception as error:
            message = f"the replay script failed: {type(error).__name__}: {error}"
            return Answer.json({"error": {"message": message, "type": "replay_script"}}, status=500)


def _in_order(answers: Iterator[Answer]) -> Callable[[Request], Answer]:
    count = 0

    def ask(request: Request) -> Answer:
        nonlocal count
        answer = next(answers, None)
        if answer is None:
            message = (
                f"the replay script has ended after {count} answers; add one for this request, "
                f"{request.method} {request.path}"
            )
            return Answer.json({"error": {"message": message, "type": "replay_script"}}, status=500)
        count += 1
        return answer

    return ask


async def _read(reader: asyncio.StreamReader) -> Request | None:
    """Read the next request of a connection; None where there is none."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.decode("latin-1").split("\r\n")[:-2]
    method, path, _ = first.split(" ", 2)
    headers = {}
    for line in lines:
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    shown = {
        name: mask_key(value) if may_hold_secret(name) else value for name, value in headers.items()
    }
    return Request(method=method, path=_shown_path(path), headers=shown, body=body)


def _shown_path(path: str) -> str:
    """The path with masks in place of the keys in its query."""
    path, mark, query = path.partition("?")
    fields = (field.partition("=") for field in query.split("&"))
    shown = (
        f"{name}={mask_key(value)}" if may_hold_secret(name) and sign else f"{name}{sign}{value}"
        for name, sign, value in fields
    )
    return f"{path}{mark}{'&'.join(shown)}"


async def _send(
    answer: Answer, request: Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> bool:
    """Send an answer.

    Returns:
        Whether the connection can take another request.
    """
    fault = answer.fault
    answer = answer.form_for(streamed=request.streamed)
    at_once = fault is not None and fault.after_events is None and fault.after_bytes is None
    if not at_once:
        writer.write(_head(answer))
        for number, piece in enumerate(answer.pieces):
            if number and answer.pace_s:
                await writer.drain()
                await asyncio.sleep(answer.pace_s)
            writer.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        await writer.drain()
    match fault:
        case None:
            writer.write(b"0\r\n\r\n")
            await writer.drain()
            return True
        case Stall():
            await reader.read()  # until the client leaves
        case Garbage():
            writer.write(_GARBAGE)
            await writer.drain()
        case Reset():
            await asyncio.sleep(0.02)  # a reset overtakes what was sent just before it
            linger = struct.pack("ii", 1, 0)
            sock = writer.get_extra_info("socket")
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            writer.transport.abort()
        case Cut():
            pass
    return False


def _head(answer: Answer) -> bytes:
    headers = {
        "content-type": answer.content_type,
        "transfer-encoding": "chunked",
        **answer.headers,
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {answer.status} Replayed\r\n{lines}\r\n".encode("latin-1")
