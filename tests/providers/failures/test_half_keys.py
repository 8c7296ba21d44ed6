"""No failure shows a key or half of one, wherever a text was cut."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit_core import Item, ModelRequest, to_json
from agentkit_providers import HttpModel, connect
from agentkit_providers.failures._redact import redact
from agentkit_providers.replay import Answer, ReplayServer
from providers.wire_protocols import PROTOCOLS

pytestmark = pytest.mark.slow

KEY = "sk-Zq81LmNw-47TgVx93bYcKd05RhJfPs62"


def pieces(key: str) -> set[str]:
    return {key[at : at + 8] for at in range(len(key) - 7)}


def failure_of(model: HttpModel, *, streamed: bool) -> str:
    request = ModelRequest(model="m", items=(Item.user("hi"),), streamed=streamed)
    response = model.complete_blocking(request)
    assert response.failure is not None
    return to_json(response).decode()


@pytest.mark.parametrize("api", PROTOCOLS)
@pytest.mark.parametrize("before", [170, 1975, 1990, 8180, 65_500])
def test_vs12_no_cut_leaves_half_a_key(api: str, before: int) -> None:
    cases: list[tuple[Answer, bool]] = []
    for shift in (4, 17, 30):
        said = "x" * (before - shift) + KEY + " y " + KEY
        error: dict[str, Any] = {"message": said, "type": said, "code": said, "param": said}
        cases += [
            (Answer.events({"error": error, "type": "error"}), True),
            (Answer.events({"error": said}), True),
            (Answer.events(said), True),
            (Answer.json({"error": error}), False),
            (Answer.error(500, {"error": error}), True),
            (Answer.error(500, said), True),
        ]
    with ReplayServer([answer for answer, _ in cases]) as server:
        model = connect(f"{PROTOCOLS[api].provider}:m", base_url=server.url, api_key=KEY)
        for _, streamed in cases:
            shown = failure_of(model, streamed=streamed)

            assert not [piece for piece in pieces(KEY) if piece in shown]


@given(st.text("aab ", max_size=40), st.text("ab", min_size=8, max_size=14))
def test_vs12_no_piece_of_a_key_stays_wherever_it_begins(text: str, key: str) -> None:
    shown = redact(text, [key])

    assert not [piece for piece in pieces(key) if piece in shown]
    if not [piece for piece in pieces(key) if piece in text]:
        assert shown == text


def test_vs12_pieces_are_found_in_json_that_escapes_the_key() -> None:
    key = 'ab"cdefghij/klmnopqr'
    shown = redact(json.dumps({"m": key}).replace("/", "\\/"), [key])

    assert not [piece for piece in pieces(key) if piece in shown]


def test_vs12_what_is_no_piece_of_a_key_stays() -> None:
    assert redact("the key sk-Zq81 is wrong", [KEY]) == "the key sk-Zq81 is wrong"
    assert redact(f"<{KEY[3:20]}>", [KEY]) == "<[secret]>"
    assert redact(f"{KEY}{KEY[:12]}!", [KEY]) == "[secret][secret]!"
