"""What was compared and what differs; and what a second reading cannot know, by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple, cast

from msgspec import Struct
from msgspec.structs import fields

from providers.recorded.exchanges import Exchange

UNKNOWN: Final = {
    "ToolCall.id": "the wire has no id, or one that it gave to an earlier call of the answer: the "
    "decoder makes one up, which must not be empty and not be another call's",
    "ToolCall.input_error": "why arguments cannot be read is said in our own words",
    "ProviderFailure.message": "the vendor's finish reason names the failure and no message tells "
    "of it, so the words are ours; they must repeat what the vendor did say",
    "ProviderFailure.raw": "of an error body of more than 8192 bytes only the beginning is kept",
    "ProviderFailure.tokens": "the count stands in the vendor's sentence, if anywhere; the number "
    "must be one that the sentence has",
    "ProviderFailure.token_limit": "as for `tokens`",
    "ProviderFailure.retry_after_s": "the wait is told as a moment, and the recording has no clock",
}
"""Fields whose value a reading of the wire cannot know, at times, and why."""


class Ours(NamedTuple):
    """Stands in a reading for a value that the wire does not tell."""

    name: str
    """A key of `UNKNOWN`."""
    fits: Callable[[Any], bool]
    """Whether a value can be right; as much of it as can be known."""


def ours(name: str, fits: Callable[[Any], bool]) -> Any:
    """Stand for a value that the wire does not tell, in place of a value of any type."""
    assert name in UNKNOWN, f"{name} is not listed as unknown"
    return Ours(name, fits)


class Difference(NamedTuple):
    """One place where two values differ."""

    path: str
    expected: object
    seen: object


def differences(expected: object, seen: object, path: str = "") -> Iterator[Difference]:
    """Where a value is not what it should be, field by field; types count, order of keys not."""
    if isinstance(expected, Ours):
        if not expected.fits(seen):
            yield Difference(path, expected, seen)
    elif type(expected) is not type(seen):
        yield Difference(path, expected, seen)
    elif isinstance(expected, Struct):
        for field in fields(expected):
            inner = f"{path}.{field.name}" if path else field.name
            yield from differences(getattr(expected, field.name), getattr(seen, field.name), inner)
    elif isinstance(expected, dict):
        other = cast("dict[object, object]", seen)
        for key in {**expected, **other}:
            yield from differences(
                expected.get(key, ABSENT), other.get(key, ABSENT), f"{path}[{key!r}]"
            )
    elif isinstance(expected, list | tuple) and len(expected) == len(cast("Any", seen)):
        for at, (one, other_one) in enumerate(zip(expected, cast("Any", seen), strict=True)):
            yield from differences(one, other_one, f"{path}[{at}]")
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
        found = list(differences(expected, seen))
        if not found:
            self.agreed[key] += 1
        for path, wanted, value in found:
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
    if isinstance(expected, Ours):
        yield expected.name
    elif isinstance(expected, Struct):
        for field in fields(expected):
            yield from _unknown_within(getattr(expected, field.name))
    elif isinstance(expected, list | tuple):
        for one in expected:
            yield from _unknown_within(one)
