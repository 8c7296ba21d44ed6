"""JSON objects out of a body that is one of them, or an array of them, as they come.

Without `alt=sse` a stream is one JSON array that grows, and a whole answer is one object. Both
read alike here: each outermost object is given when its last bracket has come.
"""

from __future__ import annotations

import re
from typing import Final

_MARK: Final = re.compile(rb'([{}])|"[^"\\]*+(?:\\.[^"\\]*+)*+("?)', re.DOTALL)
"""A bracket, or a string as far as it goes: with its closing quote, or to where it is cut."""
_REST_OF_STRING: Final = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+("?)', re.DOTALL)


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
        if not chunk:
            return done
        at = start = 0
        if self._in_string:
            at = self._skip_string(chunk)
        for found in _MARK.finditer(chunk, at):
            bracket, quote = found.groups()
            if bracket == b"{":
                if not self._depth:
                    start = found.start()
                self._depth += 1
            elif bracket == b"}":
                if self._depth:
                    self._depth -= 1
                    if not self._depth:
                        done.append(b"".join((*self._pieces, chunk[start : found.end()])))
                        self._pieces.clear()
            elif not quote:
                self._in_string = True
                self._escaped = found.end() < len(chunk)  # it stops before a last backslash
                break
        if self._depth:
            self._pieces.append(chunk[start:])
        return done

    def _skip_string(self, chunk: bytes) -> int:
        """Go on in a string that was cut; return where it ends, or the end of the chunk."""
        found = _REST_OF_STRING.match(chunk, int(self._escaped))
        if found is None or not found.group(1):
            self._escaped = found is not None and found.end() < len(chunk)
            return len(chunk)
        self._in_string = self._escaped = False
        return found.end()
