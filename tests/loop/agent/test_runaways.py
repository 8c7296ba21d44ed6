"""By default nothing goes on for ever: each limit ends it, says which it was, and can be raised."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio
import pytest

from agentkit_core import Item, ModelRequest, RetryPolicy
from agentkit_loop import (
    Agent,
    AgentsTooDeep,
    BackgroundDone,
    Hook,
    Limits,
    LoopConfig,
    RetryAnswer,
    TurnEnd,
    TurnResult,
)
from agentkit_loop.events import Diagnostic, Envelope, TurnFinished
from agentkit_loop.testing import ManualClock, ScriptedModel, call, fail, say
from agentkit_tools_core import FunctionTool, tool


def run_in_loop(agent: Agent) -> TurnResult:
    return anyio.run(agent.run, "go")


def run_in_trio(agent: Agent) -> TurnResult:
    return anyio.run(agent.run, "go", backend="trio")


def run_blocking(agent: Agent) -> TurnResult:
    return agent.run_blocking("go")


Run = Callable[[Agent], TurnResult]
drivers = pytest.mark.parametrize("run", [run_in_loop, run_in_trio, run_blocking])


def read() -> FunctionTool[..., Any]:
    @tool(read_only=True, inline=True)
    def read(path: str) -> str:
        """Read a file."""
        if path == "missing":
            raise FileNotFoundError("no such file")
        return f"the text of {path}"

    return read


@drivers
@pytest.mark.parametrize("paths", [["a"], ["a", "b"], ["missing"], ["missing", "a"]], ids=str)
def test_vl14_a_turn_that_reads_for_ever_ends(run: Run, paths: list[str]) -> None:
    script = [call("read", {"path": paths[at % len(paths)]}, f"c{at}") for at in range(550)]
    model = ScriptedModel(*script)

    turn = run(Agent(model=model, tools=[read()]))

    expected = "max_model_calls"
    if len(paths) == 1:
        expected = "max_identical_failures" if paths == ["missing"] else "max_identical_calls"
    assert (turn.end, turn.limit) == (TurnEnd.LIMIT, expected)
    assert len(model.requests) <= 500
    assert len(turn.items) == 2 * len(model.requests)


@drivers
def test_vl14_who_wants_more_says_so(run: Run) -> None:
    model = ScriptedModel(*[call("read", {"path": "a"}, f"c{at}") for at in range(510)], say("x"))
    config = LoopConfig(
        limits=Limits(max_model_calls=None, max_requests=None), max_identical_calls=None
    )

    assert run(Agent(model=model, tools=[read()], config=config)).text == "x"


@drivers
def test_vl14_failed_attempts_between_answers_count_for_the_requests(run: Run) -> None:
    script: list[Any] = []
    for at in range(900):
        script += [fail(), fail(), call("read", {"path": str(at)}, f"c{at}")]
    model = ScriptedModel(*script)
    config = LoopConfig(limits=Limits(max_model_calls=None), retry=RetryPolicy(first_wait_s=0.0))

    told: list[Envelope] = []
    agent = Agent(
        model=model, tools=[read()], config=config, clock=ManualClock(), reporters=[told.append]
    )

    turn = run(agent)

    # The last attempt failed, so its failure is the end; why it is not tried again is told.
    assert turn.end is TurnEnd.ERROR
    assert turn.failure is not None
    (diagnostic,) = (each.event for each in told if isinstance(each.event, Diagnostic))
    assert "max_requests" in diagnostic.message
    assert len(model.requests) == turn.usage.requests == 2000


class Jobs:
    """A tool of which each call ends after the turn in which it began."""

    def __init__(self) -> None:
        self.turns = 0

    def __call__(self, envelope: Envelope) -> None:
        self.turns += isinstance(envelope.event, TurnFinished)

    @property
    def tool(self) -> FunctionTool[..., Any]:
        @tool(detach_after_s=0)
        async def job(number: int) -> str:
            """Do a long job."""
            turns = self.turns
            while self.turns == turns:
                await anyio.sleep(0)
            return f"did {number}"

        return job


def endless_jobs(count: int) -> list[Any]:
    return [
        reply
        for at in range(count)
        for reply in (call("job", {"number": at}, f"c{at}"), say(f"begun {at}"))
    ]


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@pytest.mark.parametrize("most", [0, 1, 5, None])
def test_vl14_turns_that_begin_each_other_by_background_calls_end(
    backend: str, most: int | None
) -> None:
    model = ScriptedModel(*endless_jobs(12), say("enough"), say("more"))
    config = LoopConfig(background_done=BackgroundDone.CONTINUE, max_follow_up_turns=most)
    jobs = Jobs()
    agent = Agent(model=model, tools=[jobs.tool], config=config, reporters=[jobs])

    async def main() -> None:
        async with agent.session() as session:
            turn = await session.prompt("go")
            if most is None:
                assert (turn.end, turn.text) == (TurnEnd.COMPLETED, "enough")
                return
            assert (turn.end, turn.limit) == (TurnEnd.LIMIT, "max_follow_up_turns")
            assert turn.model_calls == 0
            assert len(model.requests) == 2 * (most + 1)
            # What the last call did is kept, and the host may go on.
            assert f"did {most}" in session.transcript[-1].text
            again = await session.continue_()
            assert again.limit == "max_follow_up_turns"
            assert len(model.requests) == 2 * 2 * (most + 1)

    anyio.run(main, backend=backend)


def test_vl14_chains_of_turns_have_a_limit_by_default() -> None:
    model = ScriptedModel(*endless_jobs(300))
    config = LoopConfig(background_done=BackgroundDone.CONTINUE)

    jobs = Jobs()

    turn = run_in_loop(Agent(model=model, tools=[jobs.tool], config=config, reporters=[jobs]))

    assert (turn.end, turn.limit) == (TurnEnd.LIMIT, "max_follow_up_turns")
    assert len(model.requests) == 2 * 101


@drivers
@pytest.mark.parametrize("point", ["after_response", "before_finish"])
def test_vl14_a_hook_that_is_never_satisfied_ends_the_turn(run: Run, point: str) -> None:
    class Never(Hook):
        pass

    def ask_again(*_: Any) -> object:
        again = (Item.user("Again."),)
        return RetryAnswer(again) if point == "after_response" else again

    setattr(Never, point, ask_again)

    turn = run(Agent(model=ScriptedModel(*["x"] * 600), hooks=[Never()]))

    assert (turn.end, turn.limit, turn.model_calls) == (TurnEnd.LIMIT, "max_model_calls", 500)


def deepest(run: Callable[[Agent], Any], nest: Callable[[Agent], Any], most: int | None) -> int:
    """Run an agent that calls itself, and count how deep it gets."""
    depth = reached = 0

    def answer(request: ModelRequest) -> Any:
        nonlocal depth, reached
        if request.items[-1].kind == "tool":
            depth -= 1
            return say(request.items[-1].tool_results[0].text)
        depth += 1
        reached = max(reached, depth)
        return call("again", {"task": "go"}, f"c{reached}") if depth < 30 else say("bottom")

    tools: list[Any] = []
    config = LoopConfig() if most is None else LoopConfig(max_agent_depth=most)
    agent = Agent(model=ScriptedModel(*[answer] * 90), tools=Growing(tools), config=config)
    tools.append(nest(agent))
    assert "levels deep" in run(agent).text
    return reached


class Growing:
    """A source of tools that are added later."""

    revision = 0

    def __init__(self, tools: list[Any]) -> None:
        self._tools = tools

    def specs(self) -> tuple[Any, ...]:
        return tuple(one.spec for one in self._tools)

    def get(self, name: str) -> Any:
        return next((one for one in self._tools if one.spec.name == name), None)


def as_tool(agent: Agent) -> Any:
    return agent.as_tool("again", "Do it again.")


def as_blocking_tool(agent: Agent) -> Any:
    return agent.as_tool("again", "Do it again.", blocking=True)


def as_function(agent: Agent) -> Any:
    @tool
    async def again(task: str) -> str:
        """Do it again."""
        return (await agent.run(task)).text

    return again


def as_blocking_function(agent: Agent) -> Any:
    @tool
    def again(task: str) -> str:
        """Do it again."""
        return agent.run_blocking(task).text

    return again


@pytest.mark.parametrize("most", [None, 3])
@pytest.mark.parametrize(
    ("run", "nest"),
    [
        (run_in_loop, as_tool),
        (run_in_trio, as_tool),
        (run_in_loop, as_blocking_tool),
        (run_blocking, as_blocking_tool),
        (run_in_loop, as_function),
        (run_in_trio, as_function),
        (run_in_loop, as_blocking_function),
        (run_blocking, as_blocking_function),
    ],
)
def test_vl14_agents_that_call_themselves_get_so_deep_and_no_deeper(
    run: Run, nest: Callable[[Agent], Any], most: int | None
) -> None:
    assert deepest(run, nest, most) == (16 if most is None else most) + 1


def test_vl14_the_error_names_the_setting() -> None:
    assert "max_agent_depth" in str(AgentsTooDeep(16))
    assert AgentsTooDeep(16).limit == 16


@pytest.mark.parametrize(
    "name",
    ["max_parallel", "max_identical_failures", "max_identical_calls", "max_asks_per_call"],
)
def test_vl14_a_limit_that_allows_nothing_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=name):
        LoopConfig(**dict[str, Any]({name: 0}))
