"""What the transports decide, without doing any I/O: limits on waiting, and how things end.

A transport reads bytes and hands them to a `Reading`, which answers with batches of events.
Whatever goes wrong on the network becomes the last event of the answer.

    limit          counts                                          kept by
    connect_s      until the connection stands                     the HTTP client
    first_byte_s   from the sent request to the answer's headers   the HTTP client
    idle_s         between two reads of a streamed body            the HTTP client
    no_content_s   between two pieces of content                   `Reading.deadline`
    total_s        the whole call                                  `Reading.deadline`

A server that sends its headers at once and then thinks is held to `idle_s` from there on, as
most are that send comments meanwhile. A client with a transport that is not httpx's own may read
its limits but once; there `first_byte_s` holds for the body too.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from msgspec.structs import replace

from agentkit_core import FailureKind, ProviderFailure
from agentkit_core.provider import (
    ModelEvent,
    ResponseDecoder,
    ResponseFailed,
    ResponseFinished,
    ResponseStarted,
    UsageReported,
)
from agentkit_providers.failures._classify import RETRYABLE_KINDS, scrubbed
from agentkit_providers.transport._call import Call

MAX_ERROR_BODY: Final = 64 * 1024
"""How much of an error answer is read, in bytes."""

DRAIN_S: Final = 0.25
"""How long to wait, after the answer's end mark, for the end of the body, in seconds. A body that
was read to its end leaves a connection that can be used again."""

_GZIP_OR_ZLIB: Final = 32 + zlib.MAX_WBITS
_REQUEST_IDS: Final = ("x-request-id", "request-id", "apim-request-id", "x-amzn-requestid")
_NOT_CONTENT: Final = frozenset({ResponseStarted, UsageReported, ResponseFinished, ResponseFailed})

_FAILURES: Final[Mapping[str, FailureKind]] = {
    "ConnectTimeout": FailureKind.TIMEOUT,
    "PoolTimeout": FailureKind.TIMEOUT,
    "WriteTimeout": FailureKind.TIMEOUT,
    "ReadTimeout": FailureKind.TIMEOUT,
    "LocalProtocolError": FailureKind.INVALID_REQUEST,
    "TransportError": FailureKind.CONNECTION,
    "OSError": FailureKind.CONNECTION,
    "BrokenResourceError": FailureKind.CONNECTION,
    "ClosedResourceError": FailureKind.CONNECTION,
    "EndOfStream": FailureKind.CONNECTION,
}
"""Exceptions of the network by the name of their class, nearest class first. Names, for clients
of httpx's successors have classes of their own under the same names."""


_SILENT_ENDS: Final = frozenset({FailureKind.CONNECTION})
"""What it looks like when a server has closed a connection before it answered."""

MOST_SENT: Final = 4
"""How often a request is sent at most, when connections turn out to be closed."""


def _failure_of(error: Exception) -> FailureKind | None:
    """What kind of mishap of the network an exception is; None for a mistake here."""
    names = (one.__name__ for one in type(error).__mro__)
    return next((_FAILURES[name] for name in names if name in _FAILURES), None)


class Deadline(NamedTuple):
    """When one of our own limits passes."""

    at: float
    """On the transport's monotonic clock, in seconds."""
    limit: str
    """The field of `Timeouts`."""


class Way:
    """Notes how a request travels: on a connection of its own, or on one that was there.

    Its `note` and `note_later` are trace functions of the HTTP client. A client that does not
    trace tells nothing, and then nothing is taken for reused.
    """

    def __init__(self) -> None:
        self._opened = False
        self._sent = False

    @property
    def was_reused(self) -> bool:
        """Whether the request was sent on a connection that had been opened before."""
        return self._sent and not self._opened

    def note(self, event: str, info: object) -> None:
        """Take note of an event of the HTTP client, without an event loop."""
        if event.startswith("connection.connect_"):
            self._opened = True
        elif event.endswith(".send_request_headers.started"):
            self._sent = True

    async def note_later(self, event: str, info: object) -> None:
        """Take note of an event of the HTTP client."""
        self.note(event, info)


class Reading:
    """What has come of one answer so far; turns bytes and mishaps into events.

    Args:
        call: The request that is answered.
        now: The transport's monotonic clock, in seconds.
    """

    def __init__(self, call: Call, now: float) -> None:
        self._call = call
        self._decoder: ResponseDecoder | None = None
        self._feed: Callable[[bytes], tuple[ModelEvent, ...]]
        self._request_id: str | None = None
        self._inflate: zlib._Decompress | None = None
        self._content = False
        self._headers_came = False
        self._content_at = now
        self._total_at = None if call.timeouts.total_s is None else now + call.timeouts.total_s
        self.ended = False
        """Whether the last event has been given out."""
        self.watched = call.timeouts.total_s is not None or call.timeouts.no_content_s is not None
        """Whether there are limits that the HTTP client does not keep."""
        self.limits: dict[str, float | None] = {
            "connect": self._shortest(call.timeouts.connect_s),
            "pool": self._shortest(call.timeouts.first_byte_s),
            "write": self._shortest(call.timeouts.first_byte_s),
            "read": self._shortest(call.timeouts.first_byte_s),
        }
        """The HTTP client's limits, in seconds, to be given to it as this very dict: it looks
        them up when each phase begins, and `opened` changes the one for reading."""

    def _shortest(self, limit_s: float | None) -> float | None:
        limits = (limit_s, self._call.timeouts.total_s)
        return min((one for one in limits if one is not None), default=None)

    def opened(self, status: int, headers: Mapping[str, str], now: float) -> bool:
        """Take note of the answer's head; say whether its body is the model's answer.

        Args:
            status: The HTTP status.
            headers: Their names in lower case.
            now: The transport's clock.
        """
        self._headers_came = True
        self._content_at = now
        self._request_id = next((headers[one] for one in _REQUEST_IDS if one in headers), None)
        if headers.get("content-encoding", "identity").lower() != "identity":
            self._inflate = zlib.decompressobj(_GZIP_OR_ZLIB)
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if not 200 <= status < 300 or kind == "text/html":
            return False
        # What came counts, not what was asked for: some servers do not know how to stream.
        streamed = {"text/event-stream": True, "application/json": False}.get(
            kind, self._call.streamed
        )
        limits = self._call.timeouts
        self.limits["read"] = self._shortest(limits.idle_s if streamed else limits.first_byte_s)
        if limits.no_content_s is not None and self.limits["read"] is not None:
            self.limits["read"] = min(self.limits["read"], limits.no_content_s)
        self._decoder = self._call.decoder(streamed)
        self._feed = self._inflating(self._decoder)
        return True

    def feed(self, chunk: bytes, now: float = 0.0) -> tuple[ModelEvent, ...]:
        """Take the next bytes of the body; return what they complete, maybe nothing.

        Args:
            chunk: As it came from the network, compressed or not.
            now: The transport's clock; read only where `watched`.
        """
        events = self._feed(chunk)
        if not events:
            return events
        last = type(events[-1])
        if last is ResponseFinished or last is ResponseFailed:
            return self._last(events)
        looked_for = self.watched or not self._content
        if looked_for and any(type(event) not in _NOT_CONTENT for event in events):
            self._content = True
            self._content_at = now
        return events

    def _inflating(self, decoder: ResponseDecoder) -> Callable[[bytes], tuple[ModelEvent, ...]]:
        inflate = self._inflate
        if inflate is None:
            return decoder.feed

        def feed(chunk: bytes) -> tuple[ModelEvent, ...]:
            try:
                return decoder.feed(inflate.decompress(chunk))
            except zlib.error as error:
                said = f"the answer of {self._host()} is not compressed as it says: {error}"
                return (ResponseFailed(ProviderFailure(kind=FailureKind.PROTOCOL, message=said)),)

        return feed

    def finish(self) -> tuple[ModelEvent, ...]:
        """Take note that the body is over; return the rest, the last event included."""
        if self.ended:
            return ()
        events = () if self._decoder is None else self._decoder.finish()
        if events and isinstance(events[-1], ResponseFinished | ResponseFailed):
            return self._last(events)
        cut = ProviderFailure(
            kind=FailureKind.STREAM_CUT,
            message="the answer ended before its end mark",
            retryable=True,
        )
        return (*events, *self._failed(cut))

    def refused(
        self, status: int, headers: Mapping[str, str], body: bytes
    ) -> tuple[ModelEvent, ...]:
        """Make the last event of an answer that is an error or no answer of a model at all."""
        if 200 <= status < 300:
            return self._failed(
                ProviderFailure(
                    kind=FailureKind.PROTOCOL,
                    message=f"{self._host()} answered with a web page; check the base_url",
                    status=status,
                )
            )
        if self._inflate is not None:
            with suppress(zlib.error):
                body = self._inflate.decompress(body, MAX_ERROR_BODY)
        # Before it is cut to what is kept, lest half a key stays.
        for secret in self._call.secrets:
            body = body.replace(secret.encode(), b"[secret]")
        return self._failed(self._call.classify(status, headers, body))

    def deadline(self) -> Deadline | None:
        """The next of the limits that the HTTP client does not keep."""
        no_content_s = self._call.timeouts.no_content_s
        total = None if self._total_at is None else Deadline(self._total_at, "total_s")
        if no_content_s is None or not self._headers_came:
            return total
        content = Deadline(self._content_at + no_content_s, "no_content_s")
        return content if total is None else min(content, total)

    def overdue(self, limit: str) -> tuple[ModelEvent, ...]:
        """Make the last event of an answer for which a limit passed."""
        seconds = getattr(self._call.timeouts, limit)
        what = {
            "connect_s": f"no connection to {self._host()}",
            "first_byte_s": f"no answer of {self._host()}",
            "idle_s": f"nothing more came from {self._host()}",
            "no_content_s": f"no content came from {self._host()}",
            "total_s": f"the answer of {self._host()} was not whole",
        }[limit]
        return self._failed(
            ProviderFailure(
                kind=FailureKind.TIMEOUT,
                message=f"{what} within {seconds:g} s (timeouts.{limit})",
                retryable=True,
            )
        )

    def may_send_again(self, error: Exception, way: Way) -> bool:
        """Whether the request met a connection that the server had closed meanwhile.

        Servers close idle connections at moments of their own, also while a request is on its
        way to one. Nothing of an answer had come, so it is sent again; on a connection that
        was opened for it, the same mishap is a failure.
        """
        return not self._headers_came and way.was_reused and _failure_of(error) in _SILENT_ENDS

    def broken(self, error: Exception, now: float) -> tuple[ModelEvent, ...]:
        """Make the last event of an answer that the network broke off.

        Args:
            error: What the HTTP client raised.
            now: The transport's clock.

        Raises:
            Exception: `error` itself, when it is no mishap of the network but a mistake here.
        """
        names = [one.__name__ for one in type(error).__mro__]
        kind = _failure_of(error)
        if kind is None:
            raise error
        if kind is FailureKind.TIMEOUT:
            return self.overdue(self._passed(names[0], now))
        if kind is FailureKind.CONNECTION:
            if self._content:
                kind = FailureKind.STREAM_CUT
            elif "RemoteProtocolError" in names and not self._headers_came:
                # "Server disconnected …" is a broken connection; anything else is not HTTP.
                kind = kind if "disconnected" in str(error) else FailureKind.PROTOCOL
        said = str(error) or type(error).__name__
        if "ConnectError" in names:
            what = f"no connection to {self._host()}"
        else:
            where = "the answer of" if self._headers_came else "the connection to"
            what = f"{where} {self._host()} broke off"
        return self._failed(
            ProviderFailure(
                kind=kind,
                message=f"{what}: {said}",
                retryable=kind in RETRYABLE_KINDS,
            )
        )

    def _passed(self, timeout: str, now: float) -> str:
        """Which limit it was that the HTTP client saw pass."""
        ours = self.deadline()
        if ours is not None and now >= ours.at - 0.001:
            return ours.limit
        if timeout == "ConnectTimeout":
            return "connect_s"
        if not self._headers_came:
            return "first_byte_s"
        limits = self._call.timeouts
        return "idle_s" if self.limits["read"] == limits.idle_s else "first_byte_s"

    def _host(self) -> str:
        parts = urlsplit(self._call.url)
        return parts.netloc.rpartition("@")[2]

    def _failed(self, failure: ProviderFailure) -> tuple[ModelEvent, ...]:
        return self._last((ResponseFailed(failure),))

    def _last(self, events: tuple[ModelEvent, ...]) -> tuple[ModelEvent, ...]:
        """Complete the last event: what the encoder decided, the request's id, no secret."""
        self.ended = True
        *before, last = events
        if isinstance(last, ResponseFailed):
            failure = last.failure
            if failure.request_id is None:
                failure = replace(failure, request_id=self._request_id)
            last = replace(last, failure=scrubbed(failure, self._call.secrets))
        if self._call.metadata and isinstance(last, ResponseFinished | ResponseFailed):
            last = replace(last, metadata={**self._call.metadata, **last.metadata})
        return (*before, last)
