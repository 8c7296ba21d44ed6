"""The store in files: no crash and no damage takes what was saved."""

import os
import signal
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from agentkit_core import Item, SessionId
from agentkit_loop.ports import LogEntry, Saved
from agentkit_loop.stores import DamagedSave, FileStore, _disk
from agentkit_loop.stores._disk import lock_file

NAME = SessionId("s")
BOUNDARIES = ("open", "mkdir", "write", "ftruncate", "fsync", "replace", "unlink", "rmdir")


class Crash(BaseException):
    """The process dies here."""


def entry(revision: int) -> LogEntry:
    return LogEntry(revision, (Item.user(f"said in revision {revision} \u2028"),))


def whole(seq: int) -> Saved:
    """What is stored after so many saves."""
    return Saved(seq, b"head %d" % seq, tuple(map(entry, range(1, seq + 1))))


def save(store: FileStore, seq: int) -> Saved:
    """Make a save with one entry more than the last; return what is then stored."""
    store.save_blocking(NAME, seq=seq, head=whole(seq).head, log=[entry(seq)])
    return whole(seq)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@contextmanager
def crashing(at: int, how: str) -> Iterator[None]:
    """Die at one of the calls that change files: before it, after it, or in the middle of it."""
    calls = count()

    def dying(real: Callable[..., Any], name: str) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            if next(calls) != at:
                return real(*args, **options)
            if how == "after":
                real(*args, **options)
            elif how == "in" and name == "write":
                descriptor, data = args
                real(descriptor, data[: len(data) // 2])
            raise Crash

        return call

    with pytest.MonkeyPatch.context() as patch:
        for name in BOUNDARIES:
            patch.setattr(os, name, dying(getattr(os, name), name))
        yield


@pytest.mark.parametrize("how", ["before", "in", "after"])
@pytest.mark.parametrize("saves", [0, 2])
def test_p01_a_crash_anywhere_in_a_save_leaves_the_old_session_or_the_new_one(
    tmp_path: Path, saves: int, how: str
) -> None:
    outcomes = []
    for at in count():
        folder = tmp_path / str(at) / "sessions"
        store, old = FileStore(folder), None
        for seq in range(1, saves + 1):
            old = save(store, seq)
        try:
            with crashing(at, how):
                save(store, saves + 1)
        except Crash:
            pass
        else:
            break
        found = FileStore(folder).load_blocking(NAME)
        assert found in (old, whole(saves + 1))
        outcomes.append(found != old)
        following = 1 if found is None else found.seq + 1
        expected = save(FileStore(folder), following)
        assert FileStore(folder).load_blocking(NAME) == expected

    assert outcomes == sorted(outcomes), "once it is saved, it stays"
    assert set(outcomes) == {False, True}
    assert len(outcomes) >= 8


@pytest.mark.parametrize("how", ["before", "after"])
def test_a_crash_anywhere_in_a_deletion_leaves_the_session_or_none(
    tmp_path: Path, how: str
) -> None:
    outcomes = []
    for at in count():
        folder = tmp_path / str(at)
        store = FileStore(folder)
        save(store, 1)
        old = save(store, 2)
        try:
            with crashing(at, how):
                store.delete_blocking(NAME)
        except Crash:
            pass
        else:
            break
        found = FileStore(folder).load_blocking(NAME)
        assert found in (old, None)
        outcomes.append(found is None)
        assert store.session_ids_blocking() == (() if found is None else (NAME,))
        if found is None:
            assert save(store, 1) == store.load_blocking(NAME)

    assert outcomes == sorted(outcomes)
    assert set(outcomes) == {False, True}


def test_p01_a_torn_last_line_is_passed_over_and_the_next_save_cuts_it_off(tmp_path: Path) -> None:
    store = FileStore(tmp_path, durable=False)
    first = save(store, 1)
    before = contents(tmp_path / "id-s")
    second = save(store, 2)
    log = (tmp_path / "id-s" / "log.jsonl").read_bytes()
    for cut in range(len(before["log.jsonl"]), len(log) + 1):
        (tmp_path / "id-s" / "head.json").write_bytes(before["head.json"])
        (tmp_path / "id-s" / "log.jsonl").write_bytes(log[:cut])

        assert store.load_blocking(NAME) == first
        store.save_blocking(NAME, seq=2, head=b"no entry", log=[])
        assert contents(tmp_path / "id-s")["log.jsonl"] == before["log.jsonl"]
        store.save_blocking(NAME, seq=3, head=b"one", log=[entry(2)])
        assert store.load_blocking(NAME) == Saved(3, b"one", second.log)


def test_a_full_disk_is_told_and_what_was_saved_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = FileStore(tmp_path)
    old = save(store, 1)
    real = os.write

    def write(descriptor: int, data: memoryview) -> int:
        if len(data) < 20:
            raise OSError(28, "No space left on device")
        return real(descriptor, data[:10])

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", write)
        with pytest.raises(OSError, match="No space left"):
            save(store, 2)

    assert store.load_blocking(NAME) == old
    assert save(store, 2) == store.load_blocking(NAME)


def damaged(store: FileStore, folder: Path, files: dict[str, bytes]) -> DamagedSave:
    """Put other contents into files, and see that loading is refused and changes nothing."""
    for name, data in files.items():
        (folder / name).write_bytes(data)
    before = contents(folder)
    with pytest.raises(DamagedSave) as raised:
        store.load_blocking(NAME)
    assert contents(folder) == before
    assert raised.value.session_id == NAME
    return raised.value


def test_p02_a_wrong_byte_in_the_log_is_an_error_that_names_its_line(tmp_path: Path) -> None:
    store = FileStore(tmp_path, durable=False)
    for seq in (1, 2, 3):
        save(store, seq)
    folder = tmp_path / "id-s"
    log = (folder / "log.jsonl").read_bytes()
    for at in range(len(log)):
        error = damaged(
            store, folder, {"log.jsonl": log[:at] + bytes([log[at] ^ 1]) + log[at + 1 :]}
        )
        assert error.path == str(folder / "log.jsonl")
        assert error.line == log[:at].count(b"\n") + 1
        assert error.byte == log.rfind(b"\n", 0, at) + 1
        assert f"line {error.line}" in str(error)
    (folder / "log.jsonl").write_bytes(log)

    assert store.load_blocking(NAME) == whole(3)


def test_p02_lines_that_are_lost_swapped_or_zeroed_are_an_error(tmp_path: Path) -> None:
    store = FileStore(tmp_path, durable=False)
    for seq in (1, 2, 3, 4):
        save(store, seq)
    folder = tmp_path / "id-s"
    log = (folder / "log.jsonl").read_bytes()
    first, second, third, fourth = log.splitlines(keepends=True)
    for lines, line in (
        ((first, third, second, fourth), 2),
        ((first, third, fourth, second), 2),
        ((first, bytes(len(second)), third, fourth), 2),
        ((first, second, bytes(len(third) - 1) + b"\n", fourth), 3),
        ((first, second, second, fourth), 3),
    ):
        assert damaged(store, folder, {"log.jsonl": b"".join(lines)}).line == line
    for length in (0, len(first), len(log) - 1):
        damaged(store, folder, {"log.jsonl": log[:length]})
        with pytest.raises(DamagedSave, match=r"log\.jsonl"):
            save(store, 5)
        assert contents(folder)["log.jsonl"] == log[:length]
    (folder / "log.jsonl").unlink()
    assert damaged(store, folder, {}).path == str(folder / "log.jsonl")


def test_the_log_of_another_session_is_not_taken_for_the_own_one(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    save(store, 1)
    other = LogEntry(1, (Item.user(f"said in revision {2} \u2028"),))
    store.save_blocking(SessionId("other"), seq=1, head=b"", log=[other])
    log = (tmp_path / "id-other" / "log.jsonl").read_bytes()

    assert "not the log" in str(damaged(store, tmp_path / "id-s", {"log.jsonl": log}))


def test_a_wrong_byte_in_the_head_is_an_error_and_nothing_is_saved_over_it(tmp_path: Path) -> None:
    store = FileStore(tmp_path, durable=False)
    save(store, 1)
    folder = tmp_path / "id-s"
    head = (folder / "head.json").read_bytes()
    broken = [head[:at] + bytes([head[at] ^ 1]) + head[at + 1 :] for at in range(len(head))]
    for data in (*broken, b"", bytes(len(head)), head[:-1], head + b"\n", head.partition(b"\n")[0]):
        assert damaged(store, folder, {"head.json": data}).path == str(folder / "head.json")
        with pytest.raises(DamagedSave):
            save(store, 2)
        assert contents(folder)["head.json"] == data
    (folder / "head.json").write_bytes(head)

    assert store.load_blocking(NAME) == whole(1)


def test_a_head_of_a_newer_version_is_refused(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("agentkit_loop.stores._file.VERSION", 2)
    save(FileStore(tmp_path), 1)
    monkeypatch.undo()

    with pytest.raises(DamagedSave, match="version 2"):
        FileStore(tmp_path).load_blocking(NAME)


def test_no_session_id_leads_out_of_the_folder_or_to_another_session(tmp_path: Path) -> None:
    root = tmp_path / "a" / "root"
    store = FileStore(root, durable=False)
    names = ["", ".", "..", "../../x", "/etc", "A", "a", "con", "x" * 3000, "X" * 3000, "%61", "\0"]
    for name in names:
        store.save_blocking(SessionId(name), seq=1, head=name.encode(), log=[])

    folders = [path.name for path in root.iterdir()]
    assert len({name.lower() for name in folders}) == len(names)
    assert all(len(name) < 120 and name.isascii() for name in folders)
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["root"]


def test_a_session_that_cannot_be_named_is_told(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    store.save_blocking(SessionId("x" * 3000), seq=1, head=b"", log=[])
    (path,) = tmp_path.glob("*/head.json")
    path.write_bytes(b"")

    with pytest.raises(DamagedSave, match="sha256-"):
        store.session_ids_blocking()


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such modes there")
def test_files_and_folders_are_for_their_owner_alone(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        save(FileStore(tmp_path / "new" / "sessions"), 1)
    finally:
        os.umask(old)

    for path in (tmp_path / "new").rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


def test_a_folder_that_is_given_relatively_stays_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    store = FileStore("here")
    (tmp_path / "there").mkdir()
    monkeypatch.chdir(tmp_path / "there")
    save(store, 1)

    assert (tmp_path / "here" / "id-s").is_dir()


def observed(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str, int]]:
    """What is done to the disk from now on: call, file name, and number of bytes if any."""
    done: list[tuple[str, str, int]] = []
    names: dict[int, str] = {}
    real_open, real_write, real_fsync, real_replace = os.open, os.write, os.fsync, os.replace

    def spy_open(path: Any, *args: Any, **options: Any) -> int:
        descriptor = real_open(path, *args, **options)
        names[descriptor] = Path(path).name
        return descriptor

    def spy_write(descriptor: int, data: Any) -> int:
        done.append(("write", names[descriptor], len(data)))
        return real_write(descriptor, data)

    def spy_fsync(descriptor: int) -> None:
        done.append(("fsync", names[descriptor], 0))
        real_fsync(descriptor)

    def spy_replace(source: Any, target: Any) -> None:
        done.append(("replace", Path(target).name, 0))
        real_replace(source, target)

    for name, spy in (
        ("open", spy_open), ("write", spy_write), ("fsync", spy_fsync), ("replace", spy_replace),
    ):  # fmt: skip
        monkeypatch.setattr(os, name, spy)
    return done


@pytest.mark.skipif(sys.platform != "linux", reason="others wait for the disk in other ways")
def test_what_a_head_counts_is_on_the_disk_before_it_and_all_is_when_a_save_returns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = FileStore(tmp_path / "sessions")
    done = observed(monkeypatch)
    save(store, 1)
    first = [one[:2] for one in done]
    done.clear()
    save(store, 2)

    made = [
        ("write", "log.jsonl"), ("fsync", "log.jsonl"), ("fsync", "id-s"), ("fsync", "sessions"),
        ("write", "head.json.new"), ("fsync", "head.json.new"), ("replace", "head.json"),
        ("fsync", "id-s"),
    ]  # fmt: skip
    assert first[-len(made) :] == made
    assert {("fsync", tmp_path.name), ("fsync", "sessions")} <= {*first[: -len(made)]}
    assert [one[:2] for one in done] == made[:2] + made[4:]


def test_who_does_not_ask_for_it_does_not_wait_for_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = observed(monkeypatch)
    save(FileStore(tmp_path / "sessions", durable=False), 1)

    assert [call for call, _, _ in done] == ["write", "write", "replace"]


def test_a_save_costs_what_is_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = FileStore(tmp_path)
    log = [LogEntry(revision, (Item.user("x" * 10_000),)) for revision in range(1, 101)]
    store.save_blocking(NAME, seq=1, head=b"head", log=log)
    done = observed(monkeypatch)
    store.save_blocking(NAME, seq=2, head=b"head", log=[entry(101)])

    assert sum(length for _, _, length in done) < 500


@pytest.mark.skipif(sys.platform == "win32", reason="locks are others there")
def test_p04_a_lock_dies_with_its_process(tmp_path: Path) -> None:
    import fcntl

    program = f"""
from pathlib import Path
from agentkit_loop.stores._disk import lock_file
with lock_file(Path({str(tmp_path)!r}) / "id-s" / "lock", durable=False):
    print("locked", flush=True)
    input()
"""
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"locked\n"
        with (tmp_path / "id-s" / "lock").open("rb") as lock, pytest.raises(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        process.send_signal(signal.SIGKILL)

    assert save(FileStore(tmp_path), 1) == FileStore(tmp_path).load_blocking(NAME)


def test_p04_a_session_can_be_read_while_another_holds_its_lock(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    saved = save(store, 1)

    with lock_file(tmp_path / "id-s" / "lock", durable=False):
        assert FileStore(tmp_path).load_blocking(NAME) == saved


def test_a_deleted_session_leaves_nothing_behind(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    for _ in range(2):
        save(store, 1)
        store.delete_blocking(NAME)
        assert list(tmp_path.iterdir()) == []


def test_whoever_waits_for_a_session_that_is_being_deleted_makes_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, folder = FileStore(tmp_path), tmp_path / "id-s"
    save(store, 1)
    waits = Event()
    real = _disk._acquire

    def acquire(descriptor: int) -> bool:
        waits.set()
        return bool(real(descriptor))

    thread = Thread(target=save, args=(FileStore(tmp_path), 1))
    with lock_file(folder / "lock", durable=False):
        monkeypatch.setattr(_disk, "_acquire", acquire)
        thread.start()
        waits.wait()
        for path in folder.iterdir():
            path.unlink()
        folder.rmdir()
    thread.join()

    assert store.load_blocking(NAME) == whole(1)


@pytest.mark.skipif(sys.platform == "win32", reason="nothing forks there")
def test_a_process_forked_during_a_save_does_not_keep_the_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copies: list[int] = []
    real = _disk._acquire

    def acquire(descriptor: int) -> bool:
        acquired = bool(real(descriptor))
        copies.append(os.dup(descriptor))  # what a fork does to all open files
        return acquired

    monkeypatch.setattr(_disk, "_acquire", acquire)
    for seq in (1, 2):
        save(FileStore(tmp_path), seq)
    for descriptor in copies:
        os.close(descriptor)


def test_what_a_crash_left_of_a_head_is_no_part_of_the_next(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    save(store, 1)
    (tmp_path / "id-s" / "head.json.new").write_bytes(b"x" * 10_000)

    assert save(store, 2) == store.load_blocking(NAME)


def test_a_session_that_is_deleted_while_it_is_read_is_gone_and_not_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = FileStore(tmp_path)
    save(store, 1)
    real = Path.read_bytes

    def read_bytes(path: Path) -> bytes:
        data = real(path)
        monkeypatch.undo()
        FileStore(tmp_path).delete_blocking(NAME)
        return data

    monkeypatch.setattr(Path, "read_bytes", read_bytes)

    assert store.load_blocking(NAME) is None
