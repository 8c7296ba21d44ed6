"""A turn with tools over generateContent: what goes over real HTTP, request by request."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from agentkit_core import FinishReason, Transcript
from agentkit_loop import Agent, TurnEnd
from agentkit_providers import connect
from agentkit_providers.replay import Answer, ReplayServer, google_generate, mask_key
from agentkit_tools_core import tool

MODEL = "gemini-3-pro-preview"


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@tool
def boom() -> str:
    """Fail."""
    raise RuntimeError("no luck")


SCRIPT = [
    google_generate.tool_calls(
        [("add", {"a": 1, "b": 2}), ("boom", {})], said="Let me see.", signature="QUJD"
    ),
    google_generate.tool_calls([("add", {"a": 3, "b": 4})], signature="REVG", ids=["x1"]),
    google_generate.text("It is 7.", reasoning="3 + 4", signature="R0hJ"),
    google_generate.text("Bye."),
]


@pytest.mark.parametrize("provider", ["google", "vertex"])
async def test_a_turn_with_tools_sends_back_what_google_wants_back(provider: str) -> None:
    with ReplayServer(SCRIPT) as server:
        model = connect(f"{provider}:{MODEL}", base_url=server.url, api_key="a-key")
        agent = Agent(model=model, tools=[add, boom], instructions="Be brief.")
        async with agent.session() as session:
            result = await session.prompt("What is 1 + 2?")
            await session.prompt("Thanks.")
            transcript = list(session.transcript)

    assert result.end is TurnEnd.COMPLETED
    assert [one.finish_reason for one in transcript if one.finish_reason is not None] == [
        FinishReason.TOOL_CALL,
        FinishReason.TOOL_CALL,
        FinishReason.COMPLETED,
        FinishReason.COMPLETED,
    ]
    Transcript(transcript)  # keeps the rules
    last: dict[str, Any] = server.requests[-1].json
    assert last["systemInstruction"] == {"parts": [{"text": "Be brief."}]}
    called, failed = last["contents"][2]["parts"]
    assert called == {"functionResponse": {"name": "add", "response": {"output": 3}}}
    assert "no luck" in failed["functionResponse"]["response"]["error"]
    assert [one for at, one in enumerate(last["contents"]) if at != 2] == [
        {"role": "user", "parts": [{"text": "What is 1 + 2?"}]},
        {
            "role": "model",
            "parts": [
                {"text": "Let me see."},
                {
                    "functionCall": {"name": "add", "args": {"a": 1, "b": 2}},
                    "thoughtSignature": "QUJD",
                },
                {"functionCall": {"name": "boom", "args": {}}},
            ],
        },
        {
            "role": "model",
            "parts": [
                {
                    "functionCall": {"id": "x1", "name": "add", "args": {"a": 3, "b": 4}},
                    "thoughtSignature": "REVG",
                }
            ],
        },
        {
            "role": "user",
            "parts": [{"functionResponse": {"id": "x1", "name": "add", "response": {"output": 7}}}],
        },
        {
            "role": "model",
            "parts": [
                {"thought": True, "text": "3 + 4"},
                {"text": "It is 7."},
                {"text": "", "thoughtSignature": "R0hJ"},
            ],
        },
        {"role": "user", "parts": [{"text": "Thanks."}]},
    ]
    bodies = [one.body for one in server.requests]
    for before, after in pairwise(bodies):
        assert after.startswith(before.removesuffix(b"]}"))
    for one in server.requests:
        assert one.path == f"/models/{MODEL}:streamGenerateContent?alt=sse"
        key = one.headers.get("x-goog-api-key") or one.headers["authorization"]
        assert key in (mask_key("a-key"), mask_key("Bearer a-key"))


async def test_an_error_in_the_stream_fails_the_turn_and_leaves_the_history_valid() -> None:
    said = "The input token count (9) exceeds the maximum number of tokens allowed (5)."
    error = {"code": 400, "message": said, "status": "INVALID_ARGUMENT"}
    broken: Answer = google_generate.error_in_stream(error, after="I think")
    with ReplayServer([broken, google_generate.text("Better.")]) as server:
        model = connect(f"google:{MODEL}", base_url=server.url, api_key="a-key")
        async with Agent(model=model).session() as session:
            failed = await session.prompt("Hi.")
            again = await session.prompt("Again.")

    assert failed.end is TurnEnd.ERROR
    assert failed.failure is not None
    assert failed.failure.kind.value == "context_length"
    assert (failed.failure.tokens, failed.failure.token_limit) == (9, 5)
    assert again.end is TurnEnd.COMPLETED
