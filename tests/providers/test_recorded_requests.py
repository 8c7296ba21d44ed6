"""What was really asked of providers can be asked with our types, and is then asked alike."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentkit_core import Item, Text, TextOutput, ToolCall, ToolCallId, ToolResult
from agentkit_core.provider import Target, sendable
from providers import corpus, recorded_requests
from providers.recorded_requests import PROTOCOLS, Outcome, differences
from providers.requests.examples import BODIES, HELLO, REFUSED
from providers.requests.history import broken_rules
from providers.requests.rules import normal

HISTORY = {
    "openai-chat": "messages",
    "anthropic-messages": "messages",
    "google-generate": "contents",
    "openai-responses": "input",
}
CALL = ToolCall(ToolCallId("c1"), "look", {"at": "sky"})
OTHER = ToolCall(ToolCallId("c2"), "look", {"at": "sea"})
RESULT = ToolResult(ToolCallId("c1"), TextOutput("blue"))
OTHER_RESULT = ToolResult(ToolCallId("c2"), TextOutput("green"))
ANY = Target(provider="p", api="a", model="m")
STRICT = Target(provider="p", api="a", model="m", consecutive_roles=False, first_user=True)


def checked(body: dict[str, Any], protocol: str = "openai-chat", vendor: str = "openai") -> Outcome:
    exchange: dict[str, Any] = {"id": "one", "protocol": protocol, "vendor": vendor}
    exchange |= {"model": body.get("model", "gemini-3-pro"), "streamed": False, "request": body}
    outcome = recorded_requests.check([exchange])[protocol]
    assert isinstance(outcome, Outcome)
    return outcome


@pytest.mark.parametrize("protocol", sorted(PROTOCOLS))
def test_every_recorded_request_that_can_be_expressed_is_made_again(
    protocol: str, shared: Path
) -> None:
    found = corpus.exchanges(shared / "wire-corpus" / "dev" / protocol)
    outcome = recorded_requests.check(found)[protocol]

    assert isinstance(outcome, Outcome)
    assert not outcome.mismatches, "\n".join(recorded_requests.lines({protocol: outcome}))
    assert len(outcome.made) > outcome.bodies / 2, "most of what people ask can be expressed"


@pytest.mark.parametrize(("protocol", "body", "reason"), REFUSED)
def test_what_cannot_be_expressed_is_named_with_the_reason(
    protocol: str, body: dict[str, Any], reason: str
) -> None:
    outcome = checked(body, protocol)

    assert not outcome.made
    assert not outcome.mismatches
    (given,) = outcome.refused
    assert reason in given


@pytest.mark.parametrize("protocol", sorted(BODIES))
def test_a_body_that_can_be_expressed_is_made_again(protocol: str) -> None:
    outcome = checked(BODIES[protocol], protocol)

    assert not outcome.mismatches, "\n".join(recorded_requests.lines({protocol: outcome}))
    assert outcome.made == ["one"]


@pytest.mark.parametrize("protocol", sorted(BODIES))
def test_what_is_lost_of_a_history_is_noticed(
    protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    known, name = PROTOCOLS[protocol], HISTORY[protocol]

    def forgetful(exchange: Any, body: Any) -> Any:
        return known.read(exchange, {**body, name: body[name][:1]})

    monkeypatch.setitem(PROTOCOLS, protocol, known._replace(read=forgetful))

    assert list(checked(BODIES[protocol], protocol).mismatches) == ["one"]


def test_fields_that_no_neutral_option_has_go_through_extra_and_are_counted() -> None:
    outcome = checked({**HELLO, "temperature": 0.5, "n": 2, "provider": {"sort": "price"}})

    assert outcome.made == ["one"]
    assert dict(outcome.extra) == {"n": 1, "provider.sort": 1}


def test_a_quirk_that_the_vendors_row_does_not_have_is_counted() -> None:
    outcome = checked({**HELLO, "max_tokens": 5, "store": False})

    assert outcome.made == ["one"]
    assert dict(outcome.quirks) == {"max_tokens_field": 1}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({**HELLO, "stop": None}, HELLO),
        ({**HELLO, "stream": False}, HELLO),
        (
            {**HELLO, "messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}]},
            HELLO,
        ),
    ],
)
def test_bodies_that_mean_the_same_have_one_normal_form(one: Any, other: Any) -> None:
    rules = PROTOCOLS["openai-chat"].rules

    assert one != other
    assert normal(one, rules) == normal(other, rules)


@pytest.mark.parametrize(
    "body",
    [
        {"tools": [{"type": "function", "function": {"name": "f", "parameters": {"x": None}}}]},
        {"stream": True},
        {"messages": [{"role": "user", "content": [{"type": "text", "text": " hi"}]}]},
    ],
)
def test_a_normal_form_keeps_what_matters(body: Any) -> None:
    assert normal(body, PROTOCOLS["openai-chat"].rules) == body


def test_a_difference_is_named_with_its_place() -> None:
    recorded = {"a": [1, {"b": True}], "c": 2}
    ours = {"a": [1, {"b": 1}], "d": 2}

    assert [difference.path for difference in differences(recorded, ours)] == ["a[1].b", "c", "d"]
    assert not list(differences({"a": 1, "b": [2]}, {"b": [2], "a": 1}))


@pytest.mark.parametrize(
    ("items", "target", "broken"),
    [
        ([Item.user("hi"), Item.assistant(CALL), Item.tool(RESULT)], ANY, False),
        ([Item.user("hi"), Item.user("there")], ANY, False),
        ([Item.user("hi"), Item.user("there")], STRICT, True),
        ([Item.assistant("hi")], STRICT, True),
        ([Item.system("be good"), Item.user("hi")], STRICT, False),
        ([Item.assistant(CALL)], ANY, True),
        ([Item.assistant(CALL), Item.user("well?")], ANY, True),
        ([Item.tool(RESULT)], ANY, True),
        ([Item.assistant(CALL), Item.tool(RESULT, RESULT)], ANY, True),
        ([Item.assistant(CALL, CALL), Item.tool(RESULT, RESULT)], ANY, True),
        ([Item.assistant(CALL, OTHER), Item.tool(OTHER_RESULT, RESULT)], ANY, True),
        ([Item.assistant(CALL, OTHER), Item.tool(RESULT, OTHER_RESULT)], ANY, False),
        ([Item.assistant(CALL, OTHER), Item.tool(RESULT), Item.tool(OTHER_RESULT)], ANY, True),
        ([Item.user(" ")], ANY, True),
        ([Item.user()], ANY, True),
        ([Item.user(Text("hi"), Text(""))], ANY, True),
    ],
)
def test_a_history_breaks_a_rule_exactly_where_sendable_would_change_it(
    items: list[Item], target: Target, broken: bool
) -> None:
    assert bool(list(broken_rules(items, target))) is broken
    assert (sendable(items, target) != tuple(items)) is broken


def test_a_body_that_is_not_made_again_is_shown_and_the_exit_code_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    exchange = {"protocol": "openai-chat", "request": HELLO, "expected": {}}
    (tmp_path / "one.json").write_text(json.dumps(exchange), "utf-8")
    chat = PROTOCOLS["openai-chat"]

    assert recorded_requests.main([str(tmp_path)]) == 0
    assert "openai-chat requests 1/1 re-created, 0 not expressible" in capsys.readouterr().out

    def forgetful(exchange: Any, body: Any) -> Any:
        return chat.read(exchange, {**body, "messages": []})

    monkeypatch.setitem(PROTOCOLS, "openai-chat", chat._replace(read=forgetful))
    assert recorded_requests.main([str(tmp_path)]) == 1
    assert "NOT RE-CREATED one" in capsys.readouterr().out


def test_protocols_without_a_reader_are_skipped_with_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    exchange = {"protocol": "of-tomorrow", "request": HELLO, "expected": {}}
    (tmp_path / "one.json").write_text(json.dumps(exchange), "utf-8")

    assert recorded_requests.main([str(tmp_path)]) == 0
    assert "of-tomorrow requests skipped" in capsys.readouterr().out


def test_the_rules_of_sameness_can_be_read(capsys: pytest.CaptureFixture[str]) -> None:
    assert recorded_requests.main(["--rules"]) == 0
    assert "  null is absence: " in capsys.readouterr().out
