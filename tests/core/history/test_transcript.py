"""The transcript: what may be appended, and that those who share a past do not see each other."""

import copy
import pickle
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit_core import (
    DuplicateToolCall,
    DuplicateToolResult,
    Item,
    ItemKind,
    OrphanToolResult,
    TextOutput,
    ToolCall,
    ToolCallId,
    ToolResult,
    Transcript,
    TranscriptError,
    UnansweredToolCall,
    open_calls,
    repair,
)
from support.items import any_histories, tidy_histories, transcripts


def call(call_id: str) -> ToolCall:
    return ToolCall(ToolCallId(call_id), "look")


def result(call_id: str) -> ToolResult:
    return ToolResult(ToolCallId(call_id), TextOutput(f"of {call_id}"))


USER = Item.user("hi")
ASKED = Transcript([USER, Item.assistant("let me see", call("a"), call("b"))])


def test_results_may_come_at_once_or_by_and_by() -> None:
    at_once = ASKED.append(Item.tool(result("b"), result("a")))
    by_and_by = ASKED.append(Item.tool(result("a"))).append(Item.tool(result("b")))

    assert [open_call.id for open_call in ASKED.open_calls] == ["a", "b"]
    assert at_once.open_calls == by_and_by.open_calls == ()


@pytest.mark.parametrize(
    ("start", "items", "error", "at", "named"),
    [
        (ASKED, [USER], UnansweredToolCall, 2, ("a", "b")),
        (ASKED, [Item.tool(result("a")), USER], UnansweredToolCall, 3, ("b",)),
        (ASKED, [Item.assistant(call("c"))], UnansweredToolCall, 2, ("a", "b")),
        (ASKED, [Item.tool(result("z"))], OrphanToolResult, 2, "z"),
        (ASKED, [Item.tool(result("a"), result("a"))], DuplicateToolResult, 2, "a"),
        (Transcript(), [Item.tool(result("a"))], OrphanToolResult, 0, "a"),
        (
            Transcript([USER]),
            [Item.assistant(call("a")), Item.tool(result("a")), Item.tool(result("a"))],
            DuplicateToolResult, 3, "a",
        ),
        (Transcript([USER]), [Item.assistant(call("a"), call("a"))], DuplicateToolCall, 1, "a"),
        (
            Transcript([Item.assistant(call("a")), Item.tool(result("a"))]),
            [USER, Item.assistant(call("a"))],
            DuplicateToolCall, 3, "a",
        ),
    ],
)  # fmt: skip
def test_what_breaks_a_rule_is_refused_and_changes_nothing(
    start: Transcript,
    items: list[Item],
    error: type[TranscriptError],
    at: int,
    named: str | tuple[str, ...],
) -> None:
    before = start.items
    with pytest.raises(error) as caught:
        start.append(*items)

    facts = vars(caught.value)
    assert facts["at"] == at
    assert facts.get("call_id", facts.get("call_ids")) == named
    assert start.items == before
    assert start.append() is start


def test_a_repeated_call_id_says_where_it_was_first() -> None:
    with pytest.raises(DuplicateToolCall) as caught:
        Transcript(
            [USER, Item.assistant(call("a")), Item.tool(result("a")), Item.assistant(call("a"))]
        )

    assert caught.value.first_at == 1


@given(tidy_histories())
def test_appending_one_by_one_and_all_at_once_is_the_same(items: list[Item]) -> None:
    grown = Transcript()
    for item in items:
        grown = grown.append(item)

    assert grown == Transcript(items) == Transcript().append(*items)
    assert list(grown) == items
    assert grown.items == tuple(items)
    assert grown.open_calls == ()


@given(transcripts(), st.integers(-8, 8), st.integers(-8, 8), st.sampled_from([-2, -1, 1, 2]))
def test_a_transcript_is_a_sequence_of_its_items(
    transcript: Transcript, start: int, stop: int, step: int
) -> None:
    items = transcript.items

    assert transcript[start:stop:step] == items[start:stop:step]
    assert list(reversed(transcript)) == list(reversed(items))
    for index in (start, stop):
        if -len(items) <= index < len(items):
            assert transcript[index] is items[index]
        else:
            with pytest.raises(IndexError):
                transcript[index]


def test_two_that_grow_from_one_do_not_see_each_other() -> None:
    first = ASKED.append(Item.tool(result("a"), result("b")), Item.assistant(call("c")))
    second = ASKED.append(Item.tool(result("b"), result("a")), Item.assistant("done", call("c")))

    assert len(ASKED) == 2
    assert first[:2] == second[:2] == ASKED.items
    assert first[3] == Item.assistant(call("c"))
    assert second[3] == Item.assistant("done", call("c"))
    with pytest.raises(IndexError):
        ASKED[2]


@given(tidy_histories())
def test_however_transcripts_branch_each_keeps_its_own_history(trunk: list[Item]) -> None:
    transcript = Transcript(trunk)
    value = transcript.append(Item.user("x"))
    other = transcript.append(Item.user("y"))
    longer = value.append(Item.user("z"))

    assert list(value) == [*trunk, Item.user("x")]
    assert list(other) == [*trunk, Item.user("y")]
    assert list(longer) == [*trunk, Item.user("x"), Item.user("z")]
    assert list(transcript) == trunk
    assert value != other
    # An id that only a sibling has used is free here.
    called = Item.assistant(call("new")), Item.tool(result("new"))
    assert longer.append(*called)[-2:] == other.append(*called)[-2:] == called
    assert list(transcript.append(*called)) == [*trunk, *called]
    late = transcript.append(Item.user("a"), Item.user("b"), Item.user("c")).append(*called)
    assert late[-2:] == called


def test_growing_shares_what_is_old() -> None:
    transcript = Transcript([USER] * 1_000)
    grown = transcript.append(USER)

    assert grown._spine is transcript._spine
    assert transcript.append(USER)._spine is not transcript._spine


def test_of_many_threads_that_append_to_one_transcript_each_gets_its_own() -> None:
    start = Transcript([USER, Item.assistant(call("old")), Item.tool(result("old"))] + [USER] * 50)
    grown: dict[int, Transcript] = {}
    gate = threading.Barrier(8)

    def grow(number: int) -> None:
        gate.wait()
        own = start
        for step in range(50):
            name = f"{number}-{step}"
            own = own.append(Item.assistant(call(name))).append(Item.tool(result(name)))
        grown[number] = own

    threads = [threading.Thread(target=grow, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(start) == 53
    for number, own in grown.items():
        names = [tool_call.id for item in own for tool_call in item.tool_calls]
        assert names == ["old", *(f"{number}-{step}" for step in range(50))]


@given(transcripts())
def test_a_transcript_survives_copying_and_pickling(transcript: Transcript) -> None:
    for again in (
        copy.copy(transcript),
        copy.deepcopy(transcript),
        pickle.loads(pickle.dumps(transcript)),
    ):
        assert again == transcript
        assert list(again.append(USER)) == [*transcript, USER]
        assert list(again.append(Item.user("other"))) == [*transcript, Item.user("other")]
        assert len(again) == len(transcript)


def test_the_model_is_asked_when_the_last_item_asks_and_nothing_is_open() -> None:
    answered = ASKED.append(Item.tool(result("a"), result("b")))

    assert not Transcript().driveable
    assert Transcript([USER]).driveable
    assert not ASKED.driveable
    assert not ASKED.append(Item.tool(result("a"))).driveable
    assert answered.driveable
    assert answered.append(Item.notification("done")).driveable
    assert not answered.append(Item.assistant("bye")).driveable
    assert not answered.append(Item.system("be brief")).driveable


def test_a_transcript_equals_only_transcripts_and_has_no_hash() -> None:
    assert Transcript([USER]) != [USER]
    assert repr(Transcript([USER])) == f"Transcript([{USER!r}])"
    with pytest.raises(TypeError):
        hash(Transcript())


@given(transcripts(), st.lists(st.sampled_from("xyz"), max_size=3, unique=True), st.data())
def test_open_calls_of_any_history_are_those_of_the_transcript(
    transcript: Transcript, ids: list[str], data: st.DataObject
) -> None:
    grown = transcript.append(Item.assistant(*map(call, ids)))
    for answered in data.draw(st.permutations(ids))[: data.draw(st.integers(0, 3))]:
        grown = grown.append(Item.tool(result(answered)))

    assert open_calls(grown) == open_calls(grown.items) == grown.open_calls
    assert open_calls([]) == ()


@given(any_histories())
def test_i01_any_history_can_be_repaired(items: list[Item]) -> None:
    before = list(items)
    repaired = Transcript(repair(items))

    assert repaired.open_calls == ()
    assert items == before
    for at, item in enumerate(repaired):
        if item.tool_calls:
            answers = [tool_result.call_id for tool_result in repaired[at + 1].tool_results]
            assert answers == [tool_call.id for tool_call in item.tool_calls]
        elif item.kind is ItemKind.TOOL:
            assert repaired[at - 1].tool_calls
    assert repair(repaired) == repaired.items


@given(tidy_histories())
def test_what_keeps_the_rules_is_repaired_by_leaving_it_alone(items: list[Item]) -> None:
    repaired = repair(items)

    assert len(repaired) == len(items)
    assert all(new is old for new, old in zip(repaired, items, strict=True))


def test_a_transcript_knows_how_many_calls_it_has_also_when_others_grew_from_it() -> None:
    first, second = (ToolCall(ToolCallId(f"c{number}"), "look") for number in range(2))
    answers = [Item.tool(ToolResult(call.id, TextOutput("seen"))) for call in (first, second)]
    short = Transcript([Item.user("go"), Item.assistant("so", first), answers[0]])
    long = short.append(Item.assistant(second), answers[1])

    assert Transcript().call_count == 0
    assert (short.call_count, long.call_count) == (1, 2)
