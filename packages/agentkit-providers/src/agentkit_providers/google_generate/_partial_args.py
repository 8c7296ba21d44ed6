"""A call's arguments that come value by value, each with the JSON path of its place.

The values become an object, and a JSON text that grows with them, which our deltas carry. The text
can grow only at its end. Once a value comes for a place that is closed already, only the object is
valid.
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
_MAX_STEPS: Final = 64
_MAX_MISSING: Final = 1000
"""How many entries of a list may be missing before an entry that comes."""

Step = str | int
"""A name in an object, or an index in a list."""


class PartialArgs:
    """Puts the arguments of one call together."""

    def __init__(self) -> None:
        self.value: dict[str, JsonValue] = {}
        """The arguments so far."""
        self.error: str | None = None
        """Why the arguments are not what the model meant; None while they are."""
        self.appendable = True
        """Whether the text can still grow; if not, `value` replaces it."""
        self._text = _GrowingText()
        self._open: tuple[Step, ...] | None = None
        """The place of a text that continues."""

    def take(self, argument: PartialArg) -> str:
        """Take one value, or a piece of a text.

        Returns:
            The JSON text that it adds; empty once `appendable` is false.
        """
        path = _parse_path(argument.json_path)
        if not path or not isinstance(path[0], str):
            self.error = f"{argument.json_path!r} is not a valid path to one of the arguments"
            return ""
        value, more = _value(argument), argument.will_continue is True
        continues = path == self._open
        if value is UNSET:
            if continues and not more:
                value = ""  # means that the text is over
            else:
                return ""
        is_text = isinstance(value, str)
        try:
            _put(self.value, path, value, append=continues and is_text)
        except (IndexError, KeyError, TypeError):
            self.error = f"the arguments have no place for a value at {argument.json_path!r}"
            return ""
        self._open = path if is_text and more else None
        if not self.appendable:
            return ""
        text = self._text.append(
            path, value, continues=continues and is_text, more=is_text and more
        )
        self.appendable = text is not None
        return text or ""

    def close(self) -> str:
        """End the arguments; return the JSON text that is missing."""
        return self._text.close() if self.appendable else ""


class _GrowingText:
    """The JSON text of an object whose values come in the order of the text."""

    def __init__(self) -> None:
        self._path: tuple[Step, ...] = ()  # of the value that was written last
        self._names: list[set[Step]] = []  # names written so far, in each open container
        self._in_text = False

    def append(
        self, path: tuple[Step, ...], value: JsonValue, *, continues: bool, more: bool
    ) -> str | None:
        """Return the text that a value adds; None where it cannot be added at the end.

        Args:
            path: The value's place.
            value: The value.
            continues: Whether the value is the next piece of the text that is open.
            more: Whether further pieces of this text follow.
        """
        if continues:
            self._in_text = more
            return _inner(value) + '"' * (not more)
        before, same = self._path, 0
        while same < min(len(before), len(path)) and before[same] == path[same]:
            same += 1
        if same == len(path) or (before and same == len(before)):
            return None
        if before and type(before[same]) is not type(path[same]):
            return None
        pieces = ['"'] if self._in_text else []
        for step in reversed(before[same + 1 :]):
            pieces.append(_closing(step))
            self._names.pop()
        if not before:
            pieces.append("{")
            self._names.append(set())
        elif path[same] in self._names[-1]:
            return None
        else:
            pieces.append(",")
        for at in range(same, len(path)):
            step = path[at]
            if at > same:
                pieces.append("{" if isinstance(step, str) else "[")
                self._names.append(set())
            if isinstance(step, int):
                if step != len(self._names[-1]):
                    return None  # the entries before it have not come
            else:
                pieces.append(to_json(step).decode() + ":")
            self._names[-1].add(step)
        self._path, self._in_text = path, more
        if isinstance(value, str):
            pieces.append('"' + _inner(value) + '"' * (not more))
        else:
            pieces.append(to_json(value).decode())
        return "".join(pieces)

    def close(self) -> str:
        """Return the text that closes everything that is open."""
        ends = '"' if self._in_text else ""
        path, self._path, self._in_text = self._path, (), False
        return ends + "".join(map(_closing, reversed(path)))


def _closing(step: Step) -> str:
    """The bracket that closes the container of a step."""
    return "}" if isinstance(step, str) else "]"


def _inner(value: JsonValue) -> str:
    return to_json(value).decode()[1:-1]


def _value(argument: PartialArg) -> Any:
    for value in (argument.string_value, argument.number_value, argument.bool_value):
        if value is not UNSET and value is not None:
            if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
                return int(value)  # the vendor sends every number as a double
            return value
    # A number that no float can hold was read as null.
    is_null = argument.null_value is not UNSET or argument.number_value is None
    return None if is_null else UNSET


def _parse_path(json_path: str) -> tuple[Step, ...] | None:
    """Read a JSON path; None where it does not name exactly one place."""
    if not json_path.startswith("$"):
        return None
    steps: list[Step] = []
    at = 1
    while at < len(json_path) and len(steps) <= _MAX_STEPS:
        match = _STEP.match(json_path, at)
        if match is None:
            return None
        name, index, single, double = match.groups()
        if index is not None:
            steps.append(int(index))
        elif name is not None:
            steps.append(name)
        else:
            steps.append(_ESCAPED.sub(r"\1", single if single is not None else double))
        at = match.end()
    return tuple(steps) if len(steps) <= _MAX_STEPS else None


def _put(
    root: dict[str, JsonValue], path: Sequence[Step], value: JsonValue, *, append: bool
) -> None:
    """Put a value in its place, or append it to the text there.

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
    _set(holder, last, _at(holder, last) + value if append else value)


def _at(holder: Any, step: Step) -> Any:
    if isinstance(holder, dict) and isinstance(step, str):
        return holder.get(step)
    if isinstance(holder, list) and isinstance(step, int):
        return holder[step] if step < len(holder) else None
    raise TypeError(f"no {step!r} in {type(holder).__name__}")


def _set(holder: Any, step: Step, value: JsonValue) -> None:
    if isinstance(holder, list) and isinstance(step, int):
        missing = step - len(holder) + 1
        if missing > _MAX_MISSING:
            raise IndexError(step)
        holder.extend([None] * missing)
    holder[step] = value
