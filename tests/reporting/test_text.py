"""People see what matters of a run, and nothing of it can drive their terminal."""

from __future__ import annotations

import io
import re
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from agentkit_core import (
    ApprovalId,
    ApprovalRequest,
    CostUsage,
    Custom,
    FailureKind,
    File,
    FilesOutput,
    FinishReason,
    InlineBytes,
    InlineText,
    Item,
    Media,
    Modality,
    Part,
    PartsOutput,
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
    ToolOutput,
    ToolResult,
    TurnId,
    Usage,
)
from agentkit_core.provider import AppendText, BeginPart, CommitPart, Delta, PartId
from agentkit_loop import TurnEnd, TurnResult
from agentkit_loop.events import (
    ApprovalOutcome,
    ApprovalRequired,
    ApprovalResolved,
    AttemptSuperseded,
    ContentDelta,
    Diagnostic,
    Event,
    InputRejected,
    ModelCallFinished,
    MutationFinished,
    MutationOutcome,
    RetryScheduled,
    RunFinished,
    RunStarted,
    RunSuspended,
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
from agentkit_reporting import TextReporter
from support.runs import enveloped

A, B = PartId("a"), PartId("b")
CALL = ToolCallId("call-1")
HARMFUL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def shown(*events: Event, **options: bool | int) -> str:
    data: list[str] = []
    report = TextReporter(write=data.append, **options)  # type: ignore[arg-type]
    for envelope in enveloped(events):
        report(envelope)
    return "".join(data)


def text(part_id: PartId, *chunks: str) -> list[Delta]:
    return [BeginPart(part_id, Text(text="")), *(AppendText(part_id, chunk) for chunk in chunks)]


def content(*deltas: Delta) -> ContentDelta:
    return ContentDelta(deltas)


def finished(end: TurnEnd = TurnEnd.COMPLETED, **facts: object) -> TurnFinished:
    return TurnFinished(TurnResult(turn_id=TurnId("turn-1"), end=end, **facts))  # type: ignore[arg-type]


DONE = ModelCallFinished(
    call=1, attempt=1, finish_reason=FinishReason.COMPLETED, usage=Usage(requests=1)
)


def test_text_is_written_as_it_comes() -> None:
    data: list[str] = []
    report = TextReporter(write=data.append)
    begin, value, two = text(A, "Hello ", "Rome")
    for envelope in enveloped([content(begin), content(value), content(two), DONE]):
        report(envelope)

    assert data == ["Hello ", "Rome", "\n"]


def test_o02_a_session_that_is_left_leaves_no_open_line() -> None:
    assert shown(content(*text(A, "Hel")), RunSuspended()) == "Hel\n"
    assert shown(DONE, RunSuspended()) == ""


def test_a_file_is_flushed_at_each_event(capsys: pytest.CaptureFixture[str]) -> None:
    class Counting(io.StringIO):
        flushes = 0

        def flush(self) -> None:
            self.flushes += 1

    file = Counting()
    report = TextReporter(file)
    for envelope in enveloped([TurnStarted(), content(*text(A, "Hi")), DONE]):
        report(envelope)
    assert (file.getvalue(), file.flushes) == ("Hi\n", 2)

    TextReporter()(enveloped([content(*text(A, "to stdout"))])[0])
    assert capsys.readouterr().out == "to stdout"


def test_parts_that_grow_by_turns_stand_on_lines_of_their_own() -> None:
    deltas = [*text(A, "one"), *text(B, "two"), AppendText(A, "three")]

    assert shown(content(*deltas), DONE) == "one\ntwo\nthree\n"


def test_parts_that_come_whole_are_shown_once() -> None:
    image = Media(modality=Modality.IMAGE, mime_type="image/png", data=InlineBytes(b""))
    deltas: list[Delta] = [
        *text(A, "streamed"),
        CommitPart(Text(text="streamed"), A),
        CommitPart(Text(text="whole")),
        CommitPart(image),
        BeginPart(B, Text(text="")),
        CommitPart(Text(text="late"), B),
        CommitPart(ToolCall(id=CALL, name="not here")),
    ]

    assert shown(content(*deltas), DONE) == "streamed\nwhole\n[image image/png]\nlate\n"


def test_reasoning_is_shown_only_to_those_who_want_it() -> None:
    deltas = [BeginPart(A, Reasoning()), AppendText(A, "hmm"), *text(B, "yes")]
    whole = CommitPart(Reasoning(summary="once more"))

    assert shown(content(*deltas, whole), DONE) == "yes\n"
    assert shown(content(*deltas, whole), DONE, show_reasoning=True) == "hmm\nyes\nonce more\n"


def test_text_for_a_part_that_never_began_is_shown_and_arguments_are_not() -> None:
    begin = BeginPart(A, ToolCall(id=CALL, name="t"))

    assert shown(content(AppendText(B, "seen"), begin, AppendText(A, "{")), DONE) == "seen\n"


def test_a_half_character_at_the_end_of_a_part_is_replaced() -> None:
    assert shown(content(*text(A, "one\ud83d"), *text(B, "\ude00")), DONE) == "one\ufffd\n\ufffd\n"


def test_a_tool_call_is_told_from_asking_to_result() -> None:
    call = ToolCall(id=CALL, name="weather", input={"city": "Rome"})
    received = shown(
        content(*text(A, "Let me see")),
        DONE,
        ToolCallRequested(call),
        ToolExecutionStarted(CALL, "weather", {"city": "Rome"}),
        ToolProgress(CALL, "looking it up"),
        ToolResultReceived(
            call_id=CALL,
            name="weather",
            result=ToolResult(call_id=CALL, output=TextOutput("sunny")),
        ),
    )

    assert received.splitlines() == [
        "Let me see",
        '> weather {"city":"Rome"}',
        "  weather: looking it up",
        "< weather: sunny",
    ]


def test_arguments_that_were_changed_are_told() -> None:
    received = shown(
        ToolCallRequested(ToolCall(id=CALL, name="t", input={"a": 1})),
        ToolExecutionStarted(CALL, "t", {"a": 2}),
    )

    assert received.splitlines() == ['> t {"a":1}', '> t, changed: {"a":2}']


def test_arguments_that_were_completed_are_not_called_changed() -> None:
    received = shown(
        ToolCallRequested(ToolCall(id=CALL, name="t", input={"a": [1]})),
        ToolExecutionStarted(CALL, "t", {"a": [1], "b": 2}),
    )

    assert received.splitlines() == ['> t {"a":[1]}', '> t, completed: {"a":[1],"b":2}']


def test_arguments_that_could_not_be_read_are_shown_as_they_came() -> None:
    call = ToolCall(id=CALL, name="t", raw_input='{"a":', input_error="cut")

    assert shown(ToolCallRequested(call)) == '> t {"a":\n'


@pytest.mark.parametrize(
    ("output", "words"),
    [
        (TextOutput("one\ntwo  three"), "one two three"),
        (StructuredOutput({"a": [1]}), '{"a":[1]}'),
        (FilesOutput((File(data=InlineText(""), name="a.txt"),)), "[file a.txt]"),
        (
            PartsOutput(
                (
                    Text(text="see"),
                    Media(modality=Modality.AUDIO, mime_type="", data=InlineBytes(b"")),
                    Structured(value=1),
                    File(data=InlineText("")),
                    Custom(kind="mine.x"),
                    Reasoning(),
                )
            ),
            "see [audio] 1 [file without a name] [mine.x] [reasoning]",
        ),
    ],
)
def test_a_result_is_told_in_short(output: ToolOutput, words: str) -> None:
    result = ToolResult(call_id=CALL, output=output)

    assert shown(ToolResultReceived(call_id=CALL, name="t", result=result)) == f"< t: {words}\n"


def test_an_error_says_why() -> None:
    result = ToolResult(
        call_id=CALL, output=TextOutput("no"), is_error=True, failure=ToolFailure.NOT_FOUND
    )

    assert (
        shown(ToolResultReceived(call_id=CALL, name="t", result=result))
        == "< t failed (not_found): no\n"
    )


@pytest.mark.parametrize("size", [199, 200, 201, 100_000])
def test_long_results_are_cut_after_cleaning(size: int) -> None:
    result = ToolResult(call_id=CALL, output=TextOutput("x" * size))
    (line,) = shown(ToolResultReceived(call_id=CALL, name="t", result=result)).splitlines()

    words = line.removeprefix("< t: ")
    assert words == ("x" * size if size <= 200 else "x" * 199 + "…")
    coloured = ToolResult(call_id=CALL, output=TextOutput("\x1b[31m" * 20 + "red"))
    assert shown(ToolResultReceived(call_id=CALL, name="t", result=coloured)) == "< t: red\n"


def test_what_is_left_out_is_marked_even_if_what_is_shown_is_short() -> None:
    result = ToolResult(call_id=CALL, output=TextOutput("seen" + " " * 5000 + "not seen"))

    assert shown(ToolResultReceived(call_id=CALL, name="t", result=result)) == "< t: seen…\n"


def approval(approval_id: str, kind: str, summary: str) -> ApprovalRequest:
    call = ToolCall(CALL, "t")
    return ApprovalRequest(id=ApprovalId(approval_id), call=call, kind=kind, summary=summary)


def resolved(approval_id: str, outcome: ApprovalOutcome, *, patched: bool) -> ApprovalResolved:
    key = ApprovalId(approval_id)
    return ApprovalResolved(approval_id=key, call_id=CALL, outcome=outcome, patched=patched)


def test_an_approval_is_told_once_without_its_fingerprint() -> None:
    request = ApprovalRequired(approval("tool.t:ab", "tool.t", "delete /a"))
    decision = resolved("tool.t:ab", ApprovalOutcome.APPROVED, patched=True)

    assert shown(request, request, decision, request).splitlines() == [
        "? delete /a",
        "? approved, arguments changed",
        "? delete /a",
    ]


def test_an_approval_says_why_a_person_has_to_decide() -> None:
    request = replace(approval("k:1", "k", "write /a"), reason="/a is outside\nthe folder")

    assert shown(ApprovalRequired(request)) == "? write /a\n  /a is outside␊the folder\n"


def test_of_several_approvals_each_decision_names_its_own() -> None:
    lines = shown(
        ApprovalRequired(approval("tool.t:ab", "tool.t", "delete /a")),
        ApprovalRequired(approval("tool.t:cd", "tool.t", "delete /b")),
        resolved("tool.t:cd", ApprovalOutcome.DENIED, patched=False),
        resolved("tool.t:ab", ApprovalOutcome.APPROVED, patched=False),
    ).splitlines()

    assert lines == ["? delete /a", "? delete /b", "? denied: delete /b", "? approved"]


FAILURE = ProviderFailure(kind=FailureKind.RATE_LIMIT, message="slow down", status=429)


def test_a_failed_attempt_is_told_and_not_glued_to_the_next() -> None:
    received = shown(
        content(*text(A, "Half an ans")),
        ModelCallFinished(
            call=1,
            attempt=1,
            finish_reason=FinishReason.ERROR,
            usage=Usage(requests=1),
            failure=FAILURE,
        ),
        AttemptSuperseded(1, 1),
        RetryScheduled(call=1, attempt=1, wait_s=1.25, failure=FAILURE),
        content(*text(A, "Whole")),
        DONE,
    )

    assert received.splitlines() == [
        "Half an ans",
        "! the answer so far is discarded",
        "! rate_limit, HTTP 429: slow down; trying again in 1.2 s",
        "Whole",
    ]


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (finished(TurnEnd.ERROR, failure=FAILURE), "rate_limit, HTTP 429: slow down"),
        (
            finished(TurnEnd.LIMIT, limit="max_model_calls"),
            "the turn reached a limit: max_model_calls",
        ),
        (finished(TurnEnd.ERROR, error="a hook failed"), "a hook failed"),
        (finished(TurnEnd.CANCELLED), "cancelled"),
        (finished(TurnEnd.MAX_TOKENS), "the answer reached a limit on its length"),
        (finished(TurnEnd.BLOCKED), "a content filter or the model refused to answer"),
    ],
)
def test_how_a_turn_ended_is_told_unless_it_ended_well(event: TurnFinished, words: str) -> None:
    assert shown(event, show_usage=False) == f"! {words}\n"
    assert shown(finished(), show_usage=False) == ""


@pytest.mark.parametrize(
    ("usage", "words"),
    [
        (
            Usage(
                TokenUsage(input=400, cache_read=800, output=80),
                CostUsage({}),
                requests=2,
                reported_requests=2,
            ),
            "2 requests, 1,200 tokens in (800 from cache), 80 out",
        ),
        (
            Usage(TokenUsage(9, 9), CostUsage({"USD": Decimal("0.0123")}), 1, 1, 1),
            "1 request, 9 tokens in, 9 out, about 0.012 USD",
        ),
        (Usage(requests=1), "1 request, or more"),
        (
            Usage(TokenUsage(output=3), requests=2, reported_requests=1),
            "2 requests, 3 out, or more",
        ),
    ],
)
def test_a_turn_ends_with_what_it_used(usage: Usage, words: str) -> None:
    assert shown(finished(usage=usage)) == f"[{words}]\n"


def test_what_goes_on_in_the_background_is_told_twice() -> None:
    result = ToolResult(call_id=CALL, output=TextOutput("ready"))
    received = shown(
        ToolDetached(CALL, "report"),
        ToolResultReceived(call_id=CALL, name="report", result=result, background=True),
    )

    assert received == "  report continues in the background\n< report in the background: ready\n"


def test_changes_of_tools_and_transcript_are_told_in_short() -> None:
    received = shown(
        ToolCatalogChanged(added=("a", "b"), removed=("c",), changed=("d",)),
        MutationFinished(MutationOutcome.UNCHANGED),
        TranscriptRewritten((Item.user("summary"),), 2),
        MutationFinished(MutationOutcome.COMMITTED, ("compact",)),
        MutationFinished(MutationOutcome.ROLLED_BACK, reason="call 'x' has no result"),
    )

    assert received == (
        "  tools: +a +b -c ~d\n"
        "  the transcript was rewritten: 1 items\n"
        "! the transcript was not changed: call 'x' has no result\n"
    )


def test_other_trouble_is_told() -> None:
    assert shown(InputRejected("closed"), Diagnostic("odd")) == "! not accepted: closed\n! odd\n"
    assert shown(RunStarted(), TurnStarted(), RunFinished()) == ""


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_what_a_terminal_has_no_character_for_is_marked_and_the_rest_is_shown(
    encoding: str,
) -> None:
    raw = io.BytesIO()
    report = TextReporter(io.TextIOWrapper(raw, encoding=encoding, newline=""))
    for envelope in enveloped([content(*text(A, "a \N{SNOWMAN} in Rome"))]):
        report(envelope)

    assert raw.getvalue() == b"a ? in Rome"


def test_colour_marks_lines_with_sequences_of_our_own() -> None:
    received = shown(content(*text(A, "plain")), Diagnostic("odd"), colour=True)

    assert received == "plain\n\x1b[31m! odd\x1b[0m\n"


EVIL = "a\x1b]52;c;x\x07b\x1b[2J\x9b6n\x08\r\u202ec"


def test_z07_no_event_lets_a_stranger_drive_the_terminal() -> None:
    failure = ProviderFailure(kind=FailureKind.SERVER, message=EVIL, code=EVIL)
    received = shown(
        content(*text(A, *EVIL)),
        content(CommitPart(Text(text=EVIL)), CommitPart(Structured(value=EVIL))),
        content(CommitPart(Media(modality=Modality.IMAGE, mime_type=EVIL, data=InlineText("")))),
        DONE,
        ToolCallRequested(ToolCall(id=ToolCallId(EVIL), name=EVIL, input={EVIL: EVIL})),
        ToolCallRequested(ToolCall(id=CALL, name="t", raw_input=EVIL)),
        ToolExecutionStarted(ToolCallId(EVIL), EVIL, {EVIL: 1}),
        ToolProgress(ToolCallId(EVIL), EVIL),
        ToolProgress(ToolCallId("unknown" + EVIL), EVIL),
        ToolResultReceived(
            call_id=CALL, name=EVIL, result=ToolResult(call_id=CALL, output=TextOutput(EVIL))
        ),
        ApprovalRequired(approval(EVIL, EVIL, EVIL)),
        ApprovalResolved(
            approval_id=ApprovalId(EVIL), call_id=CALL, outcome=ApprovalOutcome.DENIED
        ),
        RetryScheduled(call=1, attempt=1, wait_s=0, failure=failure),
        ToolDetached(CALL, EVIL),
        ToolCatalogChanged(added=(EVIL,)),
        MutationFinished(MutationOutcome.ROLLED_BACK, reason=EVIL),
        InputRejected(EVIL),
        Diagnostic(EVIL),
        finished(TurnEnd.ERROR, error=EVIL),
        finished(TurnEnd.ERROR, failure=failure),
        finished(TurnEnd.LIMIT, limit=EVIL),
    )

    assert HARMFUL.search(received) is None


pieces = st.text(st.sampled_from([*"\x1b[]0;aJ\x07\r\n\x9d\x9c\ud83d\ude00é"]), max_size=8)


@given(st.lists(st.tuples(st.sampled_from([A, B]), pieces), max_size=8), st.booleans())
def test_z07_however_parts_are_cut_and_mixed_no_control_byte_is_written(
    grown: list[tuple[PartId, str]], reasoning: bool
) -> None:
    part: Part = Reasoning() if reasoning else Text(text="")
    deltas: list[Delta] = [BeginPart(A, part), BeginPart(B, Text(text=""))]
    deltas += [AppendText(part_id, piece) for part_id, piece in grown]

    assert HARMFUL.search(shown(content(*deltas), DONE, show_reasoning=True)) is None


def test_o03_a_closed_terminal_is_the_drivers_to_deal_with() -> None:
    def broken(text: str) -> None:
        raise BrokenPipeError

    report = TextReporter(write=broken)
    for _ in range(2):
        with pytest.raises(BrokenPipeError):
            report(enveloped([Diagnostic("x")])[0])


@pytest.mark.parametrize(
    ("usage", "partial"),
    [
        (Usage(TokenUsage(9, 9), CostUsage({"USD": Decimal("0.1")}), 3, 3, 2), True),
        (Usage(TokenUsage(9, 9), CostUsage({"USD": Decimal("0.1")}), 3, 2, 2), True),
        (Usage(TokenUsage(9, 9), CostUsage({"USD": Decimal("0.1")}), 3, 2, 3), True),
        (Usage(TokenUsage(9, 9), CostUsage({"EUR": Decimal(1), "USD": Decimal(1)}), 2, 2, 1), True),
        (Usage(TokenUsage(9, 9), CostUsage({"USD": Decimal("0.1")}), 3, 3, 3), False),
        (Usage(TokenUsage(9, 9), CostUsage({"USD": Decimal(0)}), 1, 1, 1), False),
    ],
)
def test_vl29_a_sum_that_lacks_a_price_says_so(usage: Usage, partial: bool) -> None:
    assert ("or more" in shown(finished(usage=usage))) == partial


UNSEEN = [
    *"\n\r\t\x00\x07\x1b\x7f\x85\x9b\u00ad\u061c\u200b\u200d\u200e\u200f\u2028\u2029\u202e",
    *"\u2060\u2066\u2069\u3164\ufe0f\ufeff\ufff9\U000e0041",
]


@pytest.mark.parametrize("character", UNSEEN, ids=ascii)
def test_vl21_an_approval_shows_by_a_sign_what_is_not_seen(character: str) -> None:
    line = shown(ApprovalRequired(approval("k:1", "k", f"run echo fine{character}erase notes")))

    assert character not in line.removesuffix("\n")
    assert "fineerase" not in line
    assert "erase notes" in line
    assert line != shown(ApprovalRequired(approval("k:1", "k", "run echo fine erase notes")))


@pytest.mark.parametrize("character", [sign for sign in UNSEEN if sign not in "\n\t"], ids=ascii)
def test_vs14_what_is_not_seen_is_not_written_to_a_terminal(character: str) -> None:
    name = f"a{character}b"
    events: list[Event] = [
        content(*text(A, name)),
        content(CommitPart(Text(name))),
        DONE,
        ToolCallRequested(ToolCall(CALL, name, {name: name})),
        ToolProgress(call_id=CALL, message=name),
        ToolResultReceived(call_id=CALL, name=name, result=ToolResult(CALL, TextOutput(name))),
        Diagnostic(name),
        InputRejected(reason=name),
        ApprovalRequired(approval(name, name, name)),
    ]

    assert character not in shown(*events)


def test_vs13_an_approval_is_shown_whole_or_says_how_much_is_missing() -> None:
    arguments = "pay " + "x" * 450 + " and delete everything"
    assert arguments in shown(ApprovalRequired(approval("k:1", "k", arguments)), max_width=20)

    huge = "start" + "x" * 50_000 + "end"
    line = shown(ApprovalRequired(approval("k:1", "k", huge)))
    assert line.startswith("? start")
    assert "end\n" in line
    assert f"{len(huge) - 10_000} characters are not shown" in line


FAKE = '? pay {"cents":1}'


@pytest.mark.parametrize(
    "before", ["", "Sure.\n", "Sure.\n\n  ", "a\u2028", "a\x0b\n", "a\r", " ", "\u200b"]
)
@pytest.mark.parametrize("cuts", [1, 2, 100])
def test_vs13_an_answer_cannot_be_taken_for_an_approval(before: str, cuts: int) -> None:
    answer = before + FAKE + "\n" + FAKE
    chunks = [answer[at : at + cuts] for at in range(0, len(answer), cuts)]
    lines = shown(content(*text(A, *chunks)), content(*text(B, FAKE)), DONE).splitlines()
    whole = shown(content(CommitPart(Text(answer))), DONE).splitlines()

    for line in (*lines, *whole):
        assert not line.strip().startswith("?")
    assert [line for line in lines if "pay" in line] == [
        line for line in lines if "\\? pay" in line
    ]
    request = approval("tool.pay:0123", "tool.pay", FAKE.removeprefix("? "))
    assert shown(ApprovalRequired(request)) == FAKE + "\n"


def test_vs13_reasoning_and_outputs_cannot_be_taken_for_an_approval() -> None:
    thought: list[Delta] = [BeginPart(A, Reasoning()), CommitPart(Reasoning(summary=FAKE), A)]
    result = ToolResult(CALL, TextOutput(f"ok\n{FAKE}"))
    lines = shown(
        content(*thought),
        DONE,
        ToolResultReceived(call_id=CALL, name="t", result=result),
        Diagnostic(f"x\n{FAKE}"),
        ToolProgress(call_id=CALL, message=f"x\n{FAKE}"),
        show_reasoning=True,
    ).splitlines()

    assert len(lines) > 3
    assert not any(line.strip().startswith("?") for line in lines)
