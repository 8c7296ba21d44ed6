"""Runs for pages: one with everything that a page shows, and one as long as one likes."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

from msgspec import Struct

from agentkit_core import (
    ApprovalId,
    ApprovalRequest,
    CostUsage,
    Custom,
    FailureKind,
    File,
    FinishReason,
    Handle,
    InlineBytes,
    InlineText,
    Item,
    ItemKind,
    Media,
    Modality,
    ModelOptions,
    PartsOutput,
    Provenance,
    ProviderFailure,
    Reasoning,
    SessionId,
    Structured,
    StructuredOutput,
    Text,
    TextOutput,
    TokenUsage,
    ToolCall,
    ToolCallId,
    ToolFailure,
    ToolOutput,
    ToolResult,
    TurnId,
    Uri,
    Usage,
)
from agentkit_core.provider import AppendText, BeginPart, PartId
from agentkit_loop import TurnEnd, TurnResult
from agentkit_loop.events import (
    ApprovalOutcome,
    ApprovalRequired,
    ApprovalResolved,
    AttemptSuperseded,
    ContentDelta,
    Diagnostic,
    Envelope,
    Event,
    InputQueued,
    ItemsAppended,
    ModelCallFinished,
    ModelCallStarted,
    MutationFinished,
    MutationOutcome,
    RetryScheduled,
    RunFinished,
    RunStarted,
    SettingsChanged,
    ToolCallRequested,
    ToolCatalogChanged,
    ToolDetached,
    ToolExecutionStarted,
    ToolProgress,
    ToolResultReceived,
    TranscriptRewritten,
    TurnFinished,
    TurnStarted,
)

TOKENS = TokenUsage(input=1200, cache_read=800, output=80)
OVERLOADED = ProviderFailure(
    kind=FailureKind.OVERLOADED, message="try again later", status=529, retryable=True
)


def png(width: int, height: int, colour: tuple[int, int, int] = (59, 111, 212)) -> bytes:
    """An image in one colour that fades to white."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        )

    rows = bytearray()
    for y in range(height):
        fade = y / height
        rows += b"\0" + bytes(round(one + (255 - one) * fade) for one in colour) * width
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    start = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head)
    return start + chunk(b"IDAT", zlib.compress(bytes(rows))) + chunk(b"IEND", b"")


def wav(samples: int = 800) -> bytes:
    """A short silence."""
    head = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, 8000, 8000, 1, 8)
    data = struct.pack("<4sI", b"data", samples) + b"\x80" * samples
    return struct.pack("<4sI4s", b"RIFF", 4 + len(head) + len(data), b"WAVE") + head + data


class Story:
    """Events of one session, with a clock that one sets forward."""

    def __init__(
        self, log: list[Envelope], session_id: str = "session-4f1d", *, at: int = 1_767_225_600_000
    ) -> None:
        self.log = log
        self.session_id = SessionId(session_id)
        self.at = at
        self.turn: TurnId | None = None
        self.revision = self.seq = self.call = 0
        self.produced: list[Item] = []
        self.usage = Usage()

    def say(self, *events: Event, after_ms: int = 0) -> None:
        self.at += after_ms
        for event in events:
            self.seq += 1
            self.log.append(
                Envelope(
                    seq=self.seq,
                    session_id=self.session_id,
                    at=self.at,
                    event=event,
                    turn_id=self.turn,
                )
            )

    def append(self, *items: Item) -> None:
        self.revision += 1
        self.produced += items
        self.say(ItemsAppended(items, self.revision))

    def begin(self, turn: str, *items: Item, after_ms: int = 0) -> None:
        self.turn = TurnId(turn)
        self.call, self.usage, self.produced = 0, Usage(), []
        self.say(TurnStarted(), after_ms=after_ms)
        self.append(*items)

    def answer(
        self,
        *parts: Text | ToolCall | Reasoning | Media | File | Structured | Custom,
        ms: int = 1000,
        tokens: TokenUsage = TOKENS,
        usd: str | None = "0.0042",
        model: str = "small-2",
        reason: FinishReason | None = None,
        interrupted: bool = False,
    ) -> None:
        self.call += 1
        usage = Usage(
            tokens,
            CostUsage({"USD": Decimal(usd)}) if usd else CostUsage(),
            requests=1,
            reported_requests=1,
            priced_requests=1 if usd else 0,
        )
        self.usage += usage
        calls = [part for part in parts if isinstance(part, ToolCall)]
        reason = reason or (FinishReason.TOOL_CALL if calls else FinishReason.COMPLETED)
        origin = Provenance("example", "openai_chat", model, response_id=f"resp-{self.seq}")
        self.say(ModelCallStarted(self.call, 1, model, "example"))
        self.say(
            ModelCallFinished(
                call=self.call,
                attempt=1,
                finish_reason=reason,
                usage=usage,
                provenance=origin,
            ),
            after_ms=ms,
        )
        self.append(
            Item(
                ItemKind.ASSISTANT,
                parts,
                provenance=origin,
                finish_reason=reason,
                usage=usage,
                interrupted=interrupted,
            )
        )
        self.say(*map(ToolCallRequested, calls))

    def run_tool(
        self,
        call: ToolCall,
        output: ToolOutput,
        *,
        ms: int = 300,
        failure: ToolFailure | None = None,
    ) -> ToolResult:
        self.say(ToolExecutionStarted(call.id, call.name, call.input))
        result = ToolResult(
            call_id=call.id, output=output, is_error=failure is not None, failure=failure
        )
        self.say(ToolResultReceived(call_id=call.id, name=call.name, result=result), after_ms=ms)
        return result

    def end(
        self, end: TurnEnd = TurnEnd.COMPLETED, *, failure: ProviderFailure | None = None
    ) -> None:
        assert self.turn is not None
        self.say(
            TurnFinished(TurnResult(turn_id=self.turn, end=end, usage=self.usage, failure=failure))
        )
        self.turn = None


def call(call_id: str, name: str, **arguments: object) -> ToolCall:
    return ToolCall(id=ToolCallId(call_id), name=name, input=arguments)  # type: ignore[arg-type]


def showcase() -> list[Envelope]:
    """A run with everything that a page shows; its last turn has no end."""
    log: list[Envelope] = []
    story = Story(log)
    story.say(RunStarted())
    _first_turn(story)
    _second_turn(story)
    _third_turn(story)
    _last_turn(story)
    return log


def _first_turn(story: Story) -> None:
    story.begin(
        "turn-1",
        Item.system(
            "You help the people of a small museum. Answer briefly, and cite the catalogue."
        ),
        Item.user("Which paintings came back from the restorer this week, and how do they look?"),
    )
    look = call("c1", "search_catalogue", query="returned from restoration", limit=5)
    ask = call("c2", "ask_restorer", task="Say in one line how each of the two paintings looks.")
    story.answer(
        Reasoning(
            summary="The catalogue has a status for each painting. I search for those that came "
            "back, and ask the restorer at the same time."
        ),
        Text("I look it up, and ask the restorer."),
        look,
        ask,
        ms=2100,
    )
    found = StructuredOutput(
        [{"id": 17, "title": "Harbour at dawn"}, {"id": 31, "title": "Woman with a lute"}]
    )
    first = story.run_tool(look, found)
    story.say(ToolExecutionStarted(ask.id, ask.name, ask.input))
    inner = Story(story.log, "session-77aa", at=story.at)
    inner.say(RunStarted(False, story.session_id, ask.id))
    inner.begin("turn-1", Item.user("Say in one line how each of the two paintings looks."))
    fetch = call("c1", "read_report", painting=17)
    inner.answer(fetch, ms=700, model="tiny-1", usd="0.0004")
    inner.append(
        Item.tool(inner.run_tool(fetch, TextOutput("Varnish renewed; colours are clear.")))
    )
    inner.answer(
        Text("17: clear colours. 31: a crack is closed."), ms=900, model="tiny-1", usd=None
    )
    inner.end()
    inner.say(RunFinished())
    story.at = inner.at
    story.say(ToolProgress(ask.id, "ask_restorer runs read_report"))
    answer = ToolResult(
        call_id=ask.id,
        output=TextOutput("17: clear colours. 31: a crack is closed."),
        usage=inner.usage,
    )
    story.say(ToolResultReceived(call_id=ask.id, name=ask.name, result=answer))
    story.append(Item.tool(first, answer))
    story.answer(
        Text(
            "Two paintings came back:\n\n- *Harbour at dawn* (17): the varnish is new, the colours "
            "are clear.\n- *Woman with a lute* (31): the crack is closed.\n\n```sql\nSELECT id, "
            "title FROM paintings\nWHERE status = 'returned' AND week = 1;\n```\n\nShall I put "
            "them on the list for the main hall?"
        ),
        ms=3400,
    )
    story.end()


def _second_turn(story: Story) -> None:
    image = Media(Modality.IMAGE, "image/png", InlineBytes(png(640, 240)))
    story.say(SettingsChanged("large-1", ModelOptions(), ("model",)), after_ms=41_000)
    story.begin(
        "turn-2",
        Item.user("Yes. And make a label for this one:", image),
        after_ms=200,
    )
    story.say(ToolCatalogChanged(added=("print_label",), removed=("old_label",)))
    story.call += 1
    story.say(ModelCallStarted(1, 1, "large-1", "example"))
    part = PartId("a")
    deltas = (BeginPart(part, Text("")), AppendText(part, "Of course. The label co"))
    story.say(ContentDelta(deltas), after_ms=600)
    lost = Usage(TokenUsage(input=1500), requests=1)
    story.usage += lost
    story.say(
        ModelCallFinished(
            call=1, attempt=1, finish_reason=FinishReason.ERROR, usage=lost, failure=OVERLOADED
        ),
        AttemptSuperseded(1, 1),
        RetryScheduled(call=1, attempt=1, wait_s=1.5, failure=OVERLOADED),
        after_ms=300,
    )
    story.at += 1500
    label = call("c3", "print_label", text="Harbour at dawn\nOil on canvas, 1891", copies=2)
    hang = call("c4", "hang", paintings=[17, 31], room="main hall")
    broken = ToolCall(
        id=ToolCallId("c5"),
        name="measure",
        raw_input='{"painting": 17, "unit": "cm',
        input_error="the JSON ends inside a string",
    )
    story.answer(label, hang, broken, ms=4200, model="large-1", usd="0.0310")
    request = ApprovalRequest(
        id=ApprovalId("approval-1"),
        call=label,
        kind="tool.print_label",
        summary="Print 2 labels “Harbour at dawn” on the good paper",
        reason="The good paper is expensive.",
    )
    story.say(ApprovalRequired(request))
    story.say(InputQueued((Item.user("One copy is enough."),), "steer"), after_ms=5000)
    story.say(
        ApprovalResolved(
            approval_id=request.id,
            call_id=label.id,
            outcome=ApprovalOutcome.APPROVED,
            patched=True,
        ),
        after_ms=3000,
    )
    story.say(ToolExecutionStarted(label.id, label.name, {**label.input, "copies": 1}))
    picture = Media(Modality.IMAGE, "image/png", InlineBytes(png(300, 160, (208, 116, 60))))
    printed = ToolResult(
        call_id=label.id,
        output=PartsOutput((Text("Printed 1 label."), picture)),
        details={"printer": "basement", "paper_left": 12},
    )
    story.say(ToolResultReceived(call_id=label.id, name=label.name, result=printed), after_ms=1800)
    hung = story.run_tool(
        hang,
        TextOutput("The room is closed until 14:00."),
        ms=120,
        failure=ToolFailure.EXECUTION_FAILED,
    )
    unread = ToolResult(
        call_id=broken.id,
        output=TextOutput("The arguments are not valid JSON."),
        is_error=True,
        failure=ToolFailure.INVALID_INPUT,
        started=False,
    )
    story.say(ToolResultReceived(call_id=broken.id, name=broken.name, result=unread))
    story.append(Item.tool(printed, hung, unread), Item.user("One copy is enough."))
    story.answer(
        Text("The label is printed, once. The main hall is closed until 14:00; I try again then."),
        ms=2600,
        model="large-1",
        usd="0.0120",
    )
    story.end()


def _third_turn(story: Story) -> None:
    svg = "<svg xmlns='http://www.w3.org/2000/svg'><circle r='9'/></svg>"
    story.begin(
        "turn-3",
        Item.context("Opening hours: 10:00 to 18:00, closed on Mondays."),
        Item.user(
            "Here is everything that I have.",
            Media(Modality.AUDIO, "audio/wav", InlineBytes(wav())),
            Media(Modality.VIDEO, "video/mp4", InlineBytes(b"\0\0\0\x18ftypmp42")),
            Media(Modality.IMAGE, "image/svg+xml", InlineText(svg)),
            Media(Modality.IMAGE, "image/jpeg", Uri("https://example.com/harbour.jpg")),
            File(InlineBytes(b"%PDF-1.7 ..."), mime_type="application/pdf", name="report.pdf"),
            File(Handle("artifact-9"), name="plans.zip"),  # type: ignore[arg-type]
        ),
        after_ms=9000,
    )
    long = call("c6", "make_poster", size="A1")
    story.answer(
        Reasoning(redacted=True),
        Structured(value={"plan": ["poster", "leaflet"], "pages": 2}),
        Custom(kind="example.citation", value={"source": "catalogue", "page": 4}),
        long,
        ms=1900,
        tokens=TokenUsage(input=2400, cache_write=1800, output=140),
        usd="0.0350",
        model="large-1",
    )
    story.say(ToolExecutionStarted(long.id, long.name, long.input))
    story.say(ToolDetached(long.id, long.name), after_ms=900)
    waits = ToolResult(call_id=long.id, output=TextOutput("It goes on in the background."))
    story.append(Item.tool(waits))
    story.say(MutationFinished(outcome=MutationOutcome.ROLLED_BACK, reason="a summary was empty"))
    kept = (Item.user("Which paintings came back?"), Item.assistant("Two: 17 and 31."))
    story.revision += 1
    story.say(TranscriptRewritten(kept, story.revision))
    story.answer(
        Text("The poster is being made. For the leafl"),
        ms=1100,
        model="large-1",
        usd=None,
        reason=FinishReason.CANCELLED,
        interrupted=True,
    )
    story.end(TurnEnd.CANCELLED)
    done = ToolResult(call_id=long.id, output=TextOutput("poster.pdf, 4 pages"))
    story.say(
        ToolResultReceived(call_id=long.id, name=long.name, result=done, background=True),
        Diagnostic("an answer came after the turn had been cancelled, and was dropped"),
        after_ms=2000,
    )


def _last_turn(story: Story) -> None:
    story.begin("turn-4", Item.user("And now fail, please."), after_ms=12_000)
    refused = ProviderFailure(
        kind=FailureKind.INVALID_REQUEST, message="the image is too large", status=400
    )
    story.say(ModelCallStarted(1, 1, "large-1", "example"))
    story.say(
        ModelCallFinished(
            call=1, attempt=1, finish_reason=FinishReason.ERROR, usage=Usage(requests=1),
            failure=refused,
        ),
        after_ms=250,
    )  # fmt: skip
    story.end(TurnEnd.ERROR, failure=refused)
    story.begin("turn-5", Item.user("Sell both paintings to the highest bidder."), after_ms=8000)
    sell = call("c7", "sell", paintings=[17, 31], least_price_eur=90_000)
    story.answer(sell, ms=1500, model="large-1")
    request = ApprovalRequest(
        id=ApprovalId("approval-2"), call=sell, kind="tool.sell", summary="Sell 2 paintings"
    )
    story.say(ApprovalRequired(request))


def long_run(items: int) -> Iterator[Envelope]:
    """A run with this many items: in each turn a question, a call, its result and an answer."""
    log: list[Envelope] = []
    story = Story(log)
    story.say(RunStarted())
    for number in range(items // 4):
        story.begin(f"turn-{number}", Item.user(f"Question {number}: what is {number} squared?"))
        square = call(f"c{number}", "square", number=number)
        story.answer(Reasoning(summary="I had better compute it."), square, ms=500)
        story.append(Item.tool(story.run_tool(square, TextOutput(str(number * number)))))
        story.answer(Text(f"It is {number * number}. " + "More words follow here. " * 8), ms=700)
        story.end()
        yield from log
        log.clear()


def with_strings(value: Any, change: Callable[[str], str]) -> Any:
    """A value with each of its strings changed, at any depth; words of enums stay."""
    if type(value) is str:
        return change(value)
    if isinstance(value, Struct):
        changed = {
            name: with_strings(getattr(value, name), change) for name in value.__struct_fields__
        }
        return type(value)(**changed)
    if isinstance(value, tuple | list):
        return type(value)(with_strings(one, change) for one in value)
    if isinstance(value, dict):
        return {with_strings(key, change): with_strings(one, change) for key, one in value.items()}
    return value
