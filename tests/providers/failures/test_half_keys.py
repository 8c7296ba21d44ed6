"""No failure shows a key or half of one, wherever a text was cut."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentkit_core import Item, ModelRequest, to_json
from agentkit_providers import connect
from agentkit_providers.failures._redact import redact
from agentkit_providers.replay import Answer, ReplayServer
from providers.wire_protocols import PROTOCOLS

KEY = "sk-Zq81LmNw-47TgVx93bYcKd05RhJfPs62"


def pieces(key: str) -> set[str]:
    return {key[at : at + 8] for at in range(len(key) - 7)}


def failure_of(api: str, answer: Answer, *, streamed: bool = True) -> str:
    with ReplayServer([answer]) as server:
        model = connect(f"{PROTOCOLS[api].provider}:m", base_url=server.url, api_key=KEY)
        request = ModelRequest(model="m", items=(Item.user("hi"),), streamed=streamed)
        response = model.complete_blocking(request)
        assert response.failure is not None
        return to_json(response).decode()


@pytest.mark.parametrize("api", PROTOCOLS)
@pytest.mark.parametrize("before", [170, 1975, 1990, 8180, 65_500])
def test_vs12_no_cut_leaves_half_a_key(api: str, before: int) -> None:
    for shift in (4, 17, 30):
        said = "x" * (before - shift) + KEY + " y " + KEY
        error: dict[str, Any] = {"message": said, "type": said, "code": said, "param": said}
        for answer, streamed in (
            (Answer.events({"error": error, "type": "error"}), True),
            (Answer.events({"error": said}), True),
            (Answer.events(said), True),
            (Answer.json({"error": error}), False),
            (Answer.error(500, {"error": error}), True),
            (Answer.error(500, said), True),
        ):
            shown = failure_of(api, answer, streamed=streamed)

            assert not [piece for piece in pieces(KEY) if piece in shown]


def test_vs12_pieces_are_found_in_json_that_escapes_the_key() -> None:
    key = 'ab"cdefghij/klmnopqr'
    shown = redact(json.dumps({"m": key}).replace("/", "\\/"), [key])

    assert not [piece for piece in pieces(key) if piece in shown]


def test_vs12_what_is_no_piece_of_a_key_stays() -> None:
    assert redact("the key sk-Zq81 is wrong", [KEY]) == "the key sk-Zq81 is wrong"
    assert redact(f"<{KEY[3:20]}>", [KEY]) == "<[secret]>"
    assert redact(f"{KEY}{KEY[:12]}!", [KEY]) == "[secret][secret]!"
