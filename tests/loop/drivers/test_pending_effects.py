"""The queue of effects that have not begun is that of a list, whatever is taken out of it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agentkit_core import ToolCall, ToolCallId
from agentkit_loop.drivers._pending_effects import PendingEffects
from agentkit_loop.kernel import AnsweredEffect, EffectId, StartTimer, StartTool


def effect(number: int) -> AnsweredEffect:
    return StartTool(EffectId(f"e{number}"), ToolCall(ToolCallId(f"c{number}"), "t", {}))


ACTIONS = st.one_of(
    st.sampled_from(["add", "take", "put back"]), st.tuples(st.just("discard"), st.integers(1, 9))
)  # fmt: skip


@given(st.lists(ACTIONS, max_size=30))
def test_effects_come_in_order_and_those_that_had_begun_first(
    actions: list[str | tuple[str, int]],
) -> None:
    pending, expected, taken, number = PendingEffects(), list[AnsweredEffect](), [], 0
    for action in actions:
        match action:
            case "add":
                number += 1
                pending.add(effect(number))
                expected.append(effect(number))
            case "take" if expected:
                assert pending.first == expected[0]
                taken.append(pending.take_first())
                assert taken[-1] == expected.pop(0)
            case "put back":
                pending.put_back(taken)
                expected[:0], taken = taken, []
            case ("discard", int(at)):
                pending.pop(EffectId(f"e{at}"), None)
                expected = [each for each in expected if each.id != f"e{at}"]
            case _:
                pass
        assert list(pending.values()) == expected
        assert (len(pending), bool(pending)) == (len(expected), bool(expected))


def test_only_calls_that_may_detach_and_timers_are_looked_at() -> None:
    pending = PendingEffects()
    pending.add(effect(1))
    assert (pending.has_detaching, pending.has_timers) == (False, False)

    pending.add(StartTimer(id=EffectId("e3"), at=0, call_id=ToolCallId("c1")))
    assert (pending.has_detaching, pending.has_timers) == (False, True)

    call = ToolCall(ToolCallId("c4"), "t", {})
    pending.put_back([StartTool(EffectId("e4"), call, detaches=True)])
    assert (pending.has_detaching, pending.has_timers) == (True, True)
    assert list(pending) == ["e4", "e1", "e3"]
