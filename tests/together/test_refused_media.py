"""Media that a provider refuses, in all protocols over HTTP: later requests are sent without."""

from __future__ import annotations

from base64 import b64encode
from types import ModuleType

import pytest

from agentkit_core import InlineBytes, Item, Media, Modality, Part, Text
from agentkit_loop import Agent, TurnEnd
from agentkit_providers import connect
from agentkit_providers.replay import (
    Answer,
    ReplayServer,
    Request,
    anthropic_messages,
    google_generate,
    openai_chat,
    openai_responses,
)
from agentkit_tools_core import tool

PROTOCOLS = {
    "compatible": openai_chat,
    "compatible-responses": openai_responses,
    "anthropic-compatible": anthropic_messages,
    "google": google_generate,
}
BYTES = b"\x89PNG\r\n\x1a\n too large"
PICTURE = Media(Modality.IMAGE, "image/png", InlineBytes(BYTES))
IN_BASE64 = b64encode(BYTES)


@tool
def look() -> list[Part]:
    """Look."""
    return [Text(text="beside"), PICTURE]


@pytest.mark.parametrize(
    ("from_tool", "status"), [(True, 400), (False, 413), (False, 415), (True, 422)]
)
@pytest.mark.parametrize("provider", PROTOCOLS)
def test_vl09_a_conversation_goes_on_in_every_protocol(
    provider: str, from_tool: bool, status: int
) -> None:
    answers: ModuleType = PROTOCOLS[provider]

    def answer(request: Request) -> Answer:
        if IN_BASE64 in request.body:
            return Answer.json({"error": {"message": "image exceeds 5 MB"}}, status=status)
        if b"beside" not in request.body:
            made: Answer = answers.tool_calls([("look", {})])
            return made
        text: Answer = answers.text("fine")
        return text

    prompt = "Look." if from_tool else Item.user("beside", PICTURE)
    with ReplayServer(answer) as server:
        model = connect(f"{provider}:m", base_url=server.url, api_key="k" * 12)
        with Agent(model=model, tools=[look]).session_blocking() as session:
            assert session.prompt(prompt).end is TurnEnd.ERROR
            for _ in range(2):
                assert session.prompt("Go on.").end is TurnEnd.COMPLETED
        *_, before, after = [request.body for request in server.requests]
    for body in (before, after):
        assert b"beside" in body
        assert b"left out" in body
