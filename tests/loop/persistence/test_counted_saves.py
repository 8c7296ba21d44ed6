"""How many steps and saves a turn takes, and that nothing happens before it is saved.

One approved tool turn: a prompt, a call that needs approval, the approval, the tool, the answer.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from agentkit_core import ApprovalRequest, ModelRequest, SessionId, ToolCall
from agentkit_loop import Agent, ApprovalRequiredError, Finished, TurnResult
from agentkit_loop.drivers import _engine
from agentkit_loop.kernel import Input
from agentkit_loop.kernel._step import step_all
from agentkit_loop.ports import LogEntry
from agentkit_loop.stores import MemoryStore
from agentkit_loop.testing import ScriptedModel, call
from agentkit_tools_core import tool

NAME = SessionId("s")
MOST_SAVES = 6
MOST_STEPS = 8


class Journal:
    """What happened, in order: saves, steps, model calls, runs of the tool."""

    def __init__(self) -> None:
        self.entries: list[str] = []
        self.head: dict[str, Any] = {}
        """The state as it was saved last."""

    def count(self, what: str) -> int:
        return sum(entry.startswith(what) for entry in self.entries)

    @property
    def saved(self) -> dict[str, str]:
        """The effects that are out in the last save, by type."""
        out: dict[str, Any] = self.head["state"].get("out", {})
        return {effect["type"]: json.dumps(effect) for effect in out.values()}


class Journalling(MemoryStore):
    """A store that keeps a journal of its saves."""

    def __init__(self, journal: Journal) -> None:
        super().__init__()
        self._journal = journal

    def save_blocking(
        self, session_id: SessionId, /, *, seq: int, head: bytes, log: Sequence[LogEntry]
    ) -> None:
        super().save_blocking(session_id, seq=seq, head=head, log=log)
        self._journal.head = json.loads(head)
        self._journal.entries.append("save")

    async def save(
        self, session_id: SessionId, /, *, seq: int, head: bytes, log: Sequence[LogEntry]
    ) -> None:
        self.save_blocking(session_id, seq=seq, head=head, log=log)


@pytest.fixture
def journal(monkeypatch: pytest.MonkeyPatch) -> Journal:
    journal = Journal()

    def counted(state: Any, inputs: Sequence[Input], now: int) -> Any:
        journal.entries += [f"step {type(each).__name__}" for each in inputs]
        return step_all(state, inputs, now)

    monkeypatch.setattr(_engine, "step_all", counted)
    return journal


def agent_in(journal: Journal, on_approval: Callable[[ApprovalRequest], bool] | None) -> Agent:
    def answer(request: ModelRequest) -> str | ToolCall:
        assert "call_model" in journal.saved, "a model call is saved before it is made"
        journal.entries.append("model")
        return "Paid." if request.items[-1].tool_results else call("pay", {"cents": 5})

    @tool(needs_approval=True)
    def pay(cents: int) -> str:
        """Pay."""
        started = json.loads(journal.saved["start_tool"])["started"]
        assert started, "the start of a tool is saved before it runs"
        journal.entries.append("tool")
        return "paid"

    return Agent(model=ScriptedModel(answer, answer), tools=[pay], on_approval=on_approval)


def check(journal: Journal, result: TurnResult) -> None:
    assert result.text == "Paid."
    happened = [entry for entry in journal.entries if entry in ("model", "tool")]
    assert happened == ["model", "tool", "model"]
    assert journal.count("save") <= MOST_SAVES, journal.entries
    assert journal.count("step") <= MOST_STEPS, journal.entries
    assert journal.entries[-1] == "save", "the end of the turn is saved"


def test_an_approved_tool_turn_takes_few_steps_and_saves_without_an_event_loop(
    journal: Journal,
) -> None:
    store = Journalling(journal)
    with agent_in(journal, None).session_blocking(session_id=NAME, store=store) as session:
        with pytest.raises(ApprovalRequiredError) as raised:
            session.prompt("Pay it.")
        session.approve(raised.value.requests[0].id)
        status = session.next()

    assert isinstance(status, Finished)
    check(journal, status.result)


async def test_an_approved_tool_turn_takes_few_steps_and_saves_on_an_event_loop(
    journal: Journal,
) -> None:
    store = Journalling(journal)
    async with agent_in(journal, None).session(session_id=NAME, store=store) as session:
        with pytest.raises(ApprovalRequiredError) as raised:
            await session.prompt("Pay it.")
        session.approve(raised.value.requests[0].id)
        status = await session.next()

    assert isinstance(status, Finished)
    check(journal, status.result)


def test_a_host_that_approves_with_a_function_needs_no_more_without_an_event_loop(
    journal: Journal,
) -> None:
    store, agent = Journalling(journal), agent_in(journal, lambda request: True)
    with agent.session_blocking(session_id=NAME, store=store) as session:
        result = session.prompt("Pay it.")

    check(journal, result)


async def test_a_host_that_approves_with_a_function_needs_no_more_on_an_event_loop(
    journal: Journal,
) -> None:
    store, agent = Journalling(journal), agent_in(journal, lambda request: True)
    async with agent.session(session_id=NAME, store=store) as session:
        result = await session.prompt("Pay it.")

    check(journal, result)


def test_later_turns_take_a_step_less_because_the_tools_are_the_same(journal: Journal) -> None:
    model = ScriptedModel("one", "two")
    with Agent(model=model).session_blocking(store=Journalling(journal)) as session:
        session.prompt("1")
        journal.entries.clear()
        session.prompt("2")

    assert journal.entries == ["step Submit", "save", "step ModelResponded", "save"]
