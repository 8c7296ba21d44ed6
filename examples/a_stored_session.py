"""A session that outlives its process: asked in one, approved in another, gone on with in a third.

Everything is saved before anything comes of it, so a process may end at any line of this. What was
approved once runs once.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

from agentkit_core import SessionId, ToolCallId
from agentkit_loop import Agent, Finished, StaleSave, WaitingForApproval
from agentkit_loop.stores import FileStore
from agentkit_loop.testing import Reply, ScriptedModel, call, say
from agentkit_tools_core import tool

ORDER = SessionId("order-17")
paid: list[int] = []


@tool(needs_approval=True)
def pay(cents: int) -> str:
    """Pay an amount."""
    paid.append(cents)
    return f"paid {cents} cents"


def in_a_process(folder: Path, *script: Reply) -> tuple[Agent, FileStore]:
    """Assemble what each process assembles for itself; nothing but the folder is shared."""
    return Agent(model=ScriptedModel(*script), tools=[pay]), FileStore(folder)


def ask(folder: Path) -> None:
    """Begin a turn, and stop where a person has to decide."""
    agent, store = in_a_process(folder, Reply.of("One moment.", call("pay", {"cents": 250})))
    with agent.session_blocking(session_id=ORDER, store=store) as session:
        session.submit("Pay the invoice.")
        step = session.next()
        assert isinstance(step, WaitingForApproval)
        print(f"asked: may I {step.requests[0].summary}?")


def approve(folder: Path) -> None:
    """Say yes, and do nothing else. It is saved when `approve` returns."""
    agent, store = in_a_process(folder)
    with agent.session_blocking(session_id=ORDER, store=store) as session:
        session.approve(session.pending_approvals[0].id)
        print("approved")


def go_on(folder: Path) -> None:
    """Run what was approved, and the turn to its end."""
    agent, store = in_a_process(folder, say("The invoice is paid."))
    with agent.session_blocking(session_id=ORDER, store=store) as session:
        step = session.next()
        assert isinstance(step, Finished)
        print(f"said: {step.result.text}")
        calls = [one for item in session.transcript for one in item.tool_results]
        assert [one.call_id for one in calls] == [ToolCallId("c1")]


def go_on_too(folder: Path) -> None:
    """Two processes take up one session: the first to save goes on, the other is refused."""
    agent, store = in_a_process(folder, say("first"))
    other, same = in_a_process(folder, say("second"))
    with agent.session_blocking(session_id=ORDER, store=store) as session:
        try:
            with other.session_blocking(session_id=ORDER, store=same) as late:
                session.prompt("And now?")
                late.prompt("And now?")
        except StaleSave:
            print("refused: somebody else has gone on with it")
        else:
            raise AssertionError("two processes went on with one session")


with TemporaryDirectory() as folder:
    for process in (ask, approve, go_on, go_on_too):
        process(Path(folder))
assert paid == [250]
