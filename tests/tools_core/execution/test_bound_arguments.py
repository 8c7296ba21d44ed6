"""Everything that judges or shows a call sees the arguments as the tool gets them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pydantic
import pytest

from agentkit_core import JsonValue, ToolCallId, ToolFailure, ToolSpec
from agentkit_tools_core import (
    Allowed,
    ChangeInput,
    Executor,
    NeedsApproval,
    Refused,
    RenamedTools,
    SchemaTool,
    Tool,
    ToolContext,
    ToolFacts,
    ToolHook,
    ToolInvocation,
    ToolOutcome,
    ToolRegistry,
    tool,
)
from agentkit_tools_core.permissions import (
    Ask,
    PathPolicy,
    PermissionRequest,
    PolicyFacts,
    permission_to_delete,
    permission_to_read,
)


@dataclasses.dataclass
class Target:
    path: str
    depth: int = 3


class Model(pydantic.BaseModel):
    count: int
    path: str = "."


class Login(pydantic.BaseModel):
    key: pydantic.SecretStr


class Prefixing(pydantic.BaseModel):
    path: str

    @pydantic.field_validator("path")
    @classmethod
    def add(cls, path: str) -> str:
        return "/etc/" + path


def call(name: str, /, **arguments: JsonValue) -> ToolInvocation:
    return ToolInvocation(ToolCallId("c1"), name, arguments)


def outcome_of(executor: Executor, request: ToolInvocation) -> ToolOutcome:
    outcome = executor.run_blocking(request, ToolContext(request))
    assert isinstance(outcome, ToolOutcome)
    return outcome


def recorder(seen: list[JsonValue]) -> Callable[[ToolInvocation], list[PermissionRequest]]:
    def record(request: ToolInvocation) -> list[PermissionRequest]:
        seen.append(request.input)
        return []

    return record


@pytest.mark.parametrize(
    ("kind", "default", "sent", "judged"),
    [
        (list[str], None, {"value": '["..\\u002fx"]'}, {"value": ["../x"]}),
        (int, None, {"value": "5"}, {"value": 5}),
        (float, None, {"value": 1}, {"value": 1.0}),
        (str, None, {"value": 7}, {"value": "7"}),
        (int, 9, {}, {"value": 9}),
        (int | None, None, {}, {"value": None}),
        (int, 9, {"value": None}, {"value": 9}),
        (Path, None, {"value": "a//b"}, {"value": "a/b"}),
        (Path, Path("/d"), {}, {"value": "/d"}),
        (set[str], None, {"value": ["b", "a", "b"]}, {"value": ["a", "b"]}),
        (Target, None, {"value": {"path": "a"}}, {"value": {"path": "a", "depth": 3}}),
        (list[Target], None, {"value": '[{"path": "a", "depth": "1"}]'},
         {"value": [{"path": "a", "depth": 1}]}),
        (Model, None, {"value": {"count": "5"}}, {"value": {"count": 5, "path": "."}}),
        (Model, None, {"value": '{"count": 5}'}, {"value": {"count": 5, "path": "."}}),
    ],
)  # fmt: skip
def test_vu01_permissions_see_what_the_tool_gets(
    kind: Any, default: Any, sent: dict[str, JsonValue], judged: JsonValue
) -> None:
    seen: list[JsonValue] = []
    got: list[Any] = []

    def act(value: Any, context: ToolContext) -> str:
        got.append(value)
        seen.append(context.request.input)
        return "done"

    if sent.get("value") is None:
        act.__defaults__ = (default, None)
    act.__annotations__ = {"value": kind, "context": ToolContext}
    created = tool(permissions=recorder(seen))(act)
    executor = Executor([created])
    before = dict(sent)

    verdict = executor.preflight(call("act", **sent))

    assert isinstance(verdict, Allowed)
    assert sent == before
    run = call("act", **(sent if verdict.input is None else verdict.input))
    assert outcome_of(executor, run).result.text == "done"
    assert seen == [judged, judged]
    assert repr(seen[0]) == repr(judged)
    # What the tool gets is what a direct call of the model's arguments gives.
    direct = created.bind(sent)
    assert got == [direct.get("value", default)]


def test_vu01_the_text_of_a_list_is_judged_as_the_list(tmp_path: Path) -> None:
    @tool(permissions=lambda c: [permission_to_delete(p) for p in c.argument("paths", list[str])])
    def delete(paths: list[str]) -> str:
        raise AssertionError(paths)

    policy = PathPolicy(allowed=(tmp_path,))
    text = '["..\\u002f..\\u002f..\\u002fetc\\u002fpasswd"]'
    verdict = Executor([delete], policy=policy).preflight(call("delete", paths=text))

    assert not isinstance(verdict, Allowed)


def test_vu01_a_default_that_only_the_function_has_is_still_its_own() -> None:
    marker = object()

    @tool
    def act(value: Any = marker, items: list[int] = ()) -> str:  # type: ignore[assignment]
        return f"{value is marker} {items!r}"

    executor = Executor([act])
    assert executor.preflight(call("act")) == Allowed({"items": []})
    assert outcome_of(executor, call("act", items=[])).result.text == "True ()"


def test_vu01_a_secret_default_of_the_host_is_not_shown() -> None:
    hidden = Login(key=pydantic.SecretStr("hidden"))

    @tool(needs_approval=True)
    def act(login: Login = hidden) -> str:
        return login.key.get_secret_value()

    verdict = Executor([act]).preflight(call("act"))
    assert isinstance(verdict, NeedsApproval)
    assert verdict.requests[0].call.input == {}
    assert outcome_of(Executor([act]), call("act")).result.text == "hidden"
    assert outcome_of(Executor([act]), call("act", login={"key": "mine"})).result.text == "mine"


def test_vu01_approvals_policies_and_hooks_see_converted_arguments() -> None:
    seen: list[JsonValue] = []

    class Watching(ToolHook):
        def before_tool(self, call: ToolInvocation, facts: ToolFacts) -> None:
            seen.append(call.input)

    def policy(request: PermissionRequest, facts: PolicyFacts) -> Ask:
        seen.append(facts.call.input)
        return Ask()

    @tool(needs_approval=True)
    def pay(cents: int, currency: str = "EUR") -> str:
        return "paid"

    verdict = Executor([pay], policy=policy, hooks=[Watching()]).preflight(call("pay", cents="5"))

    whole = {"cents": 5, "currency": "EUR"}
    assert isinstance(verdict, NeedsApproval)
    assert verdict.input == whole
    assert verdict.requests[0].call.input == whole
    assert verdict.requests[0].metadata == {"tool.input": whole}
    assert seen == [whole, whole]


def test_vu01_what_a_hook_changes_is_converted_anew_before_anybody_sees_it() -> None:
    seen: list[JsonValue] = []

    class Changing(ToolHook):
        def before_tool(self, call: ToolInvocation, facts: ToolFacts) -> ChangeInput:
            return ChangeInput({"paths": '["/b"]'})

    class Watching(ToolHook):
        def before_tool(self, call: ToolInvocation, facts: ToolFacts) -> None:
            seen.append(call.input)

    @tool(permissions=recorder(seen))
    def delete(paths: list[str], force: bool = False) -> str:
        return "deleted"

    verdict = Executor([delete], hooks=[Changing(), Watching()]).preflight(
        call("delete", paths=["/a"])
    )

    assert verdict == Allowed({"paths": ["/b"], "force": False})
    assert seen == [{"paths": ["/b"], "force": False}] * 2


def test_vu01_renamed_tools_and_child_calls_are_judged_alike() -> None:
    seen: list[JsonValue] = []

    @tool(permissions=recorder(seen))
    def inner(paths: list[str], depth: int = 2) -> str:
        return f"{paths} {depth}"

    @tool
    def outer(context: ToolContext) -> str:
        return context.call_blocking("renamed", {"paths": '["a"]'}).text

    tools = RenamedTools(ToolRegistry([inner, outer]), {"inner": "renamed"})
    executor = Executor(tools)
    assert executor.preflight(call("renamed", paths='["a"]')) == Allowed(
        {"paths": ["a"], "depth": 2}
    )
    assert outcome_of(executor, call("outer")).result.text == "['a'] 2"
    assert seen == [{"paths": ["a"], "depth": 2}] * 2


def test_vu01_a_schema_tool_gets_the_defaults_that_its_permissions_see() -> None:
    seen: list[JsonValue] = []
    spec = ToolSpec(
        "read",
        "Read.",
        {"type": "object", "properties": {"path": {"type": "string", "default": "/d"}}},
    )

    def permissions(request: ToolInvocation) -> list[PermissionRequest]:
        return [permission_to_read(request.argument("path", str))]

    def read(arguments: dict[str, JsonValue], context: ToolContext) -> str:
        seen.append(arguments)
        seen.append(context.request.input)
        return "read"

    executor = Executor([SchemaTool(spec, read, permissions=permissions)])
    assert executor.preflight(call("read")) == Allowed({"path": "/d"})
    outcome_of(executor, call("read"))
    assert seen == [{"path": "/d"}] * 2


def test_vu01_arguments_that_change_with_every_conversion_are_not_judged_but_refused() -> None:
    def made(**options: Any) -> Tool:
        @tool(**options)
        def read(target: Prefixing) -> str:
            return target.path

        return read

    request = call("read", target={"path": "passwd"})
    free = Executor([made()])
    assert free.preflight(request) == Allowed()
    assert outcome_of(free, request).result.text == "/etc/passwd"
    for options in (
        {"needs_approval": True},
        {"permissions": lambda c: [permission_to_read("/a")]},
    ):
        verdict = Executor([made(**options)]).preflight(request)
        assert isinstance(verdict, Refused)
        assert verdict.result.failure is ToolFailure.EXECUTION_FAILED
        assert "second time" in verdict.result.text
