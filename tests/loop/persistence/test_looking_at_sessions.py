"""Looking at a stored session disturbs nobody, and nobody else works on one in use (VU06)."""

from __future__ import annotations

import gc
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from agentkit_core import Item, SessionId
from agentkit_loop import (
    Agent,
    ApprovalRequiredError,
    BackgroundDone,
    LoopConfig,
    StoredSession,
    read_session,
    read_session_blocking,
    read_snapshot,
)
from agentkit_loop.events import Event, ItemsAppended, ModelCallStarted, RunStarted
from agentkit_loop.kernel import Phase
from agentkit_loop.stores import FileStore, MemoryStore, SessionInUse, SqliteStore
from agentkit_loop.testing import Reply, ScriptedModel, call, say
from agentkit_tools_core import ToolContext, tool
from support.forms import FORMS, Form
from support.sessions import recorded

NAME = SessionId("s/1 ä")
STORES = ("memory", "file", "sqlite")

Opened = Callable[[], Any]


@pytest.fixture(params=STORES)
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Opened]:
    """Makes store objects that share one storage, as those of several processes do."""
    database = tmp_path / "sessions.db"
    store = MemoryStore()
    with ExitStack() as stores:
        makers: dict[str, Opened] = {
            "memory": lambda: store,
            "file": lambda: FileStore(tmp_path / "files", durable=False),
            "sqlite": lambda: stores.enter_context(SqliteStore(database, durable=False)),
        }
        yield makers[request.param]


@tool(needs_approval=True)
def pay() -> str:
    """Pay."""
    return "paid"


async def look(forms: Form, store: Any) -> StoredSession | None:
    """Read the session in the form of the test."""
    if forms.is_blocking:
        return read_session_blocking(store, NAME)
    return await read_session(store, NAME)


@pytest.mark.parametrize("form", FORMS)
def test_vu06_a_stored_session_shows_all_that_waits(form: str, opened: Opened) -> None:
    forms = Form(form)
    answer = Reply.of(call("pay", {}, "c1"), usage=say("x").batches[-2][0].usage)  # type: ignore[union-attr]

    async def test() -> None:
        assert await look(forms, opened()) is None
        agent = Agent(model=ScriptedModel(answer), tools=[pay])
        async with forms.opened(agent, session_id=NAME, store=opened()) as session:
            with pytest.raises(ApprovalRequiredError):
                await forms.do(session, "prompt", "go")
            session.submit("later")
            view, snapshot = session.view, session.snapshot()
        stored = await look(forms, opened())
        assert stored is not None
        assert stored.saves > 0
        for shown in (stored, read_snapshot(snapshot)):
            for name in StoredSession.__struct_fields__:
                if name not in ("saves",):
                    assert getattr(shown, name) == getattr(view, name), name
        assert stored.phase is Phase.ROUND
        assert stored.is_running
        assert stored.usage.requests == 1
        assert [item.text for item in stored.queued] == ["later"]
        assert len(stored.pending_approvals) == 1

    forms.run(test)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("at", [ModelCallStarted, ItemsAppended])
def test_vu06_who_looks_or_opens_while_a_turn_runs_changes_nothing_of_it(
    form: str, at: type, opened: Opened
) -> None:
    forms, other = Form(form), Form("blocking")
    seen: list[StoredSession | None] = []
    refused: list[SessionInUse] = []

    def open_it() -> None:
        agent = Agent(model=ScriptedModel("nobody asked"))
        with agent.session_blocking(session_id=NAME, store=opened()) as session:
            session.prompt("me too")

    def disturb(envelope: Any) -> None:
        if isinstance(envelope.event, at):
            seen.append(read_session_blocking(opened(), NAME))
            try:
                open_it()
            except SessionInUse as error:
                refused.append(error)

    agent = Agent(model=ScriptedModel("one", "two"), reporters=[disturb])

    async def test() -> None:
        async with forms.opened(agent, session_id=NAME, store=opened()) as session:
            assert (await forms.do(session, "prompt", "hi")).text == "one"
            assert (await forms.do(session, "prompt", "hi")).text == "two"
        stored = await look(other, opened())
        assert stored is not None
        assert [item.text for item in stored.transcript] == ["hi", "one", "hi", "two"]

    forms.run(test)
    assert len(refused) == len(seen) > 1
    assert any(stored is not None and stored.is_running for stored in seen)
    assert NAME in str(refused[0]) or repr(NAME) in str(refused[0])
    assert "read_session" in str(refused[0])


@pytest.mark.parametrize("form", FORMS)
def test_vu06_opening_and_leaving_a_session_writes_and_tells_nothing(
    form: str, opened: Opened
) -> None:
    forms, events = Form(form), list[Event]()

    async def test() -> None:
        agent = Agent(model=ScriptedModel("one", "two"))
        async with forms.opened(agent, session_id=NAME, store=opened()) as session:
            await forms.do(session, "prompt", "hi")
            before = opened().load_blocking(NAME)
            reader = Agent(
                model=ScriptedModel(), reporters=[lambda told: events.append(told.event)]
            )
            async with forms.opened(reader, session_id=NAME, store=opened()) as other:
                assert len(other.transcript) == 2
                assert other.view.transcript == other.transcript
            assert opened().load_blocking(NAME) == before
            assert (await forms.do(session, "prompt", "more")).text == "two"
        async with forms.opened(
            Agent(model=ScriptedModel("three"), reporters=[recorded(events)]),
            session_id=NAME,
            store=opened(),
        ) as session:
            await forms.do(session, "prompt", "more")
        assert events.count(RunStarted(resumed=True)) == 1

    forms.run(test)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("method", ["prompt", "submit", "approve", "stream", "cancel"])
def test_vu06_a_session_that_is_open_elsewhere_takes_nothing_while_that_works(
    form: str, method: str, opened: Opened
) -> None:
    forms, errors = Form(form), list[BaseException]()
    others: list[Any] = []

    @tool
    def meddle(context: ToolContext) -> str:
        """Let the other one do something while this one works."""
        (other,) = others
        before = other.snapshot()
        try:
            if method == "approve":
                other.approve(other.pending_approvals[0].id)
            else:
                outcome = getattr(other, method)(*(["x"] if method in ("prompt", "submit") else []))
                list(outcome) if method == "stream" else None
        except (SessionInUse, IndexError) as error:
            errors.append(error)
        assert other.snapshot() == before
        return "ok"

    async def test() -> None:
        first = Agent(
            model=ScriptedModel(call("pay", {}, "c1"), call("meddle", {}, "c2"), say("done")),
            tools=[pay, meddle],
        )
        async with forms.opened(first, session_id=NAME, store=opened()) as session:
            with pytest.raises(ApprovalRequiredError):
                await forms.do(session, "prompt", "go")
            with first.session_blocking(session_id=NAME, store=opened()) as other:
                others.append(other)
                session.approve(session.pending_approvals[0].id)
                assert (await forms.do(session, "continue_")).text == "done"

    forms.run(test)
    assert len(errors) == 1
    if method != "approve":
        assert isinstance(errors[0], SessionInUse) or method in ("prompt", "stream")


@pytest.mark.parametrize("store", ["file", "sqlite"])
def test_vu06_a_lease_ends_with_its_process_and_leaves_no_file(store: str, tmp_path: Path) -> None:
    stores: dict[str, tuple[str, Any]] = {
        "file": (f"FileStore({str(tmp_path / 'f')!r})", FileStore(tmp_path / "f")),
        "sqlite": (f"SqliteStore({str(tmp_path / 'f')!r})", SqliteStore(tmp_path / "f")),
    }
    text, here = stores[store]
    code = (
        f"from agentkit_loop.stores import *\nlease = {text}.lease({NAME!r})\n"
        f"print('held', flush=True)\ninput()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        with pytest.raises(SessionInUse):
            here.lease(NAME)
        here.lease(SessionId("another")).release()
        process.kill()
        process.wait()
    lease = here.lease(NAME)
    with pytest.raises(SessionInUse):
        here.lease(NAME)
    lease.release()
    lease.release()
    if isinstance(here, SqliteStore):
        here.close()
    assert [path for path in tmp_path.rglob("*") if "lease" in path.name] == []


def test_vu06_a_session_that_was_dropped_gives_its_lease_back(opened: Opened) -> None:
    lease: Any = opened().lease(NAME)
    del lease
    gc.collect()
    opened().lease(NAME).release()


async def test_vu06_a_session_with_a_call_in_the_background_is_in_use(opened: Opened) -> None:
    import anyio

    @tool(detach_after_s=0)
    async def dig() -> str:
        """Dig."""
        await anyio.sleep(20)
        return "dug"

    agent = Agent(
        model=ScriptedModel(call("dig"), say("ok"), say("ok")),
        tools=[dig],
        config=LoopConfig(background_done=BackgroundDone.NOTIFY),
    )
    async with agent.session(session_id=NAME, store=opened()) as session:
        await session.prompt("go")
        with pytest.raises(SessionInUse):
            async with agent.session(session_id=NAME, store=opened()):
                pass
        stored = await read_session(opened(), NAME)
        assert stored is not None
        assert len(stored.background_calls) == 1
        assert (await session.prompt("more")).text == "ok"


def test_vu06_a_session_that_cannot_be_opened_gives_its_lease_back(opened: Opened) -> None:
    with (
        pytest.raises(TypeError),
        Agent(model=ScriptedModel()).session_blocking(
            session_id=NAME,
            store=opened(),
            history=["no item"],  # type: ignore[list-item]
        ),
    ):
        pass
    with Agent(model=ScriptedModel("x")).session_blocking(
        session_id=NAME, store=opened(), history=[Item.user("hi")]
    ) as session:
        session.continue_()
