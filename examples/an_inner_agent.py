"""An agent as a tool of another: progress, approvals and usage come out where a person is."""

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
    """An agent for letters; it knows nothing of whoever has it work."""
    letter: dict[str, JsonValue] = {"to": "ada@example.org", "text": "Tea at five?"}
    model = ScriptedModel(
        call("look_up", {"name": "ada"}),
        call("send", letter, "c2"),
        say("Ada is invited.", input=30, output=4),
    )
    return Agent(model=model, tools=[look_up, send], instructions="You write letters.")


def tell(envelope: Envelope) -> None:
    """Show how far the inner agent is; its own events are its own reporters' business."""
    if isinstance(envelope.event, ToolProgress):
        print(f"  … {envelope.event.message}")


async def main() -> None:
    """Have it done, and answer what the inner agent's call needs."""
    task = call("secretary", {"task": "Invite Ada to tea."})
    agent = Agent(
        model=ScriptedModel(Reply.of("I have it written.", task), say("Done.", input=50, output=2)),
        tools=[secretary().as_tool("secretary", "Writes and sends letters.")],
        reporters=[tell],
    )
    async with agent.session() as session:
        session.submit("Invite Ada to tea.")
        step = await session.next()
        assert isinstance(step, WaitingForApproval)
        (ask,) = step.requests
        print(f"may it? {ask.summary}")
        assert sent == []
        session.approve(ask.id)
        step = await session.next()

    assert isinstance(step, Finished)
    (told,) = step.result.items[1].tool_results
    print(f"secretary: {told.output}")
    print(f"{step.result.text} {step.result.usage.requests} requests were made by both.")
    assert sent == ["ada@example.org: Tea at five?"]
    assert step.result.usage.requests == 5


anyio.run(main)
