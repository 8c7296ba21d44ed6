"""States that older versions stored go on as states of today."""

import json
from pathlib import Path

import pytest

from agentkit_core import Item, TextOutput, TokenUsage, ToolFailure
from agentkit_loop import TurnEnd, decode_state, encode_state
from agentkit_loop.events import ModelCallStarted
from agentkit_loop.kernel import (
    Close,
    Continue,
    HookPoints,
    Phase,
    Prepare,
    Prepared,
    StartTool,
    State,
    Submit,
    step,
)
from agentkit_loop.kernel._effects import Persist
from agentkit_loop.persistence._records import LogEntry, Saved
from agentkit_loop.persistence._snapshot import decode_head, encode_head
from support.rig import Rig

STATES = Path(__file__).parents[1] / "states"


def stored(name: str) -> State:
    return decode_state((STATES / f"{name}.json").read_bytes())


def test_an_idle_state_of_version_1_goes_on() -> None:
    rig = Rig(state=stored("v1_idle"))
    assert rig.state.config.max_parallel == 2

    rig.go_on().answer("a")

    assert rig.kinds == "user assistant tool assistant user assistant"
    # The ids that it had seen are known still.
    assert rig.last.tool_calls[0].id != "a"


def test_a_state_of_version_1_in_the_middle_of_a_round_goes_on_to_the_end_of_its_turn() -> None:
    rig = Rig(state=stored("v1_round"))
    assert [ask.id for ask in rig.state.pending_approvals] == ["write:x"]
    assert rig.turn.tool_calls == 5

    rig.resolve("write:x").done("b", "c", "d").answer()

    assert rig.kinds == "user assistant tool assistant tool user assistant"
    assert [one.call_id for one in rig.state.transcript[4].tool_results] == list("abcd")
    result = rig.result
    assert (result.end, result.model_calls, result.tool_calls) == (TurnEnd.COMPLETED, 3, 5)
    kinds = [item.kind.value for item in result.items]
    assert kinds == ["assistant", "tool", "assistant", "tool", "assistant"]
    assert result.usage.tokens == TokenUsage(input=11, output=2)


def test_a_tool_that_a_state_of_version_1_had_asked_for_is_not_begun_a_second_time() -> None:
    rig = Rig(state=stored("v1_round")).crash()

    assert not any(isinstance(one, StartTool) for one in rig.effects)
    rig.cancel()
    assert rig.result_of("b").failure is ToolFailure.OUTCOME_UNKNOWN
    assert rig.result_of("a").output == TextOutput("r")


def test_a_retry_of_version_1_makes_its_request_first() -> None:
    rig = Rig(state=stored("v1_backoff"), prepares=False).ring()

    assert rig.trace == "!prepare"
    rig.give(Prepared(rig.out(Prepare).id))
    assert any(isinstance(one, ModelCallStarted) and one.attempt == 2 for one in rig.events)


def test_a_model_call_of_version_1_that_was_lost_is_made_again() -> None:
    rig = Rig(state=stored("v1_calling")).crash().answer()

    assert rig.kinds == "user assistant tool assistant"
    assert rig.result.usage.requests == 3


@pytest.mark.parametrize("path", sorted(STATES.glob("*.json")), ids=lambda path: path.stem)
def test_an_upgraded_state_is_one_of_today(path: Path) -> None:
    state = decode_state(path.read_bytes())

    assert decode_state(encode_state(state)) == state
    for given in (Close(), Continue(), Submit((Item.user("x"),))):
        after, _ = step(state, given, 0)
        assert decode_state(encode_state(after)) == after
    closed, _ = step(state, Close(), 0)
    assert (closed.phase, closed.out, closed.transcript.open_calls) == (Phase.CLOSED, {}, ())


def test_a_head_and_its_log_make_the_whole_state() -> None:
    rig = Rig(hooks=HookPoints(mutators=True)).ask().mutated().answer("a").allow("a").done("a")
    rig.mutated(Item.user("summary")).answer("b")
    log: list[LogEntry] = []
    for effect in rig.effects:
        if isinstance(effect, Persist):
            log.append(LogEntry(effect.revision, effect.items, effect.rewrite))
    first = LogEntry(1, (Item.user("hi"),))

    saved = Saved(1, encode_head(rig.state, (), 9), (first, *log))
    loaded = decode_head(saved)

    assert loaded.state == rig.state
    assert loaded.state.retired_calls == {"a"}
    assert loaded.seq == 9


def test_case_32_what_is_saved_of_a_step_does_not_grow_with_the_history() -> None:
    def head_of(turns: int) -> bytes:
        rig = Rig(history=(Item.user("hi"), Item.assistant("t")) * turns).ask()
        return encode_head(rig.state, rig.effects, 0)

    assert len(head_of(200)) - len(head_of(2)) < 20
    assert b"transcript" not in json.loads(head_of(2))
