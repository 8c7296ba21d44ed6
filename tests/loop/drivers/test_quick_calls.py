"""Calls that never wait are stepped and saved together, and nothing else of them is different."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from threading import Thread

import pytest

from agentkit_core import SessionId
from agentkit_loop import Agent, BlockingSession, Session, TurnEnd
from agentkit_loop.drivers._pending_effects import PendingEffects
from agentkit_loop.events import Envelope, ToolProgress, ToolResultReceived
from agentkit_loop.kernel import AnsweredEffect
from agentkit_loop.ports import LogEntry
from agentkit_loop.stores import MemoryStore
from agentkit_loop.testing import Reply, ScriptedModel, call, say
from agentkit_tools_core import ToolContext, tool

NAME = SessionId("s")


def three_calls(name: str) -> ScriptedModel:
    calls = [call(name, {"at": at}, f"c{at}") for at in range(3)]
    return ScriptedModel(Reply.of(*calls), say("done"))


async def run(agent: Agent, store: MemoryStore | None = None, *, blocking: bool) -> TurnEnd:
    if blocking:
        with agent.session_blocking(session_id=NAME, store=store) as session:
            return session.prompt("go").end
    async with agent.session(session_id=NAME, store=store) as session:
        return (await session.prompt("go")).end


class Heads(MemoryStore):
    """A store that keeps all heads, as they were."""

    def __init__(self) -> None:
        super().__init__()
        self.heads: list[bytes] = []

    def save_blocking(
        self, session_id: SessionId, /, *, seq: int, head: bytes, log: Sequence[LogEntry]
    ) -> None:
        self.heads.append(head)
        super().save_blocking(session_id, seq=seq, head=head, log=log)


@pytest.mark.parametrize("blocking", [True, False])
async def test_each_is_saved_as_started_before_the_first_one_runs(blocking: bool) -> None:
    store, ran = Heads(), list[tuple[int, int]]()

    @tool(inline=True)
    def look(at: int) -> str:
        """Look at something."""
        out = json.loads(store.heads[-1])["state"]["out"].values()
        ran.append((at, sum(effect["started"] for effect in out)))
        return str(at)

    agent = Agent(model=three_calls("look"), tools=[look])

    assert await run(agent, store, blocking=blocking) is TurnEnd.COMPLETED
    assert ran == [(0, 3), (1, 3), (2, 3)]
    assert len(store.heads) == 5, "prompt, answer, starts, results, end"


@pytest.mark.parametrize("stored", [True, False])
@pytest.mark.parametrize("blocking", [True, False])
async def test_results_are_told_in_order_with_what_later_calls_report(
    blocking: bool, stored: bool
) -> None:
    told: list[str] = []

    def note(envelope: Envelope) -> None:
        match envelope.event:
            case ToolProgress(message=message):
                told.append(f"progress {message}")
            case ToolResultReceived(call_id=call_id):
                told.append(f"result {call_id}")
            case _:
                pass

    @tool(inline=True)
    def look(context: ToolContext, at: int) -> str:
        """Look at something."""
        context.progress(str(at))
        return str(at)

    agent = Agent(model=three_calls("look"), tools=[look], reporters=[note])
    await run(agent, MemoryStore() if stored else None, blocking=blocking)

    assert told == [
        "progress 0", "result c0", "progress 1", "result c1", "progress 2", "result c2",
    ]  # fmt: skip


@pytest.mark.parametrize("stored", [True, False])
@pytest.mark.parametrize("blocking", [True, False])
async def test_what_has_ended_keeps_its_result_when_a_later_one_cancels_the_turn(
    blocking: bool, stored: bool
) -> None:
    sessions: list[Session | BlockingSession] = []

    @tool(inline=True)
    def look(at: int) -> str:
        """Look at something."""
        if at == 1:
            sessions[0].cancel()
        return f"saw {at}"

    agent = Agent(model=three_calls("look"), tools=[look])
    store = MemoryStore() if stored else None
    if blocking:
        with agent.session_blocking(store=store) as session:
            sessions.append(session)
            end = session.prompt("go").end
            items = session.transcript
    else:
        async with agent.session(store=store) as concurrent:
            sessions.append(concurrent)
            end = (await concurrent.prompt("go")).end
            items = concurrent.transcript

    first, *others = items[-1].tool_results
    assert end is TurnEnd.CANCELLED
    assert (first.text, first.is_error) == ("saw 0", False)
    assert all(other.is_error for other in others)


@pytest.mark.parametrize("blocking", [True, False])
async def test_what_has_ended_keeps_its_result_when_a_later_one_breaks_the_run(
    blocking: bool,
) -> None:
    class Broken(BaseException):
        pass

    @tool(inline=True)
    def look(at: int) -> str:
        """Look at something."""
        if at == 1:
            raise Broken
        return f"saw {at}"

    results: list[str] = []

    def note(envelope: Envelope) -> None:
        if isinstance(envelope.event, ToolResultReceived):
            results.append(envelope.event.result.text)

    agent = Agent(model=three_calls("look"), tools=[look], reporters=[note])
    with pytest.raises(Broken):
        await run(agent, MemoryStore(), blocking=blocking)

    assert results[0] == "saw 0"
    assert len(results) == 3


@pytest.mark.parametrize("repeatable", [True, False])
@pytest.mark.parametrize("blocking", [True, False])
async def test_after_a_crash_between_them_only_those_that_may_be_repeated_run_again(
    blocking: bool, repeatable: bool
) -> None:
    store, crashed, ran = MemoryStore(), MemoryStore(), list[int]()

    @tool(inline=True, idempotent=repeatable)
    def look(at: int) -> str:
        """Look at something."""
        ran.append(at)
        if at == 1 and crashed.load_blocking(NAME) is None:
            # What another process finds if this one ends here.
            saved = store.load_blocking(NAME)
            assert saved is not None
            crashed.save_blocking(NAME, seq=1, head=saved.head, log=saved.log)
        return f"saw {at}"

    await run(Agent(model=three_calls("look"), tools=[look]), store, blocking=blocking)
    assert ran == [0, 1, 2]
    ran.clear()

    model = ScriptedModel(say("done"))
    with Agent(model=model, tools=[look]).session_blocking(session_id=NAME, store=crashed) as again:
        assert again.continue_().end is TurnEnd.COMPLETED
        results = again.transcript[-2].tool_results

    assert ran == ([0, 1, 2] if repeatable else [])
    assert [result.is_error for result in results] == [not repeatable] * 3


def test_another_thread_cannot_cancel_what_comes_next_while_it_is_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first_of: Callable[[PendingEffects], AnsweredEffect] = vars(PendingEffects)["first"].fget
    cancelling: list[Thread] = []

    def cancel_before_the_look(pending: PendingEffects) -> AnsweredEffect:
        if not cancelling:
            cancelling.append(Thread(target=session.cancel))
            cancelling[0].start()
            cancelling[0].join(0.05)  # it has to wait until the look is over
        return first_of(pending)

    monkeypatch.setattr(PendingEffects, "first", property(cancel_before_the_look))

    @tool(inline=True)
    def look(at: int) -> str:
        """Look at something."""
        cancelling[0].join()
        return str(at)

    agent = Agent(model=three_calls("look"), tools=[look])
    with agent.session_blocking() as session:
        assert session.prompt("go").end is TurnEnd.CANCELLED
