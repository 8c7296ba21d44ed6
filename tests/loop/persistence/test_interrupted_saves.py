"""Whole sessions whose process dies, whose store is full or whose place another has taken."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import pytest

from agentkit_core import SessionId, TextOutput, ToolFailure, ToolResult
from agentkit_loop import Agent, BlockingSession, Finished, TurnResult
from agentkit_loop.ports import LogEntry
from agentkit_loop.stores import MemoryStore, StaleSave
from agentkit_loop.testing import ScriptedModel, call
from agentkit_tools_core import ToolContext, tool

NAME = SessionId("s")


class Died(BaseException):
    """The process is gone."""


class Mortal(MemoryStore):
    """A store under a process that may die, or a disk that may be full, before the next save."""

    def __init__(self) -> None:
        super().__init__()
        self.fails: BaseException | None = None

    def save_blocking(
        self, session_id: SessionId, /, *, seq: int, head: bytes, log: Sequence[LogEntry]
    ) -> None:
        if self.fails is not None:
            raise self.fails
        super().save_blocking(session_id, seq=seq, head=head, log=log)


def finished(session: BlockingSession) -> TurnResult:
    step = session.next()
    assert isinstance(step, Finished)
    return step.result


def only_result(result: TurnResult) -> ToolResult:
    (found,) = [one for item in result.items for one in item.tool_results]
    return found


@pytest.mark.parametrize("idempotent", [False, True])
def test_case_17_between_the_end_of_a_tool_and_the_save_of_its_result(idempotent: bool) -> None:
    store, keys = Mortal(), list[str]()

    @tool(idempotent=idempotent)
    def pay(context: ToolContext) -> str:
        """Pay."""
        keys.append(context.idempotency_key)
        store.fails = Died() if len(keys) == 1 else None
        return "paid"

    with (
        pytest.raises(Died),
        Agent(model=ScriptedModel(call("pay")), tools=[pay]).session_blocking(
            session_id=NAME, store=store
        ) as session,
    ):
        session.prompt("go")
    store.fails = None
    agent = Agent(model=ScriptedModel("ok"), tools=[pay])
    with agent.session_blocking(session_id=NAME, store=store) as session:
        told = only_result(finished(session))

    if idempotent:
        assert told.output == TextOutput("paid")
        assert len(keys) == 2
        assert keys[0] == keys[1], "the service knows it for the same"
    else:
        assert told.failure is ToolFailure.OUTCOME_UNKNOWN
        assert len(keys) == 1


class Unleased(MemoryStore):
    """A store that cannot say who works on a session."""

    lease = None  # type: ignore[assignment]


def test_case_18_an_answer_that_comes_after_another_machine_went_on_is_not_saved() -> None:
    store, ran = Unleased(), list[str]()

    @tool
    def pay() -> str:
        """Pay; and while it does, its process is taken for dead."""
        ran.append("pay")
        elsewhere = Agent(model=ScriptedModel("it is not known"), tools=[pay])
        with elsewhere.session_blocking(session_id=NAME, store=store) as session:
            assert only_result(finished(session)).failure is ToolFailure.OUTCOME_UNKNOWN
        return "paid, but too late"

    here = Agent(model=ScriptedModel(call("pay"), "never said"), tools=[pay])
    with (
        pytest.raises(StaleSave),
        here.session_blocking(session_id=NAME, store=store) as session,
    ):
        session.prompt("go")

    assert ran == ["pay"]
    with Agent(model=ScriptedModel()).session_blocking(session_id=NAME, store=store) as session:
        assert session.transcript[-1].text == "it is not known"
        assert len(session.transcript) == 4


def test_case_29_a_reporter_that_fails_changes_nothing_and_a_save_that_fails_stops_all(
    caplog: pytest.LogCaptureFixture,
) -> None:
    store, ran = Mortal(), list[str]()

    @tool
    def pay() -> str:
        """Pay."""
        ran.append("pay")
        return "paid"

    def fill(envelope: object) -> None:
        if "ToolExecutionStarted" in repr(envelope):
            store.fails = OSError("no space left")
        raise RuntimeError("a reporter's own trouble")

    agent = Agent(model=ScriptedModel(call("pay"), "done"), tools=[pay], reporters=[fill])
    with (
        caplog.at_level(logging.CRITICAL),
        pytest.raises(OSError, match="no space"),
        agent.session_blocking(session_id=NAME, store=store) as session,
    ):
        session.prompt("go")
    assert ran == [], "what is not saved is not begun"

    store.fails = None
    agent = Agent(model=ScriptedModel("done"), tools=[pay])
    with agent.session_blocking(session_id=NAME, store=store) as session:
        assert only_result(finished(session)).output == TextOutput("paid")
    assert ran == ["pay"]
