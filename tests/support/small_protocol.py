"""A provider of a stranger's with tools, streams, usage and errors, and its whole projection.

    request   {"model", "stream", "tools": [{"name", "about", "takes"}], "messages": [
                  {"from", "text", "thoughts", "calls": [{"id", "name", "with"}],
                   "results": [{"of", "text"}]}]}
    response  lines of JSON: {"id"} {"text"} {"thought", "seal"} {"call": {"id", "name", "with"}}
                  {"used": {"in", "out"}} {"error"} {"end": "done" | "cut"}

A request for a whole response gets the same lines at once.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from agentkit_core import (
    FailureKind,
    FinishReason,
    Item,
    ItemKind,
    JsonValue,
    ModelRequest,
    Provenance,
    ProviderFailure,
    Reasoning,
    StructuredOutput,
    Text,
    TextOutput,
    TokenUsage,
    ToolCall,
    ToolCallId,
    ToolResult,
    Usage,
    to_json,
)
from agentkit_core.provider import (
    AppendText,
    BeginPart,
    CommitPart,
    ModelEvent,
    PartId,
    ReasoningRule,
    ResponseFailed,
    ResponseFinished,
    ResponseStarted,
    Target,
    UsageReported,
    WireRequest,
    sendable,
)

SEAL = "small.seal"
"""Metadata of reasoning: what the provider wants back with it."""


class SmallProjection:
    """Fits `agentkit_core.provider.Projection`, and keeps its laws."""

    path = "/say"

    def target(self, model: str) -> Target:
        return Target(
            provider="small",
            api="small",
            model=model,
            kinds=frozenset({ItemKind.SYSTEM, ItemKind.USER, ItemKind.ASSISTANT, ItemKind.TOOL}),
            reasoning=ReasoningRule.SIGNED,
            signature_keys=(SEAL,),
        )

    def encode(self, request: ModelRequest, /) -> WireRequest:
        return WireRequest(path=self.path, body=to_json(self.body(request)))

    def body(self, request: ModelRequest) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": request.model,
            "stream": request.streamed,
            "messages": [self.message(item) for item in self.items(request)],
        }
        if request.tools:
            body["tools"] = [
                {"name": tool.name, "about": tool.description, "takes": tool.input_schema}
                for tool in request.tools
            ]
        return body

    def items(self, request: ModelRequest) -> Iterable[Item]:
        return sendable(request.items, self.target(request.model))

    def message(self, item: Item) -> dict[str, Any]:
        thoughts = [part for part in item.parts if isinstance(part, Reasoning)]
        calls = [
            {"id": call.id, "name": call.name, "with": call.raw_input or call.input}
            for call in item.tool_calls
        ]
        return {
            "from": item.kind.value,
            "text": item.text,
            "thoughts": [{"text": part.summary, "seal": part.metadata[SEAL]} for part in thoughts],
            "calls": calls,
            "results": self.results(item),
        }

    def results(self, item: Item) -> list[dict[str, Any]]:
        return [{"of": result.call_id, "text": _output(result)} for result in item.tool_results]

    def decoder(self, request: ModelRequest, /) -> SmallDecoder:
        return SmallDecoder(request)


def _output(result: ToolResult) -> JsonValue:
    match result.output:
        case TextOutput(text=text):
            return text
        case StructuredOutput(value=value):
            return value
        case output:
            parts = getattr(output, "parts", ())
            return "".join(part.text for part in parts if isinstance(part, Text))


class SmallDecoder:
    """Reads the lines of one response."""

    provider = "small"

    def __init__(self, request: ModelRequest) -> None:
        self.model = request.model
        self.rest = b""
        self.ended = self.started = self.has_calls = False
        self.text: list[str] = []

    def feed(self, chunk: bytes, /) -> tuple[ModelEvent, ...]:
        *lines, self.rest = (self.rest + chunk).split(b"\n")
        events: list[ModelEvent] = []
        for line in lines:
            if line.strip() and not self.ended:
                events += self.read(json.loads(line))
        return tuple(events)

    def finish(self) -> tuple[ModelEvent, ...]:
        if self.ended:
            return ()
        return tuple(self.fail(FailureKind.STREAM_CUT, "the response ended before its end mark"))

    def read(self, line: dict[str, Any]) -> list[ModelEvent]:
        match line:
            case {"id": response_id}:
                return self.start(response_id)
            case {"thought": text, "seal": seal}:
                return [CommitPart(Reasoning(text, metadata={SEAL: seal}))]
            case {"text": text}:
                self.text.append(text)
                begin = [BeginPart(PartId("text"), Text(""))] if len(self.text) == 1 else []
                return [*begin, AppendText(PartId("text"), text)]
            case {"call": call}:
                self.has_calls = True
                return [CommitPart(self.call(call))]
            case {"used": used}:
                return [UsageReported(self.usage(used))]
            case {"error": error}:
                return self.fail(FailureKind.OVERLOADED, error)
            case {"end": word}:
                return self.end(word)
            case _:
                return []

    def start(self, response_id: str) -> list[ModelEvent]:
        return [ResponseStarted(Provenance(self.provider, "small", self.model, response_id))]

    def call(self, call: dict[str, Any]) -> ToolCall:
        return ToolCall(ToolCallId(call["id"]), call["name"], call["with"])

    def usage(self, used: dict[str, int]) -> Usage:
        tokens = TokenUsage(input=used["in"], output=used["out"])
        return Usage(tokens, requests=1, reported_requests=1)

    def end(self, word: str) -> list[ModelEvent]:
        self.ended = True
        text = Text("".join(self.text))
        commit = [CommitPart(text, PartId("text"))] if self.text else []
        return [*commit, ResponseFinished(self.reason(word), (word,))]

    def reason(self, word: str) -> FinishReason:
        if word == "cut":
            return FinishReason.MAX_TOKENS
        return FinishReason.TOOL_CALL if self.has_calls else FinishReason.COMPLETED

    def fail(self, kind: FailureKind, message: str) -> list[ModelEvent]:
        self.ended = True
        return [ResponseFailed(ProviderFailure(kind=kind, message=message, retryable=True))]
