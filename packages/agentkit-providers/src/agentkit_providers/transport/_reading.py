"""What the transports decide without doing I/O: what bytes mean, and how a response ends.

A transport hands the bytes that it reads to a `Reading`, which returns batches of events. Whatever
goes wrong on the network becomes the last event of the response.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
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
from agentkit_providers._protocol_kit._completion import is_complete
from agentkit_providers._secrets._in_headers import secrets_in
from agentkit_providers.failures._classify import REQUEST_ID_HEADERS, RETRYABLE_KINDS
from agentkit_providers.failures._redact import REDACTED, redact_failure, redact_json
from agentkit_providers.failures._stream_failures import cut_off
from agentkit_providers.transport._call import Call
from agentkit_providers.transport._connection_trace import ConnectionTrace
from agentkit_providers.transport._decompression import Decompression, UnreadableCoding
from agentkit_providers.transport._environment import (
    UnusableSetting,
    secrets_of_proxy,
    set_tls_variables,
)
from agentkit_providers.transport._network_errors import (
    is_closed_connection,
    is_connect_error,
    is_not_http,
    network_failure,
)
from agentkit_providers.transport._wait_limits import WaitLimits

MAX_ERROR_BODY: Final = 64 * 1024
"""How much of an error response is read, in bytes."""

MAX_SENDS: Final = 4
"""How often a request is sent at most, when connections turn out to be closed."""

_NOT_CONTENT: Final = frozenset({ResponseStarted, UsageReported, ResponseFinished, ResponseFailed})

Events = tuple[ModelEvent, ...]


class Reading:
    """What has arrived of one response; turns bytes and exceptions into events.

    Args:
        call: The call that is answered.
        now: The transport's monotonic clock, in seconds.
    """

    def __init__(self, call: Call, now: float) -> None:
        self._call = call
        self._decoder: ResponseDecoder | None = None
        self._request_id: str | None = None
        self._codings: Decompression | None = None  # None where the body has no coding
        self._unreadable: UnreadableCoding | None = None
        self._size = 0  # of the body, decompressed
        self._has_content = False
        self._has_head = False
        self.ended = False
        """Whether the last event has been returned."""
        self.sent_headers: Mapping[str, str] = {}
        """The headers of the request; a client of the caller's adds its own."""
        self.limits = WaitLimits(call.timeouts, now, call.began_at)
        """How long to wait."""
        self._watched = self.limits.watched

    def take_head(self, status: int, headers: Mapping[str, str], now: float) -> bool:
        """Take the head of the response.

        Args:
            status: The HTTP status.
            headers: The headers, names in lower case.
            now: The transport's clock.

        Returns:
            Whether the body is a model's response; else it goes to `end_with_error_response`.
        """
        self._has_head = True
        self.limits.take_head(now, is_good=200 <= status < 300)
        self._request_id = next(
            (headers[name] for name in REQUEST_ID_HEADERS if name in headers), None
        )
        try:
            codings = Decompression(headers.get("content-encoding", ""))
            self._codings = codings if codings.is_needed else None
        except UnreadableCoding as error:
            self._unreadable = error
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if not 200 <= status < 300 or kind == "text/html":
            return False
        # Some servers cannot stream, so the response's type counts, not the request.
        streamed = {"text/event-stream": True, "application/json": False}.get(
            kind, self._call.streamed
        )
        self.limits.take_body(streamed=streamed)
        self._decoder = self._call.decoder(streamed)
        return True

    def feed(self, chunk: bytes, now: float = 0.0) -> Events:
        """Take the next bytes of the body.

        Args:
            chunk: The bytes as they came from the network, compressed or not.
            now: The transport's clock; used only where `limits.watched`.

        Returns:
            The events that the bytes complete; often none.
        """
        decoder, size = self._decoder, self._size + len(chunk)
        if decoder is None:
            return ()
        if self._codings is not None or self._unreadable is not None:
            events = self._feed_coded(chunk, decoder)
        elif size > self._call.max_response_bytes:
            events = self._too_long()
        else:
            self._size = size
            events = decoder.feed(chunk)
        if not events:
            return events
        last = type(events[-1])
        if last is ResponseFinished or last is ResponseFailed:
            return self._complete(events)
        matters = self._watched or not self._has_content
        if matters and any(type(event) not in _NOT_CONTENT for event in events):
            self._has_content = True
            self.limits.take_content(now)
        return events

    def _feed_coded(self, chunk: bytes, decoder: ResponseDecoder) -> Events:
        """Feed bytes of a body that is compressed, piece by piece."""
        events: list[ModelEvent] = []
        try:
            if self._unreadable is not None:
                raise self._unreadable
            for piece in () if self._codings is None else self._codings.pieces(chunk):
                self._size += len(piece)
                if self._size > self._call.max_response_bytes:
                    events += self._too_long()
                else:
                    events += decoder.feed(piece)
                if events and isinstance(events[-1], ResponseFinished | ResponseFailed):
                    break
        except UnreadableCoding as error:
            message = f"the response of {self._host()} cannot be decompressed: {error}"
            failure = ProviderFailure(kind=FailureKind.PROTOCOL, message=message)
            events.append(ResponseFailed(failure))
        return tuple(events)

    def _too_long(self) -> Events:
        limit = self._call.max_response_bytes
        message = (
            f"the response of {self._host()} is longer than {limit} bytes (max_response_bytes)"
        )
        return (ResponseFailed(ProviderFailure(kind=FailureKind.PROTOCOL, message=message)),)

    def finish(self) -> Events:
        """Take note that the body is over; return the remaining events, with the last one."""
        if self.ended:
            return ()
        if self._unreadable is not None and self._decoder is not None:
            return self._complete(self._feed_coded(b"", self._decoder))
        events = () if self._decoder is None else self._decoder.finish()
        if events and isinstance(events[-1], ResponseFinished | ResponseFailed):
            return self._complete(events)
        return (*events, *self._fail(cut_off()))

    def end_with_error_response(
        self, status: int, headers: Mapping[str, str], body: bytes
    ) -> Events:
        """End a response that is an HTTP error, or a web page.

        Args:
            status: The HTTP status.
            headers: The headers, names in lower case.
            body: The body, as much of it as was read, compressed or not.
        """
        if 200 <= status < 300:
            return self._fail(
                ProviderFailure(
                    kind=FailureKind.PROTOCOL,
                    message=f"{self._host()} answered with a web page; check the base_url",
                    status=status,
                )
            )
        body = self._decompressed_error(body)
        # Redacted before the body is shortened, which could leave half a key.
        for secret in self._secrets():
            body = body.replace(secret.encode(), REDACTED.encode())
        return self._fail(self._call.classify(status, headers, body))

    def _decompressed_error(self, body: bytes) -> bytes:
        """The start of an error body, as far as its codings can be undone."""
        if self._unreadable is not None:
            return b""
        start = b""
        try:
            for piece in (body,) if self._codings is None else self._codings.pieces(body):
                start += piece
                if len(start) >= MAX_ERROR_BODY:
                    break
        except UnreadableCoding:
            return start or (body if body[:1] in (b"{", b"[") else b"")
        return start[:MAX_ERROR_BODY]

    def end_with_timeout(self, limit: str) -> Events:
        """End a response for which a limit passed.

        Args:
            limit: The field of `Timeouts`.
        """
        if is_complete(self._decoder):
            return self.finish()
        seconds = getattr(self._call.timeouts, limit)
        host = self._host()
        what = {
            "connect_s": f"no connection to {host}",
            "first_byte_s": f"no response from {host}",
            "idle_s": f"no further data from {host}",
            "no_content_s": f"no content from {host}",
            "total_s": f"the response of {host} was not complete",
        }[limit]
        return self._fail(
            ProviderFailure(
                kind=FailureKind.TIMEOUT,
                message=f"{what} within {seconds:g} s (timeouts.{limit})",
                retryable=True,
            )
        )

    def end_with_setting(self, error: UnusableSetting) -> Events:
        """End a response to a request that a variable of the environment keeps from being sent."""
        message = f"no connection to {self._host()}: {error}"
        return self._fail(ProviderFailure(kind=FailureKind.CONNECTION, message=message))

    def may_send_again(self, error: Exception, trace: ConnectionTrace) -> bool:
        """Whether the request was sent on a connection that the server had closed.

        Servers close idle connections at any moment, also while a request is on its way. Nothing of
        a response had come, so the request is sent again. On a connection that was opened for the
        request, the same exception is a failure.

        Args:
            error: What the HTTP client raised.
            trace: What the HTTP client did with the request.
        """
        return not self._has_head and trace.was_reused and is_closed_connection(error)

    def end_with_exception(self, error: Exception, now: float) -> Events:
        """End a response after an exception of the network.

        Args:
            error: What the HTTP client raised.
            now: The transport's clock.

        Raises:
            Exception: `error` itself where it is not one of the network, but a mistake in the code.
        """
        kind = network_failure(error)
        if kind is None:
            raise error
        if is_complete(self._decoder):
            return self.finish()  # what is missing after the finish reason is only form
        if kind is FailureKind.TIMEOUT:
            return self.end_with_timeout(self.limits.passed(error, now))
        if kind is FailureKind.CONNECTION:
            if self._has_content:
                kind = FailureKind.STREAM_CUT
            elif is_not_http(error) and not self._has_head:
                kind = FailureKind.PROTOCOL
        if is_connect_error(error):
            what = f"no connection to {self._host()}"
        elif self._has_head:
            what = f"the response of {self._host()} was interrupted"
        else:
            what = f"the connection to {self._host()} was interrupted"
        if "CERTIFICATE_VERIFY_FAILED" in str(error) and (names := set_tls_variables()):
            what = f"{what} (certificates are believed as {' and '.join(names)} says)"
        return self._fail(
            ProviderFailure(
                kind=kind,
                message=f"{what}: {str(error) or type(error).__name__}",
                retryable=kind in RETRYABLE_KINDS,
            )
        )

    def _host(self) -> str:
        parts = urlsplit(self._call.url)
        return parts.netloc.rpartition("@")[2]

    def _secrets(self) -> tuple[str, ...]:
        """What no failure may show: of the call, of the caller's client, of the proxy."""
        url = self._call.url
        return (*self._call.secrets, *secrets_in(self.sent_headers), *secrets_of_proxy(url))

    def _fail(self, failure: ProviderFailure) -> Events:
        return self._complete((ResponseFailed(failure),))

    def _complete(self, events: Events) -> Events:
        """Complete the last event: add what the encoder decided and the request's id, redact."""
        self.ended = True
        *before, last = events
        if isinstance(last, ResponseFailed):
            failure = last.failure
            if failure.request_id is None:
                failure = replace(failure, request_id=self._request_id)
            secrets = self._secrets()
            metadata = {key: redact_json(value, secrets) for key, value in last.metadata.items()}
            last = replace(last, failure=redact_failure(failure, secrets), metadata=metadata)
        if self._call.metadata and isinstance(last, ResponseFinished | ResponseFailed):
            last = replace(last, metadata={**self._call.metadata, **last.metadata})
        return (*before, last)
