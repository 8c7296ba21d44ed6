"""The checks for authors of projections notice each of the usual faults of a projection.

A small protocol has a projection that keeps all laws (`support.small_protocol`). Each fault is
a change of it, and is checked as an author would check it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from msgspec.structs import replace

from agentkit_core import (
    FailureKind,
    FinishReason,
    Item,
    ModelRequest,
    Provenance,
    ToolCall,
    ToolCallId,
    Usage,
)
from agentkit_core.provider import ModelEvent, ResponseStarted
from agentkit_core.testing import check_decoder, check_projection
from agentkit_providers.replay import Answer
from agentkit_providers.testing import check_over_http
from support.small_protocol import SmallDecoder, SmallProjection

REQUEST = ModelRequest(model="small-1", items=(Item.user("hi"),))


def body(*lines: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def call(call_id: str, name: str) -> dict[str, Any]:
    return {"call": {"id": call_id, "name": name, "with": {"at": "it"}}}


USED = {"used": {"in": 5, "out": 7}}
TEXT = body({"id": "r1"}, {"text": "Grüße"}, {"text": " an alle"}, USED, {"end": "done"})
THOUGHT = body({"id": "r2"}, {"thought": "hm", "seal": "QQ"}, {"text": "So."}, {"end": "done"})
CALLS = body({"id": "r3"}, call("t1", "look"), call("t2", "find"), USED, {"end": "done"})
ERROR = body({"id": "r4"}, {"text": "So f"}, {"error": "overloaded"})
BODIES = (TEXT, THOUGHT, CALLS, ERROR)


def check_all(projection: SmallProjection) -> None:
    """Check a projection as its author would, with each of the checks in turn."""
    check_projection(projection)
    for recorded in BODIES:
        check_decoder(lambda: projection.decoder(REQUEST), recorded, model=REQUEST.model)
    for recorded in BODIES:
        check_over_http(projection, Answer.from_body(recorded), REQUEST)


class IdsRepeatedInAResponse(SmallDecoder):
    def call(self, call: dict[str, Any]) -> ToolCall:
        return replace(super().call(call), id=ToolCallId("call"))


class IdsRepeatedAcrossResponses(SmallDecoder):
    count = 0

    def call(self, call: dict[str, Any]) -> ToolCall:
        self.count += 1
        return replace(super().call(call), id=ToolCallId(f"call_{self.count}"))


class NoResponseStarted(SmallDecoder):
    def start(self, response_id: str) -> list[ModelEvent]:
        return []


class CallsFinishAsCompleted(SmallDecoder):
    def reason(self, word: str) -> FinishReason:
        return FinishReason.COMPLETED


class EndMarkNotRequired(SmallDecoder):
    def finish(self) -> tuple[ModelEvent, ...]:
        if not self.model or self.ended:
            return ()
        return tuple(self.end("done")) if self.started or self.text else super().finish()


class GoesOnAfterTheEnd(SmallDecoder):
    def feed(self, chunk: bytes, /) -> tuple[ModelEvent, ...]:
        ended, self.ended = self.ended, False
        events = super().feed(chunk)
        self.ended = self.ended or ended
        return events


class InStreamErrorIgnored(SmallDecoder):
    def fail(self, kind: FailureKind, message: str) -> list[ModelEvent]:
        return [] if kind is FailureKind.OVERLOADED else super().fail(kind, message)


class WrongProvider(SmallDecoder):
    provider = "smaller"


class WrongModel(SmallDecoder):
    def start(self, response_id: str) -> list[ModelEvent]:
        return [ResponseStarted(Provenance("small", "small", "small-1-2026", response_id))]


class UsageWithoutRequests(SmallDecoder):
    def usage(self, used: dict[str, int]) -> Usage:
        return replace(super().usage(used), requests=0)


class NoSendable(SmallProjection):
    def items(self, request: ModelRequest) -> tuple[Item, ...]:
        return tuple(request.items)

    def message(self, item: Item) -> dict[str, Any]:
        return {**super().message(replace(item, parts=item.parts)), "thoughts": []}


class ToolResultsDropped(SmallProjection):
    def results(self, item: Item) -> list[dict[str, Any]]:
        return [{**result, "text": ""} for result in super().results(item)]


class ToolResultsWrittenTwice(SmallProjection):
    def results(self, item: Item) -> list[dict[str, Any]]:
        return [result for result in super().results(item) for _ in range(2)]


class ToolItemsDropped(SmallProjection):
    def results(self, item: Item) -> list[dict[str, Any]]:
        return []


class ToolsForgotten(SmallProjection):
    def body(self, request: ModelRequest) -> dict[str, Any]:
        return super().body(replace(request, tools=()))


class StreamFlagIgnored(SmallProjection):
    def body(self, request: ModelRequest) -> dict[str, Any]:
        return super().body(replace(request, streamed=True))


class ChanceInTheBody(SmallProjection):
    def body(self, request: ModelRequest) -> dict[str, Any]:
        return {**super().body(request), "request": str(uuid4())}


class PathWithoutSlash(SmallProjection):
    path = "say"


def with_decoder(decoder: type[SmallDecoder]) -> Callable[[], SmallProjection]:
    """A projection that is in order, but for its decoder."""

    class Projection(SmallProjection):
        def decoder(self, request: ModelRequest, /) -> SmallDecoder:
            return decoder(request)

    return Projection


FAULTS: dict[str, tuple[Callable[[], SmallProjection], str, str]] = {
    "ids repeated in a response": (
        with_decoder(IdsRepeatedInAResponse),
        "check_decoder",
        "the calls ['look', 'find'] have the same id 'call'",
    ),
    "ids repeated across responses": (
        with_decoder(IdsRepeatedAcrossResponses),
        "check_over_http",
        "the call id 'call_1' is that of a call in the request's history",
    ),
    "no ResponseStarted": (
        with_decoder(NoResponseStarted),
        "check_decoder",
        "the response finishes without a ResponseStarted",
    ),
    "no sendable": (NoSendable, "check_projection", "send what `sendable` returns"),
    "tool results dropped": (
        ToolResultsDropped,
        "check_projection",
        "the result of a tool is not in the body",
    ),
    "tool items dropped": (
        ToolItemsDropped,
        "check_projection",
        "the result of a tool is not in the body",
    ),
    "tools forgotten": (
        ToolsForgotten,
        "check_projection",
        "the tool 'find_book' is not in the body",
    ),
    "calls with finish COMPLETED": (
        with_decoder(CallsFinishAsCompleted),
        "check_decoder",
        "the response has tool calls, and its finish reason is completed",
    ),
    "end mark not required": (
        with_decoder(EndMarkNotRequired),
        "check_decoder",
        "is decoded as a whole response without",
    ),
    "going on after the end": (
        with_decoder(GoesOnAfterTheEnd),
        "check_decoder",
        "the decoder continues after the end of the response",
    ),
    "in-stream error ignored": (
        with_decoder(InStreamErrorIgnored),
        "check_decoder",
        "the body has an error, which the decoder ignores",
    ),
    "wrong provenance: provider": (
        with_decoder(WrongProvider),
        "check_over_http",
        "the provenance of the response is ('smaller', 'small', 'small-1')",
    ),
    "wrong provenance: model": (
        with_decoder(WrongModel),
        "check_decoder",
        "the provenance has the model 'small-1-2026'",
    ),
    "tool results written twice": (
        ToolResultsWrittenTwice,
        "check_projection",
        "the result of a tool is 2 times in the body",
    ),
    "stream flag ignored": (
        StreamFlagIgnored,
        "check_projection",
        "a request for a stream is the same as one for a whole response",
    ),
    "chance in the body": (ChanceInTheBody, "check_projection", "twice gives other bytes"),
    "path without slash": (PathWithoutSlash, "check_projection", "has no leading slash"),
    "usage.requests 0": (
        with_decoder(UsageWithoutRequests),
        "check_decoder",
        "a UsageReported counts 0 requests",
    ),
}
"""Each fault, the check that notices it first, and what that says."""


def test_a_projection_that_keeps_the_laws_passes_every_check() -> None:
    check_all(SmallProjection())


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_of_a_projection_is_noticed(fault: str) -> None:
    faulty, check, message = FAULTS[fault]

    with pytest.raises(AssertionError) as noticed:
        check_all(faulty())

    assert message in str(noticed.value)
    assert check in {frame.name for frame in noticed.traceback}
