"""JSON bodies: one value that is read when it is whole, or objects that are read as they arrive.

Google sends a stream without `alt=sse` as one JSON array that grows. `JsonObjects` returns each of
its objects as soon as the closing bracket has arrived.
"""

from __future__ import annotations

import re
from typing import Final

_BRACKET_OR_STRING: Final = re.compile(rb'([{}])|"[^"\\]*+(?:\\.[^"\\]*+)*+("?)', re.DOTALL)
"""A bracket, or a string as far as it goes: with its closing quote, or to where the chunk ends."""
_REST_OF_STRING: Final = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+("?)', re.DOTALL)


class WholeJson:
    """Collects a JSON body until it is over."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def feed(self, chunk: bytes) -> list[bytes]:
        """Take the next bytes; return nothing, since the body is not over."""
        self._pieces.append(chunk)
        return []

    def finish(self) -> list[bytes]:
        """Return the whole body; nothing when called again."""
        body, self._pieces = b"".join(self._pieces), []
        return [body] if body else []


class JsonObjects:
    """Finds the outermost objects of a body, however it is cut; time is linear in the bytes.

    Only strings and curly brackets are recognized. Whether an object is valid JSON is for its
    reader to find out.
    """

    def __init__(self) -> None:
        self.is_array: bool | None = None
        """Whether the body begins as an array; None before the first byte."""
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
        if self.is_array is None:
            self.is_array = chunk[:1] == b"["
        at = start = 0
        if self._in_string:
            at = self._skip_string(chunk)
        for match in _BRACKET_OR_STRING.finditer(chunk, at):
            bracket, quote = match.groups()
            if bracket == b"{":
                if not self._depth:
                    start = match.start()
                self._depth += 1
            elif bracket == b"}":
                if self._depth:
                    self._depth -= 1
                    if not self._depth:
                        done.append(b"".join((*self._pieces, chunk[start : match.end()])))
                        self._pieces.clear()
            elif not quote:
                self._in_string = True
                self._escaped = match.end() < len(chunk)  # the match stops before a last backslash
                break
        if self._depth:
            self._pieces.append(chunk[start:])
        return done

    def finish(self) -> list[bytes]:
        """Return the object without its closing bracket, if any; nothing when called again.

        Its reader finds out whether it was cut off, or could never have become valid.
        """
        rest, self._pieces, self._depth = b"".join(self._pieces), [], 0
        return [rest] if rest else []

    def _skip_string(self, chunk: bytes) -> int:
        """Continue a string that was cut; return where it ends, or the end of the chunk."""
        match = _REST_OF_STRING.match(chunk, int(self._escaped))
        if match is None or not match.group(1):
            self._escaped = match is not None and match.end() < len(chunk)
            return len(chunk)
        self._in_string = self._escaped = False
        return match.end()
