"""Words and numbers of every public struct are checked where they are given."""

from __future__ import annotations

import importlib
import typing
from collections.abc import Callable, Iterator
from decimal import Decimal
from enum import Enum
from types import UnionType
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from agentkit_core import (
    ApprovalId,
    ApprovalRequest,
    FailureKind,
    InlineBytes,
    Item,
    ItemKind,
    JsonSchemaFormat,
    Media,
    Modality,
    ModelOptions,
    ModelRequest,
    NamedTool,
    ProviderFailure,
    RetryPolicy,
    TextOutput,
    Timeouts,
    ToolCall,
    ToolCallId,
    ToolChoiceMode,
    ToolResult,
    ToolSpec,
)
from agentkit_core.cache import ItemEnd, PartEnd
from agentkit_core.provider import Target
from agentkit_loop import Agent, ApprovalDecision, Execution, Limits, LoopConfig
from agentkit_loop.kernel import Submit, Unqueue
from agentkit_loop.testing import ScriptedModel, say
from agentkit_reporting import BackgroundReporter, GuardedReporter, TeeReporter
from agentkit_tools_core import (
    CombinedTools,
    InvalidToolFunction,
    OutputLimits,
    Refused,
    Suspension,
    ToolOutcome,
    ToolReturn,
    approval_request,
    tool,
)
from agentkit_tools_core.permissions import PermissionRequest

MODULES = (
    "agentkit_core", "agentkit_core.provider", "agentkit_core.cache", "agentkit_tools_core",
    "agentkit_tools_core.permissions", "agentkit_loop", "agentkit_loop.kernel",
)  # fmt: skip

CALL = ToolCall(ToolCallId("c"), "t")
RESULT = ToolResult(ToolCallId("c"), TextOutput("x"))
SAMPLES: dict[str, Any] = {
    "ApprovalDecision": ApprovalDecision(approve=True),
    "ApprovalRequest": ApprovalRequest(id=ApprovalId("i"), call=CALL, kind="k", summary="s"),
    "Item": Item.user("x"),
    "ItemEnd": ItemEnd(1),
    "JsonSchemaFormat": JsonSchemaFormat({}),
    "Media": Media(Modality.IMAGE, "image/png", InlineBytes(b"x")),
    "ModelRequest": ModelRequest(model="m", items=()),
    "PartEnd": PartEnd(1, 1),
    "Refused": Refused(RESULT),
    "Submit": Submit((Item.user("x"),)),
    "Suspension": Suspension(()),
    "Target": Target(provider="p", api="a", model="m"),
    "ToolOutcome": ToolOutcome(RESULT),
    "ToolResult": RESULT,
    "ToolReturn": ToolReturn(output=""),
    "ToolSpec": ToolSpec("t"),
    "Unqueue": Unqueue(),
}

# What the library makes and hands out, and nobody else does.
PRODUCED = {
    "ArtifactSlice", "AttemptFailed", "AwaitingInput", "CallState", "Emit", "Envelope",
    "LogEntry", "ModelFailed", "Mutation", "Persist", "PreflightRefused", "Prepared",
    "ProviderFailure", "Reasoning", "ResponseFinished", "RunFacts", "RunMutators", "RunRules",
    "Saved", "SessionView", "StartTimer", "StartTool", "State", "StoredSession", "TokenUsage",
    "ToolAsked", "ToolDone", "ToolFacts", "TurnResult", "TurnState", "Usage",
}  # fmt: skip
# Policies check their words themselves: see their tests.
POLICIES = {"CommandPolicy", "McpPolicy", "PathPolicy", "Rule"}


def kinds_in(hint: Any) -> list[Any]:
    members = typing.get_args(hint) if typing.get_origin(hint) in (typing.Union, UnionType) else ()
    return [
        kind
        for kind in members or (hint,)
        if isinstance(kind, type) and (issubclass(kind, Enum) or kind in (int, float, bool))
    ]


def fields() -> Iterator[tuple[type[msgspec.Struct], str, list[Any]]]:
    seen: set[type] = set()
    for name in MODULES:
        module = importlib.import_module(name)
        for public in getattr(module, "__all__", dir(module)):
            kind = getattr(module, public)
            if not isinstance(kind, type) or not issubclass(kind, msgspec.Struct) or kind in seen:
                continue
            seen.add(kind)
            if kind.__name__ in PRODUCED | POLICIES or kind.__module__.startswith(
                "agentkit_loop.events"
            ):
                continue
            hints = typing.get_type_hints(kind)
            for field in kind.__struct_fields__:
                if kinds := kinds_in(hints[field]):
                    yield kind, field, kinds


FIELDS = list(fields())


def sample(kind: type[msgspec.Struct]) -> Any:
    return SAMPLES[kind.__name__] if kind.__name__ in SAMPLES else kind()


@pytest.mark.parametrize(
    ("kind", "field", "kinds"), FIELDS, ids=[f"{k.__name__}.{f}" for k, f, _ in FIELDS]
)
def test_vu03_a_wrong_word_or_type_is_refused_where_it_is_given(
    kind: type[msgspec.Struct], field: str, kinds: list[Any]
) -> None:
    valid = sample(kind)
    enums = [one for one in kinds if issubclass(one, Enum)]
    for wrong in ("seqential", object(), ["x"]):
        with pytest.raises((ValueError, TypeError)) as caught:
            replace(valid, **{field: wrong})
        assert field in str(caught.value)
        for enum in enums:
            assert all(repr(str(member.value)) in str(caught.value) for member in enum)
    if not enums:
        for wrong in ("1", float("nan"), *(() if bool in kinds else (True,))):
            with pytest.raises((ValueError, TypeError), match=field):
                replace(valid, **{field: wrong})
    if bool in kinds:
        with pytest.raises(TypeError, match=field):
            replace(valid, **{field: 1})


@pytest.mark.parametrize(
    ("kind", "field", "member"),
    [(k, f, m) for k, f, ks in FIELDS for e in ks if issubclass(e, Enum) for m in e],
)
def test_vu03_a_word_means_its_member(kind: type[msgspec.Struct], field: str, member: Enum) -> None:
    if kind is Item and member is ItemKind.TOOL:
        pytest.skip("an item of this kind has results only")
    if kind is OutputLimits and member.value == "store":
        pytest.skip("it needs a store")
    assert getattr(replace(sample(kind), **{field: str(member.value)}), field) is member


def test_vu03_there_is_something_to_check() -> None:
    names = {kind.__name__ for kind, _, _ in FIELDS}
    assert names >= {
        "LoopConfig", "Limits", "ModelOptions", "OutputLimits", "Timeouts", "ToolAnnotations",
        "ApprovalDecision", "RetryPolicy", "CacheRequest", "ApprovalRequest", "Submit",
    }  # fmt: skip


def use(function: Any, *args: Any, **settings: Any) -> Callable[[], object]:
    return lambda: function(*args, **settings)


def run(**settings: Any) -> Any:
    answer: Any = Agent(model=ScriptedModel(say('{"result": 1}'))).run_blocking
    return answer("go", **{"result_type": int, **settings})


def make_tool(**settings: Any) -> Any:
    decorate: Any = tool
    return decorate(name="t", **settings)(lambda: 1)


REFUSED: dict[str, Callable[[], object]] = {
    "a limit below 0": use(Limits, max_model_calls=-1),
    "a time below 0": use(Timeouts, idle_s=-1),
    "a time as text": use(Timeouts, idle_s="60"),
    "part of a call": use(Limits, max_tool_calls=1.5),
    "money as a float": use(Limits, max_cost={"USD": 0.5}),
    "money below 0": use(Limits, max_cost={"USD": Decimal(-1)}),
    "no number of money": use(Limits, max_cost={"USD": Decimal("nan")}),
    "attempts": use(RetryPolicy, max_attempts="3"),
    "limits": use(LoopConfig, limits=5),
    "timeouts": use(ModelOptions, timeouts=5),
    "thinking": use(ModelOptions, thinking=True),
    "what is wanted": use(approval_request, PermissionRequest("k", "s"), CALL, want="aproval"),
    "a collision": use(CombinedTools, collision="last"),
    "a policy of a reporter": use(GuardedReporter, print, "fail"),
    "a policy of several": use(TeeReporter, print, policy="fail"),
    "an overflow": use(BackgroundReporter, print, overflow="drop"),
    "a capacity": use(BackgroundReporter, print, capacity=0),
    "a yes": use(make_tool, needs_approval="yes"),
    "a time of a tool": use(make_tool, timeout_s="3"),
    "a time of a tool below 0": use(make_tool, detach_after_s=-1),
    "a result mode": use(run, result_mode="tol"),
    "a result mode of a tool": use(
        Agent(model=ScriptedModel()).as_tool, "t", "Works.", result_type=int, result_mode="tol"
    ),
    "a kind of failure": use(ProviderFailure, kind="timout", message="m", retryable=True),
    "a result mode without a type": use(run, result_type=None, result_mode="tol"),
    "a configuration": use(Agent, model=ScriptedModel(), config=5),
    "options": use(Agent, model=ScriptedModel(), options=5),
    "retries": use(run, result_retries=-1),
}


@pytest.mark.parametrize("name", REFUSED)
def test_vu03_what_makes_no_sense_is_refused(name: str) -> None:
    with pytest.raises((ValueError, TypeError, InvalidToolFunction)):
        REFUSED[name]()


def test_vu03_words_count_at_once_and_where_a_struct_may_stand_too() -> None:
    config, options = LoopConfig, ModelOptions
    made: list[Any] = [use(config, execution="sequential")(), use(options, tool_choice="none")()]
    assert made[0].execution is Execution.SEQUENTIAL
    assert made[1].tool_choice is ToolChoiceMode.NONE
    assert ModelOptions(tool_choice=NamedTool("t")).tool_choice == NamedTool("t")
    failure: Any = use(ProviderFailure, kind="timeout", message="m", retryable=True)()
    assert failure.kind is FailureKind.TIMEOUT
    assert run(result_mode="format").value == 1


def test_vu03_words_in_a_set_mean_their_members() -> None:
    build: Any = Target
    target = build(provider="p", api="a", model="m", media={"image"}, kinds=["user"])
    assert target.media == {Modality.IMAGE}
    assert target.kinds == {ItemKind.USER}
    with pytest.raises(ValueError, match="'user'"):
        build(provider="p", api="a", model="m", kinds=["usr"])
