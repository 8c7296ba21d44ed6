"""Histories that are hard to send: damaged, incomplete, or made for other models."""

from __future__ import annotations

from msgspec.structs import replace

from agentkit_core._data_ref import Handle, InlineBytes, Modality, Uri
from agentkit_core._finish import FinishReason
from agentkit_core._ids import ArtifactId, ToolCallId
from agentkit_core._item import Item, Provenance
from agentkit_core._part import (
    Custom,
    File,
    FilesOutput,
    Media,
    PartsOutput,
    Reasoning,
    Structured,
    StructuredOutput,
    Text,
    TextOutput,
    ToolCall,
    ToolResult,
)

_PNG = InlineBytes(
    b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15"
    b"\xc4\x89\x00\x00\x00\rIDATx\x9cc\xf8\xff\xff?\x00\x05\xfe\x02\xfe\xa75\x81\x84\x00\x00\x00\x00"
    b"IEND\xaeB`\x82"
)
_IMAGE = Media(Modality.IMAGE, "image/png", _PNG)
_ELSEWHERE = Provenance("elsewhere", "another_api", "another-model", response_id="r-1")


def hard_transcripts() -> dict[str, tuple[Item, ...]]:
    """Return histories that are hard to send, by a name that says why.

    Most break the rules of a transcript; `sendable` must make all of them valid. Each call returns
    new items.
    """
    return {
        "empty": (),
        "a call without a result": (
            Item.user("hi"),
            Item.assistant(_call("t1"), _call("t2")),
            Item.tool(_result("t1")),
            Item.user("go on"),
        ),
        "a call without a result at the end": (Item.user("hi"), Item.assistant(_call("t1"))),
        "a result without a call": (Item.tool(_result("t9")), Item.user("hi")),
        "a result twice": (
            Item.user("hi"),
            Item.assistant(_call("t1")),
            Item.tool(_result("t1")),
            Item.tool(_result("t1")),
            Item.user("go on"),
        ),
        "a result that comes late": (
            Item.user("hi"),
            Item.assistant(_call("t1")),
            Item.user("are you there?"),
            Item.tool(_result("t1")),
        ),
        "the same call id in every turn": (
            Item.user("hi"),
            Item.assistant(_call("call_0")),
            Item.tool(_result("call_0")),
            Item.assistant(_call("call_0")),
            Item.tool(_result("call_0")),
        ),
        "empty call ids": (
            Item.user("hi"),
            Item.assistant(_call(""), _call("")),
            Item.tool(_result(""), _result("")),
        ),
        "call ids of other providers": (
            Item.user("hi"),
            Item.assistant(
                _call("functions.Bash:0"),
                _call("call_" + "x" * 60 + "|fc_" + "y" * 21),
                _call("ok"),
            ),
            Item.tool(_result("ok")),
        ),
        "ids that differ only at their end": (
            Item.user("hi"),
            Item.assistant(_call("a" * 90 + "1"), _call("a" * 90 + "2")),
        ),
        "a tool name that no provider takes": (
            Item.user("hi"),
            Item.assistant(
                ToolCall(ToolCallId("t1"), "read file!"), ToolCall(ToolCallId("t2"), "")
            ),
        ),
        "arguments that are not JSON": (
            Item.user("hi"),
            Item.assistant(
                ToolCall(ToolCallId("t1"), "f", raw_input='{"a', input_error="not valid JSON")
            ),
        ),
        "blank text everywhere": (
            Item.system(""),
            Item.user(" "),
            Item.assistant("", _call("t1")),
            Item.tool(ToolResult(ToolCallId("t1"), TextOutput("  \n"))),
            Item.assistant(""),
            Item.user("hi"),
        ),
        "lone surrogates": (
            Item.user("a\ud800b"),
            Item.assistant("\udc00", _call("t1", {"x\ud800": "\udfff"})),
            Item.tool(ToolResult(ToolCallId("t1"), TextOutput("\ud83d\ude48\ud800"))),
            Item.tool(ToolResult(ToolCallId("t1"), StructuredOutput({"k": "\ud800"}))),
        ),
        "reasoning of another model": (
            Item.user("hi"),
            replace(
                Item.assistant(
                    Reasoning("thinking", metadata={"another_api.signature": "QUJD"}), "answer"
                ),
                provenance=_ELSEWHERE,
            ),
            Item.user("go on"),
        ),
        "reasoning and nothing else": (
            Item.user("hi"),
            Item.assistant(Reasoning(None, redacted=True)),
            Item.user("go on"),
        ),
        "blocks of another provider": (
            Item.user("hi"),
            replace(
                Item.assistant(Custom("another_api.search", {"q": "x"}), "found"),
                provenance=_ELSEWHERE,
            ),
        ),
        "a failed response": (
            Item.user("hi"),
            replace(
                Item.assistant("half an ans", _call("t1")),
                finish_reason=FinishReason.ERROR,
                interrupted=True,
            ),
            Item.user("again"),
        ),
        "a cancelled response with half a call": (
            Item.user("hi"),
            replace(
                Item.assistant("Let me", _call("t1")),
                finish_reason=FinishReason.CANCELLED,
                interrupted=True,
            ),
            Item.user("never mind"),
        ),
        "images from parallel tools": (
            Item.user("look"),
            Item.assistant(_call("a"), _call("b"), _call("c")),
            Item.tool(
                ToolResult(ToolCallId("a"), PartsOutput((_IMAGE,))),
                ToolResult(ToolCallId("b"), PartsOutput((Text("here"), _IMAGE))),
                _result("c"),
            ),
        ),
        "all media": (
            Item.user(
                "see",
                _IMAGE,
                Media(Modality.IMAGE, "image/png", Uri("https://example.com/a.png")),
                Media(Modality.AUDIO, "audio/wav", InlineBytes(b"RIFF\x00\x00\x00\x00WAVE")),
                Media(Modality.VIDEO, "video/mp4", Uri("https://example.com/a.mp4")),
                Media(Modality.BINARY, "application/octet-stream", InlineBytes(b"\x00")),
                File(InlineBytes(b"%PDF-1.4"), "application/pdf", "a.pdf"),
                Structured({"a": 1}),
                Custom("somebody.note", "x"),
            ),
        ),
        "content that was not loaded": (
            Item.user(
                Media(Modality.IMAGE, "image/png", Handle(ArtifactId("a1"))),
                File(Handle(ArtifactId("a2")), "application/pdf"),
            ),
        ),
        "files from a tool": (
            Item.user("hi"),
            Item.assistant(_call("t1")),
            Item.tool(
                ToolResult(
                    ToolCallId("t1"), FilesOutput((File(InlineBytes(b"x"), "text/plain", "x.txt"),))
                )
            ),
        ),
        "every kind of item": (
            Item.system("be brief"),
            Item.developer("use the metric system"),
            Item.context("the project is in Rome"),
            Item.user("hi"),
            Item.notification("the build is done"),
            Item.assistant("hello"),
            Item.context("a summary"),
            Item.user("bye"),
        ),
        "an assistant first": (Item.system("be brief"), Item.assistant("hello"), Item.user("hi")),
        "the same kind several times in a row": (
            Item.user("a"),
            Item.user("b"),
            Item.assistant("c"),
            Item.assistant("d"),
            Item.notification("e"),
            Item.user("f"),
        ),
    }


def _call(call_id: str, arguments: dict[str, str] | None = None) -> ToolCall:
    return ToolCall(ToolCallId(call_id), "look", {**(arguments or {"at": "it"})})


def _result(call_id: str) -> ToolResult:
    return ToolResult(ToolCallId(call_id), TextOutput(f"result of {call_id}"))
