"""Crashes: a process dies at any boundary, and another resumes from what is stored alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import anyio
import pytest

from agentkit_core import Item
from agentkit_loop.stores import FileStore, MemoryStore, SqliteStore
from support.crashing import (
    NAME,
    AnyStore,
    Crash,
    Dying,
    Remembering,
    agent_in,
    check_effects,
    check_events,
    check_log,
    check_transcript,
    live,
    live_blocking,
    started_in,
)
from support.examples import thorough


class Trial:
    """A world that begins anew, a store, and what its processes leave."""

    def __init__(
        self, world: Remembering, store: AnyStore, crash_at: int = 0, *, again: int = 0
    ) -> None:
        self.store = store
        self.world = world
        self.world.begin(crash_at)
        self.unknown: frozenset[str] = frozenset()
        self.crashes = 0
        self._again = again

    def crashed(self) -> None:
        assert self.world.is_dead
        self.crashes += 1
        self.unknown |= started_in(self.store)
        self.world.reborn(self._again if self.crashes == 1 else 0)

    def check(self, items: Sequence[Item]) -> None:
        check_log(self.store, items)
        check_transcript(items)
        check_effects(self.world.done, self.unknown)
        check_events(self.world.envelopes, self.unknown)


def run_blocking(trial: Trial) -> None:
    while True:
        agent = agent_in(trial.world)
        store = Dying(trial.store, trial.world)
        try:
            with agent.session_blocking(session_id=NAME, store=store) as session:
                live_blocking(session)
            return trial.check(session.transcript)
        except Crash:
            trial.crashed()


async def run(trial: Trial) -> None:
    while True:
        agent = agent_in(trial.world, waits=True)
        store = Dying(trial.store, trial.world)
        try:
            with anyio.fail_after(10):
                async with agent.session(session_id=NAME, store=store) as session:
                    await live(session)
            return trial.check(session.transcript)
        except Crash:
            trial.crashed()


class Stores:
    """Makes empty stores of one kind; what is on the disk need not outlive the machine."""

    def __init__(self, kind: str, folder: Path, stack: ExitStack) -> None:
        self._kind = kind
        self._folder = folder
        self._stack = stack
        self._made = 0

    @property
    def all_boundaries(self) -> bool:
        return self._kind == "memory"

    def boundaries(self, total: int) -> range:
        """The boundaries that are tried, from 1: all of them over memory, some over a disk.

        What differs from one boundary to the next is in the driver, not in the store.
        """
        first, stride = {"memory": (1, 1), "file": (1, 7), "sqlite": (4, 7)}[self._kind]
        return range(first, total + 1, stride)

    def __call__(self) -> AnyStore:
        self._made += 1
        path = self._folder / str(self._made)
        match self._kind:
            case "memory":
                return MemoryStore()
            case "file":
                return FileStore(path, durable=False)
            case _:
                return self._stack.enter_context(SqliteStore(path, durable=False))


@pytest.fixture(params=["memory", "file", "sqlite"])
def stores(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stores]:
    with ExitStack() as stack:
        yield Stores(request.param, tmp_path, stack)


def test_a_blocking_process_may_die_at_any_boundary(stores: Stores) -> None:
    world = Remembering()
    run_blocking(Trial(world, stores()))
    total = len(world.points)
    assert total > 100
    assert world.done == list("abcefdhg")

    trials = []
    for at in stores.boundaries(total):
        trials.append(Trial(world, stores(), at, again=at % 11))
        run_blocking(trials[-1])

    assert all(trial.crashes for trial in trials)
    # A process of one thread dies with at most one call on its hands.
    unknown = {len(trial.unknown) for trial in trials if trial.crashes == 1}
    assert unknown == {0, 1} if stores.all_boundaries else unknown <= {0, 1}


async def test_a_process_with_an_event_loop_may_die_at_any_boundary(
    stores: Stores, anyio_backend: str
) -> None:
    world = Remembering()
    await run(Trial(world, stores()))
    total = len(world.points)
    assert total > 100

    trials = []
    # The driver is the same on trio, where fewer boundaries are tried.
    stride = thorough(2, 1) if anyio_backend == "asyncio" else thorough(5, 1)
    for at in stores.boundaries(total)[::stride]:
        trials.append(Trial(world, stores(), at, again=at % 11))
        await run(trials[-1])

    # How much goes on side by side differs a little from run to run.
    assert sum(trial.crashes > 0 for trial in trials) > len(trials) * 0.9
    if stores.all_boundaries:
        # A process with an event loop may die with two calls on its hands.
        assert {len(trial.unknown) for trial in trials} >= {0, 2}
