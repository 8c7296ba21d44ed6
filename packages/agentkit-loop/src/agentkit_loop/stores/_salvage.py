"""Finds the entries of a damaged log that can still be read.

Each entry has a checksum that continues from the one of the entry before. So damage is known for
what it is: a wrong entry under a good checksum, or a good entry under a wrong checksum, which the
entry after it proves. Where both are lost, the next entry cannot be checked and is taken if it can
be read.
"""

from __future__ import annotations

from collections.abc import Iterable
from zlib import crc32

from agentkit_core import RecordError
from agentkit_loop.persistence._records import LogEntry
from agentkit_loop.stores._log_codec import decode_entry

Record = tuple[bytes, int | None]
"""The bytes of an entry, and its checksum; None if that cannot be read."""


def salvage_entries(
    records: Iterable[Record], *, start: int, end: int | None
) -> tuple[tuple[LogEntry, ...], list[int]]:
    """Return the entries that can be read, and the positions of those that cannot, from 0.

    Args:
        records: The entries as they are stored, oldest first.
        start: What the first checksum continues from.
        end: The last checksum; None if it is not known.
    """
    good: dict[int, LogEntry] = {}
    bad: list[int] = []
    # What the next checksum may continue from; None means that it is not known. Where it would
    # prove that the entry before is good after all, that entry.
    starts: dict[int, LogEntry | None] | None = {start: None}
    last_revision = 0
    at = -1
    for at, (body, recorded) in enumerate(records):
        entry = _decode(body)
        computed = None if starts is None else {crc32(body, each): each for each in starts}
        # After a lost checksum, or where entries are missing, there is nothing to check against.
        if entry is not None and (starts is None or entry.revision > last_revision + 1 + len(bad)):
            is_good = entry.revision > last_revision
        else:
            is_good = entry is not None and computed is not None and recorded in computed
        if entry is not None and recorded is not None and is_good:
            before = None
            if starts is not None and computed is not None and recorded in computed:
                before = starts[computed[recorded]]
            if before is not None:
                good[at - 1] = before
                bad.remove(at - 1)
            good[at] = entry
            last_revision = entry.revision
            starts = {recorded: None}
            continue
        bad.append(at)
        starts = dict.fromkeys(computed or (), entry) if entry is not None else {}
        if recorded is not None:
            starts.setdefault(recorded, None)
        starts = starts or None
    if starts and end is not None and (before := starts.get(end)) is not None:
        good[at] = before
        bad.remove(at)
    return tuple(good[place] for place in sorted(good)), bad


def _decode(body: bytes) -> LogEntry | None:
    try:
        return decode_entry(body)
    except (RecordError, ValueError):
        return None
