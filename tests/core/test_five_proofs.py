"""The five things that the design of the core asked to have proved before it is stable.

1. a stateless provider maps into these types; 2. so does a stateful one; 3. results of shell and
file tools fit without awkward escaping; 4. a reporter streams deltas without a branch for any
provider; 5. items can be summarised without hidden data of a provider. And providers of text,
of voice and of everything map with parts of their own, none of them custom.
"""

import json
from typing import Any

import pytest
from msgspec.structs import replace

from agentkit_core import (
    Custom,
    File,
    FilesOutput,
    FinishReason,
    InlineBytes,
    Item,
    ItemKind,
    Media,
    Modality,
    ModelRequest,
    Part,
    PartsOutput,
    Provenance,
    Reasoning,
    Structured,
    StructuredOutput,
    Text,
    TextOutput,
    TokenUsage,
    ToolCall,
    ToolCallId,
    ToolResult,
    Transcript,
    Uri,
    Usage,
    from_json,
    to_json,
)
from agentkit_core._part import PartKind
from agentkit_core.provider import (
    AppendBytes,
    AppendText,
    BeginPart,
    CommitPart,
    Delta,
    ModelEvent,
    PartId,
    ReplaceStructured,
    ResponseFinished,
    ResponseStarted,
    SetMetadata,
    Target,
    UsageReported,
    fold_response,
    sendable,
)

TARGET = Target(provider="fake", api="fake_api", model="fake-1")
ORIGIN = Provenance("fake", "fake_api", "fake-1")


class Stateless:
    """A provider that must be told all of it every time, and answers in words of its own."""

    def __init__(self) -> None:
        self.received: list[Any] = []

    def post(self, body: bytes) -> list[dict[str, Any]]:
        messages = json.loads(body)["messages"]
        self.received.append(messages)
        if messages[-1]["role"] == "user":
            return [
                {"think": "I should look", "seal": "QUJD"},
                {"say": "Let me "}, {"say": "look."},
                {"use": "look", "id": "c1"}, {"args": '{"at":'}, {"args": '"it"}'},
                {"stop": "use", "in": 10, "out": 5},
            ]  # fmt: skip
        return [{"say": "It is " + messages[-1]["content"]}, {"stop": "end", "in": 20, "out": 3}]


def encoded(request: ModelRequest) -> bytes:
    return to_json({"messages": [written(item) for item in sendable(request.items, TARGET)]})


def written(item: Item) -> dict[str, Any]:
    message: dict[str, Any] = {"role": item.kind.value, "content": item.text}
    if item.tool_calls:
        message["uses"] = [[call.id, call.name, call.input] for call in item.tool_calls]
    for result in item.tool_results:
        output = result.output
        message["content"] += (
            output.text if isinstance(output, TextOutput) else to_json(output).decode()
        )
        message["of"] = result.call_id
    return message


def events_of(answer: list[dict[str, Any]], origin: Provenance = ORIGIN) -> list[ModelEvent]:
    """What the provider's words mean."""
    events: list[ModelEvent] = [ResponseStarted(origin)]
    message, used = PartId("said"), PartId("used")
    begun = set[str]()

    def begin(part_id: PartId, part: Part) -> None:
        if part_id not in begun:
            begun.add(part_id)
            events.append(BeginPart(part_id, part))

    for word in answer:
        match word:
            case {"think": text, "seal": seal}:
                events.append(CommitPart(Reasoning(text, metadata={"fake_api.seal": seal})))
            case {"say": text}:
                begin(message, Text(""))
                events.append(AppendText(message, text))
            case {"use": name, "id": call_id}:
                begin(used, ToolCall(call_id, name))
            case {"args": text}:
                events.append(AppendText(used, text))
            case {"stop": reason, "in": read, "out": wrote}:
                events.append(
                    UsageReported(Usage(TokenUsage(read, wrote), requests=1, reported_requests=1))
                )
                normal = FinishReason.TOOL_CALL if reason == "use" else FinishReason.COMPLETED
                events.append(ResponseFinished(normal, (reason,)))
    return events


def test_a_stateless_provider_maps_into_these_types() -> None:
    provider = Stateless()
    transcript = Transcript([Item.system("be brief"), Item.user("what is it?")])
    for _ in range(2):
        request = ModelRequest(model="fake-1", items=transcript)
        response = fold_response(events_of(provider.post(encoded(request))), strict=True)
        assert response.failure is None
        transcript = transcript.append(response.item)
        results = [ToolResult(call.id, TextOutput("green")) for call in response.item.tool_calls]
        if results:
            transcript = transcript.append(Item.tool(*results))

    assert [type(part) for part in transcript[2].parts] == [Reasoning, Text, ToolCall]
    assert transcript[2].tool_calls[0].input == {"at": "it"}
    assert transcript[-1].text == "It is green"
    assert [item.usage.tokens.total for item in transcript if item.usage] == [15, 23]
    assert provider.received[1][-1] == {"role": "tool", "content": "green", "of": "c1"}
    assert from_json(to_json(transcript.items), list[Item]) == list(transcript)


class Stateful:
    """A provider that keeps the conversation: it is told what is new and which answer came last."""

    def __init__(self) -> None:
        self.kept: dict[str, list[Any]] = {}
        self.sizes: list[int] = []

    def post(self, new: list[Any], previous: str | None) -> tuple[str, str]:
        self.sizes.append(len(new))
        text = [*self.kept.get(previous or "", []), *new]
        answer = f"heard {len(text)}"
        name = f"resp-{len(self.kept)}"
        self.kept[name] = [*text, answer]
        return name, answer


class StatefulSession:
    """Keeps a handle on what has been seen, and starts over after a rewrite."""

    def __init__(self, provider: Stateful) -> None:
        self.provider = provider
        self.seen: tuple[Item, ...] = ()
        self.previous: str | None = None

    def respond(self, request: ModelRequest) -> Item:
        items = tuple(request.items)
        if items[: len(self.seen)] != self.seen:
            self.seen, self.previous = (), None
        new = items[len(self.seen) :]
        target = replace(TARGET, orphan_results=True)
        events = [written(item) for item in sendable(new, target)]
        name, answer = self.provider.post(events, self.previous)
        origin = replace(ORIGIN, response_id=name)
        words: list[dict[str, Any]] = [{"say": answer}, {"stop": "end", "in": 1, "out": 1}]
        item = fold_response(events_of(words, origin), strict=True).item
        self.seen, self.previous = (*items, item), name
        return item


def test_a_stateful_provider_maps_into_these_types_and_is_told_what_is_new() -> None:
    provider = Stateful()
    session = StatefulSession(provider)
    transcript = Transcript([Item.user("one")])
    transcript = transcript.append(session.respond(ModelRequest(model="m", items=transcript)))
    transcript = transcript.append(Item.user("two"), Item.notification("built"))
    transcript = transcript.append(session.respond(ModelRequest(model="m", items=transcript)))

    assert [item.text for item in transcript if item.provenance] == ["heard 1", "heard 4"]
    assert transcript[-1].provenance == replace(ORIGIN, response_id="resp-1")
    assert provider.sizes == [1, 2]

    rewritten = [Item.context("a summary"), Item.user("three")]
    answer = session.respond(ModelRequest(model="m", items=rewritten))
    assert answer.text == "heard 2"
    assert provider.sizes == [1, 2, 2], "after a rewrite it is told everything"


SHELL = "$ ls 'a b' | sed 's/\\n/\"/g'\r\n\x1b[31mred\x1b[0m\ttab \\ \u2028 🙈\n"


@pytest.mark.parametrize(
    "output",
    [
        TextOutput(SHELL),
        StructuredOutput({"stdout": SHELL, "stderr": "", "exit_code": 2}),
        FilesOutput((File(InlineBytes(bytes(range(256))), "application/octet-stream", "a b.bin"),)),
        PartsOutput((Text(SHELL), Media(Modality.IMAGE, "image/png", InlineBytes(b"\x89PNG")))),
    ],
    ids=["text", "structured", "files", "parts"],
)
def test_results_of_shell_and_file_tools_fit_without_awkward_escaping(output: Any) -> None:
    """Text is in JSON once: one `json.loads` gives the very text that the tool gave."""
    result = ToolResult(ToolCallId("c1"), output)
    stored = json.loads(to_json(Item.tool(result)))["parts"][0]["output"]

    match output:
        case TextOutput(text=text):
            assert stored["text"] == text
        case StructuredOutput(value=value):
            assert stored["value"] == value
        case _:
            assert stored["type"] in ("files", "parts")
    assert from_json(to_json(result), Part) == result
    reads = replace(TARGET, files=True, media=frozenset(Modality))
    call = Item.assistant(ToolCall(ToolCallId("c1"), "run"))
    assert sendable([call, Item.tool(result)], reads)


def report(deltas: list[Delta]) -> list[str]:
    """A reporter that shows a stream as it comes; it knows kinds of parts, and no provider."""
    shown: list[str] = []
    kinds: dict[PartId, PartKind] = {}
    for delta in deltas:
        match delta:
            case BeginPart(part_id=part_id):
                kinds[part_id] = delta.kind
                shown.append(f"[{delta.kind}]")
            case AppendText(part_id=part_id, chunk=chunk):
                shown.append(chunk if kinds[part_id] is PartKind.TEXT else f"({chunk})")
            case AppendBytes(chunk=chunk):
                shown.append(f"<{len(chunk)} bytes>")
            case ReplaceStructured(value=value):
                shown.append(to_json(value).decode())
            case SetMetadata():
                pass
            case CommitPart(part=part, part_id=None):
                shown.append(f"[{type(part).__name__.lower()}]")
            case CommitPart():
                pass
    return shown


A, B = PartId("a"), PartId("b")
TEXT_ONLY: list[Delta] = [BeginPart(A, Text("")), AppendText(A, "hel"), AppendText(A, "lo")]
VOICE_ONLY: list[Delta] = [
    BeginPart(A, Media(Modality.AUDIO, "audio/pcm", InlineBytes(b""))),
    AppendBytes(A, b"\x00\x01"), AppendBytes(A, b"\x02"), SetMetadata(A, {"fake.rate_hz": 24_000}),
]  # fmt: skip
MIXED: list[Delta] = [
    BeginPart(A, Reasoning()), AppendText(A, "hm"), BeginPart(B, ToolCall(ToolCallId("c1"), "f")),
    AppendText(B, "{}"), BeginPart(PartId("s"), Structured(None)),
    ReplaceStructured(PartId("s"), {"n": 1}),
    CommitPart(Media(Modality.IMAGE, "image/png", Uri("https://example.com/a.png"))),
    CommitPart(Media(Modality.VIDEO, "video/mp4", InlineBytes(b"x"))),
    CommitPart(File(InlineBytes(b"x"), "text/plain", "a.txt")),
]  # fmt: skip


@pytest.mark.parametrize(
    ("deltas", "shown"),
    [
        (TEXT_ONLY, ["[text]", "hel", "lo"]),
        (VOICE_ONLY, ["[media]", "<2 bytes>", "<1 bytes>"]),
        (MIXED, ["[reasoning]", "(hm)", "[tool_call]", "({})", "[structured]", '{"n":1}',
                 "[media]", "[media]", "[file]"]),
    ],
    ids=["text only", "voice only", "mixed"],
)  # fmt: skip
def test_a_reporter_streams_deltas_without_a_branch_for_any_provider(
    deltas: list[Delta], shown: list[str]
) -> None:
    assert report(deltas) == shown


@pytest.mark.parametrize(
    ("deltas", "kinds"),
    [
        (TEXT_ONLY, [Text]),
        (VOICE_ONLY, [Media]),
        (MIXED, [Reasoning, ToolCall, Structured, Media, Media, File]),
    ],
    ids=["text only", "voice only", "mixed"],
)
def test_text_voice_and_mixed_providers_map_with_parts_of_their_own(
    deltas: list[Delta], kinds: list[type[Part]]
) -> None:
    finished = ResponseFinished(FinishReason.COMPLETED)
    item = fold_response([*deltas, finished], strict=True).item

    assert [type(part) for part in item.parts] == kinds
    assert Custom not in kinds
    assert from_json(to_json(item), Item) == item
    if kinds == [Media]:
        (voice,) = item.parts
        assert voice == Media(
            Modality.AUDIO, "audio/pcm", InlineBytes(b"\x00\x01\x02"),
            metadata={"fake.rate_hz": 24_000},
        )  # fmt: skip


def summary_of(items: list[Item]) -> Item:
    """A summary made of typed fields only; metadata and custom parts are not opened."""
    lines = []
    for item in items:
        calls = [f"{call.name}({to_json(call.input).decode()})" for call in item.tool_calls]
        failed = sum(result.is_error for result in item.tool_results)
        lines.append(f"{item.kind}: {item.text}{' '.join(calls)}{' failed' * failed}")
    spent = sum((item.usage for item in items if item.usage), Usage())
    return Item.context("\n".join([*lines, f"{spent.tokens.total} tokens"]))


def test_items_are_summarised_without_hidden_data_of_a_provider() -> None:
    call = ToolCall(ToolCallId("c1"), "look", {"at": "it"}, metadata={"fake_api.seal": "QUJD"})
    answer = replace(
        Item.assistant(Reasoning(metadata=call.metadata), "so", call, Custom("fake_api.x")),
        usage=Usage(TokenUsage(10, 5)), provenance=ORIGIN, metadata={"fake_api.id": "r1"},
    )  # fmt: skip
    items = [Item.user("hi"), answer, Item.tool(ToolResult(call.id, TextOutput("x"), True))]
    bare = [
        replace(item, metadata={}, parts=tuple(replace(part, metadata={}) for part in item.parts))
        for item in items
    ]
    summary = summary_of(items)

    assert summary.text == 'user: hi\nassistant: solook({"at":"it"})\ntool:  failed\n15 tokens'
    assert summary_of(bare) == summary
    # The rest of the conversation goes on from the summary, with this provider and with any other.
    assert sendable([summary, Item.user("go on")], TARGET)[0].kind is ItemKind.SYSTEM
