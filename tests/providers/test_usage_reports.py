"""What vendors report of tokens and service tiers: whether it is exact, and whether it adds up."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit_core import TokenUsage
from agentkit_core.provider import fold_response
from agentkit_providers._protocol_kit._token_totals import VendorCounts, disjoint_tokens
from providers.wire_protocols import PROTOCOLS, answers, decode, read, read_whole
from support.examples import examples


def chunk(delta: dict[str, Any], finish: str | None = None, **more: Any) -> dict[str, Any]:
    return {"id": "x", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **more}


USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}


@pytest.mark.parametrize("api", PROTOCOLS)
def test_vp25_only_a_complete_answers_usage_is_exact(api: str) -> None:
    for answer in answers(api):
        assert fold_response(decode(api, answer.pieces)).usage.exact
        for end in range(len(answer.pieces)):
            response = fold_response(decode(api, answer.pieces[:end]))

            assert response.failure is None or not response.usage.exact


def test_vp25_a_running_total_is_a_lower_bound_until_the_answer_is_over() -> None:
    payloads = [chunk({"content": "a"}, usage=USAGE), chunk({"content": "b"}, usage=None)]
    cut = read("openai_chat", *payloads)
    every_chunk = read("openai_chat", payloads[0], chunk({}, "stop"), "[DONE]")

    assert cut.usage.tokens == TokenUsage(input=10, output=5)
    assert not cut.usage.exact
    assert every_chunk.usage.exact


GOOGLE = {"promptTokenCount": 10, "candidatesTokenCount": 1, "totalTokenCount": 11}


def test_vp25_counts_that_only_an_answers_beginning_has_are_a_lower_bound() -> None:
    chat = read(
        "openai_chat",
        chunk({"content": "a"}, usage=USAGE),
        chunk({"content": "b"}, "stop"),
        "[DONE]",
    )
    messages = read(
        "anthropic_messages",
        {"type": "message_start", "message": {"usage": {"input_tokens": 10, "output_tokens": 1}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "a"}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
        {"type": "message_stop"},
    )
    generate = read(
        "google_generate",
        {"candidates": [{"content": {"parts": [{"text": "a"}]}}], "usageMetadata": GOOGLE},
        {"candidates": [{"content": {"parts": [{"text": "b"}]}, "finishReason": "STOP"}]},
    )

    for response in (chat, messages, generate):
        assert response.failure is None
        assert response.usage.tokens.prompt == 10
        assert not response.usage.exact


TIERS: dict[str, list[Any]] = {
    "openai_chat": [
        chunk({"content": "hi"}, service_tier="auto"),
        chunk({}, "stop", service_tier="priority"),
        chunk({}, service_tier=None),
        "[DONE]",
    ],
    "openai_responses": [
        {"type": "response.created", "response": {"id": "r", "service_tier": "auto"}},
        {"type": "response.in_progress", "response": {"id": "r", "service_tier": "priority"}},
        {"type": "response.completed", "response": {"id": "r", "status": "completed"}},
    ],
    "anthropic_messages": [
        {
            "type": "message_start",
            "message": {"usage": {"input_tokens": 1, "service_tier": "auto"}},
        },
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn"},
            "usage": {"output_tokens": 1, "service_tier": "priority"},
        },
        {"type": "message_stop"},
    ],
    "google_generate": [
        {"candidates": [{"content": {"parts": [{"text": "a"}]}}], "usageMetadata": GOOGLE},
        {
            "candidates": [{"finishReason": "STOP"}],
            "usageMetadata": {**GOOGLE, "serviceTier": "priority"},
        },
    ],
}


@pytest.mark.parametrize("api", PROTOCOLS)
def test_vp26_the_last_service_tier_counts_whichever_chunk_it_comes_with(api: str) -> None:
    item = read(api, *TIERS[api]).item

    assert item.metadata[f"{api}.service_tier"] == "priority"


def test_vp26_a_tier_is_read_after_the_finish_reason_and_from_whole_answers_too() -> None:
    late = [
        chunk({"content": "hi"}, "stop"),
        {"choices": [], "usage": USAGE, "service_tier": "flex"},
    ]
    whole = {"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}]}

    for response in (
        read("openai_chat", *late, "[DONE]"),
        read_whole("openai_chat", {**whole, "service_tier": "flex"}),
    ):
        assert response.item.metadata["openai_chat.service_tier"] == "flex"


def tokens(api: str, report: dict[str, Any]) -> TokenUsage:
    candidate = {"content": {"parts": [{"text": "a"}]}, "finishReason": "STOP"}
    payloads: dict[str, list[Any]] = {
        "openai_chat": [
            chunk({"content": "hi"}, "stop"),
            {"choices": [], "usage": report},
            "[DONE]",
        ],
        "openai_responses": [
            {"type": "response.completed", "response": {"status": "completed", "usage": report}}
        ],
        "google_generate": [{"candidates": [candidate], "usageMetadata": report}],
    }
    return read(api, *payloads[api]).usage.tokens


def test_vp28_more_cached_tokens_than_the_prompt_has_are_a_share_of_it() -> None:
    report = {**USAGE, "prompt_tokens_details": {"cached_tokens": 403}}
    azure = tokens("openai_chat", {**report, "prompt_tokens": 347, "total_tokens": 352})

    assert azure == TokenUsage(input=0, cache_read=347, output=5)
    assert azure.total == 352


@pytest.mark.parametrize(
    ("api", "report", "prompt", "output"),
    [
        # A gateway that counts cached tokens beside the prompt.
        (
            "openai_chat",
            {**USAGE, "prompt_tokens_details": {"cached_tokens": 100}, "total_tokens": 115},
            110,
            5,
        ),
        # Reasoning beside the output, within it, and more of it than of the output.
        (
            "openai_chat",
            {**USAGE, "completion_tokens_details": {"reasoning_tokens": 7}, "total_tokens": 22},
            10,
            12,
        ),
        ("openai_chat", {**USAGE, "completion_tokens_details": {"reasoning_tokens": 7}}, 10, 5),
        # Hidden reasoning, and sound of which only the seconds are told.
        ("openai_chat", {**USAGE, "total_tokens": 40}, 10, 30),
        ("openai_chat", {**USAGE, "total_tokens": 40, "prompt_audio_seconds": 2}, 35, 5),
        ("openai_chat", {**USAGE, "total_tokens": 0}, 10, 5),
        (
            "openai_responses",
            {
                "input_tokens": 10,
                "output_tokens": 5,
                "total_tokens": 22,
                "output_tokens_details": {"reasoning_tokens": 7},
            },
            10,
            12,
        ),
        (
            "google_generate",
            {
                "promptTokenCount": 10,
                "candidatesTokenCount": 12,
                "thoughtsTokenCount": 7,
                "totalTokenCount": 22,
            },
            10,
            12,
        ),
    ],
)
def test_vp28_where_there_is_a_total_it_says_what_belongs_to_which_count(
    api: str, report: dict[str, Any], prompt: int, output: int
) -> None:
    counted = tokens(api, report)

    assert (counted.prompt, counted.output) == (prompt, output)


counts = st.none() | st.integers(0, 60)


@given(
    vendor=st.builds(
        VendorCounts,
        prompt=counts,
        output=counts,
        cache_read=counts,
        cache_write=counts,
        reasoning=counts,
        total=counts,
        excludes_reasoning=st.booleans(),
        rest_is_prompt=st.booleans(),
    )
)
@examples(500)
def test_vp28_with_a_total_all_counts_add_up_to_it(vendor: VendorCounts) -> None:
    counted = disjoint_tokens(vendor)

    for name in ("input", "output", "cache_read", "cache_write", "reasoning"):
        assert (getattr(counted, name) or 0) >= 0
    if counted.output is not None:
        assert (counted.reasoning or 0) <= counted.output
    if vendor.total and vendor.prompt is not None and vendor.output is not None:
        assert counted.total == vendor.total
