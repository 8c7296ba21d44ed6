"""Checks for stores; no test framework needed.

Each law works on a session of its own, so all can be checked on one storage.
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
    LogEntry,
    RevisionGap,
    Saved,
    StaleSave,
    Store,
)

if TYPE_CHECKING:  # who checks a store that blocks never loads it
    from anyio.lowlevel import EventLoopToken

_ODD_IDS = (
    "", ".", "..", "../odd", "/odd", "a/b", "a\\b", "C:odd", "con", "nul.txt", "odd ", "odd.",
    "odd", "ODD", "Odd", "o%64d", "%2e%2e", "\0", "a\nb", "*?<>|\"'", "é", "e\u0301", "😀",
    "\ud800", "~", "-rf", "lock", "x" * 5000, "x" * 4999 + "y",
)  # fmt: skip


def check_blocking_store(new: Callable[[], BlockingStore]) -> None:
    """Check the laws of a store.

    What is saved comes back as it was, in a store opened later as well; a save that does not
    follow the stored one is refused and changes nothing; of several savers one wins; sessions do
    not touch each other, whatever their ids are.

    Args:
        new: Opens the same storage once more, each time; it holds no sessions at first. Some
            of the stores are used in threads that the check starts.

    Raises:
        AssertionError: A law is broken; says which.
    """
    for law in (_check_round_trip, _check_content, _check_refusals, _check_ids, _check_race):
        try:
            law(new)
        except AssertionError:
            raise
        except Exception as error:
            raise AssertionError(f"the store raises {error!r} for what it has to take") from error


async def check_store(new: Callable[[], Store]) -> None:
    """Check the laws of a store that is awaited; see `check_blocking_store`.

    A save that is cancelled has been made, or has not been begun.

    Raises:
        AssertionError: A law is broken; says which.
    """
    from anyio import CancelScope, to_thread
    from anyio.lowlevel import current_token

    token = current_token()
    await to_thread.run_sync(check_blocking_store, lambda: _Blocking(new(), token))
    name = SessionId("cancelled")
    before = Saved(1, b"1", (_entry(1),))
    after = Saved(2, b"2", (_entry(1), _entry(2)))
    await new().save(name, seq=1, head=b"1", log=before.log)
    with CancelScope() as scope:
        scope.cancel()
        await new().save(name, seq=2, head=b"2", log=after.log[1:])
    found = await new().load(name)
    assert found in (before, after), f"a cancelled save leaves {found!r}"


class _Blocking:
    """A store to be awaited, for threads beside the event loop."""

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
        # Now none, now one, now several; a caller may go on to use its list for other things.
        fresh = [_entry(len(log) + more) for more in range(1, seq % 3 + 1)]
        log += fresh
        store.save_blocking(name, seq=seq, head=head, log=fresh)
        fresh.clear()
        for opened, which in ((store, "the same store"), (new(), "a store opened later")):
            found = opened.load_blocking(name)
            assert found is not None, f"save {seq} is not found by {which}"
            assert found.seq == seq, f"save {seq} is number {found.seq} for {which}"
            assert found.head == head, f"the head of save {seq} is changed for {which}"
            assert found.log == tuple(log), f"the log after save {seq} is changed for {which}"


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
    found = new().load_blocking(name)
    assert found is not None, "a first save is not found"
    assert len(found.log) == len(entries), "entries are lost or added"
    for given, entry in zip(entries, found.log, strict=True):
        assert to_json(entry) == to_json(given), f"entry {given.revision} is changed: {given!r}"


def _check_refusals(new: Callable[[], BlockingStore]) -> None:
    name = SessionId("refusals")
    store = new()
    saved: Saved | None = None
    for stored in range(3):
        for seq in (-1, 0, stored - 1, stored, stored + 2):
            entry = _entry(stored + 1)
            refused = _refused(new(), name, seq, [entry])
            assert isinstance(refused, StaleSave), f"save {seq} after save {stored}: {refused!r}"
            told = (refused.session_id, refused.seq, refused.stored)
            assert told == (name, seq, stored), f"a refused save is told wrongly: {refused!r}"
        for revisions in ([stored], [stored + 2], [stored + 1, stored + 1], [stored + 1, 9]):
            refused = _refused(new(), name, stored + 1, list(map(_entry, revisions)))
            assert isinstance(refused, RevisionGap), (
                f"revisions {revisions} after revision {stored}: {refused!r}"
            )
        try:
            store.save_blocking(name, seq=stored + 1, head=b"", log=[_unwritable(stored + 1)])
        except TypeError:
            pass
        else:
            raise AssertionError("an entry that cannot be written as JSON is saved")
        assert store.load_blocking(name) == saved, "a save that was refused changes something"
        head = b"%d" % (stored + 1)
        store.save_blocking(name, seq=stored + 1, head=head, log=[_entry(stored + 1)])
        saved = store.load_blocking(name)


def _check_ids(new: Callable[[], BlockingStore]) -> None:
    store = new()
    for at, name in enumerate(_ODD_IDS):
        session_id = SessionId(name)
        assert store.load_blocking(session_id) is None, f"{name!r:.60} is found and was not saved"
        store.save_blocking(session_id, seq=1, head=b"%d" % at, log=[_entry(1)])
    store = new()
    for at, name in enumerate(_ODD_IDS):
        found = store.load_blocking(SessionId(name))
        expected = Saved(1, b"%d" % at, (_entry(1),))
        assert found == expected, f"{name!r:.60} is mixed up with another session: {found!r}"


def _check_race(new: Callable[[], BlockingStore]) -> None:
    name, savers, saves = SessionId("race"), 3, 8
    won: list[int] = []
    failed: list[BaseException] = []

    def save() -> None:
        store = new()
        try:
            while (seq := _seq_of(store, name) + 1) <= saves:
                try:
                    store.save_blocking(name, seq=seq, head=b"%d" % seq, log=[_entry(seq)])
                except StaleSave:
                    continue
                won.append(seq)
        except BaseException as error:
            failed.append(error)

    threads = [Thread(target=save) for _ in range(savers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed, f"savers that race fail: {failed!r}"
    assert sorted(won) == list(range(1, saves + 1)), f"of several savers, these won: {won}"
    log = tuple(_entry(revision) for revision in range(1, saves + 1))
    found = new().load_blocking(name)
    assert found == Saved(saves, b"%d" % saves, log), f"savers that race leave {found!r}"


def _entry(revision: int) -> LogEntry:
    return LogEntry(revision, (Item.user(f"said for revision {revision}"),))


def _unwritable(revision: int) -> LogEntry:
    not_json: Any = object()
    return LogEntry(revision, (replace(Item.user("hi"), metadata={"app.note": not_json}),))


def _seq_of(store: BlockingStore, name: SessionId) -> int:
    found = store.load_blocking(name)
    return 0 if found is None else found.seq


def _refused(
    store: BlockingStore, name: SessionId, seq: int, log: Sequence[LogEntry]
) -> AgentkitError | None:
    try:
        store.save_blocking(name, seq=seq, head=b"never seen", log=log)
    except AgentkitError as error:
        return error
    return None
