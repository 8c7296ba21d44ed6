"""A stored conversation goes on under another version of its agent (VL02)."""

from collections.abc import Callable
from typing import Any

import pytest

from agentkit_core import ModelOptions, SessionId
from agentkit_loop import Agent, Limits, LoopConfig
from agentkit_loop.events import Diagnostic, Event, SettingsChanged
from agentkit_loop.stores import MemoryStore
from agentkit_loop.testing import ScriptedModel, say
from agentkit_tools_core import tool
from support.forms import FORMS, Form

NAME = SessionId("kept")


def named(name: str) -> Any:
    return tool(name=name, description="Do it.")(lambda: name)


def agent(version: int, model: ScriptedModel, events: list[Event], **own: Any) -> Agent:
    """One version of the agent; all that it says of itself is different in each."""
    says: dict[str, Any] = {
        "instructions": f"This is version {version}.",
        "options": ModelOptions(max_output_tokens=version),
        "config": LoopConfig(limits=Limits(max_model_calls=version)),
        "tools": [named(f"tool_{version}")],
        **own,
    }
    return Agent(model=model, reporters=[lambda told: events.append(told.event)], **says)


SETTINGS: dict[str, tuple[Any, Callable[[ScriptedModel], Any]]] = {
    "instructions": ("My own.", lambda model: model.requests[-1].items[0].text),
    "options": (
        ModelOptions(max_output_tokens=77),
        lambda model: model.requests[-1].options,
    ),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kept_as", ["store", "snapshot", "fork"])
def test_vl02_what_the_agent_says_now_counts_for_a_new_turn(form: str, kept_as: str) -> None:
    forms, store, events = Form(form), MemoryStore(), list[Event]()
    model = ScriptedModel(say("two"))

    async def test() -> None:
        first = agent(1, ScriptedModel(say("one")), [])
        in_store: dict[str, Any] = {"session_id": NAME, "store": store}
        options = in_store if kept_as == "store" else {}
        async with forms.opened(first, **options) as session:
            await forms.do(session, "prompt", "hi")
            snapshot = session.fork() if kept_as == "fork" else session.snapshot()
        second = agent(2, model, events)
        way: Any = ("session",) if kept_as == "store" else ("resume", snapshot)
        async with forms.opened(second, *way, **options) as session:
            await forms.do(session, "prompt", "again")
            assert session.settings.config.limits.max_model_calls == 2
        (request,) = model.requests
        assert request.items[0].text == "This is version 2."
        assert request.options.max_output_tokens == 2
        assert [spec.name for spec in request.tools] == ["tool_2"]
        (changed,) = (event for event in events if isinstance(event, SettingsChanged))
        assert set(changed.names) == {"options", "instructions", "config"}

    forms.run(test)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("setting", SETTINGS)
def test_vl02_what_a_session_has_set_for_itself_is_kept_and_told(form: str, setting: str) -> None:
    forms, store, events = Form(form), MemoryStore(), list[Event]()
    value, read = SETTINGS[setting]
    model = ScriptedModel(*map(say, "23"))

    async def test() -> None:
        first = agent(1, ScriptedModel(say("one")), [])
        async with forms.opened(first, session_id=NAME, store=store) as session:
            setattr(session.settings, setting, value)
            await forms.do(session, "prompt", "hi")
        for version in (2, 3):
            later = agent(version, model, events)
            async with forms.opened(later, session_id=NAME, store=store) as session:
                await forms.do(session, "prompt", "again")
            assert read(model) == value
        told = [event.message for event in events if isinstance(event, Diagnostic)]
        assert len(told) == 2
        assert all(f"keeps its own {setting}" in message for message in told)

    forms.run(test)


@pytest.mark.parametrize("form", FORMS)
def test_vl02_a_model_that_a_session_had_changed_to_is_missed_aloud(form: str) -> None:
    forms, store, events = Form(form), MemoryStore(), list[Event]()

    class Other(ScriptedModel):
        @property
        def name(self) -> str:
            return "other"

    async def test() -> None:
        first = agent(1, ScriptedModel(), [])
        async with forms.opened(first, session_id=NAME, store=store) as session:
            session.settings.change_model(Other(say("one")))
            await forms.do(session, "prompt", "hi")
        later = agent(1, ScriptedModel(say("two")), events)
        async with forms.opened(later, session_id=NAME, store=store) as session:
            await forms.do(session, "prompt", "hi")
        (told,) = (event.message for event in events if isinstance(event, Diagnostic))
        assert "'other'" in told
        assert "change_model" in told

    forms.run(test)


@pytest.mark.parametrize("form", FORMS)
def test_vl02_the_same_version_tells_nothing(form: str) -> None:
    forms, store, events = Form(form), MemoryStore(), list[Event]()

    async def test() -> None:
        for at in range(3):
            again = agent(1, ScriptedModel(say(str(at))), events)
            async with forms.opened(again, session_id=NAME, store=store) as session:
                await forms.do(session, "prompt", "hi")

    forms.run(test)
    assert not [event for event in events if isinstance(event, SettingsChanged | Diagnostic)]


@pytest.mark.parametrize("form", FORMS)
def test_vl02_instructions_that_became_a_function_or_none_count_too(form: str) -> None:
    forms, store, model = Form(form), MemoryStore(), ScriptedModel(*map(say, "23"))

    async def test() -> None:
        first = agent(1, ScriptedModel(say("one")), [])
        async with forms.opened(first, session_id=NAME, store=store) as session:
            await forms.do(session, "prompt", "hi")
        for instructions in (lambda _: "Worked out.", None):
            later = agent(2, model, [], instructions=instructions)
            async with forms.opened(later, session_id=NAME, store=store) as session:
                await forms.do(session, "prompt", "again")
        assert [request.items[0].text for request in model.requests] == ["Worked out.", "hi"]

    forms.run(test)
