"""Ids of responses and names of models that come late, in pieces, or again."""

from __future__ import annotations

from typing import Any

import pytest

from agentkit_core.provider import ResponseStarted, fold_response
from providers.wire_protocols import PROTOCOLS, decode, read, stream


def chat(text: str | None, reason: str | None = None, **head: str) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": reason}], **head}


def gemini(text: str, **more: str) -> dict[str, Any]:
    reason = {"finishReason": more.pop("reason")} if "reason" in more else {}
    return {"candidates": [{"content": {"parts": [{"text": text}]}, **reason}], **more}


def claude(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, **more}


BLOCK = {"type": "text", "text": "a"}
MESSAGE = {"type": "message", "id": "i1"}
SAID = {**MESSAGE, "content": [{"type": "output_text", "text": "a"}]}
ADDED = {"type": "response.output_item.added", "output_index": 0, "item": MESSAGE}
END = [
    claude("content_block_stop", index=0),
    claude("message_delta", delta={"stop_reason": "end_turn"}),
    claude("message_stop"),
]
LATE: dict[str, list[list[Any]]] = {
    "openai_chat": [
        [chat("a"), chat(None, "stop", id="r1", model="M")],
        [chat("a", id="r1"), chat("b", model="M"), chat("c", "stop", id="r2", model="N")],
        [chat("a", model="M"), chat(None, "stop"), {"choices": [], "usage": {}, "id": "r1"}],
    ],
    "openai_responses": [
        [ADDED, {"type": "response.completed", "response": {
            "id": "r1", "model": "M", "status": "completed", "output": [SAID]}}],
        [{"type": "response.created", "response": {"id": "r1"}}, ADDED,
         {"type": "response.completed", "response": {
             "id": "r2", "model": "M", "status": "completed", "output": [SAID]}}],
    ],
    "anthropic_messages": [
        [claude("content_block_start", index=0, content_block=BLOCK),
         claude("message_start", message={"id": "r1", "model": "M"}), *END],
        [claude("message_start", message={"id": "r1"}),
         claude("content_block_start", index=0, content_block=BLOCK),
         claude("message_start", message={"id": "r2", "model": "M"}), *END],
    ],
    "google_generate": [
        [gemini("a"), gemini("b", reason="STOP", responseId="r1", modelVersion="M")],
        [gemini("a", responseId="r1"), gemini("b", modelVersion="M"),
         gemini("c", reason="STOP", responseId="r2", modelVersion="N")],
        [{"usageMetadata": {"promptTokenCount": 3}}, gemini("b", reason="STOP", modelVersion="M"),
         {"responseId": "r1"}],
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("api", "payloads"), [(api, payloads) for api in PROTOCOLS for payloads in LATE[api]]
)
def test_ids_that_come_late_are_not_lost(api: str, payloads: list[Any]) -> None:
    ending = ["[DONE]"] if api == "openai_chat" else []
    events = decode(api, stream(*payloads, *ending))
    response = fold_response(events, strict=True)

    assert response.failure is None
    assert response.item.provenance is not None
    assert response.item.provenance.response_id == "r1"
    assert response.item.provenance.response_model == "M"
    assert sum(isinstance(event, ResponseStarted) for event in events) == 1


@pytest.mark.parametrize("api", PROTOCOLS)
def test_ids_that_come_before_a_failure_are_not_lost(api: str) -> None:
    cut = LATE[api][0][:-1] if api.startswith("anthropic") else LATE[api][1][:2]
    origin = read(api, *cut).item.provenance

    assert origin is not None
    assert origin.response_id == "r1"


@pytest.mark.parametrize("api", PROTOCOLS)
def test_without_any_ids_a_response_has_none(api: str) -> None:
    def without(value: Any) -> Any:
        if isinstance(value, dict):
            gone = ("id", "model", "responseId", "modelVersion")
            return {name: without(entry) for name, entry in value.items() if name not in gone}
        return value

    payloads = [without(payload) for payload in LATE[api][0]]
    response = read(api, *payloads, *(["[DONE]"] if api == "openai_chat" else []))

    assert response.failure is None
    assert response.item.provenance is not None
    assert response.item.provenance.response_id is None
    assert response.item.provenance.response_model is None
