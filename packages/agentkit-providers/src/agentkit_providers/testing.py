"""Checks for a projection of your own, over real HTTP on loopback; no test framework needed.

`agentkit_core.testing` checks the laws of encoding and decoding. Here a projection is checked
together with the transports.
"""

from __future__ import annotations

import asyncio

from msgspec.structs import replace

from agentkit_core import Item, ModelRequest, ModelResponse
from agentkit_core.provider import Projection
from agentkit_providers.model._http_model import HttpModel
from agentkit_providers.replay import Answer, ReplayServer
from agentkit_providers.vendors._endpoint import Endpoint


def check_over_http(
    projection: Projection, answer: Answer, request: ModelRequest | None = None
) -> ModelResponse:
    """Check that a projection reads an answer alike, however it is sent and read.

    The answer is read with an event loop and without, and sent in one piece, event by event, and
    cut within its events. The response must be the same every time, and equal requests must be
    written as equal bytes. An answer without its second half must be a failure. Call this outside
    of event loops.

    Args:
        projection: The projection to check.
        answer: The server's answer; see `agentkit_providers.replay`.
        request: The request; None for a short question.

    Returns:
        The response, so that you can check what it holds.

    Raises:
        AssertionError: A law is broken; the message says which.
    """
    request = request or ModelRequest(model="checked", items=(Item.user("Say something."),))
    body = answer.body
    ways = {
        "sent as it is": answer,
        "sent in one piece": answer.cut_at(len(body)),
        "cut in the middle of events": answer.cut_at(*range(7, len(body), 11)),
    }
    script = [sent for sent in ways.values() for _ in range(2)]
    # The half ends like a complete body, since a broken connection is a failure without a decoder.
    half = replace(answer, pieces=(body[: len(body) // 2],), whole=None)
    with ReplayServer([*script, half]) as server:
        endpoint = Endpoint(name="checked", base_url=server.url, key_required=False)
        model = HttpModel(request.model, endpoint=endpoint, projection=projection)
        expected: ModelResponse | None = None
        for way in ways:
            for how, response in (
                ("with an event loop", asyncio.run(model.complete(request))),
                ("without an event loop", model.complete_blocking(request)),
            ):
                expected = expected or response
                assert response == expected, f"{way}, read {how}: {response} is not {expected}"
        assert expected is not None
        bodies = {received.body for received in server.requests}
        assert len(bodies) == 1, f"equal requests were written as {len(bodies)} different bodies"
        cut = model.complete_blocking(request)
        assert cut.failure is not None, f"half of the answer was read as a complete one: {cut}"
    return expected
