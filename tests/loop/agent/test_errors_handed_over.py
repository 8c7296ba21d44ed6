"""Whatever code of the host raises, the host gets the exception itself: hooks have `on_error`."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from agentkit_core import ApprovalRequest, ToolResult
from agentkit_loop import Agent, Hook, TurnResult
from agentkit_loop.testing import ScriptedModel, call, say
from agentkit_tools_core import ToolContext, ToolFacts, ToolInvocation, tool


class ConfigError(Exception):
    pass


def fail(*_: Any, **__: Any) -> Any:
    try:
        raise KeyError("region")
    except KeyError as error:
        raise ConfigError("the region is not configured") from error


class Watching(Hook):
    """Collects what it is handed, and fails itself in one place."""

    def __init__(self) -> None:
        self.errors: list[tuple[BaseException, str]] = []
        self.after: list[tuple[str, bool, BaseException | None]] = []

    def on_error(self, error: BaseException, where: str) -> None:
        self.errors.append((error, where))

    def after_tool(self, call: ToolInvocation, result: ToolResult, facts: ToolFacts) -> None:
        self.after.append((call.name, result.started, facts.error))


def hook_that_fails(method: str) -> Hook:
    hook: Hook = type("Failing", (Hook,), {method: fail})()
    return hook


@tool
def work() -> str:
    """Work."""
    return "done"


@tool
def broken() -> str:
    """Fail."""
    return str(fail())


@tool(permissions=fail)
def guarded() -> str:
    """Work, with permission."""
    return "done"


@tool(needs_approval=True)
def approved() -> str:
    """Work, with approval."""
    return "done"


@tool
def parent(context: ToolContext) -> str:
    """Call a tool."""
    return context.call_blocking("guarded").text


def ask(request: ApprovalRequest) -> bool:
    return bool(fail())


CASES: dict[str, dict[str, Any]] = {
    "the tool 'broken'": {"calls": "broken"},
    "the check of 'guarded'": {"calls": "guarded"},
    "the check of 'guarded', as a child": {"calls": "parent"},
    "the check of 'approved'": {"calls": "approved", "policy": fail},
    "the check of 'work'": {"hooks": [hook_that_fails("before_tool")]},
    "a hook after 'work'": {"hooks": [hook_that_fails("after_tool")]},
    "a hook around 'work'": {"hooks": [hook_that_fails("around_tool")]},
    "`on_approval`": {"calls": "approved", "on_approval": ask},
    "a hook before the request": {"hooks": [hook_that_fails("before_request")]},
    "a hook before the request, of instructions": {"instructions": fail},
    "a hook after the response": {"hooks": [hook_that_fails("after_response")]},
    "a hook before the end of the turn": {"hooks": [hook_that_fails("before_finish")]},
    "mutator fail": {"mutators": [fail]},
    "the model": {"model": fail},
}


def agent_of(where: str, watching: Hook) -> Agent:
    options = {key: value for key, value in CASES[where].items() if key not in ("calls", "hooks")}
    made: dict[str, Any] = {
        "model": ScriptedModel(call(CASES[where].get("calls", "work")), say("x")),
        "tools": [work, broken, guarded, approved, parent],
        "hooks": [*CASES[where].get("hooks", ()), watching],
    }
    if "model" in options:
        options["model"] = ScriptedModel(fail)
    return Agent(**{**made, **options})


def run(agent: Agent, form: str) -> TurnResult:
    return (
        agent.run_blocking("go") if form == "blocking" else anyio.run(agent.run, "go", backend=form)
    )


@pytest.mark.parametrize("form", ["blocking", "asyncio", "trio"])
@pytest.mark.parametrize("where", CASES)
def test_vl19_the_exception_itself_reaches_the_hooks(where: str, form: str) -> None:
    watching = Watching()

    run(agent_of(where, watching), form)

    ((error, told),) = watching.errors
    assert isinstance(error, ConfigError)
    assert isinstance(error.__cause__, KeyError)
    assert error.__traceback__ is not None
    assert told == where.partition(",")[0]


@pytest.mark.parametrize("form", ["blocking", "asyncio"])
@pytest.mark.parametrize(
    ("where", "started"),
    [
        ("the tool 'broken'", True),
        ("the check of 'guarded'", False),
        ("the check of 'guarded', as a child", False),
        ("the check of 'approved'", False),
        ("the check of 'work'", False),
        ("a hook after 'work'", True),
    ],
)
def test_vl19_it_is_among_the_facts_after_the_call(where: str, started: bool, form: str) -> None:
    watching = Watching()

    run(agent_of(where, watching), form)

    _, was_started, error = watching.after[0]
    assert isinstance(error, ConfigError)
    assert was_started is started


def test_vl19_what_the_model_did_wrong_is_no_exception_of_the_host() -> None:
    watching = Watching()
    model = ScriptedModel(call("nothing"), call("work", {"no": 1}), say("x"))

    Agent(model=model, tools=[work], hooks=[watching]).run_blocking("go")

    assert (watching.errors, watching.after) == ([], [])


def test_vl19_a_hook_that_fails_at_an_error_changes_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    watching = Watching()
    agent = agent_of("the tool 'broken'", watching)

    class Failing(Hook):
        def on_error(self, error: BaseException, where: str) -> None:
            raise RuntimeError("again")

    agent = Agent(
        model=ScriptedModel(call("broken"), say("x")), tools=[broken], hooks=[Failing(), watching]
    )

    assert agent.run_blocking("go").text == "x"
    assert len(watching.errors) == 1
    assert "on_error" in caplog.text
