"""Recorded request bodies, read into our types and encoded again.

    python tests/providers/recorded_requests.py DIR [DIR ...]

reads every exchange below a directory and prints for each protocol how many bodies are made
again, and why the others cannot be expressed. A body is compared in its normal form, in which
what means the same is written the same (the rules are printed with `--rules`). It exits with 1
if a body that can be expressed is not made again.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

if __name__ == "__main__":  # a script finds its own folder first, the tests' folder never
    sys.path[0] = str(Path(__file__).parents[1])

from providers.corpus import exchanges
from providers.requests import (
    anthropic_messages,
    anthropic_messages_rules,
    google_generate,
    google_generate_rules,
    openai_chat,
    openai_chat_rules,
    openai_responses,
    openai_responses_rules,
)
from providers.requests.reading import NotExpressible, Protocol
from providers.requests.rules import normal

PROTOCOLS: dict[str, Protocol] = {
    "openai-responses": Protocol(openai_responses_rules.RULES, openai_responses.read),
    "anthropic-messages": Protocol(anthropic_messages_rules.RULES, anthropic_messages.read),
    "google-generate": Protocol(google_generate_rules.RULES, google_generate.read),
    "openai-chat": Protocol(openai_chat_rules.RULES, openai_chat.read),
}
"""How each protocol's requests are read; those that are missing are skipped."""


class Outcome:
    """What came of the bodies of one protocol."""

    def __init__(self) -> None:
        self.bodies = 0
        self.made: list[str] = []
        self.refused: dict[str, list[str]] = {}
        """Reason to ids."""
        self.mismatches: dict[str, list[str]] = {}
        """Id to differences."""
        self.extra = Counter[str]()
        self.quirks = Counter[str]()


class Difference(NamedTuple):
    """One place where two bodies differ."""

    path: str
    recorded: object
    ours: object

    def __str__(self) -> str:
        return f"{self.path or 'body'}: recorded {_short(self.recorded)}, ours {_short(self.ours)}"


ABSENT = type("Absent", (), {"__repr__": lambda _: "nothing"})()


def check(found: Iterable[Mapping[str, Any]]) -> dict[str, Outcome | int]:
    """Make all recorded bodies again; a number counts those of a protocol that is skipped."""
    outcomes, skipped = dict[str, Outcome](), Counter[str]()
    for exchange in found:
        body = exchange["request"]
        if not body:
            continue
        name = exchange["protocol"]
        protocol = PROTOCOLS.get(name)
        if protocol is None:
            skipped[name] += 1
            continue
        outcome = outcomes.setdefault(name, Outcome())
        _check_body(exchange, body, protocol, outcome)
    return {**outcomes, **skipped}


def _check_body(
    exchange: Mapping[str, Any], body: Any, protocol: Protocol, outcome: Outcome
) -> None:
    outcome.bodies += 1
    try:
        recorded = normal(body, protocol.rules)
        reading = protocol.read(exchange, recorded)
    except NotExpressible as reason:
        outcome.refused.setdefault(str(reason), []).append(exchange["id"])
        return
    except Exception as error:  # the rest is still worth reading
        outcome.mismatches[exchange["id"]] = [f"reading raised {error!r}"]
        return
    try:
        wire = reading.projection.encode(reading.request)
    except Exception as error:
        outcome.mismatches[exchange["id"]] = [f"encoding raised {error!r}"]
        return
    ours = normal(json.loads(wire.body), protocol.rules)
    found = [str(difference) for difference in differences(recorded, ours)]
    if found:
        outcome.mismatches[exchange["id"]] = found
        return
    outcome.made.append(exchange["id"])
    outcome.extra.update(reading.extra)
    outcome.quirks.update(reading.quirks)


def differences(recorded: Any, ours: Any, path: str = "") -> Iterator[Difference]:
    """Where two JSON values differ; the order of keys does not count."""
    if isinstance(recorded, dict) and isinstance(ours, dict):
        for key in sorted(recorded.keys() | ours.keys()):
            inner = f"{path}.{key}" if path else key
            yield from differences(recorded.get(key, ABSENT), ours.get(key, ABSENT), inner)
    elif isinstance(recorded, list) and isinstance(ours, list) and len(recorded) == len(ours):
        for at, (one, other) in enumerate(zip(recorded, ours, strict=True)):
            yield from differences(one, other, f"{path}[{at}]")
    elif recorded != ours or isinstance(recorded, bool) is not isinstance(ours, bool):
        yield Difference(path, recorded, ours)


def lines(outcomes: Mapping[str, Outcome | int]) -> Iterator[str]:
    """The report for people."""
    for name, outcome in outcomes.items():
        if isinstance(outcome, int):
            yield f"{name} requests skipped: no reader or no encoder yet ({outcome} bodies)"
            continue
        refused = sum(map(len, outcome.refused.values()))
        yield (
            f"{name} requests {len(outcome.made)}/{outcome.bodies} re-created, "
            f"{refused} not expressible:"
        )
        for reason, ids in sorted(outcome.refused.items(), key=lambda entry: -len(entry[1])):
            shown = ", ".join((*ids[:3], "…") if ids[3:] else ids)
            yield f"  {len(ids)} {reason} ({shown})"
        yield f"  fields in `extra`: {_counted(outcome.extra)}"
        yield f"  quirks other than the vendor's row: {_counted(outcome.quirks)}"
        for exchange, found in outcome.mismatches.items():
            yield f"  NOT RE-CREATED {exchange}:"
            yield from (f"    {entry}" for entry in found)


def _counted(counts: Counter[str]) -> str:
    told = ", ".join(f"{name} {count}" for name, count in counts.most_common())
    return f"{counts.total()} ({told})" if told else "none"


def _short(value: object) -> str:
    shown = value if value is ABSENT else json.dumps(value, ensure_ascii=False)
    return f"{shown!s:.200}"


def rule_lines() -> Iterator[str]:
    """What counts as meaning the same, and why."""
    for name, protocol in PROTOCOLS.items():
        yield f"{name}:"
        yield from (f"  {rule.name}: {rule.because}" for rule in protocol.rules)


def main(arguments: Sequence[str]) -> int:
    """Check the requests below each directory; print what came of it."""
    if list(arguments) == ["--rules"]:
        print("\n".join(rule_lines()))
        return 0
    if not arguments:
        print(__doc__)
        return 2
    outcomes = check(entry for folder in arguments for entry in exchanges(Path(folder)))
    for line in lines(outcomes):
        print(line)
    if not outcomes:
        print("no request bodies found")
        return 2
    failed = any(isinstance(entry, Outcome) and entry.mismatches for entry in outcomes.values())
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
