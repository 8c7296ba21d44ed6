"""What cannot be seen is shown by a sign, and what is left out is counted."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit_core import (
    ApprovalId,
    ApprovalRequest,
    ToolCall,
    ToolCallId,
    from_json,
    to_json,
)
from agentkit_core.text import make_visible, shorten_middle

UNSEEN = [
    *map(chr, range(0x20)),
    *map(chr, range(0x7F, 0xA1)),
    *"\u00ad\u034f\u061c\u115f\u1160\u17b4\u180e\u200b\u200c\u200d\u200e\u200f\u2028\u2029",
    *"\u202a\u202b\u202c\u202d\u202e\u202f\u2060\u2061\u2064\u2066\u2067\u2068\u2069\u206a\u206f",
    *"\u2800\u3000\u3164\ud800\udfff\ufe0f\ufeff\uffa0\ufff9\ufffb",
    *"\U000e0001\U000e0020\U000e007f\U000e0100\U000e01ef\U0001d173",
]


@pytest.mark.parametrize("character", UNSEEN, ids=ascii)
def test_vl21_what_is_not_seen_is_shown_by_a_sign(character: str) -> None:
    shown = make_visible(f"a{character}b")

    assert character not in shown
    assert len(shown) > len("ab")
    assert all(unicodedata.category(sign) not in {"Cc", "Cf", "Cs", "Zl", "Zp"} for sign in shown)
    assert shown not in {make_visible(f"a{other}b") for other in UNSEEN if other != character}


def test_vl21_every_character_of_the_unseen_categories_has_a_sign() -> None:
    unseen = {"Cc", "Cf", "Cs", "Zl", "Zp"}
    characters = [
        chr(code) for code in range(0x110000) if unicodedata.category(chr(code)) in unseen
    ]

    assert len(characters) > 2_000
    assert [sign for sign in characters if make_visible(sign) == sign] == []


@given(st.text(st.characters(exclude_categories=["Co", "Cn"])))
def test_vl21_nothing_of_the_unseen_categories_is_left(text: str) -> None:
    shown = make_visible(text)

    left = {unicodedata.category(character) for character in shown}
    assert left.isdisjoint({"Cc", "Cf", "Cs", "Zl", "Zp"})
    assert {character for character in shown if character.isspace()} <= {" "}
    assert make_visible(shown) == shown


@pytest.mark.parametrize(
    "text", ["", "rm -rf x", "à la carte 😀 日本語 العربية עברית", "a\\nb", "␊"]
)
def test_vl21_seen_text_is_left_as_it_is(text: str) -> None:
    assert make_visible(text) == text


@given(st.text(), st.text())
def test_vl21_a_request_shows_what_a_person_decides_on_wherever_it_comes_from(
    summary: str, reason: str
) -> None:
    request = ApprovalRequest(
        id=ApprovalId("k:1"),
        call=ToolCall(ToolCallId("c"), "t", {"text": "a\nb"}),
        kind="k",
        summary=summary,
        reason=reason,
    )

    assert (request.summary, request.reason) == (make_visible(summary), make_visible(reason))
    assert request.call.input == {"text": "a\nb"}
    stored = to_json(request).replace(b'"summary":"', b'"summary":"\\u202e')
    assert from_json(stored, ApprovalRequest).summary == f"<U+202E>{make_visible(summary)}"


@given(st.text(), st.integers(2, 30))
def test_vs13_a_text_is_whole_or_says_how_much_of_it_is_missing(text: str, most: int) -> None:
    shown = shorten_middle(text, most)

    if len(text) <= most:
        assert shown == text
        return
    start, end = shown.split(f" […{len(text) - most} characters are not shown…] ")[::1][:2]
    assert len(start) + len(end) == most
    assert text.startswith(start)
    assert text.endswith(end)
