"""A vendor without a network: answers in order, and keeps the requests with their real headers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from typing import Any

import httpx

from agentkit_providers.replay import Answer


class _Body(httpx.SyncByteStream, httpx.AsyncByteStream):
    """A body that is read once, as one from a network."""

    def __init__(self, body: bytes) -> None:
        self._body = body

    def __iter__(self) -> Iterator[bytes]:
        yield self._body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self._body


class Vendor:
    """Answers requests in order; the last answer is repeated.

    Args:
        answers: The answers. A function gets the request, and returns an answer or raises.
    """

    def __init__(self, answers: Iterable[Answer | Callable[[httpx.Request], Answer]]) -> None:
        self._answers = list(answers)
        self.requests: list[httpx.Request] = []

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if not isinstance(answer, Answer):
            answer = answer(request)
        answer = answer.form_for(streamed=b'"stream":true' in request.content)
        headers = {"content-type": answer.content_type, **answer.headers}
        return httpx.Response(answer.status, headers=headers, stream=_Body(b"".join(answer.pieces)))

    def client(self, **options: Any) -> httpx.AsyncClient:
        """A client for an event loop; never closed, for it holds no connection."""
        return httpx.AsyncClient(transport=httpx.MockTransport(self._answer), **options)

    def blocking_client(self, **options: Any) -> httpx.Client:
        """A client for blocking calls."""
        return httpx.Client(transport=httpx.MockTransport(self._answer), **options)
