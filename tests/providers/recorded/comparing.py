"""Comparisons, their differences, and the list of what a reading cannot know."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple, cast

from msgspec import Struct

from providers.recorded.exchanges import Exchange

UNKNOWN: Final = {
    "ToolCall.id": "the provider sent no id, or that of an earlier call of the response: the "
    "decoder makes a new one, which must not be empty or that of another call",
    "ToolCall.input_error": "we write why arguments cannot be read; the provider does not",
    "ProviderFailure.message": "only the finish reason reports the failure, so we write the "
    "message; it must repeat the finish reason and what the provider says of it",
    "ProviderFailure.raw": "of an error body of more than 8192 bytes, only the beginning stays",
    "ProviderFailure.tokens": "the provider writes the count into its message, if at all; it must "
    "be a number of the message",
    "ProviderFailure.token_limit": "as for `tokens`",
    "ProviderFailure.retry_after_s": "the wait ends at a date, and the recording has no clock",
}
"""Fields whose value the recorded JSON does not always tell, and why."""


class Unknown(NamedTuple):
    """Stands in a reading for a value that the recorded JSON does not tell."""

    name: str
    """A key of `UNKNOWN`."""
    fits: Callable[[Any], bool]
    """Checks what is known of the value."""


def unknown(name: str, fits: Callable[[Any], bool]) -> Any:
    """Make a placeholder, in place of a value of any type, for what the JSON does not tell."""
    assert name in UNKNOWN, f"{name} is not listed as unknown"
    return Unknown(name, fits)


class Difference(NamedTuple):
    """One place where two values differ."""

    path: str
    expected: object
    seen: object


def differences(expected: object, seen: object, path: str = "") -> Iterator[Difference]:
    """Compare two values field by field. Types matter, the order of keys does not."""
    if isinstance(expected, Unknown):
        if not expected.fits(seen):
            yield Difference(path, expected, seen)
    elif type(expected) is not type(seen):
        yield Difference(path, expected, seen)
    elif isinstance(expected, Struct):
        for name in expected.__struct_fields__:
            inner = f"{path}.{name}" if path else name
            yield from differences(getattr(expected, name), getattr(seen, name), inner)
    elif isinstance(expected, dict):
        other = cast("dict[object, object]", seen)
        for key in {**expected, **other}:
            yield from differences(
                expected.get(key, ABSENT), other.get(key, ABSENT), f"{path}[{key!r}]"
            )
    elif isinstance(expected, list | tuple) and len(expected) == len(cast("Any", seen)):
        for at, entries in enumerate(zip(expected, cast("Any", seen), strict=True)):
            yield from differences(*entries, f"{path}[{at}]")
    elif expected != seen:
        yield Difference(path, expected, seen)


ABSENT = type("Absent", (), {"__repr__": lambda _: "nothing"})()


class Mismatch(NamedTuple):
    """A value that is not what it should be."""

    exchange: str
    kind: str
    expected: object
    seen: object

    def __str__(self) -> str:
        return f"  {self.exchange}: {self.kind} is {self.seen!r}, should be {self.expected!r}"


class Report:
    """What was compared, by protocol and kind, and what did not agree."""

    def __init__(self) -> None:
        self.compared = Counter[tuple[str, str]]()
        self.agreed = Counter[tuple[str, str]]()
        self.skipped = Counter[str]()
        self.unknown = Counter[str]()
        """How often each entry of `UNKNOWN` and of the tables of exceptions was needed."""
        self.mismatches: list[Mismatch] = []

    def compare(self, exchange: Exchange, kind: str, expected: object, seen: object) -> None:
        """Note one comparison; of structs, name the place where they differ."""
        key = exchange["protocol"], kind
        self.compared[key] += 1
        differing = list(differences(expected, seen))
        if not differing:
            self.agreed[key] += 1
        for path, wanted, value in differing:
            self.mismatches.append(
                Mismatch(exchange["id"], f"{kind}{path and ': '}{path}", wanted, value)
            )
        self.unknown.update(_unknown_within(expected))

    def lines(self) -> Iterator[str]:
        """The report for people."""
        for protocol, kind in self.compared:
            agreed, compared = self.agreed[protocol, kind], self.compared[protocol, kind]
            yield f"{protocol} {kind} {agreed}/{compared}"
        for protocol, files in self.skipped.items():
            yield f"{protocol} skipped: no projection yet ({files} files)"
        for name, times in sorted(self.unknown.items()):
            yield f"not known {times} times: {name}"
        yield from map(str, self.mismatches)


def _unknown_within(expected: object) -> Iterator[str]:
    if isinstance(expected, Unknown):
        yield expected.name
    elif isinstance(expected, Struct):
        for name in expected.__struct_fields__:
            yield from _unknown_within(getattr(expected, name))
    elif isinstance(expected, list | tuple):
        for entry in expected:
            yield from _unknown_within(entry)
