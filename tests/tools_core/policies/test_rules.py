"""A rule covers what it says and nothing beside it."""

from __future__ import annotations

from pathlib import Path
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit_core import RecordError, ToolAnnotations, ToolCallId, ToolSpec
from agentkit_tools_core import ToolInvocation
from agentkit_tools_core.permissions import (
    Allow,
    Ask,
    Deny,
    PathPolicy,
    PermissionRequest,
    PolicyFacts,
    Rule,
    Rules,
    evaluate_policy,
    permission_to_delete,
    permission_to_read,
    permission_to_run,
    permission_to_write,
    tool_kind,
)

FACTS = PolicyFacts(ToolSpec("t"), ToolInvocation(ToolCallId("1"), "t"))

facts = st.dictionaries(
    st.sampled_from(["a.x", "a.y"]), st.sampled_from([1, True, 1.5, "1", None, ["1"]])
)
requests = st.builds(PermissionRequest, st.sampled_from(["k", "k.l"]), st.text(max_size=2), facts)


@given(requests, requests)
def test_t24_the_rule_of_a_request_covers_that_request_alone(
    value: PermissionRequest, other: PermissionRequest
) -> None:
    rule = Rule.of(value)

    same = value.kind == other.kind and repr(sorted(value.metadata.items())) == repr(
        sorted(other.metadata.items())
    )
    assert rule.matches(value)
    assert rule.matches(other) == same


@given(requests, facts)
def test_t24_a_rule_covers_requests_that_have_its_facts_and_more(
    request: PermissionRequest, wanted: dict[str, object]
) -> None:
    has = {key: repr(value) for key, value in request.metadata.items()}.items()
    rule = Rule("k", wanted)  # type: ignore[arg-type]

    wants = {key: repr(value) for key, value in wanted.items()}.items()
    assert rule.matches(request) == (request.kind == "k" and wants <= has)


def test_t24_a_rule_for_a_command_does_not_cover_it_elsewhere() -> None:
    rules = Rules([Rule.of(permission_to_run(["make"]))])

    assert rules(permission_to_run(["make"]), FACTS) == Allow()
    assert rules(permission_to_run(["make"], cwd="/x"), FACTS) is None
    assert rules(permission_to_run(["make"], env_keys=["A"]), FACTS) is None


def test_z01_z02_a_rule_for_a_folder_is_for_what_is_really_in_it(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "l").symlink_to("/etc")
    rules = Rules([Rule("filesystem.read", prefix={"filesystem.path": str(docs)})])

    assert rules(permission_to_read(docs / "a" / "b"), FACTS) == Allow()
    assert rules(permission_to_read(docs), FACTS) == Allow()
    for path in (f"{docs}-evil/x", docs / ".." / "x", docs / "l" / "passwd", docs / "no/../x"):
        assert rules(permission_to_read(path), FACTS) is None
    assert rules(permission_to_write(docs / "a"), FACTS) is None
    assert rules(PermissionRequest("filesystem.read", "s"), FACTS) is None


def test_z02_a_rule_for_a_folder_deletes_no_link_from_outside_it(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "f").write_text("")
    (tmp_path / "link").symlink_to("docs/f")
    where = {"filesystem.path": str(tmp_path / "docs")}
    rules = Rules([Rule("filesystem.delete", prefix=where), Rule("filesystem.read", prefix=where)])

    assert rules(permission_to_delete(tmp_path / "docs" / "f"), FACTS) == Allow()
    assert rules(permission_to_delete(tmp_path / "link"), FACTS) is None
    assert rules(permission_to_read(tmp_path / "link"), FACTS) == Allow()


def test_t24_what_a_rule_does_not_name_may_be_anything() -> None:
    command = permission_to_run(["make"], executable="/elsewhere/make")
    wide = Rule("shell.command", {"shell.argv": ["make"]})

    assert wide.matches(command)
    assert not Rule("shell.command", wide.metadata, exact=True).matches(command)


def test_t24_rules_survive_being_stored() -> None:
    rules = Rules(
        [Rule.of(permission_to_run(["make"])), Rule("k", prefix={"a.x": "/w"}), Rule("l")]
    )

    assert Rules.from_json(rules.to_json()).rules == rules.rules
    assert rules.to_json().endswith(b'{"kind":"l"}]')


@pytest.mark.parametrize("data", [b"{}", b"[", b'[{"metadata":{}}]', b'[{"kind":1}]'])
def test_what_are_no_rules_is_refused(data: bytes) -> None:
    with pytest.raises(RecordError):
        Rules.from_json(data)


def test_a_rule_is_kept_once_and_can_be_taken_back() -> None:
    rules = Rules([Rule("a"), Rule("b"), Rule("a")])
    rules.remove(Rule("a"))
    rules.remove(Rule("c"))

    assert rules.rules == (Rule("b"),)


def test_no_rule_is_lost_when_several_are_added_at_once() -> None:
    rules = Rules()

    def add_some(at: int) -> None:
        for number in range(50):
            rules.add(Rule(f"{at}.{number}"))

    threads = [Thread(target=add_some, args=(at,)) for at in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(rules.rules) == 200


def test_t24_a_rule_answers_what_another_policy_asks_and_not_what_it_denies(tmp_path: Path) -> None:
    paths = PathPolicy(allowed=(tmp_path / "ws",), protected=(tmp_path / "secret",))
    rules = Rules()
    policy = rules.over(paths)
    questions, denied = permission_to_read(tmp_path / "x"), permission_to_read(tmp_path / "secret")
    assert isinstance(policy(questions, FACTS), Ask)

    rules.add(Rule("filesystem.read"))

    assert policy(questions, FACTS) == Allow()
    assert isinstance(policy(denied, FACTS), Deny)
    assert isinstance(policy(permission_to_write(tmp_path / "x"), FACTS), Ask)


def test_t02_a_rule_answers_for_a_tool_that_needs_approval() -> None:
    spec = ToolSpec("t", annotations=ToolAnnotations(needs_approval=True))
    needing = PolicyFacts(spec, FACTS.call)
    run = PermissionRequest(tool_kind("t"), "run t", {"tool.input": {}})

    for rules in (Rules(), Rules([Rule("tool.other")])):
        assert evaluate_policy(rules, run, needing) == Ask()
        assert evaluate_policy(rules.over(), run, needing) == Ask()
    for rules in (Rules([Rule.of(run)]), Rules([Rule("tool.t")])):
        assert evaluate_policy(rules, run, needing) == Allow()
        assert evaluate_policy(rules.over(), run, needing) == Allow()
