"""Kills: a process is killed at any moment of its life, and another resumes from the store.

The moments are spread over the whole life: each is a number of points that the process reaches,
and up to two milliseconds more. In some lives the process that resumes is killed as well.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import msgspec
import pytest

from agentkit_loop.stores import SqliteStore
from support.crashing import (
    NAME,
    AnyStore,
    check_effects,
    check_events,
    check_transcript,
    started_in,
)
from support.examples import thorough
from support.killed import Order, Outcome, effects_in, envelopes_in, open_store

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")
_KILLS = {
    ("blocking", "file"): thorough(10, 96),
    ("blocking", "sqlite"): thorough(10, 96),
    ("asyncio", "sqlite"): thorough(6, 48),
    ("trio", "file"): thorough(6, 48),
}
"""How many lives for each driver and store. A driver knows nothing of what its store is, so each
meets one at least and each store meets both kinds of driver."""


class Nursery:
    """A process that has loaded everything and forks a child for each life."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def run(self, order: Order) -> Outcome:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(msgspec.json.encode(order).decode() + "\n")
        self._process.stdin.flush()
        outcome = msgspec.json.decode(self._process.stdout.readline(), type=Outcome)
        assert not outcome.error, outcome.error
        return outcome


@pytest.fixture(scope="module")
def nursery(root: Path) -> Iterator[Nursery]:
    paths = os.pathsep.join([str(root / "tests"), *filter(None, sys.path)])
    with subprocess.Popen(
        [sys.executable, "-m", "support.killed"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": paths},
        text=True,
    ) as process:
        yield Nursery(process)
        assert process.stdin is not None
        process.stdin.close()


@contextmanager
def closing_store(kind: str, folder: Path) -> Iterator[AnyStore]:
    """Open the store of a life that is over, as one more process would."""
    store = open_store(kind, folder)
    try:
        yield store
    finally:
        if isinstance(store, SqliteStore):
            store.close()


@pytest.mark.slow
@pytest.mark.parametrize(("driver", "store"), list(_KILLS))
def test_a_process_may_be_killed_at_any_moment(
    nursery: Nursery, tmp_path: Path, driver: str, store: str
) -> None:
    def life(number: int) -> Path:
        folder = tmp_path / str(number)
        folder.mkdir()
        return folder

    whole = nursery.run(Order(str(life(0)), store, driver))
    assert not whole.killed
    chance = Random(f"{driver} {store}")
    lives = _KILLS[driver, store]
    stretch = whole.points / lives
    killed = 0
    for number in range(1, lives + 1):
        folder = life(number)
        unknown: frozenset[str] = frozenset()
        # One moment in each stretch of its life, so that together they are spread over it.
        kill_at = max(1, int((number - chance.random()) * stretch))
        again = chance.choice((0, chance.randint(1, 60)))
        for at in (kill_at, again, 0):
            order = Order(str(folder), store, driver, at, chance.random() * 0.002)
            outcome = nursery.run(order)
            if not outcome.killed:
                break
            killed += 1
            with closing_store(store, folder) as kept:
                unknown |= started_in(kept)

        with closing_store(store, folder) as kept:
            saved = kept.load_blocking(NAME)
            assert saved is not None
            items = [item for entry in saved.log for item in entry.items]
            check_transcript(items)
        check_effects(effects_in(folder), unknown)
        check_events(envelopes_in(folder), unknown)

    assert killed >= lives * 0.8
