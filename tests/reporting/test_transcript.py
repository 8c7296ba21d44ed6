"""Who listens has the transcript."""

from __future__ import annotations

from agentkit_core import Item, SessionId, TextOutput, ToolCall, ToolCallId, ToolResult
from agentkit_loop.events import Event, ItemsAppended, RunStarted, TranscriptRewritten, TurnStarted
from agentkit_reporting import TranscriptReporter
from support.runs import SESSION, enveloped

CALL = ToolCall(id=ToolCallId("c"), name="t")
RESULT = ToolResult(call_id=ToolCallId("c"), output=TextOutput("ok"))
ROUND: list[Event] = [
    ItemsAppended((Item.user("hi"), Item.context("notes")), 1),
    TurnStarted(),
    ItemsAppended((Item.assistant(CALL),), 2),
    ItemsAppended((Item.tool(RESULT),), 3),
    ItemsAppended((Item.assistant("done"),), 4),
]


def test_r04_a_tool_round_is_kept_whole_and_in_order() -> None:
    report = TranscriptReporter()
    for envelope in enveloped(ROUND):
        report(envelope)

    assert report.items == (
        Item.user("hi"),
        Item.context("notes"),
        Item.assistant(CALL),
        Item.tool(RESULT),
        Item.assistant("done"),
    )
    assert (report.revision, report.complete, report.session_id) == (4, True, SESSION)


def test_only_one_session_is_followed() -> None:
    report, other = TranscriptReporter(), TranscriptReporter(SessionId("other"))
    foreign = enveloped([ItemsAppended((Item.user("no"),), 1)], session_id=SessionId("other"))
    for envelope in [*enveloped(ROUND[:1]), *foreign]:
        report(envelope)
        other(envelope)

    assert report.items == (Item.user("hi"), Item.context("notes"))
    assert other.items == (Item.user("no"),)


def test_who_comes_late_knows_that_something_is_missing() -> None:
    late = TranscriptReporter()
    for envelope in enveloped(ROUND[2:]):
        late(envelope)

    assert not late.complete
    assert late.revision == 4


def test_what_takes_the_place_of_the_transcript_is_the_transcript() -> None:
    late = TranscriptReporter()
    for envelope in enveloped([*ROUND[2:], TranscriptRewritten((Item.user("summary"),), 5)]):
        late(envelope)

    assert late.items == (Item.user("summary"),)
    assert (late.complete, late.revision) == (True, 5)


def test_what_is_told_again_after_a_crash_is_kept_once() -> None:
    report = TranscriptReporter()
    for envelope in enveloped([*ROUND, *ROUND[3:]]):
        report(envelope)

    assert len(report.items) == 5
    assert report.complete


def test_a_session_that_goes_on_from_an_older_snapshot_drops_what_came_after_it() -> None:
    report = TranscriptReporter()
    first: list[Event] = [ItemsAppended((Item.user(str(at)),), at) for at in range(1, 5)]
    again: list[Event] = [RunStarted(True), ItemsAppended((Item.user("other"),), 3)]
    for envelope in [*enveloped([RunStarted(), *first]), *enveloped(again)]:
        report(envelope)

    assert [item.text for item in report.items] == ["1", "2", "other"]
    assert (report.complete, report.revision) == (True, 3)


def test_what_was_before_a_rewrite_cannot_be_gone_back_to() -> None:
    rewritten = TranscriptRewritten((Item.user("summary"),), 3)
    again: list[Event] = [RunStarted(True), ItemsAppended((Item.user("other"),), 2)]
    report = TranscriptReporter()
    for envelope in [*enveloped([rewritten]), *enveloped(again)]:
        report(envelope)

    assert not report.complete
    assert [item.text for item in report.items] == ["other"]


def test_a_session_that_begins_anew_has_another_transcript() -> None:
    report = TranscriptReporter()
    for text in "ab":
        for envelope in enveloped([RunStarted(), ItemsAppended((Item.user(text),), 1)]):
            report(envelope)

    assert (report.items, report.complete) == ((Item.user("b"),), True)
