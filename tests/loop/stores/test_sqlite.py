"""The store in SQLite: how its file is opened, and what a damaged one says."""

import sqlite3
import stat
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from threading import Barrier, Thread

import pytest

from agentkit_core import Item, SessionId
from agentkit_loop.ports import LogEntry, Saved
from agentkit_loop.stores import DamagedSave, SqliteStore

NAME = SessionId("s")
LOG = tuple(LogEntry(revision, (Item.user(f"said {revision}"),)) for revision in (1, 2, 3))
SAVED = Saved(1, b"head", LOG)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "new" / "sessions.db"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    """A store with one session."""
    with SqliteStore(path) as store:
        store.save_blocking(NAME, seq=1, head=b"head", log=LOG)
        yield store


def change(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        for statement in statements:
            database.execute(statement)


def test_a_closed_store_opens_again_when_it_is_asked(store: SqliteStore) -> None:
    store.close()
    store.close()

    assert store.load_blocking(NAME) == SAVED


def test_nothing_is_made_before_it_is_needed(path: Path) -> None:
    SqliteStore(path).close()

    assert not path.parent.exists()


@pytest.mark.parametrize(("durable", "level"), [(True, 2), (False, 1)])
def test_a_durable_store_waits_for_the_disk(path: Path, durable: bool, level: int) -> None:
    with SqliteStore(path, durable=durable) as store:
        store.load_blocking(NAME)
        connection = store._connection
        assert connection is not None

        assert connection.execute("PRAGMA synchronous").fetchone() == (level,)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such modes there")
def test_files_are_for_their_owner_alone(store: SqliteStore, path: Path) -> None:
    files = list(path.parent.iterdir())

    assert len(files) == 3
    assert {stat.S_IMODE(one.stat().st_mode) for one in files} == {0o600}
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_name_that_means_memory_to_sqlite_is_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with SqliteStore(":memory:") as store:
        store.save_blocking(NAME, seq=1, head=b"head", log=LOG)
    with SqliteStore(tmp_path / ":memory:") as store:
        assert store.load_blocking(NAME) == SAVED


def test_many_may_make_the_file_at_the_same_time(path: Path) -> None:
    gate, failed = Barrier(8), list[Exception]()

    def save(name: SessionId) -> None:
        with SqliteStore(path, durable=False) as store:
            gate.wait()
            try:
                store.save_blocking(name, seq=1, head=b"head", log=LOG)
            except Exception as error:
                failed.append(error)

    threads = [Thread(target=save, args=(SessionId(f"s-{at}"),)) for at in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert failed == []
    with SqliteStore(path) as store:
        assert len(store.session_ids_blocking()) == 8


def test_a_save_waits_for_another_that_is_being_written(store: SqliteStore, path: Path) -> None:
    begun = Barrier(2)

    def save() -> None:
        begun.wait()
        with SqliteStore(path) as other:
            other.save_blocking(NAME, seq=2, head=b"other", log=[])

    thread = Thread(target=save)
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("BEGIN IMMEDIATE")
        thread.start()
        begun.wait()
        database.execute("ROLLBACK")
        thread.join()

    assert store.load_blocking(NAME) == Saved(2, b"other", LOG)


def test_a_file_that_is_no_database_is_told_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(b"these are my notes\n" * 100)
    with SqliteStore(path) as store:
        with pytest.raises(DamagedSave, match=r"notes\.txt"):
            store.load_blocking(NAME)
        with pytest.raises(DamagedSave):
            store.save_blocking(NAME, seq=1, head=b"", log=[])

    assert path.read_bytes() == b"these are my notes\n" * 100


def test_tables_of_a_newer_version_are_refused(store: SqliteStore, path: Path) -> None:
    store.close()
    change(path, "PRAGMA user_version = 3")

    with pytest.raises(DamagedSave, match="version 3"):
        store.load_blocking(NAME)


@pytest.mark.parametrize(
    "statement",
    ["UPDATE log SET entry = '{' WHERE revision = 2", "DELETE FROM log WHERE revision = 2"],
)
def test_p02_a_damaged_entry_is_an_error_that_names_it(
    store: SqliteStore, path: Path, statement: str
) -> None:
    change(path, statement)

    with pytest.raises(DamagedSave, match="revision 2") as raised:
        store.load_blocking(NAME)
    assert (raised.value.session_id, raised.value.path) == (NAME, str(path))
