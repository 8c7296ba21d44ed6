"""A model server that replays encoded streams over HTTP/1.1, one HTTP chunk for each event.

It runs as a process of its own (`with model_server() as url`). The path selects the dialect, and
the name of the model selects the answer:

    bench-text-N         N text deltas
    bench-paced-N        the same, one each millisecond
    bench-large-N        N text deltas of 10.8 KB
    bench-tool-N         one call of `write` whose arguments come in N deltas; then a short text
    bench-loop-K-P       K rounds of P calls of `add`; then a short text
    bench-sessions-S-N   N text deltas, held back until S requests are open, then ten at a time;
                         each begins with the number of the session, which its prompt says
"""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

from answers import MARK, SHORT, Dialect, large_events, round_events, text_events, write_events

MODEL = re.compile(rb'"model":\s*"bench-(text|large|paced|tool|loop|sessions)-(\d+)(?:-(\d+))?"')
SESSION = re.compile(rb"session (\d{%d})" % len(MARK))
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
END = b"0\r\n\r\n"
NOT_FOUND = b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n"
AT_A_TIME = 10
PATIENCE_S = 60
"""If no further session asks for so long, those that wait are let go."""


def chunks(events: tuple[bytes, ...]) -> list[bytes]:
    """Return each event as one HTTP chunk."""
    return [b"%x\r\n%b\r\n" % (len(event), event) for event in events]


@lru_cache(maxsize=512)
def whole(events: tuple[bytes, ...]) -> bytes:
    return HEAD + b"".join(chunks(events)) + END


class Connection(asyncio.Protocol):
    """Answers the requests of one connection."""

    waiting: dict[tuple[Dialect, int, int], list[Connection]] = {}  # noqa: RUF012
    """Open requests of sessions at once, by dialect, number of sessions, and of deltas."""
    timers: dict[tuple[Dialect, int, int], asyncio.TimerHandle] = {}  # noqa: RUF012
    """For each of them, when those that wait are let go."""

    def __init__(self) -> None:
        self.received = bytearray()
        self.tasks: set[asyncio.Task[None]] = set()
        self.session = MARK.encode()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.received += data
        while (end := self.received.find(b"\r\n\r\n")) >= 0:
            head = bytes(self.received[: end + 4])
            length = re.search(rb"\r\ncontent-length:\s*(\d+)", head, re.IGNORECASE)
            size = len(head) + (int(length[1]) if length else 0)
            if len(self.received) < size:
                return
            body = bytes(self.received[len(head) : size])
            del self.received[:size]
            self.answer(head.split(b" ", 2)[1], body)

    def answer(self, path: bytes, body: bytes) -> None:
        model = MODEL.search(body)
        if model is None:
            self.transport.write(NOT_FOUND)
            return
        path = path.split(b"?")[0]
        dialect: Dialect = "anthropic" if path.endswith(b"/messages") else "openai"
        results = body.count(b'"tool_use_id"' if dialect == "anthropic" else b'"tool_call_id"')
        kind, count, second = model[1], int(model[2]), int(model[3] or 0)
        events = text_events(dialect, SHORT)
        match kind:
            case b"text":
                events = text_events(dialect, count)
            case b"large":
                events = large_events(dialect, count)
            case b"tool" if not results:
                events = write_events(dialect, count)
            case b"loop" if results < count * second:
                events = round_events(dialect, results // second, second)
            case b"paced":
                pieces = [HEAD, *chunks(text_events(dialect, count)), END]
                self.send([self], pieces, pause_s=0.001)
                return
            case b"sessions":
                session = SESSION.search(body)
                self.session = session[1] if session else MARK.encode()
                self.wait(dialect, count, second)
                return
        self.transport.write(whole(events))

    def wait(self, dialect: Dialect, sessions: int, deltas: int) -> None:
        """Answer when as many requests are open as the model's name says."""
        gate = (dialect, sessions, deltas)
        waiting = self.waiting.setdefault(gate, [])
        waiting.append(self)
        if gate in self.timers:
            self.timers.pop(gate).cancel()
        if len(waiting) < sessions:
            loop = asyncio.get_running_loop()
            self.timers[gate] = loop.call_later(PATIENCE_S, self.let_go, waiting)
        else:
            pieces = chunks(text_events(dialect, deltas, MARK))
            joined = [
                b"".join(pieces[at : at + AT_A_TIME]) for at in range(0, len(pieces), AT_A_TIME)
            ]
            self.send(list(waiting), [HEAD, *joined, END], pause_s=0.005)
            waiting.clear()

    @staticmethod
    def let_go(waiting: list[Connection]) -> None:
        """Close connections that wait for others: the column opens too few at once."""
        for connection in waiting:
            connection.transport.abort()
        waiting.clear()

    def send(self, connections: list[Connection], pieces: list[bytes], pause_s: float) -> None:
        """Send each piece to all connections in turn, with the number of each one's session."""

        async def send_all() -> None:
            for piece in pieces:
                for connection in connections:
                    connection.transport.write(piece.replace(MARK.encode(), connection.session))
                await asyncio.sleep(pause_s)

        task = asyncio.get_running_loop().create_task(send_all())
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)


@contextmanager
def model_server() -> Iterator[str]:
    """Run the server in a process of its own; gives its base URL, with `/v1`."""
    with subprocess.Popen([sys.executable, __file__], stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(server.stdout.readline())}/v1"
        finally:
            server.kill()


async def main() -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Connection, "127.0.0.1", 0, backlog=4096)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
