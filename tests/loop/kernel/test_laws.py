"""The laws of the kernel, tried after every step of many random walks.

`AGENTKIT_WALKS` says how many walks; each takes a few milliseconds.
"""

import os
from collections import Counter
from collections.abc import Iterator
from functools import cache

import pytest

from agentkit_core import ApprovalRequest
from agentkit_loop import WaitingForApproval, decode_state, encode_state
from agentkit_loop.kernel import Cancel, Close, Effect, Emit, Phase, Yield, step
from agentkit_loop.kernel._step import step_all
from agentkit_loop.testing import WalkStep, walk
from agentkit_loop.testing._walks import is_settled
from support.ledger import Ledger
from support.table_edges import ALL, RARE, Edge, edge_of

WALKS = int(os.environ.get("AGENTKIT_WALKS", "1000"))
ENOUGH = 1000
"""How many walks take every edge of the table, with some to spare."""
LENGTH = 150
BLOCK = 100
SEEDS = range(WALKS)
SAMPLE = range(max(20, WALKS // 25))
"""Seeds of what is too slow to be tried on all of them."""
SMALL_BLOCK = 20
MOST_STEPS = 3_000


def obey(seed: int) -> set[Edge]:
    """Walk, try the laws after every step, and return the edges that were taken."""
    ledger = Ledger(prefix="said-")
    edges = set[Edge]()
    state = None
    steps = 0
    try:
        for steps, walked in enumerate(walk(seed, length=LENGTH)):
            ledger.see(walked)
            state = walked.after
            edge = edge_of(walked)
            if edge is not None:
                edges.add(edge)
            assert steps < MOST_STEPS, "I-11: a cooperative host reaches idle"
        assert state is not None
        assert is_settled(state)
        assert ledger.calls.requested == ledger.calls.results, "I-3"
    except Exception as error:
        error.add_note(f"in step {steps} of walk({seed}, length={LENGTH})")
        raise
    return edges


@cache
def obey_block(first: int) -> frozenset[Edge]:
    """Obey on a block of seeds; a process does so once, for the laws and for the edges."""
    return frozenset[Edge]().union(*map(obey, SEEDS[first : first + BLOCK]))


@pytest.mark.parametrize("first", SEEDS[::BLOCK])
def test_the_laws_hold_after_every_step_of_every_walk(first: int) -> None:
    obey_block(first)


@pytest.mark.skipif(WALKS < ENOUGH, reason="so few walks do not take every edge")
def test_walks_take_only_edges_of_the_table_and_all_but_the_rarest() -> None:
    taken = set[Edge]()
    for first in SEEDS[:ENOUGH:BLOCK]:
        taken |= obey_block(first)
        if taken | RARE >= ALL:
            break

    moves = {(phase, kind, target) for phase, kind, target in taken if phase is not target}
    assert moves <= ALL
    assert ALL - taken - RARE == set(), sorted(map(str, ALL - taken - RARE))


def sampled_steps(first: int) -> Iterator[WalkStep]:
    """The steps of all walks of a small block."""
    for seed in SAMPLE[first : first + SMALL_BLOCK]:
        yield from walk(seed, settle=False)


@pytest.mark.parametrize("first", SAMPLE[::SMALL_BLOCK])
def test_a_saved_state_goes_on_as_if_nothing_had_been_and_a_step_changes_nothing(
    first: int,
) -> None:
    for walked in sampled_steps(first):
        if walked.before is None or walked.input is None:
            continue
        saved = encode_state(walked.before)
        loaded = decode_state(saved)

        assert loaded == walked.before
        assert step(loaded, walked.input, walked.now) == (walked.after, walked.effects)
        assert encode_state(loaded) == saved, "I-7: a step modified its input"
        assert encode_state(walked.before) == saved, "I-7: a step modified its input"


@pytest.mark.parametrize("first", SAMPLE[::SMALL_BLOCK])
def test_a_host_gets_out_after_any_step_and_leaves_a_whole_transcript(first: int) -> None:
    for walked in sampled_steps(first):
        state, _ = step(walked.after, Cancel(), walked.now)

        assert state.phase in (Phase.IDLE, Phase.CLOSED)
        assert state.turn is None
        assert state.transcript.open_calls == ()

        state, _ = step(walked.after, Close(), walked.now)

        assert state.phase is Phase.CLOSED
        assert (state.out, state.background, state.pending_approvals) == ({}, {}, ())
        assert state.transcript.open_calls == ()


def test_walks_see_something_of_everything() -> None:
    seen = Counter[str]()
    for seed in range(300):
        for walked in walk(seed):
            seen.update(
                type(effect.event).__name__ for effect in walked.effects if isinstance(effect, Emit)
            )

    for event in (
        "RetryScheduled", "AttemptSuperseded", "ApprovalResolved", "ToolProgress", "Diagnostic",
        "InputRejected", "InputWithdrawn", "RunFinished", "ToolResultReceived", "ToolDetached",
        "ModelCallFinished", "ToolCatalogChanged", "TranscriptRewritten", "SettingsChanged",
    ):  # fmt: skip
        assert seen[event] >= 50, event


def test_a_walk_depends_on_its_seed_alone() -> None:
    assert list(walk(7)) == list(walk(7))
    assert list(walk(7)) != list(walk(8))


@pytest.mark.parametrize("length", [2, 5, 40])
@pytest.mark.parametrize("first", SAMPLE[::SMALL_BLOCK])
def test_inputs_that_come_together_have_the_effects_of_single_steps(
    first: int, length: int
) -> None:
    for seed in SAMPLE[first : first + SMALL_BLOCK]:
        check_together(seed, length)


def check_together(seed: int, length: int) -> None:
    begun, *walked = walk(seed, length=LENGTH)
    state = begun.after
    for first in range(0, len(walked), length):
        part, now = walked[first : first + length], walked[first].now
        inputs = [each.input for each in part if each.input is not None]
        together = step_all(state, inputs, now)

        effects: tuple[Effect, ...] = ()
        for each in inputs:
            state, more = step(state, each, now)
            effects += more

        at = f"walk({seed}, length={LENGTH}), from step {first}"
        after, told = together
        assert (after, without_approvals(told)) == (state, without_approvals(effects)), at
        # Of these statuses only the last one reaches the host: it shows what is pending then.
        shown = [requests for each in told if (requests := shown_by(each)) is not None]
        assert shown in ([after.pending_approvals], []), at
        are_shown = len(without_approvals(effects)) < len(effects)
        assert shown or not (after.pending_approvals and are_shown), at


def shown_by(effect: Effect) -> tuple[ApprovalRequest, ...] | None:
    status = effect.status if isinstance(effect, Yield) else None
    return status.requests if isinstance(status, WaitingForApproval) else None


def without_approvals(effects: tuple[Effect, ...]) -> list[Effect]:
    return [effect for effect in effects if shown_by(effect) is None]
