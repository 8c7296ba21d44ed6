"""The exception that a tool raised reaches the host: hooks have it, with traceback and cause."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import anyio
import pytest

from agentkit_core import ToolCallId, ToolResult, ToolSpec
from agentkit_tools_core import (
    Executor,
    Refused,
    SchemaTool,
    Tool,
    ToolContext,
    ToolError,
    ToolFacts,
    ToolHook,
    ToolInvocation,
    tool,
)
from agentkit_tools_core.permissions import Deny, PermissionRequest, permission_to_read


class ConfigError(Exception):
    pass


READ = permission_to_read("/notes")


class Watching(ToolHook):
    def __init__(self) -> None:
        self.before: list[BaseException | None] = []
        self.after: list[tuple[str, BaseException | None]] = []

    def before_tool(self, call: ToolInvocation, facts: ToolFacts) -> None:
        self.before.append(facts.error)

    def after_tool(self, call: ToolInvocation, result: ToolResult, facts: ToolFacts) -> None:
        self.after.append((call.name, facts.error))


def fail() -> str:
    try:
        raise KeyError("region")
    except KeyError as error:
        raise ConfigError("the region is not configured") from error


@tool
def in_thread() -> str:
    """Fail in a thread."""
    return fail()


@tool(inline=True)
def inline() -> str:
    """Fail inline."""
    return fail()


@tool
async def waiting() -> str:
    """Fail after a wait."""
    await anyio.sleep(0)
    return fail()


@tool
async def parent(context: ToolContext) -> str:
    """Call a tool that fails, and go on."""
    return (await context.call("in_thread")).text


@tool
def blocking_parent(context: ToolContext) -> str:
    """Call a tool that fails, and go on."""
    return context.call_blocking("inline").text


@tool
def for_the_model() -> str:
    """Fail with a text for the model."""
    raise ToolError("Use another region.") from ConfigError("why")


@tool
def cannot_be_written() -> object:
    """Return what no output can be."""
    return object()


async def to_thread(function: Any) -> Any:
    return await anyio.to_thread.run_sync(function)


async def outcome(name: str, hook: Watching, *, blocking: bool) -> Any:
    tools: list[Tool] = [
        in_thread,
        inline,
        waiting,
        parent,
        blocking_parent,
        for_the_model,
        cannot_be_written,
    ]
    executor = Executor(tools, hooks=[hook])
    request = ToolInvocation(ToolCallId("c1"), name)
    context = ToolContext(request)
    if blocking:
        return executor.run_blocking(request, context)
    return await executor.run(request, context, to_thread=to_thread)


@pytest.mark.parametrize(
    ("name", "failing", "blocking"),
    [
        ("in_thread", "in_thread", False),
        ("in_thread", "in_thread", True),
        ("inline", "inline", False),
        ("inline", "inline", True),
        ("waiting", "waiting", False),
        ("parent", "in_thread", False),
        ("blocking_parent", "inline", False),
        ("blocking_parent", "inline", True),
    ],
)
async def test_vl19_a_hook_gets_the_exception_with_its_cause_and_traceback(
    name: str, failing: str, blocking: bool
) -> None:
    hook = Watching()

    await outcome(name, hook, blocking=blocking)

    failed, error = hook.after[0]
    assert failed == failing
    assert isinstance(error, ConfigError)
    assert isinstance(error.__cause__, KeyError)
    assert error.__traceback__ is not None
    assert hook.before == [None] * len(hook.before)
    assert hook.after[1:] == ([] if name == failing else [(name, None)])


@pytest.mark.parametrize(
    ("name", "kind"), [("for_the_model", "ToolError"), ("cannot_be_written", "UnwritableOutput")]
)
async def test_vl19_the_same_for_errors_of_the_library(name: str, kind: str) -> None:
    hook = Watching()

    await outcome(name, hook, blocking=False)

    assert type(hook.after[0][1]).__name__ == kind


@pytest.mark.parametrize("needs_approval", [True, False])
@pytest.mark.parametrize("wrong", [None, READ, "read", [READ, None], [READ, "read"]], ids=repr)
def test_permissions_that_are_none_refuse_the_call_and_name_the_tool(
    wrong: Any, needs_approval: bool
) -> None:
    def read() -> str:
        raise AssertionError("it must not run")

    words = f"`permissions` of the tool 'read' returned a {type(wrong).__name__} instead"
    by_types = tool(permissions=lambda call: wrong, needs_approval=needs_approval)(read)
    spec = ToolSpec("read", "")
    by_schema = SchemaTool(spec, lambda arguments, context: "x", permissions=lambda call: wrong)
    for reader in (by_types, by_schema):
        verdict = Executor([reader]).preflight(ToolInvocation(ToolCallId("c"), "read"))
        assert isinstance(verdict, Refused)
        assert words in verdict.result.text


def test_permissions_may_come_from_a_generator() -> None:
    def propose(call: ToolInvocation) -> Iterator[PermissionRequest]:
        yield READ

    @tool(permissions=propose)
    def read() -> str:
        return "notes"

    executor = Executor([read], policy=lambda request, facts: Deny("no"))
    verdict = executor.preflight(ToolInvocation(ToolCallId("c"), "read"))
    assert isinstance(verdict, Refused)
    assert verdict.result.text == "Permission denied: no"
