"""Recorded exchanges with real providers, read by our projections and compared.

    python tests/providers/corpus.py DIR [DIR ...]

reads every exchange below a directory, prints one line for each protocol and kind of value
with how many agree, names what does not, and exits with 1 if anything did not. The format of
the files is described in the README beside the recordings.

Each answer is compared twice. First all of it, field by field, with a plain reading of the
recorded JSON (`recorded`): parts with their signatures, encrypted content, item ids and media
bytes, blocks of the vendor's own tools, provenance, finish reason, usage, failure. Then with the
values under `expected`, which the vendor's own SDK has read. A field that a reading cannot know
is listed in `recorded.comparing.UNKNOWN`; a value under `expected` that is not ours to reproduce
is listed below. A key of `expected` that nobody knows counts as a mismatch.

A protocol joins by a row in `PROTOCOLS`; those without one are counted and skipped.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, Protocol, runtime_checkable

if __name__ == "__main__":  # a script finds its own folder first, the tests' folder never
    sys.path[0] = str(Path(__file__).parents[1])

from agentkit_core import Item, ModelResponse, ProviderFailure, TokenUsage
from agentkit_core.provider import (
    ModelEvent,
    Projection,
    ResponseFailed,
    ResponseFinished,
    fold_response,
)
from agentkit_providers.endpoints import default_registry
from providers.recorded import chat, generate, messages, responses, views
from providers.recorded.comparing import Report
from providers.recorded.exchanges import Exchange, body_of, exchanges, request_of
from providers.recorded.failures import http_failure, whole_message
from providers.recorded.readings import Spoken

__all__ = ["Exchange", "body_of", "check", "events_of", "exchanges", "request_of"]

PIECES: Final = (1, 3, 17, 256, 1400)
"""In pieces of how many bytes a stream is fed; the first is for short ones, the next for others."""

PROTOCOLS: dict[str, Spoken] = {
    "anthropic-messages": messages.SPOKEN,
    "google-generate": generate.SPOKEN,
    "openai-chat": chat.SPOKEN,
    "openai-responses": responses.SPOKEN,
}
"""How each protocol is read; those that are missing are skipped."""


@runtime_checkable
class FailingProjection(Projection, Protocol):
    """A projection that can also say what an HTTP error means."""

    def failure(
        self, status: int, headers: Mapping[str, str], body: bytes, *, now_s: float | None = None
    ) -> ProviderFailure:
        """Say what an answer without success means."""
        ...


def projection_of(exchange: Exchange) -> FailingProjection:
    """The projection of the vendor that answered."""
    row = default_registry.get(PROTOCOLS[exchange["protocol"]].row(exchange))
    projection = default_registry.projection(row)
    assert isinstance(projection, FailingProjection)
    return projection


def check(recorded: Iterable[Exchange]) -> Report:
    """Compare exchanges with what our projections make of them."""
    report = Report()
    for exchange in recorded:
        if exchange["protocol"] not in PROTOCOLS:
            report.skipped[exchange["protocol"]] += 1
            continue
        try:
            if exchange["status"] >= 400:
                compare_failure(exchange, failure_of(exchange), report)
            else:
                _check_answer(exchange, report)
        except Exception as error:  # the rest is still worth reading
            report.compare(exchange, "raised", None, repr(error))
    return report


def failure_of(exchange: Exchange) -> ProviderFailure:
    """What a projection makes of an HTTP error."""
    headers = {"content-type": exchange.get("content_type") or "application/json"}
    if exchange.get("retry_after") is not None:
        headers["Retry-After"] = str(exchange["retry_after"])
    return projection_of(exchange).failure(exchange["status"], headers, body_of(exchange))


def events_of(
    exchange: Exchange, projection: Projection, chunks: Iterable[bytes]
) -> tuple[ModelEvent, ...]:
    """What a projection makes of an answer that comes in these chunks."""
    decoder = projection.decoder(request_of(exchange))
    events = [event for chunk in chunks for event in decoder.feed(chunk)]
    return (*events, *decoder.finish())


@cache
def report_of(folder: Path) -> Report:
    """Compare the exchanges below a folder, once in a process."""
    return check(exchanges(folder))


def reading_of(exchange: Exchange) -> ModelResponse | ProviderFailure:
    """What the recording itself says, read plainly."""
    if exchange["status"] >= 400:
        return http_failure(exchange)
    return PROTOCOLS[exchange["protocol"]].read(exchange)


def compare_failure(
    exchange: Exchange, failure: ProviderFailure, report: Report, reading: Any = None
) -> None:
    """Compare an HTTP error with what the recording says of it.

    Args:
        exchange: The recording.
        failure: What our projection makes of it.
        report: Takes what was found.
        reading: Its `reading_of`, for those who compare more than once.
    """
    report.compare(exchange, "http error", reading or reading_of(exchange), failure)
    _compare_expected_error(exchange, failure, report)


def compare_response(
    exchange: Exchange, response: ModelResponse, report: Report, reading: Any = None
) -> None:
    """Compare an answer with what the recording says of it; see `compare_failure`."""
    spoken = PROTOCOLS[exchange["protocol"]]
    reading = reading or reading_of(exchange)
    for name in Item.__struct_fields__:
        expected, seen = getattr(reading.item, name), getattr(response.item, name)
        report.compare(exchange, f"item.{name}", expected, seen)
    report.compare(exchange, "failure", reading.failure, response.failure)
    call_ids = [call.id for call in response.item.tool_calls]
    report.compare(exchange, "ids of calls used twice", len(call_ids), len({*call_ids}))
    _compare_expected(exchange, spoken, response, report)


def _check_answer(exchange: Exchange, report: Report) -> None:
    body, projection = body_of(exchange), projection_of(exchange)
    events = events_of(exchange, projection, [body])
    ends = [at for at, event in enumerate(events) if isinstance(event, _ENDS)]
    report.compare(exchange, "one end", [len(events) - 1], ends)
    if exchange["streamed"]:
        single, few, *more = PIECES
        sizes = [single if len(body) <= 20_000 else few, *more]
        differ = [
            size for size in sizes if events_of(exchange, projection, cut(body, size)) != events
        ]
        report.compare(exchange, "cuts", [], differ)
    compare_response(exchange, fold_response(events, strict=True), report)


_ENDS: Final = (ResponseFinished, ResponseFailed)


def cut(body: bytes, size: int) -> Iterator[bytes]:
    """Cut a body into pieces of one size."""
    return (body[at : at + size] for at in range(0, len(body), size))


# What the vendor's own SDK has read.


NOT_COMPARED: Final = {
    "error.sdk_exception": "a class of the vendor's SDK; `http error` compares the failure's kind",
}
"""Keys under `expected` that nothing of ours answers to, and why."""

COUNTS_THAT_DO_NOT_ADD_UP: Final = frozenset(
    {
        ("openai-chat", "azure"),  # Grok: more cached tokens than prompt tokens
        ("openai-chat", "google"),  # the total holds thoughts that no count reports
        ("openai-chat", "mistral"),  # the total holds sound, of which only seconds are reported
        ("openai-chat", "vercel-gateway"),  # more reasoning than output
        ("openai-chat", "openrouter"),  # as before
        ("openai-chat", "doubleword"),  # as before
    }
)
"""Vendors whose counts contradict each other at times. Ours add up to the total: see `adds_up`."""


def adds_up(counts: Mapping[str, int], raw: Mapping[str, Any]) -> dict[str, int]:
    """The vendor's counts as they add up to its total."""
    settled = dict(counts)
    total, reasoning = settled.get("total"), settled.get("reasoning", 0)
    on_top = reasoning and total == settled["input"] + settled["output"] + reasoning
    if not total or on_top:
        return settled
    if raw.get("prompt_audio_seconds"):
        settled["input"] = total - settled["output"]
    settled["output"] = total - settled["input"]
    for part, whole in (("cache_read", "input"), ("reasoning", "output")):
        if part in settled:
            settled[part] = min(settled[part], settled[whole])
    return settled


def _compare_expected(
    exchange: Exchange, spoken: Spoken, response: ModelResponse, report: Report
) -> None:
    expected, item = exchange["expected"], response.item
    more = spoken.more(item, exchange)
    views_of_key: dict[str, Callable[[], object]] = {
        "text": lambda: "".join(text.text for text in views.texts_of(item, refusal=False)),
        "reasoning": lambda: views.reasoning_of(item),
        "refusal": lambda: "".join(t.text for t in views.texts_of(item, refusal=True)) or None,
        "parts": lambda: spoken.part_kinds(item),
        "runs": lambda: views.runs_of(item),
        "annotations": lambda: views.annotations_of(item),
        "finish_reason_native": lambda: _native_reason(item),
        "tool_calls": lambda: views.calls_of(item, expected["tool_calls"]),
    }
    for key, value in expected.items():
        if key == "usage":
            _compare_usage(exchange, spoken, response, report)
        elif key == "error":
            report.compare(exchange, "failed", True, response.failure is not None)
            if response.failure is not None:
                _compare_expected_error(exchange, response.failure, report)
        elif key in more:
            report.compare(exchange, key, _normal(key, value), more[key])
        elif key in views_of_key:
            report.compare(exchange, key, _normal(key, value), views_of_key[key]())
        else:
            report.compare(exchange, f"a key that nobody compares: {key}", None, value)


def _normal(key: str, value: Any) -> Any:
    """A value under `expected` in our words: nothing is None, no arguments are an object."""
    if key == "tool_calls":
        return [views.expected_call(call) for call in value]
    if key == "runs":
        return views.without_repeats(value)
    if key in ("text", "parts", "annotations", "native_types"):
        return value
    return value or None


def _native_reason(item: Item) -> str | None:
    for key, words in item.metadata.items():
        if key.endswith(("provider_finish_reasons", ".finish_reasons")) and isinstance(words, list):
            return next((str(word) for word in reversed(words) if word), None)
    return None


def _compare_usage(
    exchange: Exchange, spoken: Spoken, response: ModelResponse, report: Report
) -> None:
    expected = exchange["expected"]["usage"]
    tokens = TokenUsage() if response.item.usage is None else response.item.usage.tokens
    if (exchange["protocol"], exchange["vendor"]) in COUNTS_THAT_DO_NOT_ADD_UP:
        raw = {} if response.item.usage is None else response.item.usage.metadata
        settled = adds_up(expected, next((r for r in raw.values() if isinstance(r, dict)), {}))
        report.unknown["usage: counts that do not add up"] += settled != expected
        expected = settled
    counts = {key: value for key, value in expected.items() if key != "total"}
    total = expected.get("total")
    if total is None and counts:  # Messages have no total
        total = sum(value or 0 for key, value in counts.items() if key != "reasoning")
    report.compare(exchange, "usage", counts, spoken.usage(tokens, expected))
    report.compare(exchange, "total", total, tokens.total)


def _compare_expected_error(exchange: Exchange, failure: ProviderFailure, report: Report) -> None:
    seen = {
        "type": failure.type,
        "code": failure.code,
        "status": failure.type,  # Google's errors have a word there, and no type
        "message": failure.message,
        "param": failure.param,
    }
    for key, value in exchange["expected"].get("error", {}).items():
        name = f"error.{key}"
        if name in NOT_COMPARED:
            report.unknown[name] += 1
        elif key not in seen:
            report.compare(exchange, f"a key that nobody compares: {name}", None, value)
        else:
            report.compare(exchange, name, _error_value(key, value, failure), seen[key])


def _error_value(key: str, value: Any, failure: ProviderFailure) -> Any:
    """A value of an error in our words."""
    match key:
        case "code":
            return str(value)
        case "message":
            return whole_message(value, failure.raw)
        case _:
            return value


def main(arguments: Sequence[str]) -> int:
    """Check the exchanges below each directory; print what came of it."""
    if not arguments:
        print(__doc__)
        return 2
    report = check(exchange for folder in arguments for exchange in exchanges(Path(folder)))
    for line in report.lines():
        print(line)
    if not (report.compared or report.skipped):
        print("no exchanges found")
        return 2
    return 1 if report.mismatches else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
