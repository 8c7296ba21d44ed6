"""A store in files: a folder for each session, readable with any editor.

    log.jsonl   the changes of the transcript, one `LogEntry` on each line; it only grows
    head.json   a line that says how much of the log is valid, then the head as the driver wrote it
    lock        held while the session is saved or deleted
    lease       held while somebody works on the session

A save appends to the log and then replaces `head.json`; with that, the save is complete. Bytes in
the log after the valid ones were left by a crash, and the next save cuts them off.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack, suppress
from hashlib import sha256
from pathlib import Path
from typing import Final
from zlib import crc32

import msgspec

from agentkit_core import SessionId, to_json
from agentkit_loop.persistence._records import (
    DamagedSave,
    Lease,
    LogEntry,
    Salvage,
    Saved,
    StaleSave,
)
from agentkit_loop.stores._async_wrapper import AsyncWrapper
from agentkit_loop.stores._checksummed_lines import add_checksum
from agentkit_loop.stores._disk import (
    LOCK_TIMEOUT_S,
    copy_mode,
    lock_file,
    open_file,
    sync,
    sync_folder,
    write_all,
)
from agentkit_loop.stores._file_format import (
    VERSION,
    Top,
    bytes_of,
    read_head,
    read_log,
    salvage,
    too_short,
)
from agentkit_loop.stores._leases import lease_file
from agentkit_loop.stores._log_codec import encode_entries, quote_id, unquote_id

_LONGEST_NAME: Final = 100
"""In characters; file systems allow about 255, and some limit the whole path."""


class FileStore(AsyncWrapper):
    """Keeps sessions in a folder; several processes may work in it at the same time.

    Folders and files are accessible to their owner only. Errors of the file system are raised as
    they are (`OSError`). Modes that people have set of files are kept, and so are links that they
    have put in their place. A save that fails leaves nothing of its own behind.

    Args:
        folder: The folder; the first save makes it, with its missing parents.
        durable: Whether a save waits until everything is on the disk. Without that, a session
            survives a crash of the process, but perhaps not one of the machine.
        lock_timeout_s: For how long to wait, in seconds, while another process or thread saves the
            same session; then `StoreLocked` is raised.
    """

    __slots__ = ("_durable", "_lock_timeout_s", "_root")

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        durable: bool = True,
        lock_timeout_s: float = LOCK_TIMEOUT_S,
    ) -> None:
        self._root = Path(folder).absolute()
        self._durable = durable
        self._lock_timeout_s = lock_timeout_s

    def load_blocking(self, session_id: SessionId, /) -> Saved | None:
        """Read all that is stored of a session; see `BlockingStore.load_blocking`.

        It writes nothing and takes no lock, so read access to the folder is enough.
        """
        folder = self._folder_of(session_id)
        with ExitStack() as stack:
            if sys.platform == "win32" and folder.is_dir():
                # Windows cannot replace a file while it is being read.
                stack.enter_context(
                    lock_file(folder / "lock", durable=False, timeout_s=self._lock_timeout_s)
                )
            while (data := bytes_of(folder / "head.json")) is not None:
                try:
                    top, head = read_head(session_id, folder, data)
                    return Saved(top.seq, head, read_log(session_id, folder, top))
                except DamagedSave as error:
                    # Perhaps it was deleted and saved again between the two reads: read again.
                    if bytes_of(folder / "head.json") == data:
                        with suppress(DamagedSave):  # of another session, nothing is given
                            error.entries = salvage(session_id, folder).log
                        raise
        return None

    def salvage_blocking(self, session_id: SessionId, /) -> Salvage | None:
        """Read what can be read of a session, damaged or not; None if there is none.

        Raises:
            DamagedSave: What is stored under this id is another session.
        """
        folder = self._folder_of(session_id)
        if not any((folder / name).exists() for name in ("head.json", "log.jsonl")):
            return None
        return salvage(session_id, folder)

    def save_blocking(
        self, session_id: SessionId, /, *, seq: int, head: bytes, log: Sequence[LogEntry]
    ) -> None:
        """Save a session; see `BlockingStore.save_blocking`."""
        folder = self._folder_of(session_id)
        missing = [path for path in (folder, *folder.parents) if not path.exists()]
        try:
            with self._lock(folder):
                try:
                    self._save(session_id, folder, seq=seq, head=head, log=log)
                except Exception:
                    if bytes_of(folder / "head.json") is None:
                        _remove_files(folder)
                    raise
        except Exception:
            for path in missing:
                with suppress(OSError):  # a folder that is used meanwhile stays
                    path.rmdir()
            raise

    def _save(
        self,
        session_id: SessionId,
        folder: Path,
        *,
        seq: int,
        head: bytes,
        log: Sequence[LogEntry],
    ) -> None:
        data = bytes_of(folder / "head.json")
        old = None if data is None else read_head(session_id, folder, data)[0]
        top = old or Top(VERSION, quote_id(session_id), 0, 0, 0, 0)
        if seq != top.seq + 1:
            raise StaleSave(session_id, seq, stored=top.seq)
        lines, crc = [], top.log_crc32
        for body in encode_entries(session_id, log, after=top.revision):
            line, crc = add_checksum(body, crc)
            lines.append(line)
        new = b"".join(lines)
        self._append(session_id, folder / "log.jsonl", new, at=top.log_bytes)
        if old is None and self._durable:
            # The head must not be on the disk before the log and the folders.
            sync_folder(folder)
            sync_folder(self._root)
        top = msgspec.structs.replace(
            top,
            seq=seq,
            revision=top.revision + len(lines),
            log_bytes=top.log_bytes + len(new),
            log_crc32=crc,
        )
        self._exchange_head(folder, add_checksum(to_json(top), crc32(head))[0] + head)

    def lease(self, session_id: SessionId, /) -> Lease:
        """Take the lease of a session; see `LeasingStore.lease`."""
        return lease_file(session_id, self._folder_of(session_id) / "lease")

    def session_ids_blocking(self) -> tuple[SessionId, ...]:
        """Return the ids of all saved sessions, sorted.

        Raises:
            DamagedSave: A session whose id is too long for a file name cannot be read.
        """
        session_ids = []
        for path in self._root.glob("*/head.json"):
            kind, _, name = path.parent.name.partition("-")
            if kind == "id":
                session_ids.append(unquote_id(name))
            elif kind == "sha256" and (data := bytes_of(path)) is not None:
                session_ids.append(unquote_id(read_head(None, path.parent, data)[0].session_id))
        return tuple(sorted(session_ids))

    def delete_blocking(self, session_id: SessionId, /) -> None:
        """Delete a session if there is one; its next save has the number 1."""
        folder = self._folder_of(session_id)
        if not folder.is_dir():
            return
        with self._lock(folder):
            (folder / "head.json").unlink(missing_ok=True)
            if self._durable:
                # Before the log is removed: a head without its log would be a damaged session.
                sync_folder(folder)
            _remove_files(folder)

    def _lock(self, folder: Path) -> AbstractContextManager[None]:
        return lock_file(folder / "lock", durable=self._durable, timeout_s=self._lock_timeout_s)

    def _folder_of(self, session_id: SessionId) -> Path:
        # The prefix avoids names that Windows reserves for devices, and an empty name.
        name = quote_id(session_id)
        if len(name) > _LONGEST_NAME:
            return self._root / f"sha256-{sha256(name.encode()).hexdigest()}"
        return self._root / f"id-{name}"

    def _append(self, session_id: SessionId, path: Path, new: bytes, *, at: int) -> None:
        with open_file(path) as log:
            length = os.fstat(log).st_size
            if length < at:
                raise too_short(session_id, path, length, at)
            if length > at:
                os.ftruncate(log, at)
            try:
                if new:
                    os.lseek(log, at, os.SEEK_SET)
                    write_all(log, new)
                if self._durable and (new or length > at):
                    sync(log)
            except Exception:
                with suppress(OSError):
                    os.ftruncate(log, at)
                raise

    def _exchange_head(self, folder: Path, data: bytes) -> None:
        # What a link leads to is replaced, not the link.
        path = Path(os.path.realpath(folder / "head.json"))
        new = path.with_name(f"{path.name}.new")
        try:
            with open_file(new, flags=os.O_TRUNC) as head:
                copy_mode(path, head)
                write_all(head, data)
                if self._durable:
                    sync(head)
            new.replace(path)
        except Exception:
            with suppress(OSError):
                new.unlink()
            raise
        if self._durable:
            sync_folder(path.parent)


def _remove_files(folder: Path) -> None:
    """Remove a session's files, except its head, and its folder; its lock is held."""
    for name in ("log.jsonl", "head.json.new"):
        (folder / name).unlink(missing_ok=True)
    with suppress(OSError):
        # Another process may wait for the lock, or save next; then lock and folder stay.
        (folder / "lock").unlink()
        folder.rmdir()
