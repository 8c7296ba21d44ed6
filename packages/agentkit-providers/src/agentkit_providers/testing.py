"""Checks for a projection of your own, over real HTTP on loopback; no test framework needed.

`agentkit_core.testing` checks the laws of encoding and decoding. Here a projection is checked
together with the transports.
"""

from __future__ import annotations

import asyncio
from typing import Final

from msgspec.structs import replace

from agentkit_core import Item, ModelRequest, ModelResponse, TextOutput, ToolResult
from agentkit_core.provider import Projection, fold_response
from agentkit_core.testing import check_decoder, check_origin, check_response, decode_chunks
from agentkit_providers.model._http_model import HttpModel
from agentkit_providers.replay import Answer, ReplayServer
from agentkit_providers.vendors._endpoint import Endpoint

_CUTS: Final = 50
"""At about how many positions a body is cut."""
_HTTP_ERRORS: Final = 400
"""The least HTTP status of an error, which no decoder reads."""


def check_over_http(
    projection: Projection, answer: Answer, request: ModelRequest | None = None
) -> ModelResponse:
    """Check that a projection reads an answer alike, however it is sent and read.

    - The answer is read with an event loop and without, and sent in one piece, event by event, and
      cut within its events. The response is the same every time, and equal requests are written as
      equal bytes. An answer without its second half is a failure.
    - The decoder follows the rules of `agentkit_core.testing.check_decoder` for the answer's body,
      and the response those of `check_response`.
    - The encoder recognizes the response's provenance: see `agentkit_core.testing.check_origin`.
    - Calls of the next response get ids that no call in its request has.

    Check several answers: a text, parallel tool calls, an error inside a stream. Call this outside
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
    body = answer.form_for(streamed=request.streamed).body
    if answer.status < _HTTP_ERRORS and answer.fault is None:
        cuts = range(0, len(body), max(1, len(body) // _CUTS))
        check_decoder(lambda: projection.decoder(request), body, cuts=cuts, model=request.model)
    response = _check_ways(projection, answer, request)
    check_response(response, model=request.model)
    if response.item.provenance is not None:
        check_origin(projection, request, response.item.provenance)
    if response.failure is None:
        _check_new_call_ids(projection, body, request, response)
    return response


def _check_ways(projection: Projection, answer: Answer, request: ModelRequest) -> ModelResponse:
    """Check that the answer is read alike, however it is sent and read; return the response."""
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


def _check_new_call_ids(
    projection: Projection, body: bytes, request: ModelRequest, response: ModelResponse
) -> None:
    """Decode the answer again for the next request, with other ids where the body has them."""
    calls = response.item.tool_calls
    earlier = {call.id for call in calls}
    taken: set[str] = {*earlier}
    for call_id in earlier:
        other = _other_id(call_id, taken)
        taken.add(other)
        body = body.replace(f'"{call_id}"'.encode(), f'"{other}"'.encode())
    results = Item.tool(*(ToolResult(call.id, TextOutput("done")) for call in calls))
    later = replace(request, items=(*request.items, response.item, results))
    for call in fold_response(decode_chunks(projection.decoder(later), [body])).item.tool_calls:
        assert call.id not in earlier, (
            f"the call id {call.id!r} is that of a call in the request's history; use the id that "
            f"the provider sends, or a new one that the history does not have"
        )


def _other_id(call_id: str, taken: set[str]) -> str:
    """Return an id of the same length that is not taken."""
    characters = "abcdefghijklmnopqrstuvwxyz0123456789"
    return next(
        other
        for first in characters
        for last in characters
        if (other := f"{first}{call_id[1:-1]}{last}"[-len(call_id) :]) not in taken
    )
