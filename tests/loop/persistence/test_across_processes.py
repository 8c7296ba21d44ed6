"""Across processes: a session that one agent leaves, another goes on with, in either form."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import anyio
import pytest

from agentkit_core import SessionId, TextOutput, Transcript
from agentkit_loop import (
    Agent,
    ApprovalRequiredError,
    BlockingSession,
    Finished,
    TurnResult,
)
from agentkit_loop.stores import FileStore, SessionInUse, SqliteStore, StaleSave
from agentkit_loop.testing import Reply, ScriptedModel, call, say
from agentkit_tools_core import tool

NAME = SessionId("s")
Opened = Callable[[], FileStore | SqliteStore]


@pytest.fixture(params=["file", "sqlite"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Opened]:
    """Opens one and the same storage, as each process does for itself."""
    path = tmp_path / "stored"
    with ExitStack() as stack:

        def again() -> FileStore | SqliteStore:
            if request.param == "file":
                return FileStore(path)
            return stack.enter_context(SqliteStore(path))

        yield again


class Office:
    """Where agents are made, one for each process; their tool writes what cannot be unwritten."""

    def __init__(self) -> None:
        self.written: list[str] = []

    def agent(self, *script: Reply) -> Agent:
        @tool(needs_approval=True)
        def write(path: str) -> str:
            """Write a file."""
            self.written.append(path)
            return f"wrote {path}"

        @tool
        def read() -> str:
            """Read something."""
            self.written.append("read")
            return "content"

        return Agent(model=ScriptedModel(*script), tools=[write, read])

    def asking(self) -> Agent:
        return self.agent(Reply.of(call("read", {}, "r"), call("write", {"path": "a"}, "w")))


def ask_blocking(agent: Agent, store: FileStore | SqliteStore) -> None:
    with (
        agent.session_blocking(session_id=NAME, store=store) as session,
        pytest.raises(ApprovalRequiredError),
    ):
        session.prompt("go")


async def ask(agent: Agent, store: FileStore | SqliteStore) -> None:
    async with agent.session(session_id=NAME, store=store) as session:
        with pytest.raises(ApprovalRequiredError):
            await session.prompt("go")


def approve_blocking(agent: Agent, store: FileStore | SqliteStore) -> None:
    with agent.session_blocking(session_id=NAME, store=store) as session:
        (open_ask,) = session.pending_approvals
        session.approve(open_ask.id)


async def approve(agent: Agent, store: FileStore | SqliteStore) -> None:
    async with agent.session(session_id=NAME, store=store) as session:
        (open_ask,) = session.pending_approvals
        session.approve(open_ask.id)
        await session.flush()


def go_on_blocking(agent: Agent, store: FileStore | SqliteStore) -> TurnResult:
    with agent.session_blocking(session_id=NAME, store=store) as session:
        step = session.next()
        assert isinstance(step, Finished)
        assert Transcript(session.transcript).open_calls == ()
        return step.result


async def go_on(agent: Agent, store: FileStore | SqliteStore) -> TurnResult:
    async with agent.session(session_id=NAME, store=store) as session:
        step = await session.next()
        assert isinstance(step, Finished)
        assert Transcript(session.transcript).open_calls == ()
        return step.result


def results_of(result: TurnResult) -> list[TextOutput]:
    outputs = [one.output for item in result.items for one in item.tool_results]
    return [one for one in outputs if isinstance(one, TextOutput)]


WROTE = [TextOutput("content"), TextOutput("wrote a")]


@pytest.mark.parametrize("goes_on", ["blocking", "async"])
@pytest.mark.parametrize("approves", ["blocking", "async"])
@pytest.mark.parametrize("asks", ["blocking", "async"])
async def test_l07_one_process_asks_another_approves_a_third_runs_the_call_once(
    opened: Opened, asks: str, approves: str, goes_on: str
) -> None:
    office = Office()
    with anyio.fail_after(20):
        if asks == "blocking":
            ask_blocking(office.asking(), opened())
        else:
            await ask(office.asking(), opened())
        if approves == "blocking":
            approve_blocking(office.agent(), opened())
        else:
            await approve(office.agent(), opened())
        assert office.written == ["read"]

        last = office.agent(say("done"))
        if goes_on == "blocking":
            result = go_on_blocking(last, opened())
        else:
            result = await go_on(last, opened())

    assert office.written == ["read", "a"]
    assert result.text == "done"
    assert results_of(result) == WROTE

    with office.agent(say("more")).session_blocking(session_id=NAME, store=opened()) as session:
        assert session.prompt("and now?").text == "more"
    assert office.written == ["read", "a"]


def test_l07_a_process_that_stands_where_another_went_on_is_refused_and_runs_nothing(
    opened: Opened,
) -> None:
    office = Office()
    ask_blocking(office.asking(), opened())

    def approve_too_late() -> None:
        late = office.agent(say("late"))
        with late.session_blocking(session_id=NAME, store=opened()) as session:
            (open_ask,) = session.pending_approvals
            approve_blocking(office.agent(), opened())
            assert go_on_blocking(office.agent(say("done")), opened()).text == "done"
            session.approve(open_ask.id)

    with pytest.raises(StaleSave) as raised:
        approve_too_late()
    assert raised.value.stored >= raised.value.seq
    assert office.written == ["read", "a"]


async def test_l07_the_same_with_an_event_loop(opened: Opened) -> None:
    office = Office()
    await ask(office.asking(), opened())

    async def approve_too_late() -> None:
        late = office.agent(say("late"))
        async with late.session(session_id=NAME, store=opened()) as session:
            (open_ask,) = session.pending_approvals
            await approve(office.agent(), opened())
            assert (await go_on(office.agent(say("done")), opened())).text == "done"
            session.approve(open_ask.id)
            await session.next()

    with pytest.raises(StaleSave):
        await approve_too_late()
    assert office.written == ["read", "a"]


def test_p04_of_two_processes_that_approve_the_same_one_is_refused(opened: Opened) -> None:
    office = Office()
    ask_blocking(office.asking(), opened())

    def approve_too_late(first: BlockingSession) -> None:
        second = office.agent(say("done"))
        with second.session_blocking(session_id=NAME, store=opened()) as session:
            first.approve(first.pending_approvals[0].id)
            session.approve(session.pending_approvals[0].id)

    first = office.agent(say("done"))
    with first.session_blocking(session_id=NAME, store=opened()) as session:
        with pytest.raises(SessionInUse):
            approve_too_late(session)
        assert isinstance(session.next(), Finished)

    assert office.written == ["read", "a"]


# what the next process is told


def test_what_was_queued_and_stored_begins_a_turn_in_the_next_process(opened: Opened) -> None:
    with Office().agent().session_blocking(session_id=NAME, store=opened()) as session:
        session.submit("go")

    agent = Office().agent(say("done"))
    with agent.session_blocking(session_id=NAME, store=opened()) as session:
        step = session.next()

    assert isinstance(step, Finished)
    assert step.result.text == "done"


async def test_what_is_queued_begins_a_turn_when_a_session_with_a_store_is_asked_for_its_next_step(
    opened: Opened,
) -> None:
    agent = Office().agent(say("done"))
    async with agent.session(session_id=NAME, store=opened()) as session:
        session.submit("go")
        with anyio.fail_after(20):
            step = await session.next()

    assert isinstance(step, Finished)
    assert step.result.text == "done"
