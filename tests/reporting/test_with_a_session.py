"""Reporters of a real session, from the first event to the last."""

from __future__ import annotations

import io
import json

from agentkit_core import ToolCall, ToolCallId
from agentkit_loop import Agent
from agentkit_loop.testing import ScriptedModel
from agentkit_reporting import JsonlReporter, TextReporter, TranscriptReporter, UsageReporter
from agentkit_tools_core import tool


@tool
def weather(city: str) -> str:
    """Say what the weather is like."""
    return f"sunny in {city}"


def test_r04_after_a_tool_round_everyone_tells_the_same_story() -> None:
    call = ToolCall(id=ToolCallId("c1"), name="weather", input={"city": "Rome"})
    lines, data = io.BytesIO(), io.StringIO()
    transcript, usage = TranscriptReporter(), UsageReporter()
    agent = Agent(
        model=ScriptedModel(call, "It is sunny."),
        tools=[weather],
        reporters=[transcript, usage, JsonlReporter(lines), TextReporter(data)],
    )
    with agent.session_blocking() as session:
        result = session.prompt("What is it like in Rome?")
        assert transcript.items == session.transcript

    assert transcript.complete
    assert len(transcript.items) == 4
    assert usage.summary().total == result.usage
    assert usage.summary().total.requests == 2
    events = [json.loads(line)["event"]["type"] for line in lines.getvalue().splitlines()]
    assert events[0] == "run_started"
    assert events[-2:] == ["turn_finished", "run_finished"]
    shown = data.getvalue().splitlines()
    assert '> weather {"city":"Rome"}' in shown
    assert "< weather: sunny in Rome" in shown
    assert "It is sunny." in shown
