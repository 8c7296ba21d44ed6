"""Checks for stores; no test framework needed.

Each check uses a session of its own, so all of them can use one storage.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Thread
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from agentkit_core import AgentkitError, Item, SessionId, Text, to_json
from agentkit_core.testing import hard_transcripts
from agentkit_loop.persistence._records import (
    BlockingStore,
    LeasingStore,
    LogEntry,
    RevisionGap,
    Saved,
    SessionInUse,
    StaleSave,
    Store,
)

if TYPE_CHECKING:  # checks of a blocking store never import it
    from anyio.lowlevel import EventLoopToken

_ODD_IDS = (
    "", ".", "..", "../odd", "/odd", "a/b", "a\\b", "C:odd", "con", "nul.txt", "odd ", "odd.",
    "odd", "ODD", "Odd", "o%64d", "%2e%2e", "\0", "a\nb", "*?<>|\"'", "é", "e\u0301", "😀",
    "\ud800", "~", "-rf", "lock", "x" * 5000, "x" * 4999 + "y",
)  # fmt: skip


def check_blocking_store(new: Callable[[], BlockingStore]) -> None:
    """Check that a store keeps the contract of `BlockingStore`.

    A store returns what was saved unchanged, also when it is opened again. It refuses a save that
    does not follow the stored one, and then changes nothing. Of several savers with the same number
    one succeeds. Sessions do not influence each other, whatever their ids are. Where the store is a
    `LeasingStore`, one holder at a time has the lease of a session.

    Args:
        new: Opens the same storage again each time it is called; the storage is empty at first. The
            check uses some of the stores in threads of its own.

    Raises:
        AssertionError: The store breaks the contract; the message says how.
    """
    for check in (
        _check_round_trip, _check_content, _check_refusals, _check_ids, _check_race, _check_leases,
    ):  # fmt: skip
        try:
            check(new)
        except AssertionError:
            raise
        except Exception as error:
            raise AssertionError(f"the store raises {error!r} for a valid call") from error


async def check_store(new: Callable[[], Store]) -> None:
    """Check that a store keeps the contract of `Store`; see `check_blocking_store`.

    In addition, a save that is cancelled is either complete or has not begun.

    Raises:
        AssertionError: The store breaks the contract; the message says how.
    """
    from anyio import CancelScope, to_thread
    from anyio.lowlevel import current_token

    token = current_token()
    await to_thread.run_sync(check_blocking_store, lambda: _Blocking(new(), token))
    await to_thread.run_sync(_check_leases, new)
    name = SessionId("cancelled")
    before = Saved(1, b"1", (_entry(1),))
    after = Saved(2, b"2", (_entry(1), _entry(2)))
    await new().save(name, seq=1, head=b"1", log=before.log)
    with CancelScope() as scope:
        scope.cancel()
        await new().save(name, seq=2, head=b"2", log=after.log[1:])
    stored = await new().load(name)
    assert stored in (before, after), f"a cancelled save leaves {stored!r}"


class _Blocking:
    """An async store, for threads beside the event loop."""

    def __init__(self, store: Store, token: EventLoopToken) -> None:
        self._store = store
        self._token = token

    def load_blocking(self, session_id: SessionId, /) -> Saved | None:
        from anyio import from_thread

        return from_thread.run(self._store.load, session_id, token=self._token)

    def save_blocking(
        self, session_id: SessionId, /, *, seq: int, head: bytes, log: Sequence[LogEntry]
    ) -> None:
        from anyio import from_thread

        async def save() -> None:
            await self._store.save(session_id, seq=seq, head=head, log=log)

        from_thread.run(save, token=self._token)


def _check_round_trip(new: Callable[[], BlockingStore]) -> None:
    store, name = new(), SessionId("round trip")
    assert store.load_blocking(name) is None, "a session that was never saved is found"
    heads = [b"", b'{"a":1}\n', bytes(range(256)) * 2, b"\n\n", b"\xff" * 100_000]
    log: list[LogEntry] = []
    for seq, head in enumerate(heads, 1):
        # No entry, one, or several. The caller may use its list for something else afterwards.
        new_entries = [_entry(len(log) + more) for more in range(1, seq % 3 + 1)]
        log += new_entries
        store.save_blocking(name, seq=seq, head=head, log=new_entries)
        new_entries.clear()
        for opened, which in ((store, "the same store"), (new(), "a store opened later")):
            saved = opened.load_blocking(name)
            assert saved is not None, f"{which} does not find save {seq}"
            assert saved.seq == seq, f"{which} gives save {seq} the number {saved.seq}"
            assert saved.head == head, f"{which} changes the head of save {seq}"
            assert saved.log == tuple(log), f"{which} changes the log after save {seq}"


def _check_content(new: Callable[[], BlockingStore]) -> None:
    name = SessionId("content")
    lines = "\n\r\u2028\x85\0"
    entries = [
        LogEntry(1, ()),
        LogEntry(2, (Item.user(lines), Item.assistant(Text(lines)))),
        LogEntry(3, (), rewrite=True),
    ]
    for items in hard_transcripts().values():
        entries.append(LogEntry(len(entries) + 1, tuple(items), rewrite=len(entries) % 2 == 0))
    new().save_blocking(name, seq=1, head=b"", log=entries)
    saved = new().load_blocking(name)
    assert saved is not None, "the store does not find a first save"
    assert len(saved.log) == len(entries), "the store loses or adds log entries"
    for entry, stored in zip(entries, saved.log, strict=True):
        same = to_json(stored) == to_json(entry)
        assert same, f"the store changes entry {entry.revision}: {entry!r} is now {stored!r}"


def _check_refusals(new: Callable[[], BlockingStore]) -> None:
    name = SessionId("refusals")
    store = new()
    saved: Saved | None = None
    for stored in range(3):
        for seq in (-1, 0, stored - 1, stored, stored + 2):
            entry = _entry(stored + 1)
            error = _error_of_save(new(), name, seq, [entry])
            assert isinstance(error, StaleSave), (
                f"save {seq} after save {stored} has to raise StaleSave, not {error!r}"
            )
            facts = (error.session_id, error.seq, error.stored)
            assert facts == (name, seq, stored), f"StaleSave has wrong attributes: {error!r}"
        for revisions in ([stored], [stored + 2], [stored + 1, stored + 1], [stored + 1, 9]):
            error = _error_of_save(new(), name, stored + 1, list(map(_entry, revisions)))
            assert isinstance(error, RevisionGap), (
                f"revisions {revisions} after revision {stored} have to raise RevisionGap, "
                f"not {error!r}"
            )
        try:
            store.save_blocking(name, seq=stored + 1, head=b"", log=[_unwritable(stored + 1)])
        except TypeError:
            pass
        else:
            raise AssertionError("the store saves an entry that cannot be written as JSON")
        assert store.load_blocking(name) == saved, "a refused save changes what is stored"
        head = b"%d" % (stored + 1)
        store.save_blocking(name, seq=stored + 1, head=head, log=[_entry(stored + 1)])
        saved = store.load_blocking(name)


def _check_ids(new: Callable[[], BlockingStore]) -> None:
    store = new()
    for at, name in enumerate(_ODD_IDS):
        session_id = SessionId(name)
        assert store.load_blocking(session_id) is None, (
            f"the store finds session {name!r:.60}, which was not saved"
        )
        store.save_blocking(session_id, seq=1, head=b"%d" % at, log=[_entry(1)])
    store = new()
    for at, name in enumerate(_ODD_IDS):
        saved = store.load_blocking(SessionId(name))
        expected = Saved(1, b"%d" % at, (_entry(1),))
        assert saved == expected, f"session {name!r:.60} has the data of another one: {saved!r}"


def _check_race(new: Callable[[], BlockingStore]) -> None:
    name, savers, saves = SessionId("race"), 3, 8
    successes: list[int] = []
    failures: list[BaseException] = []

    def save() -> None:
        store = new()
        try:
            while (seq := _seq_of(store, name) + 1) <= saves:
                try:
                    store.save_blocking(name, seq=seq, head=b"%d" % seq, log=[_entry(seq)])
                except StaleSave:
                    continue
                successes.append(seq)
        except BaseException as error:
            failures.append(error)

    threads = [Thread(target=save) for _ in range(savers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, f"concurrent savers fail: {failures!r}"
    assert sorted(successes) == list(range(1, saves + 1)), (
        f"of several saves with one number exactly one has to succeed; these did: {successes}"
    )
    log = tuple(_entry(revision) for revision in range(1, saves + 1))
    saved = new().load_blocking(name)
    assert saved == Saved(saves, b"%d" % saves, log), f"concurrent savers leave {saved!r}"


def _check_leases(new: Callable[[], object]) -> None:
    store, other = new(), new()
    if not isinstance(store, LeasingStore) or not isinstance(other, LeasingStore):
        return
    name = SessionId("leased")
    first = store.lease(name)
    assert not _is_free(store, name), "a session that is leased is leased again by the same store"
    assert not _is_free(other, name), "a session that is leased is leased again by another store"
    assert _is_free(other, SessionId("Leased")), "the lease of a session is that of another one"
    first.release()
    first.release()
    assert _is_free(other, name), "a session cannot be leased again after its lease was released"
    second = other.lease(name)
    first.release()
    assert not _is_free(store, name), "a lease that is released again ends that of its successor"
    second.release()


def _is_free(store: LeasingStore, name: SessionId) -> bool:
    """Whether a session can be leased; its lease is released again."""
    try:
        lease = store.lease(name)
    except SessionInUse:
        return False
    lease.release()
    return True


def _entry(revision: int) -> LogEntry:
    return LogEntry(revision, (Item.user(f"said for revision {revision}"),))


def _unwritable(revision: int) -> LogEntry:
    not_json: Any = object()
    return LogEntry(revision, (replace(Item.user("hi"), metadata={"app.note": not_json}),))


def _seq_of(store: BlockingStore, name: SessionId) -> int:
    saved = store.load_blocking(name)
    return 0 if saved is None else saved.seq


def _error_of_save(
    store: BlockingStore, name: SessionId, seq: int, log: Sequence[LogEntry]
) -> AgentkitError | None:
    try:
        store.save_blocking(name, seq=seq, head=b"never seen", log=log)
    except AgentkitError as error:
        return error
    return None
