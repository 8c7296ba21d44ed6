"""Any stored history, made valid for any target."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from agentkit_core import (
    FinishReason,
    Item,
    ItemKind,
    Modality,
    Part,
    Text,
    TextOutput,
    ToolCall,
    ToolCallId,
    ToolResult,
    to_json,
    to_msgpack,
)
from agentkit_core.provider import Target, sendable
from agentkit_core.testing import check_sendable, hard_transcripts
from support.examples import examples
from support.items import HERE, any_histories, targets, tidy_histories

CHAT = Target(provider="here", api="an_api", model="a-model")
ALTERNATING = replace(
    CHAT, kinds=frozenset({ItemKind.USER, ItemKind.ASSISTANT, ItemKind.TOOL}),
    consecutive_roles=False, first_user=True,
)  # fmt: skip
CALL = ToolCall(ToolCallId("c1"), "look")
RESULT = ToolResult(CALL.id, TextOutput("seen"))


@given(any_histories(), targets())
@examples(150)
def test_any_history_can_be_sent_to_any_target(items: list[Item], target: Target) -> None:
    stored = to_msgpack(items)
    created = sendable(items, target)

    check_sendable(created, target)
    to_json(created).decode()
    assert to_msgpack(items) == stored, "what is stored is not touched"
    assert sendable(items, target) == created, "the same every time"
    assert sendable(created, target) == created, "a second time changes nothing"


@given(targets(), st.sampled_from(sorted(hard_transcripts())))
def test_hard_histories_can_be_sent_to_any_target(target: Target, name: str) -> None:
    items = hard_transcripts()[name]
    created = sendable(items, target)

    check_sendable(created, target)
    assert sendable(created, target) == created


@given(tidy_histories(max_size=6), targets(), st.data())
def test_r15_a_longer_history_begins_with_what_the_shorter_one_gave(
    items: list[Item], target: Target, data: st.DataObject
) -> None:
    """It holds where nothing was open at the cut; merging may add to the last item alone.

    Where instructions stand in front only, it holds from the user's first words on.
    """
    cut = data.draw(
        st.integers(0, len(items)).filter(
            lambda n: not items[n - 1 : n] or not items[n - 1].tool_calls
        )
    )
    if not target.late_system and not any(item.kind is ItemKind.USER for item in items[:cut]):
        return  # what is said before the user's first words may yet belong to the front
    shorter, longer = sendable(items[:cut], target), sendable(items, target)

    if target.consecutive_roles or not shorter:
        assert longer[: len(shorter)] == shorter
        return
    assert longer[: len(shorter) - 1] == shorter[:-1]
    assert longer[len(shorter) - 1].parts[: len(shorter[-1].parts)] == shorter[-1].parts


@given(tidy_histories())
def test_items_that_need_no_change_are_the_same_objects(items: list[Item]) -> None:
    plain = [Item.user("hi"), replace(Item.assistant("ho"), provenance=HERE)]
    called = [replace(Item.assistant("x", CALL), provenance=HERE), Item.tool(RESULT)]
    created = sendable([*plain, *called, *plain], CHAT)

    assert all(map(lambda a, b: a is b, created, [*plain, *called, *plain]))


def test_r01_a_call_without_a_result_gets_one_before_the_next_item() -> None:
    other = ToolCall(ToolCallId("c2"), "look")
    items = [Item.user("hi"), Item.assistant(CALL, other), Item.tool(RESULT), Item.user("go on")]
    created = sendable(items, CHAT)

    assert [item.kind.value for item in created] == ["user", "assistant", "tool", "user"]
    first, second = created[2].tool_results
    assert first is RESULT
    assert (second.call_id, second.is_error) == ("c2", True)
    assert len(items[2].parts) == 1


def test_r02_a_result_whose_call_is_gone_becomes_a_text_that_says_so() -> None:
    items = [Item.tool(RESULT), Item.user("hi")]

    assert sendable(items, CHAT) == (
        Item.user("[Result of an earlier tool call: seen]"),
        Item.user("hi"),
    )
    remaining = replace(CHAT, orphan_results=True)
    assert sendable(items, remaining) == tuple(items)


def test_r02_an_id_of_a_kept_orphan_is_one_that_is_accepted() -> None:
    orphan = Item.tool(replace(RESULT, call_id=ToolCallId("a|b")))
    (created,) = sendable([orphan], replace(CHAT, orphan_results=True))

    assert created.tool_results[0].call_id == "a_b"


def test_d05_a_failed_response_is_left_out_with_the_results_of_its_calls() -> None:
    failed = replace(Item.assistant("half", CALL), finish_reason=FinishReason.ERROR)
    items = [Item.user("hi"), failed, Item.tool(RESULT), Item.user("again")]

    assert sendable(items, CHAT) == (Item.user("hi"), Item.user("again"))


def test_d05_of_a_cancelled_response_what_is_whole_is_kept() -> None:
    cancelled = {"finish_reason": FinishReason.CANCELLED, "interrupted": True}
    half = replace(Item.assistant("Let me", CALL), **cancelled)
    nothing = replace(Item.assistant(CALL), **cancelled)
    go = Item.user("go on")

    assert sendable([half, go], CHAT) == (replace(half, parts=(Text("Let me"),)), go)
    assert sendable([nothing, go], CHAT) == (go,)


def test_d05_results_are_synthesised_at_the_end_as_well() -> None:
    created = sendable([Item.user("hi"), Item.assistant(CALL)], CHAT)

    assert created[-1].tool_results[0].call_id == CALL.id


@pytest.mark.parametrize("blank", ["", "  \n"])
def test_r03_blank_text_is_left_out_and_a_blank_result_says_so(blank: str) -> None:
    items = [
        Item.system(blank),
        Item.user(blank, "hi"),
        Item.assistant(blank, CALL),
        Item.tool(ToolResult(CALL.id, TextOutput(blank))),
        Item.assistant(blank),
        Item.user("go on"),
    ]
    created = sendable(items, CHAT)

    assert created == (
        Item.user("hi"),
        Item.assistant(CALL),
        Item.tool(ToolResult(CALL.id, TextOutput("(no tool output)"))),
        Item.user("go on"),
    )
    assert sendable(items, replace(CHAT, empty_text=True)) == tuple(items)


def test_kinds_without_a_role_become_the_next_best() -> None:
    items = [
        Item.system("s"), Item.developer("d"), Item.context("c"), Item.user("u"),
        Item.notification("n"),
    ]  # fmt: skip
    with_system = replace(
        CHAT, kinds=frozenset({ItemKind.SYSTEM, ItemKind.USER, ItemKind.ASSISTANT})
    )
    without = replace(CHAT, kinds=frozenset({ItemKind.USER, ItemKind.ASSISTANT}))
    reminder = Item.user("<system-reminder>\nn\n</system-reminder>")

    assert sendable(items, with_system) == (
        Item.system("s"), Item.system("d"), Item.system("c"), Item.user("u"), reminder,
    )  # fmt: skip
    assert sendable(items, without) == (*map(Item.user, "sdcu"), reminder)
    assert sendable(items, replace(CHAT, kinds=frozenset(ItemKind))) == tuple(items)


def test_a_target_without_tools_reads_calls_and_results_as_text() -> None:
    call = replace(CALL, input={"at": "it"})
    failed = replace(RESULT, is_error=True)
    target = replace(CHAT, kinds=frozenset({ItemKind.USER, ItemKind.ASSISTANT}))

    assert sendable([Item.assistant("x", call), Item.tool(failed)], target) == (
        Item.assistant("x", '[Called the tool look with {"at":"it"}]'),
        Item.user("[The tool failed: seen]"),
    )


def test_turns_alternate_and_begin_with_a_user_where_the_target_wants_it() -> None:
    items = [
        Item.system("s"), Item.assistant("a"), Item.assistant("b"), Item.user("c"), Item.user("d"),
    ]  # fmt: skip

    assert sendable(items[1:], ALTERNATING) == (
        Item.user("[The conversation goes on from here.]"),
        Item.assistant("a", "b"),
        Item.user("c", "d"),
    )
    assert sendable(items, ALTERNATING) == (
        Item.user("s"), Item.assistant("a", "b"), Item.user("c", "d"),
    )  # fmt: skip


def test_what_is_merged_keeps_the_nearest_origin() -> None:
    foreign = replace(Item.assistant("a"), provenance=replace(HERE, provider="there"))
    own = replace(Item.assistant("b"), provenance=HERE)
    (_, created) = sendable([Item.user("hi"), foreign, own], ALTERNATING)

    assert created.provenance == HERE
    assert created.text == "ab"


def test_an_application_says_how_its_own_items_read() -> None:
    items = [Item.user("hi"), Item.context("secret"), Item.notification("bash ran")]

    def to_model(item: Item) -> Item | None:
        match item.kind:
            case ItemKind.CONTEXT:
                return None
            case ItemKind.NOTIFICATION:
                return replace(item, kind=ItemKind.USER)
            case _:
                return item

    assert sendable(items, CHAT, to_model=to_model) == (Item.user("hi"), Item.user("bash ran"))


@given(any_histories(), targets())
def test_what_is_sent_can_be_written_by_any_strict_writer(
    items: list[Item], target: Target
) -> None:
    for item in sendable(items, target):
        msgspec.json.encode([part.text for part in item.parts if isinstance(part, Text)])
        msgspec.json.encode([call.id + call.name for call in item.tool_calls])


def test_r13_lone_surrogates_are_replaced_in_all_that_is_sent() -> None:
    parts: list[Part] = [Text("a\ud800b"), Text("\ud83d\ude48")]
    (created,) = sendable([Item.user(*parts)], CHAT)

    assert created.parts == (Text("a\ufffdb"), Text("🙈"))


def test_modalities_are_those_of_the_target() -> None:
    assert {value.value for value in Modality} == {"audio", "image", "video", "binary"}
