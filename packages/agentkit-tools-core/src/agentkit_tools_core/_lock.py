"""A lock, where there are threads at all; loaded when the first one is made."""

from __future__ import annotations

from contextlib import AbstractContextManager


def new_lock() -> AbstractContextManager[object]:
    """Make a lock for `with`."""
    from threading import Lock  # whoever embeds the kernel alone may have no threads

    return Lock()
