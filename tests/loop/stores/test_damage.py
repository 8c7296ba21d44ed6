"""Damage takes its own place only, one session is never another, and waits for locks end."""

from __future__ import annotations

import os
import shutil
import sqlite3
import sys
import time
from contextlib import closing
from pathlib import Path

import anyio
import pytest

from agentkit_core import AgentkitError, Item, RecordError, SessionId
from agentkit_loop import Agent
from agentkit_loop.ports import LogEntry
from agentkit_loop.stores import (
    DamagedSave,
    FileStore,
    MemoryStore,
    SqliteStore,
    StaleSave,
    StoreLocked,
)
from agentkit_loop.stores._disk import lock_file
from agentkit_loop.testing import ScriptedModel

ALICE, BOB = SessionId("alice"), SessionId("bob")
posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes and links")


def entry(revision: int) -> LogEntry:
    return LogEntry(revision, (Item.user(f"said {revision}"),))


def fill(store: FileStore | SqliteStore, name: SessionId = ALICE) -> None:
    for seq in range(1, 6):
        store.save_blocking(name, seq=seq, head=b"head %d" % seq, log=[entry(seq)])


def said(items: tuple[Item, ...]) -> list[str]:
    return [item.text for item in items]


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "s.db"
    with SqliteStore(path) as store:
        fill(store)
    return path


def test_vs05_no_flipped_bit_loads_another_state(database: Path) -> None:
    with SqliteStore(database) as store:
        whole = store.load_blocking(ALICE)
    data = database.read_bytes()
    wrong = []
    for at in range(0, len(data), 3):
        if not data[at]:  # unused space, most of the file
            continue
        database.write_bytes(data[:at] + bytes([data[at] ^ (1 << at % 8)]) + data[at + 1 :])
        try:
            with SqliteStore(database, durable=False) as store:
                if store.load_blocking(ALICE) != whole:
                    wrong.append(at)
        except (DamagedSave, OSError):
            pass
        for beside in database.parent.glob("s.db-*"):
            beside.unlink()

    assert wrong == []


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE log SET entry = replace(entry, 'said 3', 'sold 3')",
        "UPDATE sessions SET head = 'another'", "UPDATE sessions SET seq = 9",
        "DELETE FROM log WHERE revision = 5", "UPDATE log SET crc32 = 1 WHERE revision = 2",
        "UPDATE sessions SET crc32 = NULL", "DROP TABLE log", "ALTER TABLE sessions RENAME TO x",
    ],
)  # fmt: skip
def test_vs05_changed_rows_are_an_error_of_ours_and_never_of_sqlite(
    database: Path, statement: str
) -> None:
    with closing(sqlite3.connect(database)) as connection:
        connection.execute(statement)
        connection.commit()
    with SqliteStore(database) as store, pytest.raises(DamagedSave):
        store.load_blocking(ALICE)


def test_vs05_a_file_of_the_first_version_is_read_and_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    with SqliteStore(path) as store:
        fill(store)
        whole = store.load_blocking(ALICE)
    with closing(sqlite3.connect(path)) as connection:
        for table in ("log", "sessions"):
            connection.execute(f"ALTER TABLE {table} DROP COLUMN crc32")
        connection.execute("PRAGMA user_version = 1")
        connection.commit()
    with SqliteStore(path) as store:
        assert store.load_blocking(ALICE) == whole
        store.save_blocking(ALICE, seq=6, head=b"", log=[entry(6)])
        assert store.load_blocking(ALICE) is not None


def test_vs06_what_is_stored_under_one_id_is_not_opened_under_another(tmp_path: Path) -> None:
    files = FileStore(tmp_path / "files")
    fill(files)
    shutil.copytree(tmp_path / "files" / "id-alice", tmp_path / "files" / "id-bob")
    with SqliteStore(tmp_path / "s.db") as database:
        fill(database)
    with closing(sqlite3.connect(tmp_path / "s.db")) as connection:
        connection.execute("UPDATE sessions SET session_id = 'bob'")
        connection.commit()
    before = {path: path.read_bytes() for path in (tmp_path / "files").rglob("*.json*")}

    for store in (files, SqliteStore(tmp_path / "s.db")):
        with pytest.raises(DamagedSave):
            store.load_blocking(BOB)
        with pytest.raises(DamagedSave):
            store.save_blocking(BOB, seq=6, head=b"", log=[])
        if isinstance(store, SqliteStore):
            store.close()
    assert {path: path.read_bytes() for path in (tmp_path / "files").rglob("*.json*")} == before


def test_vs06_a_store_that_gives_another_session_is_refused() -> None:
    store = MemoryStore()
    with Agent(model=ScriptedModel("x")).session_blocking(store=store, session_id=ALICE) as session:
        session.prompt("a secret")
    store._sessions[BOB] = store._sessions[ALICE]

    agent = Agent(model=ScriptedModel("x"))
    with (
        pytest.raises(RecordError, match="'alice' is stored under the id 'bob'"),
        agent.session_blocking(store=store, session_id=BOB),
    ):
        pass


def test_vl25_damage_to_one_line_takes_that_line_only(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    fill(store)
    log = tmp_path / "id-alice" / "log.jsonl"
    data = log.read_bytes()
    lines = data.splitlines(keepends=True)
    everything = [f"said {at}" for at in range(1, 6)]
    for at in range(5):
        for spoiled in (b"x" * len(lines[at]), b"", lines[at][:-9] + b"\n"):
            log.write_bytes(b"".join([*lines[:at], spoiled, *lines[at + 1 :]]))
            with pytest.raises(DamagedSave) as raised:
                store.load_blocking(ALICE)
            salvaged = store.salvage_blocking(ALICE)
            assert salvaged is not None
            assert set(everything) - set(said(salvaged.items)) <= {everything[at]}
            assert salvaged.problems
            assert raised.value.entries == salvaged.log
            assert salvaged.head == b"head 5"
    for end in range(len(data)):
        log.write_bytes(data[:end])
        salvaged = store.salvage_blocking(ALICE)
        assert salvaged is not None
        whole = data[: end + 1].count(b"\n")  # a line that lacks only its end is whole
        assert said(salvaged.items) == everything[:whole]


@pytest.mark.parametrize("name", ["head.json", "log.jsonl"])
@pytest.mark.parametrize("kind", [FileStore, SqliteStore, MemoryStore])
async def test_vl25_what_is_good_can_be_had_from_every_store(
    tmp_path: Path, kind: type[FileStore | SqliteStore | MemoryStore], name: str
) -> None:
    store = MemoryStore() if kind is MemoryStore else kind(tmp_path / "s")  # type: ignore[call-arg]
    assert await store.salvage(ALICE) is None
    fill(store)  # type: ignore[arg-type]
    if kind is FileStore:
        (tmp_path / "s" / "id-alice" / name).write_bytes(b"")
    salvaged = await store.salvage(ALICE)

    assert salvaged is not None
    assert len(salvaged.log) == (0 if kind is FileStore and name == "log.jsonl" else 5)
    if isinstance(store, SqliteStore):
        store.close()


@posix
def test_vl25_modes_and_links_that_people_have_set_are_kept(tmp_path: Path) -> None:
    store = FileStore(tmp_path / "s")
    fill(store)
    folder = tmp_path / "s" / "id-alice"
    for name in ("head.json", "log.jsonl"):
        real = tmp_path / f"real-{name}"
        (folder / name).rename(real)
        (folder / name).symlink_to(real)
        real.chmod(0o640)
    store.save_blocking(ALICE, seq=6, head=b"new", log=[entry(6)])

    saved = store.load_blocking(ALICE)
    assert saved is not None
    assert saved.head == b"new"
    for name in ("head.json", "log.jsonl"):
        assert (folder / name).is_symlink()
        assert (tmp_path / f"real-{name}").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("seq", [1, 2])
def test_vl25_a_save_that_fails_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seq: int
) -> None:
    store = FileStore(tmp_path / "new" / "s")
    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(OSError("full")))
        with pytest.raises((OSError, StaleSave)):
            store.save_blocking(ALICE, seq=seq, head=b"", log=[entry(1)])
    assert list(tmp_path.iterdir()) == []

    fill(store)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError("full")))
        with pytest.raises(OSError, match="full"):
            store.save_blocking(ALICE, seq=6, head=b"", log=[entry(6)])
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_vs11_a_wait_without_an_event_loop_ends_by_a_typed_error(
    tmp_path: Path, database: Path
) -> None:
    files = FileStore(tmp_path / "f", lock_timeout_s=0.1)
    fill(files)
    locked = lock_file(tmp_path / "f" / "id-alice" / "lock", durable=False)
    with locked, pytest.raises(StoreLocked):
        files.save_blocking(ALICE, seq=6, head=b"", log=[])
    with (
        closing(sqlite3.connect(database, isolation_level=None)) as connection,
        SqliteStore(database, lock_timeout_s=0.1) as store,
    ):
        store.load_blocking(ALICE)
        connection.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreLocked):
            store.save_blocking(ALICE, seq=6, head=b"", log=[])
        connection.execute("ROLLBACK")
        store.save_blocking(ALICE, seq=6, head=b"", log=[])
    assert issubclass(StoreLocked, AgentkitError)


async def test_vs11_a_wait_ends_when_it_is_cancelled_and_nothing_is_written(tmp_path: Path) -> None:
    store = FileStore(tmp_path, lock_timeout_s=60)
    fill(store)
    with lock_file(tmp_path / "id-alice" / "lock", durable=False):
        begin = time.monotonic()
        with anyio.move_on_after(0.1) as scope:
            await store.save(ALICE, seq=6, head=b"late", log=[])
        assert scope.cancelled_caught
        assert time.monotonic() - begin < 20
    await anyio.sleep(0.2)

    saved = store.load_blocking(ALICE)
    assert saved is not None
    assert saved.seq == 5
