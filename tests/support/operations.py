"""Counts the work of a function, so that tests of growth need no clock."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def operations(work: Callable[[], Any]) -> int:
    """Return how many functions were called, in Python and in C."""
    count = 0

    def called(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    _profile(work, called)
    return count


def steps(work: Callable[[], Any]) -> int:
    """Return how many instructions of Python were executed; slow, so for small work."""
    count = 0

    def traced(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal count
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        count += event == "opcode"
        return traced

    before = sys.gettrace()
    sys.settrace(traced)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def bytes_looked_at(work: Callable[[], Any]) -> int:
    """Return how many bytes and characters the methods of bytes and texts were called on."""
    size = 0

    def called(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal size
        if event == "c_call" and isinstance(of := getattr(argument, "__self__", None), bytes | str):
            size += len(of)

    _profile(work, called)
    return size


def _profile(work: Callable[[], Any], called: Callable[[FrameType, str, Any], None]) -> None:
    sys.setprofile(called)
    try:
        work()
    finally:
        sys.setprofile(None)
