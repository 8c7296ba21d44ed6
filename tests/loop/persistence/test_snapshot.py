"""Snapshots of sessions: going on elsewhere, twice, and from before a newer version."""

import json

import pytest

from agentkit_core import ModelOptions, RecordError, SessionId, ToolFailure
from agentkit_loop import Agent, Finished, WaitingForApproval, decode_state, encode_state
from agentkit_loop.events import Event, ToolCatalogChanged
from agentkit_loop.kernel import Phase, start
from agentkit_loop.persistence._snapshot import decode_head, encode_head
from agentkit_loop.ports import LogEntry, Saved
from agentkit_loop.testing import Reply, ScriptedModel, call
from agentkit_tools_core import ToolContext, tool

RAN: list[str] = []


@pytest.fixture(autouse=True)
def _nothing_ran() -> None:
    RAN.clear()


@tool(needs_approval=True)
def pay(amount: int) -> str:
    """Pay."""
    RAN.append(f"pay {amount}")
    return "paid"


@tool
def look() -> str:
    """Look."""
    RAN.append("look")
    return "seen"


async def test_a_session_goes_on_from_bytes_with_what_it_waited_for() -> None:
    model = ScriptedModel(Reply.of(call("look"), call("pay", {"amount": 5}, "c2")))
    async with Agent(model=model, tools=[look, pay]).session() as session:
        session.submit("go")
        assert isinstance(await session.next(), WaitingForApproval)
        session.submit("and then?")
        saved = session.snapshot()
        seqs: list[int] = []

    model = ScriptedModel("ok", "then this")
    agent = Agent(model=model, tools=[look, pay], reporters=[lambda one: seqs.append(one.seq)])
    async with agent.resume(saved) as session:
        (ask,) = session.pending_approvals
        session.approve(ask.id)
        step = await session.next()
        assert isinstance(step, Finished)
        assert step.result.text == "ok"
        assert [item.text for item in session.view.queued] == ["and then?"]
    assert RAN == ["look", "pay 5"]
    assert seqs[0] == 1


def test_the_same_goes_without_an_event_loop() -> None:
    with Agent(
        model=ScriptedModel(call("pay", {"amount": 5})), tools=[pay]
    ).session_blocking() as one:
        one.submit("go")
        one.next()
        saved = one.snapshot()

    with Agent(model=ScriptedModel("ok"), tools=[pay]).resume_blocking(saved) as other:
        other.approve(other.pending_approvals[0].id)
        step = other.next()
        assert isinstance(step, Finished)
        assert step.result.text == "ok"


def test_a_snapshot_that_a_running_tool_takes_does_not_run_it_twice() -> None:
    saved: list[bytes] = []

    @tool
    def snapshots(context: ToolContext) -> str:
        """Take one."""
        saved.append(session.snapshot())
        RAN.append("ran")
        return "taken"

    with Agent(
        model=ScriptedModel(call("snapshots"), "ok"), tools=[snapshots]
    ).session_blocking() as (session):
        session.prompt("go")

    with Agent(model=ScriptedModel("ok"), tools=[snapshots]).resume_blocking(saved[0]) as other:
        step = other.next()
        assert isinstance(step, Finished)
        (result,) = step.result.items[1].tool_results
        assert result.failure is ToolFailure.OUTCOME_UNKNOWN
    assert RAN == ["ran"]


def test_l07_going_on_twice_from_one_snapshot_makes_two_conversations() -> None:
    calls = Reply.of(call("look"), call("pay", {"amount": 5}, "c2"))
    with Agent(model=ScriptedModel(calls), tools=[look, pay]).session_blocking() as session:
        session.submit("go")
        session.next()
        saved = session.snapshot()

    for answer in ("one", "two"):
        agent = Agent(model=ScriptedModel(answer), tools=[look, pay])
        with agent.resume_blocking(saved) as session:
            session.approve(session.pending_approvals[0].id)
            session.next()
            assert [item.text for item in session.transcript if item.text] == ["go", answer]

    # What ran before the snapshot never runs again; what was approved after it, once in each.
    assert RAN == ["look", "pay 5", "pay 5"]


def test_tools_that_are_others_after_a_resume_are_told_and_a_missing_one_is_answered() -> None:
    calls = Reply.of(call("look"), call("pay", {"amount": 5}, "c2"))
    with Agent(model=ScriptedModel(calls), tools=[look, pay]).session_blocking() as session:
        session.submit("go")
        session.next()
        saved = session.snapshot()

    told: list[Event] = []
    agent = Agent(
        model=ScriptedModel("ok"), tools=[look], reporters=[lambda one: told.append(one.event)]
    )
    with agent.resume_blocking(saved) as session:
        session.approve(session.pending_approvals[0].id)
        step = session.next()

    assert isinstance(step, Finished)
    assert step.result.items[1].tool_results[1].failure is ToolFailure.NOT_FOUND
    assert ToolCatalogChanged(removed=("pay",)) in told


async def test_a_fork_begins_where_the_session_stands_and_leaves_it_alone() -> None:
    model = ScriptedModel(call("pay", {"amount": 5}), "ok")
    agent = Agent(model=model, tools=[pay])
    async with agent.session(session_id=SessionId("one")) as session:
        session.submit("go")
        await session.next()
        forked = session.fork()
        session.approve(session.pending_approvals[0].id)
        await session.next()

    async with Agent(model=ScriptedModel("other"), tools=[pay]).resume(forked) as other:
        assert other.id == "one-fork"
        assert other.pending_approvals == ()
        (result,) = other.transcript[-1].tool_results
        assert result.failure is ToolFailure.INTERRUPTED
        assert (await other.prompt("again")).text == "other"
    assert RAN == ["pay 5"]


def test_a_newer_version_is_refused_and_says_what_to_do() -> None:
    state, _ = start(SessionId("s"), model="m")
    newer = json.loads(encode_state(state)) | {"version": 99}

    with pytest.raises(RecordError, match="newer agentkit-loop"):
        decode_state(json.dumps(newer).encode())


def test_a_head_without_its_log_is_refused() -> None:
    state, effects = start(SessionId("s"), model="m")
    head = encode_head(state, effects, 3)

    assert decode_head(Saved(1, head, ())).seq == 3
    with pytest.raises(RecordError, match="revision"):
        decode_head(Saved(1, head, (LogEntry(1, ()),)))
    with pytest.raises(RecordError):
        decode_head(Saved(1, b"{}", ()))


def test_a_closed_session_can_be_forked_too() -> None:
    with Agent(model=ScriptedModel("ok")).session_blocking() as session:
        session.prompt("go")
    with Agent(model=ScriptedModel("more")).resume_blocking(session.fork()) as other:
        assert other.view.phase is Phase.IDLE
        assert other.prompt("again").text == "more"


def test_whoever_goes_on_asks_a_model_of_its_own_and_keeps_how_it_was_asked() -> None:
    agent = Agent(model=ScriptedModel("one", name="old"), instructions="Be brief.")
    with agent.session_blocking() as session:
        session.settings.options = ModelOptions(seed=7)
        session.prompt("go")
        saved = session.snapshot()

    model = ScriptedModel("two", name="new")
    with Agent(model=model, instructions="Be long.").resume_blocking(saved) as other:
        assert other.view.model == "new"
        other.prompt("again")

    (request,) = model.requests
    assert (request.model, request.options.seed) == ("new", 7)
    assert request.items[0].text == "Be long."
