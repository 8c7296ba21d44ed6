"""Approving: the host is asked as long as the answer matters, and no longer."""

from collections.abc import Sequence

import anyio
import pytest

from agentkit_core import ApprovalRequest, Item, SessionId
from agentkit_loop import Agent, SessionClosed, TurnEnd, TurnResult
from agentkit_loop.ports import LogEntry
from agentkit_loop.stores import MemoryStore
from agentkit_loop.testing import ScriptedModel, call
from agentkit_tools_core import tool


@tool(needs_approval=True)
def pay() -> str:
    """Pay."""
    return "paid"


class Person:
    """Never answers."""

    def __init__(self) -> None:
        self.asked = anyio.Event()
        self.left = False

    async def answer(self, ask: ApprovalRequest) -> bool:
        self.asked.set()
        try:
            await anyio.sleep_forever()
        finally:
            self.left = True
        return False


def agent(person: Person) -> Agent:
    return Agent(model=ScriptedModel(call("pay"), "ok"), tools=[pay], on_approval=person.answer)


@pytest.mark.parametrize("stored", [False, True])
async def test_a_turn_that_is_cancelled_waits_for_nobody_who_is_asked(stored: bool) -> None:
    person = Person()
    store = MemoryStore() if stored else None
    async with agent(person).session(store=store) as session, anyio.create_task_group() as group:

        async def cancel() -> None:
            await person.asked.wait()
            session.cancel()

        group.start_soon(cancel)
        with anyio.fail_after(2):
            result = await session.prompt("go")

    assert result.end is TurnEnd.CANCELLED
    assert person.left


async def test_whoever_is_asked_is_left_alone_once_somebody_else_has_answered() -> None:
    person = Person()
    async with agent(person).session() as session, anyio.create_task_group() as group:

        async def approve() -> None:
            await person.asked.wait()
            session.approve(session.pending_approvals[0].id)

        group.start_soon(approve)
        with anyio.fail_after(2):
            result = await session.prompt("go")

    assert result.text == "ok"
    assert person.left


async def test_steering_does_not_disturb_whoever_is_asked() -> None:
    person = Person()
    async with agent(person).session() as session, anyio.create_task_group() as group:

        async def steer_and_deny() -> None:
            await person.asked.wait()
            session.steer("hurry")
            await anyio.sleep(0.01)
            assert not person.left
            session.deny(session.pending_approvals[0].id)

        group.start_soon(steer_and_deny)
        with anyio.fail_after(2):
            await session.prompt("go")

        assert Item.user("hurry").text in [item.text for item in session.transcript]


async def test_a_session_that_is_left_waits_for_nobody_who_is_asked() -> None:
    person, came = Person(), list[TurnResult]()
    async with (
        anyio.create_task_group() as group,
        agent(person).session(store=MemoryStore()) as session,
    ):

        async def prompt() -> None:
            with pytest.raises(SessionClosed), anyio.fail_after(2):
                came.append(await session.prompt("go"))

        group.start_soon(prompt)
        await person.asked.wait()

    assert person.left
    assert came == []


class Full(MemoryStore):
    """A store that takes no more from some moment on."""

    full = False

    async def save(
        self, session_id: SessionId, /, *, seq: int, head: bytes, log: Sequence[LogEntry]
    ) -> None:
        if self.full:
            raise OSError("no space left")
        await super().save(session_id, seq=seq, head=head, log=log)


async def test_whoever_is_asked_is_left_alone_where_nothing_can_be_saved_any_more() -> None:
    person, store = Person(), Full()

    async def prompt() -> None:
        async with (
            agent(person).session(store=store) as session,
            anyio.create_task_group() as group,
        ):

            async def steer() -> None:
                await person.asked.wait()
                store.full = True
                session.steer("hurry")
                with pytest.raises(OSError, match="no space"):
                    await session.flush()

            group.start_soon(steer)
            await session.prompt("go")

    with anyio.move_on_after(2) as scope, pytest.raises(OSError, match="no space"):
        await prompt()

    assert person.left
    assert not scope.cancel_called
