"""Finish reasons: a small set, with the provider's own words beside it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit_core import FinishReason, JsonValue
from agentkit_core.provider import native_reasons, with_native_reasons
from support.json_values import json_objects

KEY = "agentkit.provider_finish_reasons"


def test_the_set_is_small_and_written_in_lower_case() -> None:
    assert [reason.value for reason in FinishReason] == [
        "completed", "tool_call", "max_tokens", "paused", "blocked", "cancelled", "error", "other",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "remaining"),
    [
        (["stop", "", "stop", "length"], ["stop", "length"]),
        (["pause_turn"], ["pause_turn"]),
        (["", ""], None),
        ([], None),
    ],
)
def test_words_are_kept_once_in_their_order_and_no_words_leave_no_key(
    words: list[str], remaining: list[str] | None
) -> None:
    metadata = with_native_reasons({"x.y": 1, KEY: ["old"]}, words)

    assert metadata == ({"x.y": 1} if remaining is None else {"x.y": 1, KEY: remaining})


@pytest.mark.parametrize("remaining", [None, [], "stop", 3, {"a": 1}, [1, None], [""]])
def test_without_readable_words_the_normalised_one_stands_in(remaining: JsonValue) -> None:
    metadata = {} if remaining is None else {KEY: remaining}

    assert native_reasons(metadata) == ("completed",)
    assert native_reasons(metadata, FinishReason.MAX_TOKENS) == ("max_tokens",)


@given(json_objects(), st.lists(st.text(), min_size=1))
def test_what_is_kept_is_what_is_read(metadata: dict[str, JsonValue], words: list[str]) -> None:
    before = dict(metadata)
    remaining = with_native_reasons(metadata, words)
    answer = tuple(dict.fromkeys(word for word in words if word))

    assert native_reasons(remaining, FinishReason.OTHER) == (answer or ("other",))
    assert metadata == before
