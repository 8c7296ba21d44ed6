"""A stored session: one process asks for approval, a second approves, a third continues.

The session saves each decision before it acts on it, so each process may end at any line. A call
that was approved once runs once.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

from agentkit_core import SessionId, ToolCallId
from agentkit_loop import Agent, Finished, WaitingForApproval
from agentkit_loop.stores import FileStore, StaleSave
from agentkit_loop.testing import Reply, ScriptedModel, call, say
from agentkit_tools_core import tool

ORDER = SessionId("order-17")
paid: list[int] = []


@tool(needs_approval=True)
def pay(cents: int) -> str:
    """Pay an amount."""
    paid.append(cents)
    return f"paid {cents} cents"


def new_process(folder: Path, *script: Reply) -> tuple[Agent, FileStore]:
    """Make what each process makes for itself; the processes share only the folder."""
    return Agent(model=ScriptedModel(*script), tools=[pay]), FileStore(folder)


def ask(folder: Path) -> None:
    """Begin a turn, and stop where a person must decide."""
    agent, store = new_process(folder, Reply.of("One moment.", call("pay", {"cents": 250})))
    with agent.session_blocking(session_id=ORDER, store=store) as session:
        session.submit("Pay the invoice.")
        status = session.next()
        assert isinstance(status, WaitingForApproval)
        print(f"approve? {status.requests[0].summary}")


def approve(folder: Path) -> None:
    """Approve the call, and do nothing else. The approval is saved when `approve` returns."""
    agent, store = new_process(folder)
    with agent.session_blocking(session_id=ORDER, store=store) as session:
        session.approve(session.pending_approvals[0].id)
        print("approved")


def finish(folder: Path) -> None:
    """Run the approved call, and the turn to its end."""
    agent, store = new_process(folder, say("The invoice is paid."))
    with agent.session_blocking(session_id=ORDER, store=store) as session:
        status = session.next()
        assert isinstance(status, Finished)
        print(f"answer: {status.result.text}")
        results = [result for item in session.transcript for result in item.tool_results]
        assert [result.call_id for result in results] == [ToolCallId("c1")]


def compete(folder: Path) -> None:
    """Open one session in two processes: the first that saves continues, the other is refused."""
    agent, store = new_process(folder, say("first"))
    other_agent, other_store = new_process(folder, say("second"))
    with agent.session_blocking(session_id=ORDER, store=store) as session:
        try:
            with other_agent.session_blocking(session_id=ORDER, store=other_store) as late:
                session.prompt("And now?")
                late.prompt("And now?")
        except StaleSave:
            print("refused: another process has continued the session")
        else:
            raise AssertionError("two processes continued one session")


with TemporaryDirectory() as folder:
    for process in (ask, approve, finish, compete):
        process(Path(folder))
assert paid == [250]
