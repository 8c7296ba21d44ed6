"""A lock; `threading` is imported only when the first one is made."""

from __future__ import annotations

from contextlib import AbstractContextManager


def new_lock() -> AbstractContextManager[object]:
    """Make a lock for `with`."""
    from threading import Lock  # not available on platforms without threads

    return Lock()
