"""A model whose answer its provider rejects is asked again, a bounded number of times."""

from __future__ import annotations

import pytest

from agentkit_core import FailureKind
from agentkit_loop import Agent, TurnEnd
from agentkit_loop.testing import ManualClock, ScriptedModel, fail, say

REJECTED = fail(FailureKind.INVALID_ANSWER)


@pytest.mark.parametrize("times", [1, 2])
def test_vp11_the_model_is_asked_again(times: int) -> None:
    model = ScriptedModel(*[REJECTED] * times, say("It rains."))

    turn = Agent(model=model, clock=ManualClock()).run_blocking("go")

    assert (turn.text, len(model.requests)) == ("It rains.", times + 1)


def test_vp11_a_model_that_never_gets_better_ends_the_turn_and_the_session_goes_on() -> None:
    model = ScriptedModel(*[REJECTED] * 3, say("At last."))

    with Agent(model=model, clock=ManualClock()).session_blocking() as session:
        turn = session.prompt("go")
        assert (turn.end, turn.failure) == (TurnEnd.ERROR, REJECTED)
        assert session.prompt("Again.").text == "At last."
