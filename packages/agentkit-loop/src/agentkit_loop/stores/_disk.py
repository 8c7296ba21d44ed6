"""Files that outlive crashes: a lock, folders, and when bytes are really on the disk."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

_BINARY: Final = getattr(os, "O_BINARY", 0)
"""Windows would translate line ends otherwise."""


@contextmanager
def opened(path: Path, *, flags: int = 0) -> Iterator[int]:
    """Open a file to read and write, for its owner alone; it is made where there is none."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | _BINARY | flags, 0o600)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def write_all(descriptor: int, data: bytes) -> None:
    """Write all the bytes; a nearly full disk takes some of them before it refuses."""
    left = memoryview(data)
    while left:
        left = left[os.write(descriptor, left) :]


def sync(descriptor: int) -> None:
    """Wait until a file is on the disk."""
    if sys.platform == "darwin":
        import fcntl

        try:
            # There, fsync stops at the cache of the drive.
            fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
        except OSError:  # not every file system knows it
            os.fsync(descriptor)
    else:
        os.fsync(descriptor)


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk; Windows offers nothing to wait for."""
    if sys.platform != "win32":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            sync(descriptor)
        finally:
            os.close(descriptor)


def make_folder(folder: Path, *, durable: bool) -> None:
    """Make a folder for its owner alone, and those above it, where there are none."""
    if not folder.is_dir():
        make_folder(folder.parent, durable=durable)
        folder.mkdir(mode=0o700, exist_ok=True)
        if durable:
            sync_folder(folder.parent)


@contextmanager
def locked(path: Path, *, durable: bool) -> Iterator[None]:
    """Hold a lock file, against other threads and other processes; waits for it.

    The system lets go of it when the process dies. Whoever holds the lock may remove the file,
    and its folder; the next to come make them anew.
    """
    descriptor = _lock(path, durable)
    try:
        yield
    finally:
        # Closing alone is not enough: a process forked meanwhile has the file open too.
        _release(descriptor)
        os.close(descriptor)


def _lock(path: Path, durable: bool) -> int:
    while True:
        make_folder(path.parent, durable=durable)
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | _BINARY, 0o600)
        except FileNotFoundError:
            continue  # the folder was removed just now
        try:
            _acquire(descriptor)
            if _is_at(descriptor, path):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def _is_at(descriptor: int, path: Path) -> bool:
    """Whether a file still has its name, and not another one in its place."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


if sys.platform == "win32":
    import msvcrt

    def _acquire(descriptor: int) -> None:
        while True:
            try:
                return msvcrt.locking(descriptor, msvcrt.LK_LOCK, 1)
            except OSError:  # it gives up after ten seconds
                continue

    def _release(descriptor: int) -> None:
        os.lseek(descriptor, 0, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

else:

    def _acquire(descriptor: int) -> None:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX)

    def _release(descriptor: int) -> None:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_UN)
