"""A typed function as a tool, and a turn whose events are streamed."""

from typing import Literal

import anyio

from agentkit_loop import Agent
from agentkit_loop.events import ContentDelta, ToolExecutionStarted, TurnFinished
from agentkit_loop.testing import ScriptedModel, call, say
from agentkit_tools_core import tool


@tool
def weather(city: str, unit: Literal["c", "f"] = "c") -> str:
    """Return the current weather.

    Args:
        city: The name of a city, such as "Rome".
        unit: Degrees Celsius or Fahrenheit.
    """
    return f"18 °{unit.upper()} and sunny in {city}"


async def main() -> None:
    """Prompt, print the events, and prompt again in the same conversation."""
    model = ScriptedModel(
        call("weather", {"city": "Rome"}),
        say("Mild and sunny."),
        say("Rome, of course."),
    )
    agent = Agent(model=model, tools=[weather])
    async with agent.session() as session:
        async for event in session.stream("What is it like in Rome?"):
            match event:
                case ToolExecutionStarted(name=name, input=arguments):
                    print(f"running {name} with {arguments}")
                case ContentDelta(deltas=deltas):
                    print(f"{len(deltas)} deltas")
                case TurnFinished(result=result):
                    print(f"answer: {result.text}")
        result = await session.prompt("Rome or Oslo?")
        print(f"answer: {result.text}")
        for item in session.transcript:
            print(f"  {item.kind}: {len(item.parts)} part(s)")


anyio.run(main)
