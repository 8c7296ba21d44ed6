"""A yes counts at once: the call starts and is saved while its siblings wait (VU04)."""

import time
from typing import Any

import anyio
import pytest

from agentkit_core import ApprovalRequest, SessionId
from agentkit_loop import Agent
from agentkit_loop.events import ApprovalResolved, Event, ToolExecutionStarted
from agentkit_loop.stores import MemoryStore
from agentkit_loop.testing import Reply, ScriptedModel, call, say
from agentkit_tools_core import FunctionTool, tool
from support.forms import FORMS, Form

NAME = SessionId("s")


class Log:
    """What happens, in order."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.store = MemoryStore()

    @property
    def saved(self) -> str:
        """The stored head, as text."""
        saved = self.store.load_blocking(NAME)
        return "" if saved is None else saved.head.decode()

    def tool(self, name: str) -> FunctionTool[..., Any]:
        def run() -> str:
            """Run."""
            self.lines.append(f"{name} runs")
            return name

        return tool(name=name, needs_approval=True)(run)

    def __call__(self, envelope: Any) -> None:
        event: Event = envelope.event
        if isinstance(event, ToolExecutionStarted):
            self.lines.append(f"{event.name} starts")
        elif isinstance(event, ApprovalResolved):
            self.lines.append(f"{event.call_id} {event.outcome}")


def agent_of(log: Log, on_approval: Any) -> Agent:
    calls = Reply.of(*[call(name, {}, name) for name in "abc"])
    return Agent(
        model=ScriptedModel(calls, say("done")),
        tools=[log.tool(name) for name in "abc"],
        on_approval=on_approval,
        reporters=[log],
    )


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", ["sync", "async", "async object", "async lambda"])
@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize("way", ["prompt", "stream", "continue_"])
def test_vu04_the_first_call_has_run_before_the_second_is_decided(
    form: str, kind: str, stored: bool, way: str
) -> None:
    forms, log = Form(form), Log()
    if forms.is_blocking and kind != "sync":
        pytest.skip("needs an event loop")
    heads: list[str] = []

    def ask(request: ApprovalRequest) -> bool:
        log.lines.append(f"ask {request.call.name}")
        return True

    async def ask_async(request: ApprovalRequest) -> bool:
        log.lines.append(f"ask {request.call.name}")
        if kind != "async lambda":
            with anyio.fail_after(5):
                # Whoever answers takes time; calls that are allowed run meanwhile.
                ran = {"a": 0, "b": 1, "c": 2}[request.call.name]
                while sum(line.endswith("runs") for line in log.lines) < ran:
                    await anyio.sleep(0.001)
        heads.append(log.saved)
        return True

    class Asks:
        async def __call__(self, request: ApprovalRequest) -> bool:
            return await ask_async(request)

    on_approval: Any = {
        "sync": ask,
        "async": ask_async,
        "async object": Asks(),
        "async lambda": lambda request: ask_async(request),
    }[kind]
    agent = agent_of(log, on_approval)

    async def test() -> None:
        options: dict[str, Any] = {"session_id": NAME, "store": log.store} if stored else {}
        async with forms.opened(agent, **options) as session:
            if way == "continue_":
                session.submit("go")
                await forms.do(session, "continue_")
            else:
                await forms.do(session, way, "go")

    forms.run(test)
    for name, after in zip("abc", "bc", strict=False):
        assert log.lines.index(f"{name} starts") < log.lines.index(f"{name} runs")
        assert log.lines.index(f"{name} runs") < log.lines.index(f"{after} approved")
    if stored and heads:
        assert '"started":true' in heads[1]


class Shifted:
    """A clock that can be set forward; its waits are real."""

    def __init__(self) -> None:
        self.shift_ms = 0

    def now_ms(self) -> int:
        return int(time.time() * 1000) + self.shift_ms

    async def sleep(self, seconds: float, /) -> None:
        await anyio.sleep(max(seconds, 0))

    def sleep_blocking(self, seconds: float, /) -> None:
        time.sleep(max(seconds, 0))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize("option", ["timeout_s", "detach_after_s"])
def test_vu04_the_time_of_a_call_begins_when_it_runs_and_not_at_the_yes(
    form: str, stored: bool, option: str
) -> None:
    forms, clock = Form(form), Shifted()
    limit: dict[str, Any] = {option: 30}
    work = tool(name="work", needs_approval=True, **limit)(lambda: "done")
    agent = Agent(model=ScriptedModel(call("work"), say("x")), tools=[work], clock=clock)
    options: dict[str, Any] = {"session_id": NAME, "store": MemoryStore()} if stored else {}

    async def test() -> None:
        async with forms.opened(agent, **options) as session:
            session.submit("go")
            await forms.do(session, "next")
            session.approve(session.pending_approvals[0].id)
            clock.shift_ms = 3_600_000
            turn = await forms.do(session, "continue_")
            assert [part.text for part in turn.items[1].tool_results] == ["done"]

    forms.run(test)
