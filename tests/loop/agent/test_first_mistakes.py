"""A first mistake is told in one line: what, where, and what to write instead (VU09)."""

from typing import Any

import pytest

from agentkit_core import Item
from agentkit_loop import Agent, Hook, InvalidResultType, Limits, SessionLimits
from agentkit_loop.events import Envelope
from agentkit_loop.testing import ScriptedModel, say
from agentkit_tools_core.testing import ScriptedTool
from support.forms import FORMS, Form

WRONG: dict[str, tuple[Any, str]] = {
    "dict": ([{"role": "user", "content": "hi"}], r'\[0\] is a dict, .*Item\.user\("…"\)'),
    "later": ([Item.user("a"), {"role": "assistant"}], r"\[1\] is a dict, .*Item\.assistant"),
    "one dict": ({"role": "user"}, r"is a dict; use .*Item\.user"),
    "text": (["hi"], r"\[0\] is a str"),
    "number": (5, "is a int"),
    "bytes": (b"hi", "is a bytes"),
}
PLACES = ["prompt", "history", "instructions", "settings", "submit", "steer", "stream"]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", WRONG)
def test_vu09_what_is_no_item_is_refused_where_it_is_given(
    form: str, place: str, name: str
) -> None:
    forms, (wrong, words) = Form(form), WRONG[name]
    model = ScriptedModel(say("x"))

    async def test() -> None:
        if place == "history":
            await forms.do(Agent(model=model), "run", "hi", history=wrong)
        elif place == "instructions":
            Agent(model=model, instructions=wrong)
        elif place == "prompt":
            await forms.do(Agent(model=model), "run", wrong)
        else:
            async with forms.opened(Agent(model=model)) as session:
                if place == "settings":
                    session.settings.instructions = wrong
                else:
                    await forms.do(session, place, wrong)

    what = {"history": "history", "instructions": "instructions", "settings": "instructions"}
    if what.get(place) == "instructions":
        words = words.replace(r"Item\.user", "Item.*")
    with pytest.raises(TypeError, match=f"^{what.get(place, 'prompt')}.*{words}") as raised:
        forms.run(test)
    assert "\n" not in str(raised.value)
    assert not model.requests


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", [complex, int | complex, list[complex], 5])
def test_vu09_a_type_that_cannot_be_a_result_is_called_what_the_caller_calls_it(
    form: str, kind: Any
) -> None:
    forms, model = Form(form), ScriptedModel(say("x"))
    with pytest.raises(InvalidResultType, match="`result_type`") as raised:
        forms.run(lambda: forms.do(Agent(model=model), "run", "hi", result_type=kind))
    assert "final_result" not in str(raised.value)
    assert "parameter" not in str(raised.value)
    assert not model.requests


def note(envelope: Envelope) -> None:
    """A reporter that does nothing."""


class Nothing(Hook):
    """A hook that does nothing."""


GIVEN: dict[str, tuple[dict[str, Any], str]] = {
    "one reporter": ({"reporters": note}, r"reporters is <.*; use a list, .*reporters=\[…\]"),
    "one hook": ({"hooks": Nothing()}, r"hooks is <.*; use a list"),
    "one mutator": ({"mutators": note}, r"mutators is <.*; use a list"),
    "one tool": ({"tools": ScriptedTool("a")}, r"tools is <.*; use a list"),
    "a class": ({"hooks": [Nothing]}, "Nothing.*is not a hook; use an object"),
    "a function": ({"hooks": [note]}, "note.*is not a hook; use an object"),
    "an object": ({"dependencies": 3}, "dependencies is 3; use a Mapping"),
}


@pytest.mark.parametrize("name", GIVEN)
def test_vu09_what_an_agent_cannot_use_is_refused_where_it_is_given(name: str) -> None:
    wrong, words = GIVEN[name]
    with pytest.raises(TypeError, match=words):
        Agent(model=ScriptedModel(say("x")), **wrong)


@pytest.mark.parametrize("kind", [Limits, SessionLimits])
def test_vu09_money_without_a_currency_is_refused(kind: type[Limits]) -> None:
    with pytest.raises(TypeError, match=rf"{kind.__name__}\.max_cost is 3; use a dict"):
        kind(max_cost=3)  # type: ignore[arg-type]
