"""Stored records stay readable for ever, and new ones are written as they always were.

The files in `golden` are never changed, only added to: an old file that cannot be read any more
is a broken promise. To add new examples: `python tests/core/test_golden.py --write`, which
refuses to touch what is there.
"""

import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from agentkit_core import (
    ArtifactId,
    CostUsage,
    Custom,
    FailureKind,
    File,
    FilesOutput,
    FinishReason,
    Handle,
    InlineBytes,
    InlineText,
    Item,
    Media,
    MessageId,
    Modality,
    ModelRequest,
    ModelResponse,
    Part,
    PartsOutput,
    Provenance,
    ProviderFailure,
    Reasoning,
    Structured,
    StructuredOutput,
    Text,
    TextOutput,
    TokenUsage,
    ToolCall,
    ToolCallId,
    ToolFailure,
    ToolResult,
    ToolSpec,
    Uri,
    Usage,
    from_json,
    to_json,
)
from agentkit_core.provider import (
    AppendBytes,
    AppendText,
    BeginPart,
    CommitPart,
    Delta,
    ModelEvent,
    PartId,
    ReplaceStructured,
    ResponseFailed,
    ResponseFinished,
    ResponseStarted,
    SetMetadata,
    UsageReported,
)

FOLDER = Path(__file__).with_name("golden")

PART_ID, CALL_ID = PartId("p1"), ToolCallId("call_1")
ORIGIN = Provenance("openai", "openai_chat", "gpt-5-mini", "resp_1", "gpt-5-mini-2025")
USAGE = Usage(
    TokenUsage(10, 5, 80, 0, 2), CostUsage({"USD": Decimal("0.0115")}), 1, 1, 1,
    {"openai.usage": {"prompt_tokens": 90}},
)  # fmt: skip
FAILURE = ProviderFailure(
    kind=FailureKind.RATE_LIMIT, message="slow down", retryable=True, retry_after_s=2.5,
    status=429, code="rate_limit_exceeded", request_id="req_1", raw={"error": {}},
)  # fmt: skip
PARTS: list[Part] = [
    Text("hi \u2028 🙈"),
    Text("signed", metadata={"anthropic_messages.signature": "QUJD"}),
    Media(Modality.IMAGE, "image/png", InlineBytes(b"\x89PNG")),
    Media(Modality.AUDIO, "", Uri("https://example.com/a.wav")),
    File(Handle(ArtifactId("a1")), "application/pdf", "a.pdf"),
    File(InlineText("x")),
    Structured({"a": [1, None]}, {"type": "object"}),
    Reasoning("thinking", metadata={"anthropic_messages.signature": "QUJD"}),
    Reasoning(None, InlineBytes(b"\x00"), redacted=True),
    ToolCall(CALL_ID, "look", {"at": "it"}),
    ToolCall(CALL_ID, "look", {}, '{"a', "not valid JSON"),
    ToolResult(CALL_ID, TextOutput("seen")),
    ToolResult(CALL_ID, StructuredOutput([1]), details={"ms": 5}, usage=USAGE),
    ToolResult(CALL_ID, PartsOutput((Text("a"), Media(Modality.IMAGE, "", Uri("u"))))),
    ToolResult(CALL_ID, FilesOutput((File(InlineBytes(b"x"), name="x"),)), added_tools=("f",)),
    ToolResult(CALL_ID, TextOutput("no"), True, ToolFailure.PERMISSION_DENIED, started=False),
    Custom("anthropic_messages.server_tool_use", {"q": "x"}, InlineText("y")),
]
DELTAS: list[Delta] = [
    BeginPart(PART_ID, ToolCall(CALL_ID, "look")),
    AppendText(PART_ID, '{"a"'),
    AppendBytes(PART_ID, b"\x00\xff"),
    ReplaceStructured(PART_ID, {"a": 1}),
    SetMetadata(PART_ID, {"a.b": None}),
    CommitPart(Text("a"), PART_ID),
    CommitPart(Text("a")),
]
ITEMS: list[Item] = [
    Item.system("be brief"),
    Item.developer("metric"),
    Item.context("notes"),
    replace(Item.user("hi"), id=MessageId("m1"), created_at=1_700_000_000_000),
    Item.notification("built"),
    replace(
        Item.assistant("hello", ToolCall(CALL_ID, "look")),
        provenance=ORIGIN, finish_reason=FinishReason.TOOL_CALL, usage=USAGE,
        metadata={"agentkit.provider_finish_reasons": ["tool_calls"]},
    ),
    replace(
        Item.assistant("half"), finish_reason=FinishReason.ERROR, failure=FAILURE, interrupted=True,
    ),
    Item.tool(ToolResult(CALL_ID, TextOutput("seen"))),
]  # fmt: skip
EVENTS: list[ModelEvent] = [
    ResponseStarted(ORIGIN),
    UsageReported(USAGE),
    ResponseFinished(FinishReason.COMPLETED, ("stop",), {"openai.id": "r"}),
    ResponseFailed(FAILURE),
]
EXAMPLES: dict[str, tuple[Any, list[Any]]] = {
    "part": (list[Part], PARTS),
    "delta": (list[Delta], DELTAS),
    "item": (list[Item], ITEMS),
    "usage": (list[Usage], [Usage(), USAGE]),
    "failure": (list[ProviderFailure], [FAILURE]),
    "model_event": (list[ModelEvent], EVENTS),
    "model_response": (list[ModelResponse], [ModelResponse(ITEMS[6], FAILURE)]),
    "tool_spec": (list[ToolSpec], [ToolSpec("look"), ToolSpec("f", "does", {"type": "object"})]),
    "model_request": (list[ModelRequest], [ModelRequest(model="m", items=ITEMS[:1])]),
}

golden = pytest.mark.parametrize("name", EXAMPLES)


@golden
def test_what_was_written_once_is_still_read_as_it_was_meant(name: str) -> None:
    record, values = EXAMPLES[name]

    assert from_json((FOLDER / f"{name}.json").read_bytes(), record) == values


@golden
def test_what_is_written_today_is_what_was_written_always(name: str) -> None:
    assert (FOLDER / f"{name}.json").read_text(encoding="utf-8") == written(EXAMPLES[name][1])


def test_every_golden_file_is_looked_at() -> None:
    assert {path.stem for path in FOLDER.glob("*.json")} == set(EXAMPLES)


def written(values: list[Any]) -> str:
    """A JSON list with one record a line."""
    return "[\n" + ",\n".join(to_json(value).decode() for value in values) + "\n]\n"


if __name__ == "__main__" and "--write" in sys.argv:
    FOLDER.mkdir(exist_ok=True)
    for name, (_, values) in EXAMPLES.items():
        path, old = FOLDER / f"{name}.json", ""
        if path.exists():
            old = path.read_text(encoding="utf-8").removesuffix("\n]\n")
        new = written(values)
        assert new.startswith(old), f"{path} would change"
        path.write_text(new, encoding="utf-8")
