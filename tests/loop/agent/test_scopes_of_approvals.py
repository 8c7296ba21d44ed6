"""Approving offers this call, these arguments, this kind, in one place (VU13)."""

import pytest

from agentkit_core import ApprovalRequest, SessionId
from agentkit_loop import Agent, ApprovalDecision, ApprovalRequiredError, GrantScope
from agentkit_loop.stores import MemoryStore
from agentkit_loop.testing import Reply, ScriptedModel, call, say
from agentkit_tools_core import FunctionTool, ToolInvocation, tool
from agentkit_tools_core.permissions import Ask, PermissionRequest
from support.forms import FORMS, Form

RAN: list[str] = []


@pytest.fixture(autouse=True)
def _nothing_ran() -> None:
    RAN.clear()


def asking(name: str) -> FunctionTool[..., object]:
    def permissions(request: ToolInvocation) -> list[PermissionRequest]:
        return [PermissionRequest(f"{name}.write", f"write {request.input['path']}")]

    def write(path: str) -> str:
        """Write."""
        RAN.append(f"{name} {path}")
        return path

    return tool(name=name, permissions=permissions)(write)


def agent_of(asked: list[str], scope: GrantScope, rounds: int = 2) -> Agent:
    calls = [
        Reply.of(
            call("save", {"path": "a"}, f"c{at}1"),
            call("save", {"path": "b"}, f"c{at}2"),
            call("save", {"path": "a"}, f"c{at}3"),
            call("send", {"path": "a"}, f"c{at}4"),
        )
        for at in range(rounds)
    ]

    def on_approval(request: ApprovalRequest) -> ApprovalDecision:
        asked.append(f"{request.call.name} {request.call.input['path']}")
        return ApprovalDecision(approve=True, scope=scope)

    return Agent(
        model=ScriptedModel(*calls, say("done")),
        tools=[asking("save"), asking("send")],
        policy=lambda request, facts: Ask("sure?"),
        on_approval=on_approval,
    )


ASKED = {
    GrantScope.ONCE: ["save a", "save b", "save a", "send a"] * 2,
    GrantScope.SESSION: ["save a", "save b", "send a"],
    GrantScope.KIND: ["save a", "send a"],
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("scope", GrantScope)
def test_vu13_a_person_is_asked_again_for_what_the_scope_does_not_cover(
    form: str, scope: GrantScope
) -> None:
    forms, asked = Form(form), list[str]()

    result = forms.run(lambda: forms.do(agent_of(asked, scope), "run", "go"))

    assert result.text == "done"
    assert asked == ASKED[scope]
    assert len(RAN) == 8


@pytest.mark.parametrize("form", FORMS)
def test_vu13_a_kind_is_kept_over_stores_and_forgotten_by_a_reset(form: str) -> None:
    forms, asked, store = Form(form), list[str](), MemoryStore()

    def save(path: str) -> Agent:
        return Agent(
            model=ScriptedModel(call("save", {"path": path}), say("done")),
            tools=[asking("save")],
            policy=lambda request, facts: Ask("sure?"),
            on_approval=lambda request: (
                asked.append(path) or ApprovalDecision(approve=True, scope=GrantScope.KIND)  # type: ignore[func-returns-value]
            ),
        )

    async def test() -> None:
        for path in "abc":
            async with forms.opened(save(path), session_id=SessionId("s"), store=store) as session:
                await forms.do(session, "prompt", "go")
                if path == "b":
                    session.reset()
        assert asked == ["a", "c"]

    forms.run(test)


@pytest.mark.parametrize("form", FORMS)
def test_vu13_a_session_takes_the_kind_too_and_another_tool_of_the_kind_is_asked_for(
    form: str,
) -> None:
    forms = Form(form)

    def permissions(request: ToolInvocation) -> list[PermissionRequest]:
        return [PermissionRequest("filesystem.write", f"write {request.input['path']}")]

    def write(path: str) -> str:
        """Write."""
        return path

    tools = [tool(name=name, permissions=permissions)(write) for name in ("one", "two")]
    calls = Reply.of(*[call(name, {"path": name}, name) for name in ("one", "two")])
    agent = Agent(
        model=ScriptedModel(calls), tools=tools, policy=lambda request, facts: Ask("sure?")
    )

    async def test() -> None:
        async with forms.opened(agent) as session:
            with pytest.raises(ApprovalRequiredError):
                await forms.do(session, "prompt", "go")
            first, _ = session.pending_approvals
            session.approve(first.id, scope=GrantScope.KIND)
            assert [request.call.name for request in session.pending_approvals] == ["two"]

    forms.run(test)
