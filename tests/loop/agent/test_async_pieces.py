"""What is async reaches the host as a mistake where there is no event loop, whatever it is."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest

from agentkit_core import AgentkitError, ApprovalRequest, Item, ModelRequest, SessionId
from agentkit_core.provider import ModelEvent
from agentkit_loop import Agent, Hook, Mutation, TurnEnd
from agentkit_loop.stores import MemoryStore
from agentkit_loop.testing import ScriptedModel, call, say
from agentkit_tools_core import InvalidToolFunction, ToolContext, tool
from agentkit_tools_core.permissions import Allow
from agentkit_tools_core.sync import NeedsEventLoop


class Later:
    """Waits once, as whatever waits for input or output does."""

    def __await__(self) -> Any:
        yield


@tool
async def fetch() -> str:
    """Fetch."""
    await Later()
    return "page"


@tool
def hidden() -> Any:
    """Return a coroutine without being a coroutine function."""
    return fetch()


@tool
def parent(context: ToolContext) -> str:
    """Call an async tool."""
    return context.call_blocking("fetch").text


@tool(needs_approval=True)
def pay() -> str:
    """Pay."""
    return "paid"


@tool
def plain() -> str:
    """Be plain."""
    return "plain"


async def approve(request: ApprovalRequest) -> bool:
    await Later()
    return True


async def mutate(items: tuple[Item, ...], mutation: Mutation) -> None:
    await Later()


async def allow(request: Any, facts: Any) -> Allow:
    return Allow()


def report_later(envelope: Any) -> Any:
    return Later()


def hook(name: str) -> Hook:
    async def wait(self: Hook, *_: Any) -> None:
        await Later()

    kind: Any = type("Waits", (Hook,), {name: wait})
    waits: Hook = kind()
    return waits


class AsyncAnswers:
    name = "async"

    def open_blocking(self, session_id: SessionId, /) -> Any:
        return self

    async def respond(self, request: ModelRequest, /) -> AsyncIterator[Sequence[ModelEvent]]:
        yield ()

    def close(self) -> None:
        return None


inner_tool = Agent(model=ScriptedModel(call("fetch"), say("x")), tools=[fetch])
PIECES: dict[str, dict[str, Any]] = {
    "a tool": {"script": [call("fetch")]},
    "a tool that returns a coroutine": {"script": [call("hidden")]},
    "a child call": {"script": [call("parent")]},
    "an agent as tool": {
        "script": [call("inner", {"task": "go"})],
        "more": inner_tool.as_tool("inner", "Works."),
    },
    "a tool of an agent as tool": {
        "script": [call("inner", {"task": "go"})],
        "more": inner_tool.as_tool("inner", "Works.", blocking=True),
    },
    "on_approval": {"script": [call("pay")], "on_approval": approve},
    "a mutator": {"mutators": [mutate]},
    "a policy": {"script": [call("pay")], "policy": allow},
    "a reporter": {"reporters": [report_later]},
    **{
        name: {"script": [call("plain")], "hooks": [hook(name)]}
        for name in (
            "before_request",
            "after_response",
            "before_finish",
            "before_tool",
            "after_tool",
        )
    },
}


@pytest.mark.parametrize("piece", PIECES.values(), ids=PIECES)
def test_vl12_the_host_is_told_of_what_is_async(piece: dict[str, Any]) -> None:
    settings = dict(piece)
    model = ScriptedModel(*settings.pop("script", []), say("Sorry."))
    more = [settings.pop("more")] if "more" in settings else []
    agent = Agent(model=model, tools=[fetch, hidden, parent, pay, plain, *more], **settings)

    with pytest.raises(AgentkitError, match="async"):
        agent.run_blocking("go")


def test_vl12_a_model_that_answers_on_an_event_loop_ends_the_turn_as_an_error() -> None:
    model: Any = AsyncAnswers()

    assert Agent(model=model).run_blocking("go").end is TurnEnd.ERROR


@pytest.mark.parametrize("name", ["save_blocking", "load_blocking"])
def test_vl12_a_store_whose_blocking_form_is_async_is_no_store_that_saves(name: str) -> None:
    class Broken(MemoryStore):
        pass

    async def wait(self: Any, *_: Any, **__: Any) -> None:
        await Later()

    setattr(Broken, name, wait)
    agent = Agent(model=ScriptedModel("x"))

    with (
        pytest.raises(NeedsEventLoop, match=name),
        agent.session_blocking(session_id=SessionId("s"), store=Broken()) as session,
    ):
        session.prompt("go")


def test_vl12_permissions_that_are_async_are_refused_when_the_tool_is_made() -> None:
    async def permissions(call: Any) -> list[Any]:
        return []

    with pytest.raises(InvalidToolFunction, match="asynchronous"):
        tool(permissions=permissions)(plain.__wrapped__)  # type: ignore[arg-type]


async def test_vl12_an_async_child_of_a_sync_tool_is_told_to_the_host_on_an_event_loop_too() -> (
    None
):
    model = ScriptedModel(call("parent"), say("Sorry."))

    with pytest.raises(NeedsEventLoop, match="fetch"):
        await Agent(model=model, tools=[fetch, parent]).run("go")


async def test_vl12_an_async_policy_is_told_to_the_host_on_an_event_loop_too() -> None:
    policy: Any = allow
    model = ScriptedModel(call("pay"), say("Sorry."))

    with pytest.raises(NeedsEventLoop, match="policy"):
        await Agent(model=model, tools=[pay], policy=policy).run("go")


def test_vl12_what_waits_for_approval_waits_on_after_that_mistake() -> None:
    agent = Agent(model=ScriptedModel(call("pay"), say("x")), tools=[pay], on_approval=approve)

    with agent.session_blocking() as session:
        with pytest.raises(NeedsEventLoop):
            session.prompt("go")
        assert [request.call.name for request in session.pending_approvals] == ["pay"]
