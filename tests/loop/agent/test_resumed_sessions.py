"""Whole sessions that somebody resumes: external calls, inner agents, models with a memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import anyio
import pytest

from agentkit_core import (
    ApprovalKind,
    Item,
    ModelRequest,
    Provenance,
    SessionId,
    TextOutput,
    ToolResult,
    ToolSpec,
)
from agentkit_core.provider import ModelEvent, ResponseStarted
from agentkit_loop import (
    Agent,
    AwaitingInput,
    BlockingSession,
    Finished,
    TurnResult,
    WaitingForApproval,
)
from agentkit_loop.ports import LogEntry
from agentkit_loop.stores import MemoryStore
from agentkit_loop.testing import Reply, ScriptedModel, call, say
from agentkit_tools_core import external_tool, tool

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


class Stateful:
    """A model whose provider remembers what it was told, and is told only what is new."""

    name = "stateful"

    def __init__(self) -> None:
        self.sent: list[tuple[str | None, int]] = []
        """The response that each request went on from, and how many items it sent."""

    def open_blocking(self, session_id: SessionId, /) -> Any:
        return _Remembering(self)


class _Remembering:
    """One conversation with it; the handle is here, and no part of the session's state."""

    def __init__(self, model: Stateful) -> None:
        self._sent = model.sent
        self._known: tuple[Item, ...] = ()

    def respond(self, request: ModelRequest, /) -> Iterator[Sequence[ModelEvent]]:
        items = tuple(request.items)
        last = next((one for one in reversed(items) if one.provenance is not None), None)
        goes_on = bool(self._known) and items[: len(self._known)] == self._known
        before = last.provenance.response_id if goes_on and last and last.provenance else None
        self._sent.append((before, len(items) - (len(self._known) if goes_on else 0)))
        self._known = items
        made = Provenance("p", "a", "stateful", response_id=f"r{len(self._sent)}")
        yield (ResponseStarted(made),)
        yield from Reply.of("ok").batches

    def close(self) -> None:
        pass


def test_case_34_a_provider_that_remembers_is_told_all_again_after_a_rewrite() -> None:
    model, cut = Stateful(), list[bool]()

    def newest(items: Sequence[Item], mutation: object) -> Sequence[Item] | None:
        return items[-1:] if cut else None

    agent = Agent(model=model, mutators=[newest])
    with agent.session_blocking() as session:
        session.prompt("one")
        session.prompt("two")
        cut.append(True)
        session.prompt("three")
        answers = [one.provenance for one in session.transcript if one.provenance is not None]

    # The answer of its own and what was said are new to it, until the transcript is another one.
    assert model.sent == [(None, 1), ("r1", 2), (None, 1)]
    assert [one.response_id for one in answers] == ["r3"]


def test_case_36_what_the_host_runs_is_shown_again_on_resume_and_answered_there() -> None:
    lamp = external_tool(ToolSpec("lamp", "Switch the lamp.", {"type": "object"}))
    agent = Agent(model=ScriptedModel(call("lamp", {"on": True})), tools=[lamp])
    with agent.session_blocking() as session:
        session.submit("go")
        step = session.next()
        assert isinstance(step, WaitingForApproval)
        saved = session.snapshot()

    agent = Agent(model=ScriptedModel("It is lit."), tools=[lamp])
    with agent.resume_blocking(saved) as session:
        again = session.next()
        assert again == step
        (ask,) = session.pending_approvals
        assert (ask.kind, ask.want, ask.call.input) == (
            "host_tool",
            ApprovalKind.QUESTION,
            {"on": True},
        )
        session.approve(ask.id, answer="lit")
        result = finished(session)

    assert only_result(result).output == TextOutput("lit")
    assert result.text == "It is lit."


def test_case_38_an_inner_agent_that_asked_is_entered_again_with_all_it_has_done() -> None:
    ran: list[str] = []

    @tool
    def look() -> str:
        """Look."""
        ran.append("look")
        return "seen"

    @tool(needs_approval=True)
    def pay() -> str:
        """Pay."""
        ran.append("pay")
        return "paid"

    def boss(inner: ScriptedModel, outer: ScriptedModel) -> Agent:
        clerk = Agent(model=inner, tools=[look, pay])
        return Agent(model=outer, tools=[clerk.as_tool("clerk", "Works.", blocking=True)])

    inner = ScriptedModel(call("look"), call("pay", {}, "c2"))
    agent = boss(inner, ScriptedModel(call("clerk", {"task": "pay it"})))
    with agent.session_blocking() as session:
        session.submit("go")
        assert isinstance(session.next(), WaitingForApproval)
        saved = session.snapshot()

    agent = boss(ScriptedModel(say("paid it", input=7)), ScriptedModel(say("ok", input=10)))
    with agent.resume_blocking(saved) as session:
        (ask,) = session.pending_approvals
        session.approve(ask.id)
        result = finished(session)

    assert ran == ["look", "pay"]
    assert only_result(result).output == TextOutput("paid it")
    assert result.usage.requests == 5


def test_a_prompt_is_not_answered_by_the_rest_of_the_time_before_it() -> None:
    """Who left the session may not have been told that there was nothing to do."""
    store, agent = MemoryStore(), Agent(model=ScriptedModel("one", "two", "three"))

    for text in ("one", "two", "three"):
        with agent.session_blocking(session_id=NAME, store=store) as session:
            session.submit("go on")
            assert finished(session).text == text
            assert session.next() == AwaitingInput()


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_a_prompt_is_not_answered_by_the_rest_of_the_time_before_it_async(backend: str) -> None:
    store, agent = MemoryStore(), Agent(model=ScriptedModel("one", "two", "three"))

    async def serve(text: str) -> None:
        async with agent.session(session_id=NAME, store=store) as session:
            session.submit("go on")
            await session.flush()
            status = await session.next()
            assert isinstance(status, Finished)
            assert status.result.text == text
            assert await session.next() == AwaitingInput()

    for text in ("one", "two", "three"):
        anyio.run(serve, text, backend=backend)
