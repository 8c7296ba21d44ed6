"""One request and its response as our own HTTP client takes them: addresses, headers, framing.

Shared by the client for event loops and the one without.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final, NamedTuple

import httpcore

from agentkit_providers._protocol_kit._encoded_request import BLOCK_BYTES, RequestBody
from agentkit_providers.transport._call import Call

_PLAIN_URL: Final = re.compile(
    r"(?P<scheme>https?)://"
    r"(?P<host>[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])"
    r"(?::(?P<port>[0-9]{1,5}))?"
    r"(?P<target>(?:/(?:[\w!$&'()*+,;=:@~.-]|%[0-9A-Fa-f]{2})*)*"
    r"(?:\?(?:[\w!$&'()*+,;=:@~.?/-]|%[0-9A-Fa-f]{2})*)?)",
    re.ASCII,
)
_DOT_SEGMENT: Final = re.compile(r"/\.{1,2}(?:/|$)")
_PORTS: Final = {"http": 80, "https": 443}
_NO_BODY_METHODS: Final = frozenset({"GET", "HEAD", "DELETE", "OPTIONS", "TRACE"})
_NO_BODY_STATUSES: Final = frozenset({204, 304})


class Target(NamedTuple):
    """Where a request goes.

    Attributes:
        url: The URL as httpcore takes it.
        origin: Scheme, host and port.
        server: The same as a key of dictionaries.
        host_header: The value of the header `host`.
    """

    url: httpcore.URL
    origin: httpcore.Origin
    server: tuple[str, str, int]
    host_header: bytes

    def __repr__(self) -> str:
        return f"Target({self.server!r})"  # the query may hold a key


@lru_cache(maxsize=256)
def plain_target(url: str) -> Target | None:
    """Split a URL.

    Returns:
        Its parts. None for URLs that must be changed before they can be sent, for example because
        of characters that need escaping, or that hold a password; httpx knows how.
    """
    match = _PLAIN_URL.fullmatch(url)
    if match is None or _DOT_SEGMENT.search(match["target"].partition("?")[0]):
        return None
    scheme, host = match["scheme"], match["host"].lower()
    default_port = _PORTS[scheme]
    port = int(match["port"] or default_port)
    if not 0 < port < 65536:
        return None
    target = match["target"]
    parsed = httpcore.URL(
        scheme=scheme,
        host=host.strip("[]"),
        port=port,
        target=target if target.startswith("/") else f"/{target}",
    )
    host_header = host if port == default_port else f"{host}:{port}"
    return Target(parsed, parsed.origin, (scheme, host, port), host_header.encode())


def target_of(url: str) -> Target:
    """Split a URL that is plain, see `plain_target`."""
    target = plain_target(url)
    if target is None:
        raise ValueError("the URL must be changed before it can be sent, which httpx does")
    return target


class _Blocks:
    """A body that is sent block by block, over connections of both kinds.

    Not an asynchronous generator, which a cancelled write would leave open.
    """

    def __init__(self, body: RequestBody) -> None:
        self._body = body

    def __iter__(self) -> Iterator[bytes]:
        return self._body.blocks()

    def __aiter__(self) -> _AsyncBlocks:
        return _AsyncBlocks(self._body.blocks())


class _AsyncBlocks:
    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks = blocks

    def __aiter__(self) -> _AsyncBlocks:
        return self

    async def __anext__(self) -> bytes:
        for block in self._blocks:
            return block
        raise StopAsyncIteration


def build_request(call: Call, target: Target, limits: dict[str, float | None]) -> httpcore.Request:
    """Build the request of a call.

    Args:
        call: The call.
        target: Where it goes.
        limits: The limits on waiting, in seconds; httpcore looks each up when it begins to wait.
    """
    given = call.headers
    headers = [(name.encode("ascii"), value.encode("ascii")) for name, value in given.items()]
    if "host" not in given:
        headers.insert(0, (b"host", target.host_header))
    if "connection" not in given:
        headers.append((b"connection", b"keep-alive"))
    has_length = "content-length" in given or "transfer-encoding" in given
    if not has_length and (call.body.size or call.method.upper() not in _NO_BODY_METHODS):
        headers.append((b"content-length", b"%d" % call.body.size))
    extensions = {"timeout": limits}
    content = _Blocks(call.body) if call.body.size > BLOCK_BYTES else call.body.whole()
    request = httpcore.Request(call.method, target.url, content=content, extensions=extensions)
    request.headers = headers  # as an argument, they would be looked through once more
    return request


def readable_headers(headers: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Decode the headers of a response: names in lower case, values of one name joined by ", "."""
    decoded: dict[str, str] = {}
    for raw_name, raw_value in headers:
        name = raw_name.decode("latin-1").lower()
        try:
            value = raw_value.decode()
        except UnicodeDecodeError:
            value = raw_value.decode("latin-1")
        decoded[name] = f"{decoded[name]}, {value}" if name in decoded else value
    return decoded


def is_chunked(method: str, status: int, headers: dict[str, str]) -> bool:
    """Whether the parser reads the body in chunks; it takes no transfer coding besides them."""
    if method.upper() in ("HEAD", "CONNECT") or status in _NO_BODY_STATUSES:
        return False
    return "transfer-encoding" in headers
