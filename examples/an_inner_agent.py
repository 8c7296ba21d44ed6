"""An agent as a tool of another; its progress, approvals and usage reach the outer host."""

import anyio

from agentkit_core import JsonValue
from agentkit_loop import Agent, Finished, WaitingForApproval
from agentkit_loop.events import Envelope, ToolProgress
from agentkit_loop.testing import Reply, ScriptedModel, call, say
from agentkit_tools_core import tool

sent: list[str] = []


@tool(read_only=True)
def look_up(name: str) -> str:
    """Look up an address."""
    return f"{name}@example.org"


@tool(needs_approval=True)
def send(to: str, text: str) -> str:
    """Send a letter."""
    sent.append(f"{to}: {text}")
    return "sent"


def secretary() -> Agent:
    """Make an agent that writes letters; it knows nothing of the agent that calls it."""
    letter: dict[str, JsonValue] = {"to": "ada@example.org", "text": "Tea at five?"}
    model = ScriptedModel(
        call("look_up", {"name": "ada"}),
        call("send", letter, "c2"),
        say("Ada is invited.", input=30, output=4),
    )
    return Agent(model=model, tools=[look_up, send], instructions="You write letters.")


def print_progress(envelope: Envelope) -> None:
    """Print the progress of the inner agent; its events go only to reporters of its own."""
    if isinstance(envelope.event, ToolProgress):
        print(f"  … {envelope.event.message}")


async def main() -> None:
    """Prompt the outer agent, and approve the call that the inner agent makes."""
    task = call("secretary", {"task": "Invite Ada to tea."})
    agent = Agent(
        model=ScriptedModel(
            Reply.of("I will ask my secretary.", task), say("Done.", input=50, output=2)
        ),
        tools=[secretary().as_tool("secretary", "Writes and sends letters.")],
        reporters=[print_progress],
    )
    async with agent.session() as session:
        session.submit("Invite Ada to tea.")
        status = await session.next()
        assert isinstance(status, WaitingForApproval)
        (request,) = status.requests
        print(f"approve? {request.summary}")
        assert sent == []
        session.approve(request.id)
        status = await session.next()

    assert isinstance(status, Finished)
    (result,) = status.result.items[1].tool_results
    print(f"secretary: {result.text}")
    print(
        f"{status.result.text} Both agents together made {status.result.usage.requests} requests."
    )
    assert sent == ["ada@example.org: Tea at five?"]
    assert status.result.usage.requests == 5


anyio.run(main)
