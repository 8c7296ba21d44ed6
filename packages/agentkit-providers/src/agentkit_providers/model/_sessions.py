"""Conversations with a model over HTTP: what `HttpModel.open` and `open_blocking` return.

A session keeps what was written of the history, so that the next request writes only what is new.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TYPE_CHECKING

from msgspec.structs import replace

from agentkit_core import ModelRequest, SessionId
from agentkit_core.provider import ModelEvent

if TYPE_CHECKING:
    from agentkit_providers.model._call_builder import Encode
    from agentkit_providers.transport._concurrent import BatchStream

Batches = Generator[tuple[ModelEvent, ...], None, None]


class HttpSession:
    """One conversation with a model over an event loop.

    Args:
        send: Sends a request once, as it is written by what comes with it.
        encode: Writes the requests of this conversation.
        session_id: Goes with requests that name no session.
    """

    __slots__ = ("__weakref__", "_encode", "_send", "_session_id")

    def __init__(
        self,
        send: Callable[[ModelRequest, Encode], BatchStream],
        encode: Encode,
        session_id: SessionId,
    ) -> None:
        self._send = send
        self._encode = encode
        self._session_id = session_id

    def respond(self, request: ModelRequest, /) -> BatchStream:
        """Send a request once; see `HttpModel.stream`."""
        return self._send(_with_session(request, self._session_id), self._encode)

    async def close(self) -> None:
        """Do nothing: connections belong to the event loop, and are closed with it."""


class BlockingHttpSession:
    """One conversation with a model without an event loop.

    Args:
        send: Sends a request once, as it is written by what comes with it.
        encode: Writes the requests of this conversation.
        session_id: Goes with requests that name no session.
    """

    __slots__ = ("__weakref__", "_encode", "_send", "_session_id")

    def __init__(
        self,
        send: Callable[[ModelRequest, Encode], Batches],
        encode: Encode,
        session_id: SessionId,
    ) -> None:
        self._send = send
        self._encode = encode
        self._session_id = session_id

    def respond(self, request: ModelRequest, /) -> Batches:
        """Send a request once; see `HttpModel.stream_blocking`."""
        return self._send(_with_session(request, self._session_id), self._encode)

    def close(self) -> None:
        """Do nothing: idle connections are kept for the next request of any session."""


def _with_session(request: ModelRequest, session_id: SessionId) -> ModelRequest:
    if request.session_id is not None:
        return request
    return replace(request, session_id=session_id)
