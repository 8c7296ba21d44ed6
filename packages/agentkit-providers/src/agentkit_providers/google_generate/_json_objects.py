"""JSON objects out of a body that is one of them, or an array of them, as they come.

Without `alt=sse` a stream is one JSON array that grows, and a whole answer is one object. Both
read alike here: each outermost object is given when its last bracket has come.
"""

from __future__ import annotations

import re
from typing import Final

_OUTSIDE: Final = re.compile(rb'["{}]')
_IN_STRING: Final = re.compile(rb'["\\]')
_OPEN, _CLOSE, _QUOTE = b'{}"'


class JsonObjects:
    """Finds the outermost objects of a body, however it is cut; time is linear in the bytes.

    Strings are told from structure, and nothing else is checked: whether an object is good JSON
    is for whoever reads it.
    """

    def __init__(self) -> None:
        self._pieces: list[bytes] = []  # of the object that is open
        self._depth = 0
        self._in_string = False
        self._escaped = False

    @property
    def is_open(self) -> bool:
        """Whether an object has begun and not ended."""
        return self._depth > 0

    def feed(self, chunk: bytes) -> list[bytes]:
        """Take the next bytes; return the objects that they complete."""
        done: list[bytes] = []
        at = start = 0
        while at < len(chunk):
            if self._escaped:
                self._escaped = False
                at += 1
                continue
            found = (_IN_STRING if self._in_string else _OUTSIDE).search(chunk, at)
            if found is None:
                break
            at = found.end()
            mark = chunk[found.start()]
            if self._in_string:
                self._in_string = mark != _QUOTE
                self._escaped = mark != _QUOTE
            elif mark == _QUOTE:
                self._in_string = True
            elif mark == _OPEN:
                if not self._depth:
                    start = found.start()
                self._depth += 1
            elif mark == _CLOSE and self._depth:
                self._depth -= 1
                if not self._depth:
                    done.append(b"".join((*self._pieces, chunk[start:at])))
                    self._pieces.clear()
        if self._depth:
            self._pieces.append(chunk[start:])
        return done
