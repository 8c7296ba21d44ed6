"""The table: no trap, no row without a handler, no edge that the kernel takes and it has not."""

import runpy
from collections.abc import Callable
from pathlib import Path

import pytest

from agentkit_core import Item, ToolCallId, Usage
from agentkit_loop import BackgroundDone, LoopConfig, SteerPolicy, TurnEnd
from agentkit_loop.kernel import (
    EDGES,
    Cancel,
    CancelCall,
    Close,
    EffectLost,
    HookPoints,
    Input,
    Phase,
    PreflightAllowed,
    PreflightAsked,
    PreflightRefused,
    Prepare,
    Prepared,
    Resolve,
    StartTool,
    Submit,
    TimerFired,
    TimerKind,
    ToolAsked,
    ToolDone,
    ToolProgressed,
    ToolSpent,
)
from agentkit_loop.kernel._phases import HANDLERS
from support.rig import Rig
from support.table_edges import AFTER_ROUND, ALL, BEGINS_TURN, ENDS_ROUND, IN_A_TURN, RARE

ROOT = Path(__file__).resolve().parents[3]


def reachable(phase: Phase) -> set[Phase]:
    found = {phase}
    waiting = [phase]
    while waiting:
        for targets in EDGES[waiting.pop()].values():
            waiting += targets - found
            found |= targets
    return found


@pytest.mark.parametrize("phase", [phase for phase in Phase if phase is not Phase.CLOSED])
def test_no_phase_is_a_trap(phase: Phase) -> None:
    assert reachable(phase) == set(Phase)


def test_nothing_follows_closed() -> None:
    assert reachable(Phase.CLOSED) == {Phase.CLOSED}


@pytest.mark.parametrize("phase", IN_A_TURN)
def test_a_host_gets_out_of_any_turn_in_one_step(phase: Phase) -> None:
    assert EDGES[phase][Cancel] == {Phase.IDLE}
    assert EDGES[phase][Close] == {Phase.CLOSED}


@pytest.mark.parametrize("phase", Phase)
def test_every_row_has_a_handler_and_every_handler_a_row(phase: Phase) -> None:
    assert set(HANDLERS[phase]) == set(EDGES[phase])


# a call in the background changes no phase of a turn


def in_phase(phase: Phase) -> Rig:
    """A rig in a phase of a turn, beside a call that goes on in the background."""
    hooks = HookPoints(mutators=True, request=True, finish=True)
    rig = Rig(LoopConfig(yield_after_round=True), hooks=hooks).ask().mutated().answer("bg")
    rig.allow("bg", detach_after_s=0, timeout_s=9.0)
    if phase is not Phase.PAUSED:
        rig.go_on()
        rig.prepares = False
    if phase not in (Phase.PAUSED, Phase.MUTATING):
        rig.mutated()
    if phase not in (Phase.PAUSED, Phase.MUTATING, Phase.PREPARING):
        rig.give(Prepared(rig.out(Prepare).id))
    match phase:
        case Phase.BACKOFF:
            rig.fail()
        case Phase.ROUND:
            rig.answer("x")
        case Phase.FINISHING:
            rig.answer()
        case _:
            pass
    assert rig.state.phase is phase
    return rig


ASIDE: dict[str, Callable[[Rig], Rig]] = {
    "begins": lambda rig: rig.begin("bg"),
    "progresses": lambda rig: rig.give(ToolProgressed(rig.out(StartTool, "bg").id, "half")),
    "spends": lambda rig: rig.give(ToolSpent(rig.out(StartTool, "bg").id, Usage(requests=1))),
    "asks": lambda rig: rig.stop_to_ask("bg", "which"),
    "is answered": lambda rig: rig.stop_to_ask("bg", "which").resolve("which"),
    "is denied": lambda rig: rig.stop_to_ask("bg", "which").resolve("which", approve=False),
    "is done": lambda rig: rig.done("bg"),
    "times out": lambda rig: rig.ring(TimerKind.TIMEOUT),
    "is cancelled": lambda rig: rig.give(CancelCall(ToolCallId("bg"))),
    "is lost": lambda rig: rig.begin("bg").lose(StartTool, "bg"),
}


@pytest.mark.parametrize("phase", IN_A_TURN)
@pytest.mark.parametrize("what", ASIDE)
def test_what_becomes_of_a_background_call_changes_no_phase_of_a_turn(
    phase: Phase, what: str
) -> None:
    rig = in_phase(phase)
    before = rig.state.transcript

    ASIDE[what](rig)

    assert rig.state.phase is phase
    assert rig.state.transcript == before, "a notice waits for a safe point"


@pytest.mark.parametrize("phase", IN_A_TURN)
@pytest.mark.parametrize("given", [Cancel(), Close()])
def test_a_host_really_gets_out_and_every_effect_of_the_turn_is_given_up(
    phase: Phase, given: Cancel | Close
) -> None:
    rig = in_phase(phase).give(given)

    assert rig.state.phase is (Phase.IDLE if isinstance(given, Cancel) else Phase.CLOSED)
    assert rig.result.end is TurnEnd.CANCELLED
    kept = rig.state.background.values() if isinstance(given, Cancel) else ()
    owned = {one for call in kept for one in (call.effect_id, call.timeout_id)}
    assert rig.state.out.keys() == owned


# edges that random walks hardly ever come by: whatever ends a round, or begins a turn by itself


def has_nothing_to_ask(rig: Rig) -> Rig:
    return rig.ask_for("a", detach_after_s=0)


END_ROUND: dict[type[Input], Callable[[Rig], Rig]] = {
    Submit: lambda rig: rig.steer(),
    Resolve: lambda rig: rig.ask_for("a", "write").resolve("write", approve=False),
    CancelCall: lambda rig: rig.give(CancelCall(ToolCallId("a"))),
    PreflightAllowed: lambda rig: rig.allow("a", detach_after_s=0),
    PreflightRefused: lambda rig: rig.refuse("a"),
    PreflightAsked: has_nothing_to_ask,
    ToolAsked: lambda rig: (
        rig.allow("a").stop_to_ask("a", "one").resolve("one").stop_to_ask("a", "two")
    ),
    ToolDone: lambda rig: rig.allow("a").done("a"),
    TimerFired: lambda rig: rig.allow("a", timeout_s=9.0).ring(),
    EffectLost: lambda rig: rig.allow("a").begin("a").lose(StartTool),
}
HOOKS_FOR = {
    Phase.CALLING: HookPoints(),
    Phase.PREPARING: HookPoints(request=True),
    Phase.MUTATING: HookPoints(mutators=True, request=True),
    Phase.PAUSED: HookPoints(),
    Phase.IDLE: HookPoints(),
}
"""Where a round may lead, and the hooks that lead there."""
BEGIN_TURN: dict[type[Input], Callable[[Rig], Rig]] = {
    Resolve: lambda rig: rig.stop_to_ask("a", "write").resolve("write", approve=False),
    CancelCall: lambda rig: rig.give(CancelCall(ToolCallId("a"))),
    ToolAsked: lambda rig: rig.stop_to_ask("a", "one").resolve("one").stop_to_ask("a", "two"),
    ToolDone: lambda rig: rig.done("a"),
    TimerFired: lambda rig: rig.ring(),
    EffectLost: lambda rig: rig.begin("a").lose(StartTool),
}


@pytest.mark.parametrize("given", ENDS_ROUND)
@pytest.mark.parametrize("target", AFTER_ROUND)
def test_whatever_ends_a_round_leads_where_the_configuration_says(
    given: type[Input], target: Phase
) -> None:
    config = LoopConfig(
        steer_policy=SteerPolicy.SKIP_UNSTARTED,
        yield_after_round=target is Phase.PAUSED,
        max_asks_per_call=1,
    )
    rig = Rig(config, hooks=HOOKS_FOR[target]).ask()
    if target is Phase.MUTATING:
        rig.mutated()
    rig.answer("first", "a").refuse("first", stop=target is Phase.IDLE)
    rig.prepares = False

    END_ROUND[given](rig)

    assert rig.state.phase is target
    assert target in EDGES[Phase.ROUND][given]


@pytest.mark.parametrize("given", BEGINS_TURN)
@pytest.mark.parametrize("target", [Phase.CALLING, Phase.PREPARING, Phase.MUTATING])
def test_whatever_ends_a_background_call_begins_a_turn_if_it_may(
    given: type[Input], target: Phase
) -> None:
    config = LoopConfig(max_asks_per_call=1, background_done=BackgroundDone.CONTINUE)
    rig = Rig(config, hooks=HOOKS_FOR[target]).ask()
    mutate = target is Phase.MUTATING
    if mutate:
        rig.mutated()
    rig.answer("a").allow("a", detach_after_s=0, timeout_s=9.0)
    if mutate:
        rig.mutated()
    rig.answer()
    rig.prepares = False

    BEGIN_TURN[given](rig)

    assert rig.state.phase is target
    assert rig.state.phase in EDGES[Phase.IDLE][given]


def test_every_rare_edge_stands_in_the_table() -> None:
    assert ALL >= RARE


def test_a_turn_may_end_without_a_call_of_the_model() -> None:
    rig = Rig(hooks=HookPoints(mutators=True, finish=True)).ask()
    rig.mutated(Item.user("x"), Item.assistant("y"))

    assert rig.state.phase is Phase.IDLE


# the page


def test_the_diagram_in_the_docs_is_the_table() -> None:
    script = ROOT / "docs" / "diagrams" / "kernel.py"
    replace_diagram = runpy.run_path(str(script))["replace_diagram"]
    page = (ROOT / "docs" / "kernel.md").read_text(encoding="utf-8")

    assert replace_diagram(page) == page, f"if you mean it: python {script}"


@pytest.mark.parametrize("phase", Phase)
def test_the_page_explains_every_phase(phase: Phase) -> None:
    page = (ROOT / "docs" / "kernel.md").read_text(encoding="utf-8")

    assert f"| `{phase}` |" in page
