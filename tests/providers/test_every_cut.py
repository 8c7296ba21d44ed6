"""Where the network cuts a body makes no difference: every position, in a stream and whole."""

from __future__ import annotations

import pytest

from agentkit_core import Item, ModelRequest
from agentkit_core.testing import check_decoder
from agentkit_providers.endpoints import default_registry
from providers.wire_protocols import PROTOCOLS, TOOL

pytestmark = pytest.mark.slow


def body_of(api: str, *, streamed: bool) -> bytes:
    """A text with characters of one to four bytes, after reasoning."""
    answer = PROTOCOLS[api].answers.text("n\u00e9 \u4e16 \U0001f600", reasoning="h\u00fbm")
    return b"".join(answer.pieces) if streamed else answer.whole or b""


@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.parametrize("api", PROTOCOLS)
def test_no_cut_of_a_body_changes_its_events(api: str, streamed: bool) -> None:
    projection = default_registry.projection(default_registry.get(PROTOCOLS[api].provider))
    body = body_of(api, streamed=streamed)
    request = ModelRequest(model="m", items=(Item.user("hi"),), tools=(TOOL,), streamed=streamed)

    response = check_decoder(
        lambda: projection.decoder(request), body, cuts=range(len(body) + 1), model="m"
    )

    assert response.failure is None
    assert response.item.parts
