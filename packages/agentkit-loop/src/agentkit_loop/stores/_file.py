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
from contextlib import ExitStack, suppress
from hashlib import sha256
from pathlib import Path
from typing import Final
from zlib import crc32

import msgspec

from agentkit_core import RecordError, SessionId, from_json, to_json
from agentkit_core.values import Record
from agentkit_loop.persistence._records import DamagedSave, Lease, LogEntry, Saved, StaleSave
from agentkit_loop.stores._async_wrapper import AsyncWrapper
from agentkit_loop.stores._checksummed_lines import add_checksum, remove_checksum
from agentkit_loop.stores._disk import lock_file, open_file, sync, sync_folder, write_all
from agentkit_loop.stores._leases import lease_file
from agentkit_loop.stores._log_codec import decode_entry, encode_entries, quote_id, unquote_id

_VERSION: Final = 1
_LONGEST_NAME: Final = 100
"""In characters; file systems allow about 255, and some limit the whole path."""


class _Top(Record, frozen=True):
    """The first line of `head.json`.

    Attributes:
        version: The version of the format.
        session_id: The session's id, as `quote_id` writes it.
        seq: The number of the last save, from 1.
        revision: How many entries of the log are valid.
        log_bytes: How many bytes of the log are valid.
        log_crc32: The checksum of the last valid line; 0 if there is none.
    """

    version: int
    session_id: str
    seq: int
    revision: int
    log_bytes: int
    log_crc32: int


class FileStore(AsyncWrapper):
    """Keeps sessions in a folder; several processes may work in it at the same time.

    Folders and files are accessible to their owner only. Errors of the file system are raised as
    they are (`OSError`).

    Args:
        folder: The folder; the first save makes it, with its missing parents.
        durable: Whether a save waits until everything is on the disk. Without that, a session
            survives a crash of the process, but perhaps not one of the machine.
    """

    __slots__ = ("_durable", "_root")

    def __init__(self, folder: str | os.PathLike[str], *, durable: bool = True) -> None:
        self._root = Path(folder).absolute()
        self._durable = durable

    def load_blocking(self, session_id: SessionId, /) -> Saved | None:
        """Read all that is stored of a session; see `BlockingStore.load_blocking`.

        It writes nothing and takes no lock, so read access to the folder is enough.
        """
        folder = self._folder_of(session_id)
        with ExitStack() as stack:
            if sys.platform == "win32" and folder.is_dir():
                # Windows cannot replace a file while it is being read.
                stack.enter_context(lock_file(folder / "lock", durable=False))
            while (data := _bytes_of(folder / "head.json")) is not None:
                top, head = _read_head(session_id, folder, data)
                try:
                    return Saved(top.seq, head, _read_log(session_id, folder, top))
                except DamagedSave:
                    # Perhaps it was deleted and saved again between the two reads: read again.
                    if _bytes_of(folder / "head.json") == data:
                        raise
        return None

    def save_blocking(
        self, session_id: SessionId, /, *, seq: int, head: bytes, log: Sequence[LogEntry]
    ) -> None:
        """Save a session; see `BlockingStore.save_blocking`."""
        folder = self._folder_of(session_id)
        with lock_file(folder / "lock", durable=self._durable):
            data = _bytes_of(folder / "head.json")
            old = None if data is None else _read_head(session_id, folder, data)[0]
            top = old or _Top(_VERSION, quote_id(session_id), 0, 0, 0, 0)
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
            elif kind == "sha256" and (data := _bytes_of(path)) is not None:
                session_ids.append(unquote_id(_read_head(None, path.parent, data)[0].session_id))
        return tuple(sorted(session_ids))

    def delete_blocking(self, session_id: SessionId, /) -> None:
        """Delete a session if there is one; its next save has the number 1."""
        folder = self._folder_of(session_id)
        if not folder.is_dir():
            return
        with lock_file(folder / "lock", durable=self._durable):
            (folder / "head.json").unlink(missing_ok=True)
            if self._durable:
                # Before the log is removed: a head without its log would be a damaged session.
                sync_folder(folder)
            for name in ("log.jsonl", "head.json.new"):
                (folder / name).unlink(missing_ok=True)
            with suppress(OSError):
                # Another process may wait for the lock, or save next; then lock and folder stay.
                (folder / "lock").unlink()
                folder.rmdir()

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
                raise _too_short(session_id, path, length, at)
            if length > at:
                os.ftruncate(log, at)
            if new:
                os.lseek(log, at, os.SEEK_SET)
                write_all(log, new)
            if self._durable and (new or length > at):
                sync(log)

    def _exchange_head(self, folder: Path, data: bytes) -> None:
        path = folder / "head.json.new"
        with open_file(path, flags=os.O_TRUNC) as head:
            write_all(head, data)
            if self._durable:
                sync(head)
        path.replace(folder / "head.json")
        if self._durable:
            sync_folder(folder)


def _bytes_of(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _read_head(session_id: SessionId | None, folder: Path, data: bytes) -> tuple[_Top, bytes]:
    line, end, head = data.partition(b"\n")
    try:
        body, _ = remove_checksum(line + end, crc32(head))
        top = from_json(body, _Top)
        if top.version != _VERSION:
            raise ValueError(f"it has version {top.version}, and only {_VERSION} can be read")
    except (ValueError, RecordError) as error:
        path = str(folder / "head.json")
        raise DamagedSave(session_id, path, _reason(error), line=1, byte=0) from error
    return top, head


def _read_log(session_id: SessionId, folder: Path, top: _Top) -> tuple[LogEntry, ...]:
    path = folder / "log.jsonl"
    entries: list[LogEntry] = []
    at = crc = 0
    try:
        with path.open("rb") as log:
            while at < top.log_bytes:
                line = log.readline(top.log_bytes - at)
                if not line:
                    raise _too_short(session_id, path, at, top.log_bytes)
                body, crc = remove_checksum(line, crc)
                entries.append(decode_entry(body))
                at += len(line)
    except FileNotFoundError:
        if top.log_bytes:
            raise _too_short(session_id, path, 0, top.log_bytes) from None
    except DamagedSave:
        raise
    except (ValueError, RecordError) as error:
        reason, line_number = _reason(error), len(entries) + 1
        raise DamagedSave(session_id, str(path), reason, line=line_number, byte=at) from error
    if crc != top.log_crc32 or len(entries) != top.revision:
        reason = "it is not the log that head.json was written with"
        raise DamagedSave(session_id, str(path), reason)
    return tuple(entries)


def _reason(error: ValueError | RecordError) -> str:
    return error.reason if isinstance(error, RecordError) else str(error)


def _too_short(session_id: SessionId, path: Path, length: int, counted: int) -> DamagedSave:
    reason = f"it has {length} bytes, but {counted} were saved"
    return DamagedSave(session_id, str(path), reason, byte=length)
