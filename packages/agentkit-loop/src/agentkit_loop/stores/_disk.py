"""Files that survive crashes: locks, folders, and waiting until bytes are on the disk."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Final

from agentkit_loop.stores._waiting import wait_until

if sys.platform == "win32":
    _BINARY: Final = os.O_BINARY  # without it, Windows translates line ends
else:
    _BINARY: Final = 0

LOCK_TIMEOUT_S: Final = 5.0
"""How long stores wait for a lock if nothing else is said; a save takes milliseconds."""


@contextmanager
def open_file(path: Path, *, flags: int = 0) -> Iterator[int]:
    """Open a file for reading and writing; a new file is accessible to its owner only."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | _BINARY | flags, 0o600)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def copy_mode(path: Path, descriptor: int) -> None:
    """Give an open file the mode and the group of the file at a path, if there is one."""
    if sys.platform != "win32":
        with suppress(OSError):  # the group may be one that this process is not in
            status = path.stat()
            os.fchmod(descriptor, stat.S_IMODE(status.st_mode))
            os.fchown(descriptor, -1, status.st_gid)


def write_all(descriptor: int, data: bytes) -> None:
    """Write all bytes; a nearly full disk may take only some of them at once."""
    left = memoryview(data)
    while left:
        left = left[os.write(descriptor, left) :]


def sync(descriptor: int) -> None:
    """Wait until a file's bytes are on the disk."""
    if sys.platform == "darwin":
        import fcntl

        try:
            # On macOS, fsync does not empty the cache of the drive.
            fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
        except OSError:  # not every file system supports it
            os.fsync(descriptor)
    else:
        os.fsync(descriptor)


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk; not possible on Windows."""
    if sys.platform != "win32":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            sync(descriptor)
        finally:
            os.close(descriptor)


def make_folder(folder: Path, *, durable: bool) -> None:
    """Make a folder and its missing parents, accessible to their owner only.

    Args:
        folder: The folder.
        durable: Whether to wait until it is on the disk.
    """
    if not folder.is_dir():
        make_folder(folder.parent, durable=durable)
        folder.mkdir(mode=0o700, exist_ok=True)
        if durable:
            sync_folder(folder.parent)


@contextmanager
def lock_file(path: Path, *, durable: bool, timeout_s: float = LOCK_TIMEOUT_S) -> Iterator[None]:
    """Hold a lock file, against other threads and other processes; wait until it is free.

    The operating system releases the lock when the process ends. The holder may remove the file
    and its folder; the next one to lock it creates them again.

    Raises:
        StoreLocked: It was not free in time.
    """
    descriptor = _lock(path, durable, timeout_s)
    try:
        yield
    finally:
        # Closing is not enough: a process that was forked meanwhile has the file open too.
        _release(descriptor)
        os.close(descriptor)


def _lock(path: Path, durable: bool, timeout_s: float) -> int:
    while True:
        make_folder(path.parent, durable=durable)
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | _BINARY, 0o600)
        except FileNotFoundError:
            continue  # another process has just removed the folder
        try:
            wait_until(partial(_acquire, descriptor), path=str(path), timeout_s=timeout_s)
            if _is_at(descriptor, path):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def _is_at(descriptor: int, path: Path) -> bool:
    """Whether an open file is still the one at this path."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


if sys.platform == "win32":
    import msvcrt

    def _acquire(descriptor: int) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _release(descriptor: int) -> None:
        os.lseek(descriptor, 0, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

else:

    def _acquire(descriptor: int) -> bool:
        import fcntl

        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _release(descriptor: int) -> None:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_UN)
