"""Leases: who works on a stored session holds one, and nobody else gets it meanwhile.

A lease of a file is a lock of the operating system on a small file of its own, so it ends with the
process that holds it, however that ends. It is never waited for.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

from agentkit_core import SessionId
from agentkit_loop.persistence._records import SessionInUse
from agentkit_loop.stores._disk import make_folder

if sys.platform == "win32":
    import msvcrt

    def _try_lock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

    def _unlock(descriptor: int) -> None:
        os.lseek(descriptor, 0, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _try_lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _unlock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)


class FileLease:
    """A lease that is a lock on a file, which is removed in the end.

    Args:
        descriptor: The file, open and locked.
        path: Where it is.
    """

    __slots__ = ("_descriptor", "_path")

    def __init__(self, descriptor: int, path: Path) -> None:
        self._descriptor: int | None = descriptor
        self._path = path

    def release(self) -> None:
        """Let others have the session; calling it again does nothing."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is None:
            return
        with suppress(OSError):
            if sys.platform != "win32":  # where an open file cannot be removed
                self._path.unlink()
                self._path.parent.rmdir()
        with suppress(OSError):
            # Closing is not enough: a process that was forked meanwhile has the file open too.
            _unlock(descriptor)
        os.close(descriptor)

    def __del__(self) -> None:
        self.release()


def lease_file(session_id: SessionId, path: Path) -> FileLease:
    """Take the lease of a session.

    Args:
        session_id: The session.
        path: The file to lock; it is made, with its folder.

    Raises:
        SessionInUse: Somebody else has it, in this process or in another one.
        OSError: The file cannot be made.
    """
    while True:
        make_folder(path.parent, durable=False)
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        except FileNotFoundError:
            continue  # the last holder has just removed the folder
        try:
            _try_lock(descriptor)
        except OSError as error:
            os.close(descriptor)
            raise SessionInUse(session_id) from error
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(descriptor), path.stat()):
                return FileLease(descriptor, path)
        os.close(descriptor)  # the last holder has just removed the file: make another one
