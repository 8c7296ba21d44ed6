"""The lowest floor: sockets, and chunks of HTTP cut by hand as this server sends them.

No library is this cheap, for it understands no other answer and notices few mistakes.
"""

from __future__ import annotations

import asyncio
import socket
from urllib.parse import urlsplit

from answers import Dialect
from floor import Floor, Reader
from hand_written import Answer, History

READ_BYTES = 65_536
END_OF_HEAD = b"\r\n\r\n"


class Body:
    """Cuts the head from an answer, and its chunks; the data of one read is joined."""

    def __init__(self) -> None:
        self.rest = b""
        self.has_begun = False
        self.needed = 0
        """Bytes of the chunk that has begun, with its line end; 0 before the next size."""
        self.is_complete = False

    def feed(self, read: bytes) -> bytes:
        data = self.rest + read if self.rest else read
        at, end = 0, len(data)
        if not self.has_begun:
            head_end = data.find(END_OF_HEAD)
            if head_end < 0:
                self.rest = data
                return b""
            if b"200 OK" not in data[:head_end]:
                raise SystemExit(f"the server answered {data[:head_end]!r}")
            at, self.has_begun = head_end + len(END_OF_HEAD), True
        found: list[bytes] = []
        while True:
            if not self.needed:
                line_end = data.find(b"\r\n", at)
                if line_end < 0:
                    break
                self.needed = int(data[at:line_end], 16) + 2
                at = line_end + 2
            if end - at < self.needed:
                break
            self.is_complete = self.needed == 2
            found.append(data[at : at + self.needed - 2])
            at, self.needed = at + self.needed, 0
        self.rest = data[at:]
        return b"".join(found)


class SocketFloor(Floor):
    def __init__(self, base_url: str, dialect: Dialect) -> None:
        super().__init__(base_url, dialect)
        self.address = urlsplit(base_url)
        self.idle: list[socket.socket] = []

    async def ask(self, model: str, conversation: History) -> Answer:
        body = self.body(model, conversation)
        head = (
            f"POST {self.address.path}{self.path} HTTP/1.1\r\nhost: {self.address.netloc}\r\n"
            "content-type: application/json\r\nauthorization: Bearer bench-key\r\n"
            f"content-length: {len(body)}\r\n\r\n"
        )
        loop = asyncio.get_running_loop()
        connection = self.idle.pop() if self.idle else await self.connect(loop)
        await loop.sock_sendall(connection, head.encode() + body)
        reader, received = Reader(self.dialect), Body()
        while not received.is_complete:
            read = await loop.sock_recv(connection, READ_BYTES)
            if not read:
                raise SystemExit("the server closed a connection in the middle of an answer")
            reader.feed(received.feed(read))
        self.idle.append(connection)
        return reader.answer

    async def connect(self, loop: asyncio.AbstractEventLoop) -> socket.socket:
        connection = socket.socket()
        connection.setblocking(False)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)
        await loop.sock_connect(connection, (self.address.hostname, self.address.port))
        return connection

    async def close(self) -> None:
        for connection in self.idle:
            connection.close()
