"""The strictest opinion counts, and a policy that fails has denied."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit_core import JsonValue, ToolAnnotations, ToolCallId, ToolSpec
from agentkit_tools_core import ToolInvocation, approval_id
from agentkit_tools_core.permissions import (
    Allow,
    Ask,
    Decision,
    Deny,
    PermissionRequest,
    Policy,
    PolicyFacts,
    combine_policies,
    default_policy,
    evaluate_policy,
)

WRITE = PermissionRequest("fs.write", "write /x", {"fs.path": "/x"})
FACTS = PolicyFacts(ToolSpec("t"), ToolInvocation(ToolCallId("1"), "t"))
ORDER: list[type] = [Allow, Ask, Deny]


def says(decision: Decision | None) -> Policy:
    return lambda request, facts: decision


decisions = st.sampled_from([None, Allow(), Ask(), Deny("no")])


@given(st.lists(decisions))
def test_t23_the_strictest_opinion_counts_whatever_the_order(
    opinions: list[Decision | None],
) -> None:
    result = combine_policies(*map(says, opinions))(WRITE, FACTS)

    stored = [opinion for opinion in opinions if opinion is not None]
    if stored:
        assert type(result) is max(map(type, stored), key=ORDER.index)
    else:
        assert result is None


@given(st.lists(decisions, max_size=3), st.lists(decisions, max_size=3))
def test_policies_may_be_combined_in_any_grouping(
    first: list[Decision | None], second: list[Decision | None]
) -> None:
    whole = combine_policies(*map(says, [*first, *second]))
    grouped = combine_policies(
        combine_policies(*map(says, first)), combine_policies(*map(says, second))
    )

    assert grouped(WRITE, FACTS) == whole(WRITE, FACTS)


def test_t23_of_several_that_ask_the_first_gives_the_reason() -> None:
    policy = combine_policies(says(Allow()), says(Ask("first")), says(Ask("second")))

    assert policy(WRITE, FACTS) == Ask("first")


@pytest.mark.parametrize("answer", [True, "yes", Allow, 1])
def test_o03_nonsense_is_no_permission(answer: Any) -> None:
    assert isinstance(evaluate_policy(says(answer), WRITE, FACTS), Deny)
    assert isinstance(
        evaluate_policy(combine_policies(says(Allow()), says(answer)), WRITE, FACTS), Deny
    )


def test_o03_a_policy_that_raises_has_denied() -> None:
    def broken(request: PermissionRequest, facts: PolicyFacts) -> Decision:
        raise RuntimeError("secret details")

    for policy in (
        broken,
        combine_policies(says(Ask()), broken),
        combine_policies(broken, says(Allow())),
    ):
        result = evaluate_policy(policy, WRITE, FACTS)
        assert isinstance(result, Deny)
        assert result.code == "policy_failed"
        assert "RuntimeError" in result.reason
        assert "secret" not in result.reason, "the model is told the reason"


def test_t02_without_an_opinion_only_tools_that_need_approval_ask() -> None:
    spec = ToolSpec("t", annotations=ToolAnnotations(needs_approval=True))
    facts = PolicyFacts(spec, FACTS.call)
    run = PermissionRequest("tool.t", "run t")

    for policy in (default_policy, says(None)):
        assert evaluate_policy(policy, run, facts) == Ask()
        assert evaluate_policy(policy, WRITE, facts) == Allow()
        assert evaluate_policy(policy, run, FACTS) == Allow()


def test_t02_a_tool_that_needs_approval_asks_under_whatever_name_it_is_called() -> None:
    spec = ToolSpec("own", annotations=ToolAnnotations(needs_approval=True))
    facts = PolicyFacts(spec, FACTS.call)

    for name in ("own", FACTS.call.name):
        assert default_policy(PermissionRequest(f"tool.{name}", "run"), facts) == Ask()


def test_a_policy_sees_the_tool_and_the_call() -> None:
    def only_reading(request: PermissionRequest, facts: PolicyFacts) -> Decision | None:
        return None if facts.spec.annotations.read_only else Deny(facts.call.name)

    assert evaluate_policy(only_reading, WRITE, FACTS) == Deny("t")


metadata = st.dictionaries(st.text(), st.text() | st.integers() | st.lists(st.booleans()))
requests = st.builds(PermissionRequest, st.sampled_from(["a", "b.c"]), st.text(), metadata)


@given(requests, requests)
def test_t24_an_approval_id_stands_for_one_request_exactly(
    value: PermissionRequest, other: PermissionRequest
) -> None:
    kind, _, digits = approval_id(value).partition(":")

    assert kind == value.kind
    assert len(bytes.fromhex(digits)) == 16
    is_equal = (value.kind, value.metadata) == (other.kind, other.metadata)
    is_told_alike = bool(value.metadata) or value.summary == other.summary
    assert (approval_id(value) == approval_id(other)) == (is_equal and is_told_alike)


def test_t24_values_that_only_python_takes_for_equal_are_other_requests() -> None:
    values: list[JsonValue] = [1, 1.0, True, "1", [1], 0.0, -0.0, False, None]

    assert len({approval_id(PermissionRequest("k", "s", {"a": value})) for value in values}) == 9


def test_t24_the_order_of_facts_and_the_process_do_not_matter() -> None:
    forth = PermissionRequest("fs.write", "s", {"a.x": 1, "b.y": 2})
    back = PermissionRequest("fs.write", "s", {"b.y": 2, "a.x": 1})

    data = b'["approval","fs.write",{"a.x":1,"b.y":2}]'
    digits = hashlib.sha256(data).hexdigest()[:32]
    assert approval_id(forth) == approval_id(back) == f"fs.write:{digits}"
