"""The laws of the kernel, tried after every step of many random walks.

`AGENTKIT_WALKS` says how many; each takes a few milliseconds.
"""

import os
from collections import Counter

import pytest

from agentkit_loop import decode_state, encode_state
from agentkit_loop.kernel import Cancel, Close, Emit, Phase, step
from agentkit_loop.testing import walk
from agentkit_loop.testing._walks import is_settled
from support.ledger import Ledger

WALKS = int(os.environ.get("AGENTKIT_WALKS", "5000"))
LENGTH = 150
BLOCK = 100
SEEDS = range(WALKS)
SAMPLE = range(100)
"""Seeds of what is too slow to be tried on all of them."""


def obey(seed: int) -> None:
    """Walk, and try the laws after every step."""
    ledger = Ledger(prefix="said-")
    state = None
    steps = 0
    try:
        for steps, one in enumerate(walk(seed, length=LENGTH)):
            ledger.see(one)
            state = one.after
            assert steps < 3_000, "I-11: a cooperative host reaches idle"
        assert state is not None
        assert is_settled(state)
        assert ledger.requested == ledger.results, "I-3"
    except Exception as error:
        error.add_note(f"in step {steps} of walk({seed}, length={LENGTH})")
        raise


@pytest.mark.parametrize("first", SEEDS[::BLOCK])
def test_the_laws_hold_after_every_step_of_every_walk(first: int) -> None:
    for seed in SEEDS[first : first + BLOCK]:
        obey(seed)


@pytest.mark.parametrize("seed", SAMPLE)
def test_a_saved_state_goes_on_as_if_nothing_had_been_and_a_step_changes_nothing(
    seed: int,
) -> None:
    for one in walk(seed, settle=False):
        if one.before is None or one.given is None:
            continue
        saved = encode_state(one.before)
        loaded = decode_state(saved)

        assert loaded == one.before
        assert step(loaded, one.given, one.now) == (one.after, one.effects)
        assert encode_state(loaded) == saved, "I-7: a step modified its input"
        assert encode_state(one.before) == saved, "I-7: a step modified its input"


@pytest.mark.parametrize("seed", SAMPLE)
def test_a_host_gets_out_after_any_step_and_leaves_a_whole_transcript(seed: int) -> None:
    for one in walk(seed, settle=False):
        state, _ = step(one.after, Cancel(), one.now)

        assert state.phase in (Phase.IDLE, Phase.CLOSED)
        assert state.turn is None
        assert state.transcript.open_calls == ()

        state, _ = step(one.after, Close(), one.now)

        assert state.phase is Phase.CLOSED
        assert (state.out, state.background, state.pending_approvals) == ({}, {}, ())
        assert state.transcript.open_calls == ()


def test_walks_see_something_of_everything() -> None:
    seen = Counter[str]()
    for seed in range(300):
        for one in walk(seed):
            seen.update(
                type(effect.event).__name__ for effect in one.effects if isinstance(effect, Emit)
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
