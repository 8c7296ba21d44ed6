"""The checks that others run on their providers: they pass what is good and catch what is not."""

import json
from collections.abc import Callable

import pytest
from msgspec.structs import replace

from agentkit_core import (
    Custom,
    FailureKind,
    File,
    FinishReason,
    Handle,
    InlineBytes,
    Item,
    ItemKind,
    Media,
    Modality,
    ModelRequest,
    Part,
    PartsOutput,
    Provenance,
    ProviderFailure,
    Reasoning,
    Text,
    TextOutput,
    ToolCall,
    ToolCallId,
    ToolResult,
    ToolSpec,
    to_json,
)
from agentkit_core.provider import (
    AppendText,
    BeginPart,
    CommitPart,
    ModelEvent,
    PartId,
    ReasoningRule,
    ResponseDecoder,
    ResponseFailed,
    ResponseFinished,
    Target,
    ToolMedia,
    WireRequest,
    sendable,
)
from agentkit_core.testing import (
    check_decoder,
    check_projection,
    check_sendable,
    decode_chunks,
    hard_transcripts,
)
from support.items import HERE

TARGET = Target(provider="here", api="an_api", model="a-model")
P = PartId("p")
CUT = ResponseFailed(ProviderFailure(kind=FailureKind.STREAM_CUT, message="cut off"))
BODY = "+hé\n+🙈 you\nend\n".encode()


class Lines:
    """Reads a small protocol as it should be read: `+text` grows the text, `end` ends."""

    def __init__(self) -> None:
        self.held = b""
        self.begun = self.ended = self.closed = False

    def feed(self, chunk: bytes, /) -> tuple[ModelEvent, ...]:
        *lines, self.held = (self.held + chunk).split(b"\n")
        return tuple(event for line in lines for event in self.line(line.decode()))

    def line(self, line: str) -> list[ModelEvent]:
        if self.ended:
            return []
        if line == "end":
            self.ended = True
            return self.end()
        begin: list[ModelEvent] = [] if self.begun else [BeginPart(P, Text(""))]
        self.begun = True
        return [*begin, AppendText(P, line.removeprefix("+"))]

    def end(self) -> list[ModelEvent]:
        return [ResponseFinished(FinishReason.COMPLETED)]

    def finish(self) -> tuple[ModelEvent, ...]:
        ended = self.ended
        self.ended = True
        return () if ended else (CUT,)


class DecodesEachChunk(Lines):
    def feed(self, chunk: bytes, /) -> tuple[ModelEvent, ...]:
        return (*super().feed(b""), CommitPart(Text(str(len(chunk))))) if chunk else ()

    def finish(self) -> tuple[ModelEvent, ...]:
        return (CUT,) if not self.closed and self.close() else ()

    def close(self) -> bool:
        self.closed = True
        return True


class SplitsCharacters(Lines):
    def feed(self, chunk: bytes, /) -> tuple[ModelEvent, ...]:
        return super().feed(chunk.decode("utf-8", "replace").encode())


class Raises(Lines):
    def finish(self) -> tuple[ModelEvent, ...]:
        if self.held:
            raise ValueError("half a line")
        return super().finish()


class NeverEnds(Lines):
    def finish(self) -> tuple[ModelEvent, ...]:
        return ()


class TakesNothingForAnAnswer(Lines):
    def finish(self) -> tuple[ModelEvent, ...]:
        ended, self.ended = self.ended, True
        return () if ended else (ResponseFinished(FinishReason.COMPLETED),)


class EndsTwice(Lines):
    def end(self) -> list[ModelEvent]:
        return [*super().end(), *super().end()]


class GoesOn(Lines):
    def end(self) -> list[ModelEvent]:
        return [*super().end(), AppendText(P, "!")]


class FinishesAgain(Lines):
    def finish(self) -> tuple[ModelEvent, ...]:
        events = super().finish()
        if not events and self.closed:
            return (CUT,)
        self.closed = True
        return events


class BeginsNothing(Lines):
    def line(self, line: str) -> list[ModelEvent]:
        self.begun = True
        return super().line(line)


class GivesWords(Lines):
    def line(self, line: str) -> list[ModelEvent]:
        return ["a word", *super().line(line)]  # type: ignore[list-item]


def test_a_good_decoder_passes_and_its_answer_is_given() -> None:
    response = check_decoder(Lines, BODY)

    assert response.item.text == "hé🙈 you"
    assert check_decoder(Lines, BODY, cuts=[3]) == response
    assert check_decoder(Lines, b"+x\n" * 400 + b"end\n").item.text == "x" * 400


@pytest.mark.parametrize(
    ("broken", "law"),
    [
        (DecodesEachChunk, "cutting the body"),
        (SplitsCharacters, "cutting the body at byte 3 changes the events"),
        (Raises, "raised ValueError"),
        (NeverEnds, "there are 0 end events"),
        (TakesNothingForAnAnswer, "an empty body is decoded as a response"),
        (EndsTwice, "there are 2 end events"),
        (GoesOn, "comes after the end"),
        (FinishesAgain, "a second call of `finish` returns events"),
        (BeginsNothing, "do not fold in strict mode"),
        (GivesWords, "is not a model event"),
    ],
)
def test_a_broken_decoder_is_caught(broken: Callable[[], ResponseDecoder], law: str) -> None:
    with pytest.raises(AssertionError, match=law):
        check_decoder(broken, BODY)


def test_a_body_that_breaks_off_in_the_middle_is_checked_too() -> None:
    class RaisesWhenCut(Lines):
        def finish(self) -> tuple[ModelEvent, ...]:
            if self.begun and not self.ended:
                raise RuntimeError("cut")
            return super().finish()

    with pytest.raises(AssertionError, match="RuntimeError"):
        check_decoder(RaisesWhenCut, BODY)


class Echo:
    """A projection as it should be: pure, for any history."""

    path = "/echo"
    decoding: Callable[[], ResponseDecoder] = Lines

    def encode(self, request: ModelRequest, /) -> WireRequest:
        items = sendable(request.items, replace(TARGET, model=request.model))
        return WireRequest(path=self.path, body=self.body(request, items))

    def body(self, request: ModelRequest, items: tuple[Item, ...]) -> bytes:
        return to_json({"model": request.model, "items": items, "tools": request.tools})

    def decoder(self, request: ModelRequest, /) -> ResponseDecoder:
        return self.decoding()


class RefusesHistories(Echo):
    def encode(self, request: ModelRequest, /) -> WireRequest:
        if any(call.input_error for item in request.items for call in item.tool_calls):
            raise KeyError("input")
        return super().encode(request)


class Counts(Echo):
    def __init__(self) -> None:
        self.count = 0

    def body(self, request: ModelRequest, items: tuple[Item, ...]) -> bytes:
        self.count += 1
        return to_json({"count": self.count})


class WritesIntoTheRequest(Echo):
    def encode(self, request: ModelRequest, /) -> WireRequest:
        for item in request.items:
            item.metadata["echo.sent"] = True
        return super().encode(request)


class WritesLoneSurrogates(Echo):
    def body(self, request: ModelRequest, items: tuple[Item, ...]) -> bytes:
        return json.dumps([item.text for item in request.items]).encode()


class WritesBrokenText(Echo):
    def body(self, request: ModelRequest, items: tuple[Item, ...]) -> bytes:
        return json.dumps([item.text for item in request.items], ensure_ascii=False).encode(
            "utf-8", "surrogatepass"
        )


class HasNoSlash(Echo):
    path = "echo"


class ReadsNothingAsAnAnswer(Echo):
    decoding = TakesNothingForAnAnswer


def test_a_good_projection_passes() -> None:
    check_projection(Echo(), tools=[ToolSpec("look")])
    check_projection(Echo(), histories={"mine": [Item.user("hi")]})


@pytest.mark.parametrize(
    ("broken", "law"),
    [
        (RefusesHistories, "history 'arguments that are not JSON' raised KeyError"),
        (Counts, "twice gives other bytes"),
        (WritesIntoTheRequest, "changes the request"),
        (WritesLoneSurrogates, "'lone surrogates' is not JSON"),
        (WritesBrokenText, "'lone surrogates' is not JSON"),
        (HasNoSlash, "no leading slash"),
        (ReadsNothingAsAnAnswer, "decoded as a response"),
    ],
)
def test_a_broken_projection_is_caught(broken: Callable[[], Echo], law: str) -> None:
    with pytest.raises(AssertionError, match=law):
        check_projection(broken())


CALL, RESULT = ToolCall(ToolCallId("c1"), "look"), ToolResult(ToolCallId("c1"), TextOutput("x"))
IMAGE = Media(Modality.IMAGE, "image/png", InlineBytes(b"x"))
UNLOADED = Handle("a1")  # type: ignore[arg-type]
ALTERNATE = replace(TARGET, consecutive_roles=False)
SEES = replace(TARGET, media=frozenset({Modality.IMAGE}))
READS = replace(TARGET, files=True)
THINKS = replace(TARGET, reasoning=ReasoningRule.ANY)
SIGNS = replace(TARGET, reasoning=ReasoningRule.SIGNED, signature_keys=("an_api.signature",))
INLINE = replace(TARGET, tool_media_place=ToolMedia.INLINE)


def thought(part: Part, *, origin: Provenance | None = HERE) -> list[Item]:
    return [replace(Item.assistant(part), provenance=origin)]


def answered(*parts: Part) -> list[Item]:
    return [Item.assistant(CALL), Item.tool(replace(RESULT, output=PartsOutput(parts)))]


@pytest.mark.parametrize(
    ("items", "target", "law"),
    [
        ([Item.context("x")], TARGET, "kind context"),
        ([Item.user()], TARGET, "has no parts"),
        ([Item.user("a"), Item.user("b")], ALTERNATE, "are both user"),
        ([Item.assistant(CALL)], TARGET, "calls without results"),
        ([Item.assistant(CALL), Item.user("x")], TARGET, "results of \\[\\]"),
        ([Item.tool(RESULT)], TARGET, "the first item has results without a call"),
        ([Item.user("x"), Item.tool(RESULT)], TARGET, "results without a call"),
        ([Item.assistant(CALL), Item.tool(RESULT)] * 2, TARGET, "used twice"),
        ([Item.assistant(replace(CALL, id=ToolCallId("a|b"))),
          Item.tool(replace(RESULT, call_id=ToolCallId("a|b")))], TARGET, "id 'a|b' is invalid"),
        ([Item.assistant(replace(CALL, name="a b")), Item.tool(RESULT)], TARGET, "name 'a b'"),
        ([Item.user(" ")], TARGET, "blank text"),
        ([Item.user("a\ud800")], TARGET, "UTF-8 cannot express"),
        ([Item.user(IMAGE)], TARGET, "image, which is not accepted"),
        ([Item.user(replace(IMAGE, data=UNLOADED))], SEES, "was not loaded"),
        ([Item.user(File(InlineBytes(b"")))], TARGET, "a file, which is not accepted"),
        ([Item.user(File(UNLOADED))], READS, "was not loaded"),
        ([Item.user(Custom("another_api.x"))], TARGET, "another owner"),
        (thought(Reasoning("t")), TARGET, "has reasoning"),
        (thought(Reasoning("t"), origin=None), THINKS, "unknown origin"),
        (thought(Reasoning("t"), origin=replace(HERE, model="b")), THINKS, "another model"),
        (thought(Reasoning("t")), SIGNS, "unsigned"),
        ([Item.assistant(CALL), Item.tool(replace(RESULT, output=TextOutput("")))], TARGET,
         "blank result"),
        (answered(IMAGE), SEES, "media inside a result"),
        (answered(IMAGE), INLINE, "image not accepted"),
        (answered(File(InlineBytes(b""))), READS, "a file inside a result"),
        (answered(File(InlineBytes(b""))), INLINE, "a file, which is not accepted"),
        ([Item.assistant("a")], replace(TARGET, first_user=True), "not user"),
    ],
)  # fmt: skip
def test_what_a_target_would_refuse_is_caught(items: list[Item], target: Target, law: str) -> None:
    with pytest.raises(AssertionError, match=law):
        check_sendable(items, target)


def test_what_a_target_takes_passes() -> None:
    check_sendable([], TARGET)
    check_sendable([Item.user("hi"), Item.assistant("x", CALL), Item.tool(RESULT)], ALTERNATE)
    check_sendable([Item.tool(RESULT)], replace(TARGET, orphan_results=True))


def test_hard_histories_are_made_anew_and_cover_every_kind() -> None:
    value, other = hard_transcripts(), hard_transcripts()

    assert value == other
    kinds = {item.kind for items in value.values() for item in items}
    assert kinds == set(ItemKind)
    for name in value:
        for left, right in zip(value[name], other[name], strict=True):
            assert left is not right


def test_decode_chunks_feeds_finishes_and_returns_all_events() -> None:
    assert decode_chunks(Lines(), [b"+a\n", b"", b"en", b"d\n"]) == decode_chunks(
        Lines(), [b"+a\nend\n"]
    )
    assert decode_chunks(Lines(), []) == (CUT,)
