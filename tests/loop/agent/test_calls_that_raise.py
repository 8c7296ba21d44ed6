"""A call that raises leaves the session as it was: every public method, in every form (VU02)."""

from typing import Any

import pytest
from msgspec.structs import replace

from agentkit_core import AgentkitError, ApprovalId, SessionId, ToolCallId
from agentkit_loop import (
    Agent,
    ApprovalRequiredError,
    BlockingSession,
    Finished,
    NothingToContinue,
    Session,
    TurnRunning,
    decode_state,
)
from agentkit_loop.kernel import State
from agentkit_loop.stores import MemoryStore
from agentkit_loop.testing import ScriptedModel, call, say
from agentkit_tools_core import tool
from support.forms import FORMS, Form


@tool(needs_approval=True)
def pay(amount: int) -> str:
    """Pay."""
    return f"paid {amount}"


@tool(name="final_result")
def of_the_same_name() -> str:
    """Have the name of the tool for typed results."""
    return ""


def now(session: Session | BlockingSession) -> State:
    """The session's state, without the time and without what was told."""
    return replace(decode_state(session.snapshot()), clock=0, events=0)


async def reporter(_: object) -> None: ...


WITH_A_PENDING_CALL: dict[str, tuple[str, tuple[Any, ...], dict[str, Any]]] = {
    "stream": ("stream", ("more",), {}),
    "stream_text": ("stream_text", ("more",), {}),
    "prompt": ("prompt", ("more",), {}),
    "prompt for a value": ("prompt", ("more",), {"result_type": int}),
    "prompt by tool": ("prompt", ("more",), {"result_type": int, "result_mode": "tool"}),
    "prompt for nonsense": ("prompt", ("more",), {"result_type": 5}),
    "prompt with a dict": ("prompt", ([{"role": "user", "content": "more"}],), {}),
    "stream with a dict": ("stream", ([{"role": "user", "content": "more"}],), {}),
    "submit a dict": ("submit", ([{"role": "user"}],), {}),
    "steer a dict": ("steer", ([{"role": "user"}],), {}),
    "continue_": ("continue_", (), {}),
    "reset": ("reset", (), {}),
    "approve": ("approve", (ApprovalId("another"),), {}),
    "deny": ("deny", (ApprovalId("another"),), {}),
    "cancel_call": ("cancel_call", (ToolCallId("another"),), {}),
    "subscribe": ("subscribe", (reporter,), {}),
}

SETTINGS: dict[str, Any] = {"tools": [print], "instructions": [{"role": "system"}]}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", WITH_A_PENDING_CALL)
def test_vu02_a_call_that_raises_leaves_the_pending_turn_as_it_was(form: str, name: str) -> None:
    method, args, options = WITH_A_PENDING_CALL[name]
    forms, store = Form(form), MemoryStore()
    agent = Agent(
        model=ScriptedModel(call("pay", {"amount": 1}), say("done")),
        tools=[pay, of_the_same_name],
    )

    async def test() -> None:
        async with forms.opened(agent, session_id=SessionId("s"), store=store) as session:
            with pytest.raises(ApprovalRequiredError):
                await forms.do(session, "prompt", "go")
            before, saved = now(session), store.load_blocking(SessionId("s"))

            with pytest.raises((AgentkitError, TypeError)):
                await forms.do(session, method, *args, **options)

            assert now(session) == before
            after = store.load_blocking(SessionId("s"))
            assert saved is not None
            assert after is not None
            assert after.log == saved.log
            session.approve(session.pending_approvals[0].id)
            status = await forms.do(session, "next")
            assert isinstance(status, Finished)
            assert [item.text for item in status.result.items][-1] == "done"

    forms.run(test)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("setting", SETTINGS)
def test_vu02_a_setting_that_is_refused_changes_nothing(form: str, setting: str) -> None:
    forms = Form(form)

    async def test() -> None:
        async with forms.opened(Agent(model=ScriptedModel(say("x")), tools=[pay])) as session:
            before, offered = now(session), session.view.tools
            with pytest.raises(TypeError):
                setattr(session.settings, setting, SETTINGS[setting])
            assert (now(session), session.view.tools) == (before, offered)

    forms.run(test)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("method", ["prompt", "continue_", "stream"])
def test_vu02_what_has_nothing_to_do_raises_and_changes_nothing(form: str, method: str) -> None:
    forms = Form(form)

    async def test() -> None:
        async with forms.opened(Agent(model=ScriptedModel(say("x")))) as session:
            await forms.do(session, "prompt", "hi")
            before = now(session)
            with pytest.raises(NothingToContinue):
                await forms.do(session, method, *([""] if method == "prompt" else []))
            assert now(session) == before

    forms.run(test)


@pytest.mark.parametrize("form", FORMS)
def test_vu05_continue_goes_on_with_a_call_that_was_approved_elsewhere(form: str) -> None:
    forms, store, name = Form(form), MemoryStore(), SessionId("s")
    first = Agent(model=ScriptedModel(call("pay", {"amount": 1})), tools=[pay])
    second = Agent(model=ScriptedModel(say("done")), tools=[pay])

    async def test() -> None:
        async with forms.opened(first, session_id=name, store=store) as session:
            with pytest.raises(ApprovalRequiredError):
                await forms.do(session, "prompt", "go")
        async with forms.opened(first, session_id=name, store=store) as session:
            session.approve(session.pending_approvals[0].id)
        async with forms.opened(second, session_id=name, store=store) as session:
            with pytest.raises(TurnRunning, match="continue_"):
                session.reset()
            result = await forms.do(session, "continue_")
            assert result.text == "done"
            assert result.items[1].tool_results[0].text == "paid 1"

    forms.run(test)


@pytest.mark.parametrize("form", FORMS)
def test_vu05_continue_goes_on_from_a_snapshot_in_any_phase_of_a_turn(form: str) -> None:
    forms = Form(form)
    snapshots: list[bytes] = []
    first = Agent(model=ScriptedModel(call("pay", {"amount": 1}), say("one")), tools=[pay])

    async def take() -> None:
        async with forms.opened(first) as session:
            session.subscribe(lambda _: snapshots.append(session.snapshot()))
            with pytest.raises(ApprovalRequiredError):
                await forms.do(session, "prompt", "go")
            session.approve(session.pending_approvals[0].id)
            await forms.do(session, "continue_")

    async def go_on() -> set[str]:
        ends = set()
        for snapshot in snapshots:
            if decode_state(snapshot).turn is None:
                continue
            agent = Agent(model=ScriptedModel(*[say("two")] * 3), tools=[pay])
            async with forms.opened(agent, "resume", snapshot) as session:
                try:
                    ends.add((await forms.do(session, "continue_")).end)
                except ApprovalRequiredError:
                    ends.add("asked")
        return ends

    forms.run(take)
    assert forms.run(go_on) == {"completed", "asked"}
