"""The table: no trap, no row without a handler, no edge that the kernel takes and it has not."""

import pytest

from agentkit_loop import EDGES, Cancel, Close, Phase
from agentkit_loop._phases import HANDLERS
from agentkit_loop._walks import walk


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


@pytest.mark.parametrize("phase", [Phase.CALLING, Phase.BACKOFF, Phase.ROUND, Phase.PAUSED])
def test_a_host_gets_out_of_any_turn_in_one_step(phase: Phase) -> None:
    assert EDGES[phase][Cancel] == {Phase.IDLE}
    assert EDGES[phase][Close] == {Phase.CLOSED}


@pytest.mark.parametrize("phase", Phase)
def test_every_row_has_a_handler_and_every_handler_a_row(phase: Phase) -> None:
    assert set(HANDLERS[phase]) == set(EDGES[phase])


def test_walks_take_only_edges_of_the_table_and_nearly_all_of_them() -> None:
    taken = {
        (one.before.phase, type(one.given), one.after.phase)
        for seed in range(150)
        for one in walk(seed)
        if one.before is not None and one.given is not None
    }
    edges = {
        (phase, given, target)
        for phase, row in EDGES.items()
        for given, targets in row.items()
        for target in targets
    }

    moves = {(one, given, other) for one, given, other in taken if one is not other}
    assert moves <= edges
    assert len(edges - taken) <= 2, sorted(map(str, edges - taken))
