"""A first mistake is told in one line: what, where, and what to write instead (VU09)."""

from typing import Any

import pytest

from agentkit_core import Item
from agentkit_loop import Agent, InvalidResultType
from agentkit_loop.testing import ScriptedModel, say
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
