"""The golden event traces of the loop, as spans; inner agents are in the calls that began them.

Run this file to write them anew: `python tests/reporting/test_golden_spans.py --write`.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from agentkit_loop import Agent
from agentkit_loop.events import Envelope, RunStarted
from agentkit_loop.kernel import Emit
from agentkit_loop.testing import Scripted, ScriptedModel, call, fail
from agentkit_reporting.spans import RunSpan, SpanStatus, SpanTree, ToolCallSpan, TurnSpan, spans_of
from agentkit_tools_core import tool
from loop.kernel.test_golden_traces import SCENARIOS
from support.outlines import outline
from support.rig import Rig
from support.runs import emitted

AGREED = Path(__file__).with_name("span_trees.txt")
INNER: dict[str, tuple[Scripted, ...]] = {
    "B14_inner_agent": (call("look", {"at": "a"}), "done"),
    "B14_inner_agent_fails": (fail(retryable=False),),
}
"""What the inner agent answers in the scenarios that have one."""


@tool
def look(at: str) -> str:
    """Look."""
    return f"seen {at}"


def outlines() -> str:
    """The spans of each golden event trace of the loop, inner agents included."""
    blocks = []
    for name, play in SCENARIOS.items():
        if name in INNER:
            told = told_with_inner(*INNER[name])
        else:
            played = play()
            assert isinstance(played, Rig)
            told = emitted((Emit(RunStarted()), *played.effects))
        blocks.append("\n".join([name, *outline(spans_of(told))]))
    return "\n\n".join(blocks) + "\n"


def told_with_inner(*script: Scripted) -> list[Envelope]:
    """What is told of a turn whose model gives a task to an agent that answers so."""
    told: list[Envelope] = []
    clerk = Agent(model=ScriptedModel(*script), tools=[look], reporters=[told.append])
    outer = Agent(
        model=ScriptedModel(call("clerk", {"task": "t"}, "c1"), "ok"),
        tools=[clerk.as_tool("clerk", "Does paperwork.", blocking=True)],
        reporters=[told.append],
    )
    outer.run_blocking("go")
    return told


def test_o02_the_golden_event_traces_have_these_spans() -> None:
    agreed = AGREED.read_text(encoding="utf-8")

    assert outlines() == agreed, f"if you mean it: python {__file__} --write"


def test_an_inner_agent_is_in_the_call_that_began_it() -> None:
    told = told_with_inner(*INNER["B14_inner_agent"])

    assert outline(spans_of(told)) == [
        "run ok",
        "  turn turn-1 ok",
        "    model call 1.1 ok",
        "    tool call c1 ok ran progress:1",
        "      run ok",
        "        turn turn-1 ok",
        "          model call 1.1 ok",
        "          tool call c1 ok ran",
        "          model call 2.1 ok",
        "    model call 2.1 ok",
    ]
    # A record in which the outer agent is killed: the inner run ends before the call that it is.
    tree = SpanTree()
    for envelope in told[: len(told) // 2]:
        tree.take(envelope)
    ended = tree.finish().ended
    assert [type(span) for span in ended[-3:]] == [ToolCallSpan, TurnSpan, RunSpan]
    assert all(span.status is SpanStatus.UNFINISHED for span in ended)


if __name__ == "__main__" and "--write" in sys.argv:
    AGREED.write_text(outlines(), encoding="utf-8")
