"""Counts the work of our code by executed lines: what grows shows without a clock."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any


@contextmanager
def counting(work: Counter[str]) -> Iterator[None]:
    """Count the lines that are executed in our own code, by function.

    Each round of a loop counts, one that stands within a line as well: so does a loop in Python
    over a history, wherever it is.
    """

    def begin(frame: FrameType, event: str, arg: object) -> Any:
        module = frame.f_globals.get("__name__", "")
        if not module.startswith("agentkit_") or module == "agentkit_loop.testing":
            return None
        where = f"{module}.{frame.f_code.co_qualname}"

        def one(frame: FrameType, event: str, arg: object) -> Any:
            if event == "line":
                work[where] += 1
            return one

        return one

    before = sys.gettrace()
    sys.settrace(begin)
    try:
        yield
    finally:
        sys.settrace(before)
