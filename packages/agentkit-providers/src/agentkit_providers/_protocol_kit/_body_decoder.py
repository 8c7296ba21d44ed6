"""A response body that is a stream of events or JSON; its first byte shows which.

Every protocol's decoder is built on this. What the request asked for does not matter: a server
that answers a streamed request with plain JSON is understood, also where that JSON is an error.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Final

import msgspec

from agentkit_core import FailureKind, ProviderFailure
from agentkit_core.provider import ModelEvent, ResponseFailed
from agentkit_providers._framing._json_objects import JsonObjects, WholeJson
from agentkit_providers._framing._json_prefix import begins_json
from agentkit_providers._framing._lenient_json import is_json, read_leniently
from agentkit_providers._framing._sse import SseDecoder
from agentkit_providers._protocol_kit._lenient_shapes import fit_shape
from agentkit_providers._protocol_kit._repeated_texts import RepeatedTexts
from agentkit_providers._protocol_kit._response_origin import ResponseOrigin
from agentkit_providers._protocol_kit._storable_events import storable_events
from agentkit_providers.failures._stream_failures import cut_off, unreadable

DONE: Final = b"[DONE]"
"""The payload with which many servers and gateways end a stream."""

NOT_THIS_SHAPE: Final = (msgspec.DecodeError, RecursionError)
"""What a msgspec decoder raises for a payload of another shape, and for what is not JSON."""

_BLANK: Final = b" \t\r\n\xef\xbb\xbf"
_CHANCES: Final = 64
"""How many payloads in a row may not be common ones before nothing is expected to be."""


class BodyDecoder(ABC):
    """Turns the bytes of one response body into payloads; a protocol decides what these mean.

    A protocol sets `_ended` together with its last event; nothing is read after that.

    Nearly all payloads of a stream only add text to a part that is open. A protocol reads these by
    narrow shapes in `_take_common`; the others, and all payloads after one that was read leniently,
    come to `_take_payload`. `_repeats` takes payloads that equal one of `_take_common` but for
    the text.
    """

    sender: ClassVar[str]
    """What people call the protocol; appears in the message of an unreadable answer."""
    _json_reader: ClassVar[type[WholeJson] | type[JsonObjects]] = WholeJson
    """How a JSON body is read: whole, or object by object as they arrive."""

    def __init__(self) -> None:
        self._sse: SseDecoder | None = None
        """Reads the stream, where the body is one."""
        self._json: WholeJson | JsonObjects | None = None
        """Reads the JSON, where the body is JSON."""
        self._ended = False
        self._started = False  # whether a `ResponseStarted` was returned
        self._is_odd = False  # whether a payload was read leniently
        self._repeats = RepeatedTexts()
        self._chances = _CHANCES  # how many more payloads may not be common ones
        self._misfit: ProviderFailure | None = None  # for the first payload of another shape
        self._origin = ResponseOrigin()
        self.is_complete = False
        """Whether the final finish reason has come, so that what follows is only form."""

    def feed(self, chunk: bytes, /) -> tuple[ModelEvent, ...]:
        """Take the next bytes; return the events that they complete. Never raises."""
        if self._ended:
            return ()
        out: list[ModelEvent] = []
        try:
            if self._sse is not None:
                payloads = self._sse.feed_data(chunk)
                at = self._repeats.take(payloads, out) if self._repeats.is_active else 0
                if self._chances and at < len(payloads):
                    at = self._take_common(payloads, at, out)
                if at:
                    self._chances = _CHANCES
                if at == len(payloads):
                    return tuple(out)  # only texts that msgspec has read: they can be stored
                self._take_payloads(payloads, at, out)
            else:
                self._feed_json(chunk, out)
        except Exception as error:
            _end_after(error, self, out)
        return storable_events(out, texts=self._is_odd)

    def _feed_json(self, chunk: bytes, out: list[ModelEvent]) -> None:
        """Take bytes of a JSON body, or of one that has been blank so far."""
        if self._json is None:
            chunk = chunk.lstrip(_BLANK)
            if not chunk:
                return
            if chunk[0] not in b"{[":
                self._sse = SseDecoder()
                self._take_payloads(self._sse.feed_data(chunk), 0, out)
                return
            self._json = self._json_reader()
        self._take_bodies(self._json.feed(chunk), out)

    def finish(self) -> tuple[ModelEvent, ...]:
        """Take note that the body is over; return its last events. Never raises."""
        if self._ended:
            return ()
        out: list[ModelEvent] = []
        try:
            if self._json is not None:
                self._take_bodies(self._json.finish(), out)
            for last in () if self._sse is None else self._sse.finish():
                # The blank line after this event is missing, so it may be cut off. It is not if it
                # can be read.
                if last.data.strip() == DONE or is_json(last.data):
                    self._take_payloads([last.data], 0, out)
            if not self._ended:
                self._end_of_body(out)
        except Exception as error:
            _end_after(error, self, out)
        return storable_events(out, texts=self._is_odd)

    def _take_payloads(self, payloads: list[bytes], at: int, out: list[ModelEvent]) -> None:
        """Take payloads from an index on; the one at the index is not a common one."""
        while at < len(payloads):
            self._repeats.is_active = False
            self._take_payload(payloads[at], out)
            if self._ended:
                return
            at += 1
            if self._chances and at < len(payloads):
                reached = self._take_common(payloads, at, out)
                self._chances = _CHANCES if reached > at else self._chances
                at = reached

    def _take_bodies(self, bodies: list[bytes], out: list[ModelEvent]) -> None:
        for body in bodies:
            if not self._ended:
                self._take_json(body, out)

    def _read_odd(self, payload: bytes, shape: Any, out: list[ModelEvent]) -> Any:
        """Read a payload that msgspec refuses: an end mark, lenient JSON, or no JSON at all.

        Args:
            payload: The payload.
            shape: The type that it should have.
            out: Gets the events where the payload ends the response.

        Returns:
            A value of that type, without the fields that do not fit; None where there is nothing
            more to do with the payload.
        """
        stripped = payload.strip()
        if stripped == DONE:
            self._take_done(out)
            return None
        if not stripped:
            return None
        try:
            value = read_leniently(payload)
        except (ValueError, RecursionError) as error:
            if self._json is not None and begins_json(payload):
                self._fail(cut_off(), out)
            elif not self.is_complete:
                self._fail(unreadable(payload, error, self.sender), out)
            return None
        try:
            msgspec.convert(value, shape)
        except (ValueError, RecursionError) as error:  # msgspec's errors are ValueErrors
            self._misfit = self._misfit or unreadable(payload, error, self.sender)
        try:
            event = self._convert(fit_shape(value, shape), shape)
        except (ValueError, RecursionError):
            return None  # nothing in it is known
        self._is_odd, self._chances = True, 0
        self._expect_surrogates()
        return event

    def _convert(self, value: Any, shape: Any) -> Any:
        """Convert a value that was read leniently.

        Raises:
            ValueError: The value does not have that shape.
        """
        return msgspec.convert(value, shape)

    def _expect_surrogates(self) -> None:
        """Take note that texts may hold halves of surrogate pairs from now on."""
        return

    @abstractmethod
    def _take_common(self, payloads: list[bytes], at: int, out: list[ModelEvent]) -> int:
        """Take payloads from an index on, as long as each only adds text to an open part.

        The result is the same as that of `_take_payload`, only faster. A payload that the expected
        shape does not fit uses up one of `_chances`.

        Returns:
            The index of the first payload that was not taken.
        """

    @abstractmethod
    def _take_payload(self, payload: bytes, out: list[ModelEvent]) -> None:
        """Add to `out` what a payload of a stream means."""

    @abstractmethod
    def _take_json(self, body: bytes, out: list[ModelEvent]) -> None:
        """Add to `out` what a JSON body means, or one of the objects in it."""

    @abstractmethod
    def _take_done(self, out: list[ModelEvent]) -> None:
        """Take the end mark `[DONE]`."""

    @abstractmethod
    def _end_of_body(self, out: list[ModelEvent]) -> None:
        """Add to `out` the last event of a response that has none when its body is over."""

    @abstractmethod
    def _fail(self, failure: ProviderFailure, out: list[ModelEvent]) -> None:
        """End the response as failed."""


def _end_after(error: Exception, decoder: BodyDecoder, out: list[ModelEvent]) -> None:
    """End a response after an exception: of values that no rule of the protocol foresaw."""
    if decoder._ended:
        return
    failure = ProviderFailure(
        kind=FailureKind.PROTOCOL,
        message=f"the response is not valid {decoder.sender}: {type(error).__name__}: {error}",
    )
    try:
        decoder._fail(failure, out)
    except Exception:
        decoder._ended = True
        out.append(ResponseFailed(failure))
