"""Checks for a projection of one's own, over real HTTP on loopback; no test framework needed.

`agentkit_core.testing` checks the laws of encoding and decoding by themselves; here they are
tried with the transports that will carry them.
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
    """Check that a projection reads one answer alike, in whatever way it travels.

    The answer is asked for with an event loop and without, and sent in one piece, event by
    event and cut inside its events; all must give the same response, and equal requests equal
    bytes. Sent without its last bytes it must not be taken for whole, unless `answer` itself is
    a failure. Call it outside of event loops.

    Args:
        projection: What is checked.
        answer: What the server says; see `agentkit_providers.replay`.
        request: What it is asked; a short question by default.

    Returns:
        The response, to look at what it says.

    Raises:
        AssertionError: It says which law broke.
    """
    request = request or ModelRequest(model="checked", items=(Item.user("Say something."),))
    body = answer.body
    ways = {
        "sent as it is": answer,
        "sent in one piece": answer.cut_at(len(body)),
        "cut in the middle of events": answer.cut_at(*range(7, len(body), 11)),
    }
    script = [sent for sent in ways.values() for _ in range(2)]
    # Ended as if it were whole: that a broken connection is a failure needs no decoder.
    half = replace(answer, pieces=(body[: len(body) // 2],), whole=None)
    with ReplayServer([*script, half]) as server:
        row = Endpoint(name="checked", base_url=server.url, key_required=False)
        model = HttpModel(request.model, endpoint=row, projection=projection)
        expected: ModelResponse | None = None
        for way in ways:
            for how, response in (
                ("with an event loop", asyncio.run(model.complete(request))),
                ("without an event loop", model.complete_blocking(request)),
            ):
                expected = expected or response
                assert response == expected, f"{way}, read {how}: {response} is not {expected}"
        assert expected is not None
        sent = {asked.body for asked in server.requests}
        assert len(sent) == 1, f"equal requests gave {len(sent)} different bodies"
        cut = model.complete_blocking(request)
        assert cut.failure is not None, f"cut in half, the answer was taken for whole: {cut}"
    return expected
