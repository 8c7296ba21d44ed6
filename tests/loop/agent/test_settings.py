"""Live changes: how the model is asked from the next call on, and what a reset forgets."""

from typing import Any

import anyio
import pytest

from agentkit_core import (
    Item,
    ModelOptions,
    ModelRequest,
    StructuredOutput,
    ThinkingLevel,
    ToolFailure,
)
from agentkit_core.cache import CacheMode, CacheRequest
from agentkit_loop import (
    Agent,
    GrantScope,
    Lane,
    Limits,
    LoopConfig,
    QueueMode,
    SessionClosed,
    TurnEnd,
    TurnRunning,
    WrongModelForm,
)
from agentkit_loop.events import Envelope, Event, InputWithdrawn, ModelCallStarted, SettingsChanged
from agentkit_loop.testing import ManualClock, Reply, ScriptedModel, call, fail
from agentkit_tools_core import ToolRegistry, tool


@tool
def look() -> str:
    """Look."""
    return "seen"


@tool
def listen() -> str:
    """Listen."""
    return "heard"


async def test_thinking_tools_and_instructions_change_from_the_next_call_on() -> None:
    def change(request: ModelRequest) -> Any:
        session.settings.thinking = ThinkingLevel.HIGH
        session.settings.tools = [listen]
        session.settings.instructions = "Be loud."
        return call("listen")

    model = ScriptedModel(change, "ok")
    agent = Agent(model=model, tools=[look], instructions="Be quiet.")
    async with agent.session() as session:
        await session.prompt("go")

        assert session.view.tools == ("listen",)
    first, second = model.requests
    assert (first.options.thinking, second.options.thinking) == (None, ThinkingLevel.HIGH)
    assert [spec.name for spec in second.tools] == ["listen"]
    assert [one.items[0].text for one in model.requests] == ["Be quiet.", "Be loud."]
    # The request that the call answers did not offer it yet.
    assert "not offered" in second.items[-1].tool_results[0].text


async def test_another_model_answers_from_the_next_call_on_and_the_old_one_is_freed() -> None:
    second = ScriptedModel("second", name="two")

    async def change() -> None:
        session.settings.change_model(second)

    first = ScriptedModel(call("look"), name="one")
    async with Agent(model=first, tools=[look]).session() as session:
        session.subscribe(lambda envelope: None)

        @tool
        async def switch() -> str:
            """Switch."""
            await change()
            return "switched"

        session.settings.tools = [switch, look]
        first._script = [call("switch")]
        result = await session.prompt("go")

        assert result.text == "second"
        assert session.view.model == "two"
        assert second.requests[0].model == "two"


async def test_a_model_of_the_wrong_form_is_refused_and_the_old_one_stays() -> None:
    class OnlyBlocking:
        name = "b"

        def open_blocking(self, session_id: Any, /) -> Any: ...

    async with Agent(model=ScriptedModel("ok")).session() as session:
        with pytest.raises(WrongModelForm):
            session.settings.change_model(OnlyBlocking())
        assert (await session.prompt("go")).text == "ok"


async def test_options_for_one_turn_are_gone_after_it() -> None:
    model = ScriptedModel(call("look"), "a", "b")
    async with Agent(model=model, tools=[look], options=ModelOptions(seed=1)).session() as session:
        session.settings.use_once(ModelOptions(seed=2))
        await session.prompt("go")
        await session.prompt("go")

    assert [one.options.seed for one in model.requests] == [2, 2, 1]


async def test_l09_another_way_to_cache_lasts_for_all_calls_of_one_turn_though_one_fails() -> None:
    usual = ModelOptions(cache=CacheRequest())
    off = ModelOptions(cache=CacheRequest(mode=CacheMode.DISABLED))
    model = ScriptedModel(call("look"), fail(retry_after_s=0), "a", "b")
    agent = Agent(model=model, tools=[look], options=usual, clock=ManualClock())
    async with agent.session() as session:
        session.settings.use_once(off)
        await session.prompt("go")
        await session.prompt("go")

    assert [one.options for one in model.requests] == [off, off, off, usual]


async def test_t17_what_was_offered_may_be_gone_or_another_when_it_is_called() -> None:
    @tool(name="listen")
    def listen_to(whom: str, loudly: bool = False) -> dict[str, object]:
        """Listen."""
        return {"whom": whom, "loudly": loudly}

    def change(request: ModelRequest) -> Any:
        assert [spec.name for spec in request.tools] == ["look", "listen"]
        registry.remove("look")
        registry.register(listen_to, replace=True)
        return Reply.of(call("look"), call("listen", {}, "c2"), call("listen", {"whom": "a"}, "c3"))

    registry = ToolRegistry([look, listen])
    result = await Agent(model=ScriptedModel(change, "ok"), tools=registry).run("go")

    gone, misfit, fits = result.items[1].tool_results
    assert (gone.failure, gone.started) == (ToolFailure.NOT_FOUND, False)
    assert (misfit.failure, misfit.started) == (ToolFailure.INVALID_INPUT, False)
    assert fits.output == StructuredOutput({"whom": "a", "loudly": False})


async def test_c11_lists_that_are_given_are_copied_and_giving_them_tells_of_what_is_asked() -> None:
    events: list[Event] = []
    tools, instructions, history = [look], [Item.system("Be brief.")], [Item.user("hi")]
    model = ScriptedModel("ok")
    async with Agent(model=model).session(history=history) as session:
        session.subscribe(lambda envelope: events.append(envelope.event))
        session.settings.tools = tools
        session.settings.instructions = instructions
        tools.append(listen)
        instructions.append(Item.system("Be loud."))
        history.append(Item.user("there"))
        assert session.view.tools == ("look",)
        assert [type(one) for one in events] == [SettingsChanged]
        await session.prompt("go")

    assert [item.text for item in model.requests[0].items] == ["Be brief.", "hi", "go"]
    assert [spec.name for spec in model.requests[0].tools] == ["look"]
    assert len(history) == 2


async def test_a_reset_forgets_the_conversation_and_keeps_the_settings() -> None:
    events: list[Any] = []
    model = ScriptedModel("one", "two")
    agent = Agent(model=model, instructions="Be brief.")
    async with agent.session() as session:
        await session.prompt("first")
        session.settings.thinking = ThinkingLevel.LOW
        session.submit("never said")
        session.subscribe(lambda envelope: events.append(envelope.event))
        session.reset()

        assert session.transcript == ()
        assert session.view.last is None
        assert type(events[0]) is InputWithdrawn
        await session.prompt("second")

    assert [item.text for item in model.requests[1].items] == ["Be brief.", "second"]
    assert model.requests[1].options.thinking is ThinkingLevel.LOW


async def test_what_is_queued_can_be_taken_back() -> None:
    async with Agent(model=ScriptedModel("ok")).session() as session:
        session.submit("one")
        session.submit("two")

        assert [item.text for item in session.unqueue(Lane.NEXT)] == ["one", "two"]
        assert session.view.queued == ()
        assert session.unqueue() == ()


async def test_a_running_turn_cannot_be_reset_and_idle_can_be_waited_for() -> None:
    model = ScriptedModel(Reply.of("Hel", hangs=True))
    async with Agent(model=model).session() as session:
        await session.wait_idle()
        order: list[str] = []

        async def wait(name: str) -> None:
            await session.wait_idle()
            order.append(name)

        async with anyio.create_task_group() as group:

            async def stop() -> None:
                while not model.open_responses:
                    await anyio.sleep(0)
                group.start_soon(wait, "a")
                group.start_soon(wait, "b")
                with pytest.raises(TurnRunning):
                    session.reset()
                await anyio.sleep(0)
                assert order == []
                session.cancel()

            group.start_soon(stop)
            await session.prompt("go")
        assert sorted(order) == ["a", "b"]


async def test_a_yes_for_the_session_is_asked_for_once() -> None:
    @tool(needs_approval=True)
    def write(path: str) -> str:
        """Write."""
        return path

    calls = Reply.of(call("write", {"path": "a"}), call("write", {"path": "a"}, "c2"))
    model = ScriptedModel(calls, call("write", {"path": "a"}, "c3"), "ok")
    async with Agent(model=model, tools=[write]).session() as session:
        session.submit("go")
        await session.next()
        assert len(session.pending_approvals) == 2
        session.approve(session.pending_approvals[0].id, scope=GrantScope.SESSION)
        assert not session.view.pending_approvals
        step = await session.next()

        assert not session.view.pending_approvals
        assert step.result.text == "ok"  # type: ignore[union-attr]


async def test_k02_changes_are_told_and_the_agent_and_other_sessions_know_nothing_of_them() -> None:
    events: list[Any] = []
    model = ScriptedModel("a", "b")
    registry = ToolRegistry([look])
    agent = Agent(model=model, tools=registry, config=LoopConfig())
    async with agent.session() as one, agent.session() as other:
        one.subscribe(lambda envelope: events.append(envelope.event))
        one.settings.options = ModelOptions(seed=7)
        one.settings.tools = []
        await one.prompt("go")
        await other.prompt("go")

    assert any(isinstance(event, SettingsChanged) for event in events)
    assert [one.options.seed for one in model.requests] == [7, None]
    assert [len(one.tools) for one in model.requests] == [0, 1]


def test_the_view_says_what_went_wrong_last() -> None:
    from agentkit_loop.testing import fail

    with Agent(model=ScriptedModel(fail(retryable=False), "ok")).session_blocking() as session:
        session.prompt(Item.user("go"))
        assert session.view.error == "scripted failure"
        assert not session.view.is_running
        session.continue_()
        assert session.view.error is None


async def test_l06_a_turn_goes_on_with_a_higher_limit_and_repeats_no_tool() -> None:
    ran: list[int] = []

    @tool
    def count() -> int:
        """Count."""
        ran.append(1)
        return len(ran)

    model = ScriptedModel(call("count"), call("count", {}, "c2"), "done")
    config = LoopConfig(limits=Limits(max_model_calls=2))
    async with Agent(model=model, tools=[count], config=config).session() as session:
        result = await session.prompt("go")
        assert (result.end, result.limit) == (TurnEnd.LIMIT, "max_model_calls")
        assert result.model_calls == 2
        assert len(session.transcript) == 5
        session.settings.config = LoopConfig(limits=Limits(max_model_calls=5))
        result = await session.continue_()

    assert result.text == "done"
    assert len(ran) == 2


async def test_queue_modes_change_at_any_time_and_each_lane_has_its_own() -> None:
    model = ScriptedModel("a", "b", "c", "d")
    async with Agent(model=model).session() as session:
        session.settings.config = LoopConfig(queue_mode=QueueMode.ONE)
        for text in ("one", "two", "three"):
            session.submit(text)
        await session.next()
        assert [item.text for item in session.transcript] == ["one", "a"]
        session.settings.config = LoopConfig(queue_mode=QueueMode.ALL)
        await session.next()
        assert [item.text for item in session.transcript][2:] == ["two", "three", "b"]


@pytest.mark.parametrize(
    ("mode", "said"), [(QueueMode.ONE, ["a", "b", "c"]), (QueueMode.ALL, ["a"])]
)
async def test_c02_follow_ups_have_a_turn_each_or_one_together(
    mode: QueueMode, said: list[str]
) -> None:
    model = ScriptedModel("first", *said)
    async with Agent(model=model, config=LoopConfig(queue_mode=mode)).session() as session:

        def queue(envelope: Envelope) -> None:
            if isinstance(envelope.event, ModelCallStarted) and not session.view.queued:
                for text in ("one", "two", "three"):
                    session.submit(text)
                leave()

        leave = session.subscribe(queue)
        await session.prompt("go")

        answers = [item.text for item in session.transcript if item.kind == "assistant"]
        assert answers == ["first", *said]
        assert len(session.transcript) == 5 + len(said)


@pytest.mark.parametrize("name", ["options", "tools", "thinking", "config", "model", "transcribt"])
def test_a_setting_that_is_set_on_the_session_itself_is_an_error_and_not_lost(name: str) -> None:
    agent = Agent(model=ScriptedModel())
    with agent.session_blocking() as session, pytest.raises(AttributeError):
        setattr(session, name, None)


def test_settings_say_what_is_used() -> None:
    agent = Agent(model=ScriptedModel("ok", name="m"), tools=[look], instructions="Be brief.")
    with agent.session_blocking() as session:
        settings = session.settings

        assert settings.model == "m"
        assert [item.text for item in settings.instructions] == ["Be brief."]
        assert [spec.name for spec in settings.tools.specs()] == ["look"]
        settings.change_model(ScriptedModel("other", name="n"))
        assert (settings.model, session.prompt("go").text) == ("n", "other")


def test_no_setting_can_be_changed_once_the_session_is_over() -> None:
    with Agent(model=ScriptedModel()).session_blocking() as session:
        session.close()

        with pytest.raises(SessionClosed):
            session.settings.thinking = ThinkingLevel.LOW
        with pytest.raises(SessionClosed):
            session.settings.config = LoopConfig()
        with pytest.raises(SessionClosed):
            session.settings.change_model(ScriptedModel())
