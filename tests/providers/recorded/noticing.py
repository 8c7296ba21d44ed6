"""Which kinds of fields a comparison with the corpus notices when they are spoilt.

    python tests/providers/recorded/noticing.py DIR

spoils the answers below a directory, and those written by hand, and prints one line for each kind
of field: how often it was spoilt, in how many ways, and how often nobody noticed.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

if __name__ == "__main__":  # a script finds its own folder first, the tests' folder never
    sys.path[0] = str(Path(__file__).parents[2])

from msgspec import Struct
from msgspec.structs import fields

from agentkit_core import ModelResponse, ProviderFailure
from agentkit_core.provider import fold_response
from providers import corpus
from providers.recorded.comparing import Report, Unknown
from providers.recorded.exchanges import Exchange, body_of, exchanges
from providers.recorded.handmade import handmade
from providers.recorded.spoiling import (
    PUT_IN,
    Spoilt,
    kinds_of_fields,
    spoilt_answers,
    struct_types,
    with_one,
)

_OFTEN_ENOUGH: Final = 2
"""How often one kind of field is spoilt in one way, in the answers of one protocol."""


class Noticed:
    """What was spoilt, and what of it nobody noticed."""

    def __init__(self) -> None:
        self.tried = Counter[str]()
        """By kind of field."""
        self.ways: dict[str, set[str]] = {}
        self.unnoticed: dict[str, list[str]] = {}
        self._often = Counter[tuple[str, str, str]]()

    def spoil_all(self, recorded: Iterable[Exchange]) -> None:
        """Spoil the answers, the short ones first."""
        answers = [(exchange, _decoded(exchange)) for exchange in recorded]
        answers.sort(key=lambda pair: len(body_of(pair[0])))
        for exchange, answer in answers:
            reading = corpus.reading_of(exchange)
            unknown = {path for path, _ in _unknown_within(reading, "")}
            for spoilt in spoilt_answers(answer):
                if not any(spoilt.path.startswith(path) for path in unknown):
                    self._try(exchange, reading, spoilt)
        exchange, whole = next(
            (exchange, answer) for exchange, answer in answers if isinstance(answer, ModelResponse)
        )
        reading = corpus.reading_of(exchange)
        for struct in struct_types(*PUT_IN):
            for field in fields(struct):
                kind = f"{struct.__name__}.{field.name}"
                if kind not in self.tried:
                    put_in = with_one(whole, struct, field.name)
                    self._try(exchange, reading, Spoilt(kind, "put in", "", put_in))

    def _try(self, exchange: Exchange, reading: Any, spoilt: Spoilt) -> None:
        key = exchange["protocol"], spoilt.kind, spoilt.how
        if self._often[key] >= _OFTEN_ENOUGH:
            return
        self._often[key] += 1
        self.tried[spoilt.kind] += 1
        self.ways.setdefault(spoilt.kind, set()).add(spoilt.how)
        if not _differs(exchange, reading, spoilt.answer):
            line = f"{exchange['id']}: {spoilt.path} ({spoilt.how})"
            self.unnoticed.setdefault(spoilt.kind, []).append(line)

    def lines(self) -> Iterator[str]:
        """The report for people."""
        for kind in [*kinds_of_fields(), *sorted({*self.tried} - {*kinds_of_fields()})]:
            missed = self.unnoticed.get(kind, [])
            ways = len(self.ways.get(kind, ()))
            yield f"{kind}: spoilt {self.tried[kind]} times in {ways} ways, {len(missed)} unnoticed"
            yield from (f"  {line}" for line in missed)


def _decoded(exchange: Exchange) -> ModelResponse | ProviderFailure:
    if exchange["status"] >= 400:
        return corpus.failure_of(exchange)
    projection = corpus.projection_of(exchange)
    return fold_response(corpus.events_of(exchange, projection, [body_of(exchange)]), strict=True)


def _differs(exchange: Exchange, reading: Any, answer: Any) -> bool:
    """Whether the comparison finds that this is not what was recorded."""
    report = Report()
    if isinstance(answer, ProviderFailure):
        corpus.compare_failure(exchange, answer, report, reading)
    else:
        corpus.compare_response(exchange, answer, report, reading)
    return bool(report.mismatches)


def _unknown_within(value: Any, path: str) -> Iterator[tuple[str, Unknown]]:
    """The places of a reading whose value the wire does not tell."""
    if isinstance(value, Unknown):
        yield path, value
    elif isinstance(value, Struct):
        for name in value.__struct_fields__:
            yield from _unknown_within(getattr(value, name), f"{path}.{name}" if path else name)
    elif isinstance(value, tuple):
        for at, entry in enumerate(value):
            yield from _unknown_within(entry, f"{path}[{at}]")


def main(arguments: list[str]) -> int:
    """Spoil the answers below a directory; print what was noticed."""
    noticed = Noticed()
    recorded = [exchange for folder in arguments for exchange in exchanges(Path(folder))]
    noticed.spoil_all([*recorded, *handmade()])
    print("\n".join(noticed.lines()))
    return 1 if noticed.unnoticed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
