"""Stores: what all of them promise, with other threads and other processes about."""

import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from threading import Event
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint

from agentkit_core import Item, RecordError, SessionId
from agentkit_loop.ports import BlockingStore, Lease, LogEntry, Saved, Store
from agentkit_loop.stores import (
    DamagedSave,
    FileStore,
    MemoryStore,
    RevisionGap,
    SqliteStore,
    StaleSave,
)
from agentkit_loop.stores._async_wrapper import AsyncWrapper
from agentkit_loop.testing._store_checks import check_blocking_store, check_store

AnyStore = FileStore | MemoryStore | SqliteStore
NAME = SessionId("a session")
ODD = tuple(map(SessionId, ("", "..", "../up", "A", "a", "a/b", "\ud800", "é", "x" * 3000)))

SAVER = """
import sys
from agentkit_core import Item
from agentkit_loop import stores
from agentkit_loop.ports import LogEntry
from agentkit_loop.stores import StaleSave

kind, path, durable, saves, size = sys.argv[1:]
store = getattr(stores, kind)(path, durable=durable == "durable")
print("ready", flush=True)
sys.stdin.readline()
seq = 1
while int(saves):
    entry = LogEntry(seq, (Item.user(f"{seq} " + "x" * int(size)),))
    try:
        store.save_blocking("a session", seq=seq, head=b"%d" % seq, log=[entry])
    except StaleSave as stale:
        seq = stale.stored + 1
        continue
    print(seq, flush=True)
    saves = int(saves) - 1
    seq += 1
"""
"""Saves so often and says the number of each save that was made."""


def entry(revision: int, text: str = "hi") -> LogEntry:
    return LogEntry(revision, (Item.user(text),))


def place(kind: type[AnyStore], folder: Path) -> Path:
    return folder / ("sessions.db" if kind is SqliteStore else "sessions")


def opener(kind: type[AnyStore], folder: Path) -> Callable[[], AnyStore]:
    """What opens one storage again and again."""
    if kind is MemoryStore:
        store = MemoryStore()
        return lambda: store
    return lambda: (SqliteStore if kind is SqliteStore else FileStore)(place(kind, folder))


@pytest.fixture(params=[FileStore, SqliteStore, MemoryStore])
def new(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], AnyStore]]:
    """Opens one storage of each kind; all that was opened is closed in the end."""
    opened: list[AnyStore] = []
    again = opener(request.param, tmp_path)

    def new() -> AnyStore:
        opened.append(again())
        return opened[-1]

    yield new
    for store in opened:
        if isinstance(store, SqliteStore):
            store.close()


@pytest.fixture(params=[FileStore, SqliteStore])
def saver(
    request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts processes that save into one storage; `stored` reads it here."""
    path = place(request.param, tmp_path)
    started: list[subprocess.Popen[str]] = []

    def start(*, durable: bool, saves: int, size: int) -> subprocess.Popen[str]:
        how = ("durable" if durable else "quick", str(saves), str(size))
        process = subprocess.Popen(
            [sys.executable, "-c", SAVER, request.param.__name__, str(path), *how],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def stored(
    saver: object, request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[Callable[[], Saved | None]]:
    """Loads what the processes have saved."""
    store = opener(request.node.callspec.params["saver"], tmp_path)()
    yield lambda: store.load_blocking(NAME)
    if isinstance(store, SqliteStore):
        store.close()


def test_a_store_keeps_the_laws(new: Callable[[], AnyStore]) -> None:
    check_blocking_store(new)


async def test_a_store_that_is_awaited_keeps_the_laws(new: Callable[[], AnyStore]) -> None:
    await check_store(new)


def test_one_object_fits_both_ports(new: Callable[[], AnyStore]) -> None:
    blocking: BlockingStore = new()
    awaited: Store = new()

    assert blocking.load_blocking(NAME) is None
    assert awaited


def test_all_sessions_are_named_whatever_their_ids_are(new: Callable[[], AnyStore]) -> None:
    store = new()
    assert store.session_ids_blocking() == ()
    for name in ODD:
        store.save_blocking(name, seq=1, head=b"", log=[])
    with pytest.raises(StaleSave):
        store.save_blocking(NAME, seq=2, head=b"", log=[])

    assert new().session_ids_blocking() == tuple(sorted(ODD))


def test_a_deleted_session_begins_anew_and_the_others_stay(new: Callable[[], AnyStore]) -> None:
    store = new()
    for name in ODD:
        store.save_blocking(name, seq=1, head=b"old", log=[entry(1), entry(2)])
    store.delete_blocking(ODD[0])
    store.delete_blocking(ODD[-1])
    store.delete_blocking(NAME)

    assert new().session_ids_blocking() == tuple(sorted(ODD[1:-1]))
    assert store.load_blocking(ODD[0]) is None
    store.save_blocking(ODD[0], seq=1, head=b"new", log=[entry(1)])
    assert new().load_blocking(ODD[0]) == Saved(1, b"new", (entry(1),))


async def test_what_is_awaited_does_what_blocks(new: Callable[[], AnyStore]) -> None:
    store = new()
    await store.save(NAME, seq=1, head=b"head", log=[entry(1)])

    assert await store.load(NAME) == store.load_blocking(NAME) == Saved(1, b"head", (entry(1),))
    assert await store.session_ids() == (NAME,)
    await store.delete(NAME)
    assert await store.session_ids() == ()


async def test_a_save_that_has_begun_is_finished_though_it_is_cancelled() -> None:
    class Slow(MemoryStore):
        begun, go = Event(), Event()
        _run = AsyncWrapper._run  # in a thread, as where there is a disk

        def save_blocking(
            self, session_id: SessionId, /, *, seq: int, head: bytes, log: Sequence[LogEntry]
        ) -> None:
            self.begun.set()
            self.go.wait()
            super().save_blocking(session_id, seq=seq, head=head, log=log)

    store, order = Slow(), list[str]()
    store.begun.clear()
    store.go.clear()

    async def save() -> None:
        try:
            await store.save(NAME, seq=1, head=b"", log=[])
        finally:
            order.append("returned")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(save)
        await anyio.to_thread.run_sync(store.begun.wait)
        tasks.cancel_scope.cancel()
        with anyio.CancelScope(shield=True):
            for _ in range(10):
                await checkpoint()
        order.append("released")
        store.go.set()

    assert order == ["released", "returned"]
    assert store.load_blocking(NAME) == Saved(1, b"", ())


def test_what_is_loaded_shares_nothing_with_what_was_saved(new: Callable[[], AnyStore]) -> None:
    item, store = Item.user("hi"), new()
    head: Any = bytearray(b"head")
    store.save_blocking(NAME, seq=1, head=head, log=[LogEntry(1, (item,))])
    item.metadata["app.note"] = "later"
    head.clear()
    first = store.load_blocking(NAME)
    assert first is not None
    first.log[0].items[0].metadata["app.note"] = "later still"

    assert store.load_blocking(NAME) == Saved(1, b"head", (entry(1),))


def test_p04_of_two_processes_exactly_one_makes_each_save(
    saver: Callable[..., subprocess.Popen[str]], stored: Callable[[], Saved | None]
) -> None:
    both = [saver(durable=False, saves=200, size=10_000) for _ in range(2)]
    for process in both:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    won = [[int(line) for line in process.communicate()[0].split()] for process in both]

    assert [process.returncode for process in both] == [0, 0]
    assert sorted(won[0] + won[1]) == list(range(1, 401))
    saved = stored()
    assert saved is not None
    assert (saved.seq, saved.head) == (400, b"400")
    for revision, one in enumerate(saved.log, 1):
        assert one == entry(revision, f"{revision} " + "x" * 10_000)


@pytest.mark.skipif(sys.platform == "win32", reason="nothing is killed like this there")
def test_a_killed_process_leaves_a_whole_session_with_all_that_was_acknowledged(
    saver: Callable[..., subprocess.Popen[str]], stored: Callable[[], Saved | None]
) -> None:
    for saves in (1, 7, 20, 33):
        process = saver(durable=True, saves=10**9, size=20_000)
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("go\n")
        process.stdin.flush()
        lines = [process.stdout.readline() for _ in range(saves)]
        process.kill()
        # Not by `communicate` alone: it does not return what `readline` has read ahead.
        lines += process.stdout.readlines()
        process.communicate()
        acknowledged = max(int(line) for line in lines if line.endswith("\n"))

        saved = stored()
        assert saved is not None
        assert saved.seq in (acknowledged, acknowledged + 1)
        assert saved.head == b"%d" % saved.seq
        assert [one.revision for one in saved.log] == list(range(1, saved.seq + 1))


def test_who_blocks_loads_no_event_loop_and_no_database_that_is_not_used(tmp_path: Path) -> None:
    program = f"""
import sys
import agentkit_loop
before = {{*sys.modules}}
from agentkit_loop.stores import FileStore
FileStore({str(tmp_path)!r}).save_blocking("a", seq=1, head=b"", log=[])
loaded = {{"anyio.to_thread", "asyncio", "trio", "sqlite3"}} & ({{*sys.modules}} - before)
assert not loaded, loaded
"""
    subprocess.run([sys.executable, "-c", program], check=True)


class Forgetful(MemoryStore):
    """Loses the log of the save before."""

    def save_blocking(
        self, session_id: SessionId, /, *, seq: int, head: bytes, log: Sequence[LogEntry]
    ) -> None:
        super().save_blocking(session_id, seq=seq, head=head, log=log[-1:])


class Trusting(MemoryStore):
    """Takes every save for the next."""

    def save_blocking(
        self, session_id: SessionId, /, *, seq: int, head: bytes, log: Sequence[LogEntry]
    ) -> None:
        saved = self.load_blocking(session_id)
        super().save_blocking(session_id, seq=saved.seq + 1 if saved else 1, head=head, log=log)


class Blurring(MemoryStore):
    """Takes A and a for the same."""

    def load_blocking(self, session_id: SessionId, /) -> Saved | None:
        return super().load_blocking(SessionId(session_id.lower()))

    def save_blocking(
        self, session_id: SessionId, /, *, seq: int, head: bytes, log: Sequence[LogEntry]
    ) -> None:
        super().save_blocking(SessionId(session_id.lower()), seq=seq, head=head, log=log)


class Stripping(MemoryStore):
    """Takes heads for text."""

    def save_blocking(
        self, session_id: SessionId, /, *, seq: int, head: bytes, log: Sequence[LogEntry]
    ) -> None:
        super().save_blocking(session_id, seq=seq, head=head.strip(), log=log)


class _NoLease:
    def release(self) -> None:
        pass


class LeasingToAll(MemoryStore):
    """Gives the lease of a session to whoever asks."""

    def lease(self, session_id: SessionId, /) -> Lease:
        return _NoLease()


class LeasingForever(MemoryStore):
    """Does not take a lease back."""

    def lease(self, session_id: SessionId, /) -> Lease:
        super().lease(session_id)
        self._leased.add(session_id)  # the lease above is gone by now, and released
        return _NoLease()


class LeasingOneForAll(MemoryStore):
    """Takes all sessions for one."""

    def lease(self, session_id: SessionId, /) -> Lease:
        return super().lease(SessionId(session_id.lower()))


class _AnysLease:
    def __init__(self, leased: set[SessionId], session_id: SessionId) -> None:
        self._leased, self._session_id = leased, session_id

    def release(self) -> None:
        self._leased.discard(self._session_id)


class LeasingByName(MemoryStore):
    """Takes back whatever lease a session has, when an old one is released again."""

    def lease(self, session_id: SessionId, /) -> Lease:
        super().lease(session_id)
        self._leased.add(session_id)
        return _AnysLease(self._leased, session_id)


LEASES = [LeasingToAll, LeasingForever, LeasingOneForAll, LeasingByName]


@pytest.mark.parametrize("broken", [Forgetful, Trusting, Blurring, Stripping, *LEASES])
async def test_the_checks_see_what_is_broken(broken: type[MemoryStore]) -> None:
    store = broken()
    with pytest.raises(AssertionError):
        check_blocking_store(lambda: store)
    other = broken()
    with pytest.raises(AssertionError):
        await check_store(lambda: other)


def test_an_error_says_what_where_and_what_to_do() -> None:
    stale = StaleSave(NAME, 3, stored=5)
    gap = RevisionGap(NAME, 9, expected=8)
    damaged = DamagedSave(NAME, "/x/log.jsonl", "it is torn", line=2, byte=70)

    assert stale.details == {"session_id": NAME, "seq": 3, "stored": 5}
    assert gap.details == {"session_id": NAME, "revision": 9, "expected": 8}
    assert "load the session again" in str(stale)
    assert isinstance(damaged, RecordError)
    assert "/x/log.jsonl, line 2 (at byte 70): it is torn" in str(damaged)
