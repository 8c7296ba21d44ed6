"""Where the network cuts a body makes no difference: every position in each sort of body."""

from __future__ import annotations

import pytest

from agentkit_core import Item, ModelRequest
from agentkit_core.testing import check_decoder
from agentkit_providers.endpoints import default_registry
from providers.wire_protocols import PROTOCOLS, TOOL, answers

SORTS = ["wide text", "wide text with CR LF", "whole wide text", "calls", "whole calls"]


def body_of(api: str, sort: str) -> bytes:
    """A text with characters of one to four bytes, or calls; in a stream, or whole."""
    if sort.endswith("calls"):
        _, answer = answers(api)
    else:
        answer = PROTOCOLS[api].answers.text("n\u00e9 \u4e16 \U0001f600", reasoning="h\u00fbm")
    if sort.startswith("whole"):
        return answer.whole or b""
    stream = b"".join(answer.pieces)
    return stream.replace(b"\n", b"\r\n") if sort.endswith("CR LF") else stream


@pytest.mark.parametrize("sort", SORTS)
@pytest.mark.parametrize("api", PROTOCOLS)
def test_no_cut_of_a_body_changes_its_events(api: str, sort: str) -> None:
    projection = default_registry.projection(default_registry.get(PROTOCOLS[api].provider))
    body, streamed = body_of(api, sort), not sort.startswith("whole")
    request = ModelRequest(model="m", items=(Item.user("hi"),), tools=(TOOL,), streamed=streamed)

    response = check_decoder(
        lambda: projection.decoder(request), body, cuts=range(len(body) + 1), model="m"
    )

    assert response.failure is None
    assert response.item.parts
