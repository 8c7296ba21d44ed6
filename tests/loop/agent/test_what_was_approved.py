"""What runs is what a person was shown: the same arguments, and the same tool."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import anyio
import pytest

from agentkit_core import AgentkitError, JsonValue, SessionId
from agentkit_loop import Agent, TurnResult
from agentkit_loop.stores import MemoryStore
from agentkit_loop.testing import ScriptedModel, call, say
from agentkit_tools_core import FunctionTool, ToolContext, ToolInvocation, ToolRegistry, tool
from agentkit_tools_core.permissions import Allow, Ask, PermissionRequest, PolicyFacts

Ran = list[JsonValue]


def paying(ran: Ran) -> FunctionTool[..., Any]:
    @tool(needs_approval=True)
    def pay(amount: int, to: str = "Ada") -> str:
        """Pay."""
        ran.append({"amount": amount, "to": to})
        return "paid"

    return pay


def also_paying(ran: Ran) -> FunctionTool[..., Any]:
    @tool(name="pay", needs_approval=True)
    def pay_twice(amount: int, to: str = "Ada") -> str:
        """Pay."""
        ran.append("replaced")
        return "paid twice"

    return pay_twice


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    members = value.items() if isinstance(value, dict) else enumerate(value)
    for key, member in members:
        yield (*path, key)
        if isinstance(member, (dict, list)):
            yield from places(member, (*path, key))


def changed(value: Any) -> Any:
    match value:
        case bool():
            return not value
        case int():
            return value + 8
        case str():
            return value.replace("1", "9") if "1" in value else value + "9"
        case _:
            return None


def snapshots(ran: Ran) -> Iterator[tuple[str, Any]]:
    model = ScriptedModel(call("pay", {"amount": 1}))
    with Agent(model=model, tools=[paying(ran)]).session_blocking() as session:
        session.submit("go")
        session.next()
        yield "asking", json.loads(session.snapshot())
        session.approve(session.pending_approvals[0].id)
        yield "approved", json.loads(session.snapshot())
        session.cancel()


def test_vl20_whichever_place_of_a_stored_conversation_is_changed() -> None:
    tried = 0
    for when, whole in snapshots([]):
        for path in list(places(whole)):
            for remove in (False, True):
                ran: Ran = []
                state = json.loads(json.dumps(whole))
                container = state
                for key in path[:-1]:
                    container = container[key]
                if remove:
                    del container[path[-1]]
                else:
                    if isinstance(container[path[-1]], (dict, list)):
                        continue
                    container[path[-1]] = changed(container[path[-1]])
                tried += 1
                shown: list[JsonValue] = [{"amount": 1, "to": "Ada"}] if when == "approved" else []
                try:
                    agent = Agent(model=ScriptedModel(*[say("x")] * 3), tools=[paying(ran)])
                    with agent.resume_blocking(json.dumps(state).encode()) as session:
                        for request in session.pending_approvals:
                            assert json.dumps(request.call.input) in json.dumps(
                                request.metadata["tool.input"]
                            )
                            shown.append(request.call.input)
                            session.approve(request.id)
                        session.next()
                except AgentkitError:
                    pass
                assert all(arguments in shown for arguments in ran), (when, path, remove)
    assert tried > 100


def test_vl20_what_a_report_in_a_store_shows_is_what_waits() -> None:
    store = MemoryStore()
    agent = Agent(model=ScriptedModel(call("pay", {"amount": 1})), tools=[paying([])])
    name = SessionId("kept")
    with agent.session_blocking(session_id=name, store=store) as session:
        session.submit("go")
        session.next()
    saved = store.load_blocking(name)
    assert saved is not None
    assert b'"amount":1' in saved.head
    assert b'"waiting_for_approval"' in saved.head
    head = json.loads(saved.head)
    for report in head["reports"]:
        text = json.dumps(report).replace('"amount": 1', '"amount": 9')
        report.clear()
        report.update(json.loads(text))
    store.save_blocking(name, seq=saved.seq + 1, head=json.dumps(head).encode(), log=())
    with pytest.raises(AgentkitError), agent.session_blocking(session_id=name, store=store):
        pass


@pytest.mark.parametrize("replaced", [False, True])
def test_vs04_only_the_tool_that_was_approved_runs(replaced: bool) -> None:
    ran: Ran = []
    tools = ToolRegistry([paying(ran)])
    model = ScriptedModel(call("pay", {"amount": 1}), say("x"))
    with Agent(model=model, tools=tools).session_blocking() as session:
        session.submit("go")
        session.next()
        # The same function again is no other tool, though it was made anew.
        tools.register(also_paying(ran) if replaced else paying(ran), replace=True)
        session.approve(session.pending_approvals[0].id)
        session.next()
        result = session.view.transcript[-2].tool_results[0]
    assert ran == ([] if replaced else [{"amount": 1, "to": "Ada"}])
    assert result.is_error is replaced
    assert ("changed after" in result.text) is replaced


def test_vs04_a_function_with_other_bound_objects_is_another_tool() -> None:
    ran: Ran = []
    other: Ran = []
    tools = ToolRegistry([paying(ran)])
    with Agent(
        model=ScriptedModel(call("pay", {"amount": 1}), say("x")), tools=tools
    ).session_blocking() as session:
        session.submit("go")
        session.next()
        tools.register(paying(other), replace=True)
        session.approve(session.pending_approvals[0].id)
        session.next()
    assert (ran, other) == ([], [])


@pytest.mark.parametrize("replaced", [False, True])
def test_vs04_the_tool_is_compared_on_an_event_loop_too(replaced: bool) -> None:
    ran: Ran = []

    async def main() -> None:
        tools = ToolRegistry([paying(ran)])
        model = ScriptedModel(call("pay", {"amount": 1}), say("x"))
        async with Agent(model=model, tools=tools).session() as session:
            session.submit("go")
            await session.next()
            if replaced:
                tools.register(also_paying(ran), replace=True)
            session.approve(session.pending_approvals[0].id)
            await session.next()

    anyio.run(main)
    assert ran == ([] if replaced else [{"amount": 1, "to": "Ada"}])


@pytest.mark.parametrize("replaced", [False, True])
def test_vs04_the_tool_is_compared_in_another_process_too(replaced: bool) -> None:
    ran: Ran = []
    store, name = MemoryStore(), SessionId("kept")
    agent = Agent(model=ScriptedModel(call("pay", {"amount": 1})), tools=[paying(ran)])
    with agent.session_blocking(session_id=name, store=store) as session:
        session.submit("go")
        session.next()
    pay = also_paying(ran) if replaced else paying(ran)
    agent = Agent(model=ScriptedModel(say("x")), tools=[pay])
    with agent.session_blocking(session_id=name, store=store) as session:
        session.approve(session.pending_approvals[0].id)
        session.next()
    assert ran == ([] if replaced else [{"amount": 1, "to": "Ada"}])


def nested(agent: Agent, on_loop: bool) -> TurnResult:
    run: Callable[[str], Any] = agent.run
    result: TurnResult = anyio.run(run, "go") if on_loop else agent.run_blocking("go")
    return result


@pytest.mark.parametrize("on_loop", [False, True])
@pytest.mark.parametrize("approve", [False, True])
def test_vl23_a_child_that_a_person_decided_on_is_not_judged_again(
    on_loop: bool, approve: bool
) -> None:
    evaluated: list[str] = []
    ran: Ran = []

    def propose(request: ToolInvocation) -> list[PermissionRequest]:
        evaluated.append("callback")
        return [PermissionRequest("fs.write", "write /x")]

    def policy(request: PermissionRequest, facts: PolicyFacts) -> Ask | Allow:
        evaluated.append("policy")
        return Ask()

    @tool(permissions=propose)
    def act(times: int = 1) -> str:
        ran.append(times)
        return "acted"

    @tool
    def outer(context: ToolContext) -> str:
        return context.call_blocking("act", {"times": "2"}).text

    result = nested(
        Agent(
            model=ScriptedModel(call("outer"), say("x")),
            tools=[act, outer],
            policy=policy,
            on_approval=lambda request: approve,
        ),
        on_loop,
    )
    assert result.end == "completed"
    assert evaluated == ["callback", "policy"]
    assert ran == ([2] if approve else [])


def test_vs04_a_child_with_other_bound_objects_is_another_tool() -> None:
    ran: Ran = []
    other: Ran = []

    @tool
    def outer(context: ToolContext) -> str:
        return context.call_blocking("pay", {"amount": 1}).text

    tools = ToolRegistry([paying(ran), outer])
    model = ScriptedModel(call("outer"), say("x"))
    with Agent(model=model, tools=tools).session_blocking() as session:
        session.submit("go")
        session.next()
        tools.register(paying(other), replace=True)
        session.approve(session.pending_approvals[0].id)
        session.next()
        assert "changed after" in session.view.transcript[-2].tool_results[0].text
    assert (ran, other) == ([], [])
