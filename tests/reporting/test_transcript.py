"""Who listens has the transcript."""

from __future__ import annotations

from agentkit_core import Item, SessionId, TextOutput, ToolCall, ToolCallId, ToolResult
from agentkit_loop.events import Event, ItemsAppended, TranscriptRewritten, TurnStarted
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
