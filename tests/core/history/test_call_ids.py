"""Ids of calls that a target accepts: one for one, the same every time, good ones left alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit_core import Item, TextOutput, ToolCall, ToolCallId, ToolResult
from agentkit_core.provider import IdRule, Target, sendable
from support.items import CALL_IDS, id_rules

ANTHROPIC = IdRule()
CHAT = IdRule(max_length=40)
MISTRAL = IdRule(characters="A-Za-z0-9", exact_length=9)
PIPED = "a" * 38 + "|fc_" + "b" * 40


def sent(ids: list[str], rule: IdRule, names: IdRule | None = None) -> list[ToolCall]:
    """The calls as they are sent, each of a turn of its own; their results must agree."""
    target = Target(provider="p", api="a", model="m", call_ids=rule, tool_names=names or IdRule())
    items = [Item.user("hi")]
    for entry in ids:
        items.append(Item.assistant(ToolCall(ToolCallId(entry), entry or "look")))
        items.append(Item.tool(ToolResult(ToolCallId(entry), TextOutput(f"of {entry!r}"))))
    created = sendable(items, target)
    calls = [call for item in created for call in item.tool_calls]
    results = [result for item in created for result in item.tool_results]
    assert [result.call_id for result in results] == [call.id for call in calls]
    assert [result.output for result in results] == [TextOutput(f"of {value!r}") for value in ids]
    return calls


def ids_sent(ids: list[str], rule: IdRule) -> list[str]:
    return [call.id for call in sent(ids, rule)]


@pytest.mark.parametrize(
    ("call_id", "rule", "given_id"),
    [
        ("call_abc|fc_def==", ANTHROPIC, "call_abc_fc_def__"),
        ("functions.Bash:0", ANTHROPIC, "functions_Bash_0"),
        ("call_abc", ANTHROPIC, "call_abc"),
        ("abcDEF123", MISTRAL, "abcDEF123"),
        ("", ANTHROPIC, "call"),
        ("\ud800", IdRule(characters=None, max_length=None), "\ufffd"),
    ],
)
def test_d06_an_id_is_changed_as_little_as_may_be(
    call_id: str, rule: IdRule, given_id: str
) -> None:
    assert ids_sent([call_id], rule) == [given_id]


def test_d06_a_long_id_is_cut_and_its_result_has_the_same() -> None:
    (call_id,) = ids_sent(["x" * 450], ANTHROPIC)

    assert len(call_id) == 64


def test_r05_ids_that_differ_only_late_stay_apart() -> None:
    first, second = ids_sent([PIPED + "1", PIPED + "2"], CHAT)

    assert first != second
    assert max(len(first), len(second)) <= 40


def test_r05_an_exact_length_is_kept() -> None:
    ids = ids_sent(["functions.Bash:0", PIPED, "call_abc", "abcDEF123"], MISTRAL)

    assert all(map(MISTRAL.accepts, ids))
    assert len(set(ids)) == 4
    assert ids[3] == "abcDEF123"


@given(st.lists(st.sampled_from([*CALL_IDS, "a_b", "a.b", "a:b", "call"]), max_size=8), id_rules())
def test_r05_any_ids_become_accepted_and_distinct_ones(ids: list[str], rule: IdRule) -> None:
    created = ids_sent(ids, rule)

    assert all(map(rule.accepts, created))
    assert len(set(created)) == len(created)
    assert created == ids_sent(ids, rule)


@given(st.lists(st.sampled_from(CALL_IDS), max_size=6), st.integers(0, 6), id_rules())
def test_r15_ids_do_not_depend_on_what_comes_later(
    ids: list[str], length: int, rule: IdRule
) -> None:
    assert ids_sent(ids[:length], rule) == ids_sent(ids, rule)[:length]


@given(st.lists(st.from_regex("[a-z0-9]{9}", fullmatch=True), unique=True, max_size=6), id_rules())
def test_good_ids_are_left_alone(ids: list[str], rule: IdRule) -> None:
    good = [value for value in ids if rule.accepts(value)]

    assert ids_sent(good, rule) == good


def test_t08_servers_that_use_one_id_for_all_calls_are_served_quickly() -> None:
    created = ids_sent([""] * 2_000 + ["call_0"] * 2_000, MISTRAL)

    assert len(set(created)) == 4_000


@pytest.mark.parametrize(
    ("name", "created"),
    [
        ("look", "look"),
        ("read file!", "read_file_"),
        ("", "unknown_tool"),
        ("n" * 80, "n" * 55),
        ("\ud800", "_"),
    ],
)
def test_a_tool_name_that_is_refused_becomes_one_that_is_accepted(name: str, created: str) -> None:
    item = Item.assistant(ToolCall(ToolCallId("c1"), name))
    (sent_item, _) = sendable([item], Target(provider="p", api="a", model="m"))
    (call,) = sent_item.tool_calls

    assert call.name[:55] == created
    assert IdRule().accepts(call.name)


def test_a_rule_shorter_than_a_hash_is_still_kept() -> None:
    rule = IdRule(max_length=5)

    assert all(map(rule.accepts, ids_sent(["abcdefgh", "abcdefgi"], rule)))
