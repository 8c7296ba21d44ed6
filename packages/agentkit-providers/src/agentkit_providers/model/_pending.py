"""Responses that wait for the client, or that are not there yet, are failures."""

from __future__ import annotations

from collections.abc import Callable

from agentkit_core import MetadataMap, ProviderFailure
from agentkit_core.provider import (
    ModelEvent,
    ResponseDecoder,
    ResponseFailed,
    ResponseFinished,
    with_native_reasons,
)
from agentkit_providers._protocol_kit._completion import is_complete

Events = tuple[ModelEvent, ...]


class PendingDecoder:
    """Decodes like another decoder, but a response that waits for something is a failure.

    Args:
        decoder: Decodes the response.
        pending: Reads from the metadata of the last event what the response waits for.
    """

    def __init__(
        self,
        decoder: ResponseDecoder,
        pending: Callable[[MetadataMap], ProviderFailure | None],
    ) -> None:
        self._decoder = decoder
        self._pending = pending

    @property
    def is_complete(self) -> bool:
        """Whether all of the response has come; see `CompletionAware`."""
        return is_complete(self._decoder)

    def feed(self, chunk: bytes, /) -> Events:
        """Take the next bytes; see `agentkit_core.provider.ResponseDecoder`."""
        return self._check(self._decoder.feed(chunk))

    def finish(self) -> Events:
        """Take note that the body is over; see `agentkit_core.provider.ResponseDecoder`."""
        return self._check(self._decoder.finish())

    def _check(self, events: Events) -> Events:
        last = events[-1] if events else None
        if not isinstance(last, ResponseFinished):
            return events
        failure = self._pending(last.metadata)
        if failure is None:
            return events
        metadata = with_native_reasons(last.metadata, last.native_reasons)
        return (*events[:-1], ResponseFailed(failure, metadata))
