"""A call's arguments that come value by value, each with the JSON path to where it belongs.

The values become an object, and JSON text that grows as they come, which is what our deltas
carry. The text can only grow at its end: a value for a place that is closed already makes the
object alone stand from then on.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final

from msgspec import UNSET

from agentkit_core import JsonValue, to_json
from agentkit_providers.google_generate._wire_events import PartialArg

_STEP: Final = re.compile(
    r"""\.([^.\[\]]+)|\[([0-9]{1,9})\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]"""
)
_ESCAPED: Final = re.compile(r"\\(.)")
_MOST_STEPS: Final = 64
_MOST_MISSING: Final = 1000
"""How many entries of a list may be missing before one that comes."""

Step = str | int
"""A name in an object, or a place in a list."""


class PartialArgs:
    """Puts the arguments of one call together."""

    def __init__(self) -> None:
        self.value: dict[str, JsonValue] = {}
        """The arguments so far."""
        self.error: str | None = None
        """Why they are not what the model meant; None while they are."""
        self.appendable = True
        """Whether the text can still grow; if not, `value` takes its place."""
        self._text = _GrowingText()
        self._open: tuple[Step, ...] | None = None
        """Where a text stands that goes on."""

    def take(self, given: PartialArg) -> str:
        """Take one value, or a piece of a text.

        Returns:
            The JSON text that it adds; nothing to go by once `appendable` is false.
        """
        path = _steps(given.json_path)
        if not path or not isinstance(path[0], str):
            self.error = f"the arguments have a value at {given.json_path!r}, which is no place"
            return ""
        value, more = _value(given), given.will_continue is True
        goes_on = path == self._open
        if value is UNSET:
            if goes_on and not more:
                value = ""  # says that the text is over
            else:
                return ""
        is_text = isinstance(value, str)
        try:
            _put(self.value, path, value, joined=goes_on and is_text)
        except (IndexError, KeyError, TypeError):
            self.error = f"the arguments have no place for a value at {given.json_path!r}"
            return ""
        self._open = path if is_text and more else None
        if not self.appendable:
            return ""
        text = self._text.grown(path, value, goes_on=goes_on and is_text, more=is_text and more)
        self.appendable = text is not None
        return text or ""

    def close(self) -> str:
        """End the arguments; return the JSON text that is missing."""
        return self._text.closed() if self.appendable else ""


class _GrowingText:
    """JSON text of an object whose values come in the order in which they are written."""

    def __init__(self) -> None:
        self._path: tuple[Step, ...] = ()  # of the value that was written last
        self._names: list[set[Step]] = []  # names written so far, in each open container
        self._in_text = False

    def grown(
        self, path: tuple[Step, ...], value: JsonValue, *, goes_on: bool, more: bool
    ) -> str | None:
        """The text that a value adds; None where it can no longer be added."""
        if goes_on:
            self._in_text = more
            return _inner(value) + '"' * (not more)
        before, same = self._path, 0
        while same < min(len(before), len(path)) and before[same] == path[same]:
            same += 1
        if same == len(path) or (before and same == len(before)):
            return None
        if before and type(before[same]) is not type(path[same]):
            return None
        written = ['"'] if self._in_text else []
        for step in reversed(before[same + 1 :]):
            written.append(_closing(step))
            self._names.pop()
        if not before:
            written.append("{")
            self._names.append(set())
        elif path[same] in self._names[-1]:
            return None
        else:
            written.append(",")
        for at in range(same, len(path)):
            step = path[at]
            if at > same:
                written.append("{" if isinstance(step, str) else "[")
                self._names.append(set())
            if isinstance(step, int):
                if step != len(self._names[-1]):
                    return None  # the entries before it have not come
            else:
                written.append(to_json(step).decode() + ":")
            self._names[-1].add(step)
        self._path, self._in_text = path, more
        written.append('"' + _inner(value) + '"' * (not more) if isinstance(value, str)
                       else to_json(value).decode())  # fmt: skip
        return "".join(written)

    def closed(self) -> str:
        """The text that ends everything that is open."""
        ends = '"' if self._in_text else ""
        path, self._path, self._in_text = self._path, (), False
        return ends + "".join(map(_closing, reversed(path)))


def _closing(step: Step) -> str:
    """The bracket that closes the container of a step."""
    return "}" if isinstance(step, str) else "]"


def _inner(value: JsonValue) -> str:
    return to_json(value).decode()[1:-1]


def _value(given: PartialArg) -> Any:
    for value in (given.string_value, given.number_value, given.bool_value):
        if value is not UNSET and value is not None:
            if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
                return int(value)  # the vendor's numbers are doubles, whatever the schema says
            return value
    return UNSET if given.null_value is UNSET else None


def _steps(json_path: str) -> tuple[Step, ...] | None:
    """Read a path; None where it is none that leads to one place."""
    if not json_path.startswith("$"):
        return None
    steps: list[Step] = []
    at = 1
    while at < len(json_path) and len(steps) <= _MOST_STEPS:
        found = _STEP.match(json_path, at)
        if found is None:
            return None
        name, place, single, double = found.groups()
        if place is not None:
            steps.append(int(place))
        elif name is not None:
            steps.append(name)
        else:
            steps.append(_ESCAPED.sub(r"\1", single if single is not None else double))
        at = found.end()
    return tuple(steps) if len(steps) <= _MOST_STEPS else None


def _put(
    root: dict[str, JsonValue], path: Sequence[Step], value: JsonValue, *, joined: bool
) -> None:
    """Put a value in its place, or join a text to the one that is there.

    Raises:
        IndexError, KeyError, TypeError: There is no such place.
    """
    holder: Any = root
    for step, following in pairwise(path):
        inner = _at(holder, step)
        if inner is None:
            inner = {} if isinstance(following, str) else []
            _set(holder, step, inner)
        holder = inner
    last = path[-1]
    _set(holder, last, _at(holder, last) + value if joined else value)


def _at(holder: Any, step: Step) -> Any:
    if isinstance(holder, dict) and isinstance(step, str):
        return holder.get(step)
    if isinstance(holder, list) and isinstance(step, int):
        return holder[step] if step < len(holder) else None
    raise TypeError(f"no {step!r} in {type(holder).__name__}")


def _set(holder: Any, step: Step, value: JsonValue) -> None:
    if isinstance(holder, list) and isinstance(step, int):
        missing = step - len(holder) + 1
        if missing > _MOST_MISSING:
            raise IndexError(step)
        holder.extend([None] * missing)
    holder[step] = value
