"""Clients of httpx or its successors for blocking calls: the caller's, and those for proxies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentkit_providers.transport._call import Call
from agentkit_providers.transport._connection_trace import ConnectionTrace
from agentkit_providers.transport._deadlines import drain
from agentkit_providers.transport._hidden_url import hide_secrets

if TYPE_CHECKING:
    import httpx


class BlockingHttpxSender:
    """Sends requests over a client of httpx.

    Args:
        client: The client; it stays open.
    """

    def __init__(self, client: httpx.Client) -> None:
        self._client = client

    def send(
        self, call: Call, limits: dict[str, float | None], trace: ConnectionTrace
    ) -> BlockingHttpxExchange:
        """Send a request once and read the head of the response."""
        request = self._client.build_request(
            call.method,
            call.url,
            content=call.body.whole(),
            headers=call.headers,
            extensions={"timeout": limits, "trace": trace.record},
        )
        trace.sent_headers = request.headers
        hide_secrets(request)
        response = self._client.send(request, stream=True, follow_redirects=False)
        return BlockingHttpxExchange(response)

    def close(self) -> None:
        """Close the client."""
        self._client.close()


class BlockingHttpxExchange:
    """A request that has been sent, and its response.

    Args:
        response: The response, whose head has been read.

    Attributes:
        status: The HTTP status.
        headers: The headers of the response, names in lower case.
        chunks: The body as it was sent, compressed or not.
    """

    def __init__(self, response: httpx.Response) -> None:
        self._response = response
        self.status = response.status_code
        self.headers = dict(response.headers)
        self.chunks = response.iter_raw()

    def leave(self, *, is_whole: bool) -> None:
        """Give the connection back if the body can be read to its end, else close it."""
        try:
            if is_whole:
                drain(self.chunks)
        finally:
            self._response.close()
