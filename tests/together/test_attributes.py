"""Setting something on an object of the library has an effect or is refused (VL31)."""

import importlib
import pkgutil
from collections.abc import Iterator
from enum import Enum
from typing import Any

import pytest
from msgspec import Struct

from agentkit_loop import Agent
from agentkit_loop.testing import ScriptedModel, say
from agentkit_tools_core import FunctionTool, tool
from support.forms import FORMS, Form
from together.sources import MODULE_OF


def public_classes() -> Iterator[type]:
    """Every class of a public module, except exceptions, enums and protocols."""
    seen: set[type] = set()
    for top in MODULE_OF.values():
        package = importlib.import_module(top)
        names = [module.name for module in pkgutil.walk_packages(package.__path__, f"{top}.")]
        for name in [top, *names]:
            if any(part.startswith("_") for part in name.split(".")):
                continue
            try:
                module = importlib.import_module(name)
            except ImportError as error:
                if "pip install" not in str(error):
                    raise
                continue  # it needs an extra that is not installed here
            for public in getattr(module, "__all__", ()):
                cls = getattr(module, public)
                if not isinstance(cls, type) or not cls.__module__.startswith("agentkit_"):
                    continue
                if issubclass(cls, BaseException | Enum) or getattr(cls, "_is_protocol", False):
                    continue
                if cls not in seen:
                    seen.add(cls)
                    yield cls


CLASSES = list(public_classes())
STRUCTS = [cls for cls in CLASSES if issubclass(cls, Struct)]
OTHERS = [cls for cls in CLASSES if not issubclass(cls, Struct)]


def test_vl31_a_public_struct_is_frozen_or_has_no_room_for_other_attributes() -> None:
    assert STRUCTS
    for cls in STRUCTS:
        assert cls.__struct_config__.frozen or not cls.__dictoffset__, cls


@pytest.mark.parametrize("cls", OTHERS, ids=lambda cls: cls.__qualname__)
def test_vl31_an_attribute_that_a_public_class_does_not_have_is_refused(cls: type) -> None:
    if getattr(cls, "__abstractmethods__", None):
        empty: dict[str, Any] = dict.fromkeys(cls.__abstractmethods__, lambda *_: None)  # type: ignore[attr-defined]
        cls = type("Whole", (cls,), {"__slots__": (), **empty})
    if issubclass(cls, tuple):
        thing: Any = tuple.__new__(cls)
    elif cls is FunctionTool:
        thing = tool(name="t", description="T.")(lambda: "")
    else:
        thing = cls.__new__(cls)

    with pytest.raises(AttributeError):
        thing.nonsense = 1


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "name", ["model", "options", "instructions", "tools", "config", "id", "settings", "view"]
)
def test_vl31_what_is_set_on_a_session_instead_of_its_settings_is_refused(
    form: str, name: str
) -> None:
    forms = Form(form)

    async def test() -> None:
        async with forms.opened(Agent(model=ScriptedModel(say("x")))) as session:
            with pytest.raises(AttributeError):
                setattr(session, name, object())

    forms.run(test)


@pytest.mark.parametrize("name", ["model", "tools", "instructions", "_nonsense"])
def test_vl31_an_agent_takes_nothing_either(name: str) -> None:
    agent = Agent(model=ScriptedModel(say("x")))
    with pytest.raises(AttributeError):
        setattr(agent, name, object())


@pytest.mark.parametrize("name", ["model", "nonsense"])
def test_vl31_settings_refuse_what_they_cannot_set(name: str) -> None:
    agent = Agent(model=ScriptedModel(say("x")))
    with agent.session_blocking() as session, pytest.raises(AttributeError):
        setattr(session.settings, name, object())
