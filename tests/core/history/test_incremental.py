"""A growing history gives what `sendable` gives, at the cost of what is new."""

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from agentkit_core import Item, ItemKind, TextOutput, ToolCall, ToolCallId, ToolResult
from agentkit_core._history import _part_rules, _sendable
from agentkit_core.provider import SendableHistory, Target, sendable
from agentkit_core.testing import hard_transcripts
from support.examples import examples
from support.items import any_histories, targets, tidy_histories

CHAT = Target(provider="here", api="an_api", model="a-model")
ALTERNATING = replace(CHAT, consecutive_roles=False)
FRONT_ONLY = replace(ALTERNATING, late_system=False, first_user=True)


def grow(history: SendableHistory, items: Sequence[Item]) -> None:
    before = list(history.items)
    same = history.update(items)

    assert tuple(history.items) == sendable(items, history.target)
    assert same <= len(before)
    assert all(
        now is then for now, then in zip(history.items[:same], before[:same], strict=True)
    ), "what is said to be the same is the same"


@given(st.one_of(any_histories(), tidy_histories()), targets(), st.data())
@examples(150)
def test_it_gives_what_sendable_gives_wherever_the_history_was_asked_for(
    items: list[Item], target: Target, data: st.DataObject
) -> None:
    history = SendableHistory(target)
    for end in sorted(data.draw(st.lists(st.integers(0, len(items)), max_size=6))):
        grow(history, items[:end])
    grow(history, items)


@given(any_histories(), any_histories(), st.integers(0, 10), targets())
def test_a_history_that_was_rewritten_is_done_from_the_start(
    items: list[Item], others: list[Item], at: int, target: Target
) -> None:
    history = SendableHistory(target)
    grow(history, items)
    grow(history, [*items[:at], *others, *items[at:]])
    grow(history, items[:at])


@pytest.mark.parametrize("name", hard_transcripts())
@pytest.mark.parametrize(
    "target", [CHAT, ALTERNATING, FRONT_ONLY], ids=["plain", "alternating", "front only"]
)
def test_hard_histories_may_grow_item_by_item(name: str, target: Target) -> None:
    items = hard_transcripts()[name]
    history = SendableHistory(target)
    for end in range(len(items) + 1):
        grow(history, items[:end])


def rounds(count: int) -> list[Item]:
    created = [Item.system("be brief"), Item.user("go")]
    for number in range(count):
        call_id = ToolCallId(f"c{number}")
        created.append(Item.assistant("next", ToolCall(call_id, "look")))
        created.append(Item.tool(ToolResult(call_id, TextOutput("seen"))))
    return created


@pytest.mark.parametrize(
    "target", [CHAT, ALTERNATING, FRONT_ONLY], ids=["plain", "alternating", "front only"]
)
def test_a_conversation_that_goes_on_keeps_all_but_its_end(target: Target) -> None:
    items = rounds(200)
    history = SendableHistory(target)
    remaining = [history.update(items[:end]) for end in range(2, len(items) + 1, 2)]

    # Two items a round are new; where neighbours may be merged, one more may still grow.
    assert all(later - earlier == 2 for earlier, later in pairwise(remaining[1:]))
    assert remaining[-1] >= len(items) - 3


@pytest.mark.parametrize("target", [CHAT, FRONT_ONLY], ids=["plain", "front only"])
def test_an_item_that_every_target_accepts_is_looked_at_once(
    target: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_at: list[Item] = []

    def is_plain(item: Item) -> bool:
        looked_at.append(item)
        return _part_rules.is_plain(item)

    monkeypatch.setattr(_sendable, "is_plain", is_plain)
    items = [Item.user("go"), Item.assistant("Schöne Grüße 👋"), Item.user("go on")]
    history = SendableHistory(target)
    history.update(items)
    history.update([*items, Item.assistant("so")])

    assert [item.text for item in looked_at] == ["go", "Schöne Grüße 👋", "go on", "so"]
    assert history.items[1] is items[1]


def test_a_result_that_comes_late_moves_to_its_call() -> None:
    call = ToolCall(ToolCallId("c1"), "look")
    items = [Item.user("go"), Item.assistant(call), Item.user("are you there?")]
    history = SendableHistory(CHAT)
    grow(history, items)
    late = [*items, Item.tool(ToolResult(call.id, TextOutput("seen")))]

    assert history.update(late) == 0
    kinds = [ItemKind.USER, ItemKind.ASSISTANT, ItemKind.TOOL, ItemKind.USER]
    assert [item.kind for item in history.items] == kinds
    assert history.items[2].tool_results[0].output == TextOutput("seen")


def test_a_result_may_reach_back_over_a_call_that_is_still_open() -> None:
    first, second = ToolCall(ToolCallId("c1"), "look"), ToolCall(ToolCallId("c2"), "look")
    history = SendableHistory(CHAT)
    answered = Item.tool(ToolResult(first.id, TextOutput("seen")))

    grow(history, [Item.assistant(first), Item.assistant(second), answered])
    grow(history, [Item.assistant(first), Item.assistant(second), answered, Item.user("go on")])
