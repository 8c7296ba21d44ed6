"""A reporter is any callable of an envelope; this one adds up how long each tool ran."""

from agentkit_core import ToolCallId
from agentkit_loop import Agent
from agentkit_loop.events import Envelope, ToolExecutionStarted, ToolResultReceived
from agentkit_loop.testing import ScriptedModel, call, say
from agentkit_tools_core import tool


class ToolTimes:
    """Adds up how long tools ran, by name.

    Attributes:
        spent_ms: The name of a tool to the milliseconds that its calls took.
    """

    def __init__(self) -> None:
        self.spent_ms: dict[str, int] = {}
        self._started_at: dict[ToolCallId, int] = {}

    def __call__(self, envelope: Envelope) -> None:
        """Handle one event."""
        match envelope.event:
            case ToolExecutionStarted(call_id=call_id):
                self._started_at[call_id] = envelope.at
            case ToolResultReceived(call_id=call_id, name=name) if call_id in self._started_at:
                spent = envelope.at - self._started_at.pop(call_id)
                self.spent_ms[name] = self.spent_ms.get(name, 0) + spent


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


times = ToolTimes()
model = ScriptedModel(call("add", {"a": 1, "b": 2}), say("It is 3."))
agent = Agent(model=model, tools=[add], reporters=[times])

# This needs no event loop, and imports none.
print(agent.run_blocking("What is 1 + 2?").text)
print(f"tools that ran: {', '.join(times.spent_ms)}")
