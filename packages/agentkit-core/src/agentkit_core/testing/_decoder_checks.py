"""Checks of decoders and responses; `AssertionError` says which rule was broken."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, get_args

from agentkit_core._errors import DeltaOutOfOrder
from agentkit_core._failure import FailureKind
from agentkit_core._finish import FinishReason
from agentkit_core._metadata import RESERVED_OWNER, metadata_owner
from agentkit_core._part import Custom
from agentkit_core._projection import ResponseDecoder
from agentkit_core._streaming._delta import Delta
from agentkit_core._streaming._response import (
    ModelEvent,
    ModelResponse,
    ResponseFailed,
    ResponseFinished,
    ResponseStarted,
    UsageReported,
    fold_response,
)

_SHORT: Final = 20_000
"""Up to how many bytes a body is also fed byte by byte."""


def decode_chunks(decoder: ResponseDecoder, chunks: Iterable[bytes]) -> tuple[ModelEvent, ...]:
    """Feed all chunks to a decoder, finish it, and return all events.

    Raises:
        AssertionError: The decoder raised, which it must never do because of its input, or returned
            something else than a tuple.
    """
    events: list[ModelEvent] = []
    for chunk in chunks:
        events += _tuple_of("feed", decoder.feed, chunk)
    return (*events, *_tuple_of("finish", decoder.finish))


def _tuple_of(
    method: str, call: Callable[..., tuple[ModelEvent, ...]], *chunk: bytes
) -> tuple[ModelEvent, ...]:
    try:
        events = call(*chunk)
    except Exception as error:
        raise AssertionError(f"the decoder raised {error!r} because of its input") from error
    kind = type(events).__name__
    assert isinstance(events, tuple), (
        f"`{method}` returns a {kind} instead of a tuple of events; without events, return ()"
    )
    return events


def check_decoder(
    new: Callable[[], ResponseDecoder],
    body: bytes,
    *,
    cuts: Iterable[int] | None = None,
    model: str | None = None,
    fails: bool | None = None,
    end_mark: bool = True,
) -> ModelResponse:
    """Check the rules of a decoder on one recorded body.

    - The events do not depend on where the body is cut. The deltas fold in strict mode.
    - There is one end, with nothing after it, even if more bytes come. A response that finishes
      has one `ResponseStarted`, before any delta.
    - A body that is cut off ends as well and never raises; it finishes only if no part is missing.
      An empty body is a failure.
    - An error in the body is a failure, and not one of the kind `stream_cut`.
    - The response follows the rules of `check_response`.

    Run it on several bodies: a text, parallel tool calls, an error inside a stream.

    Args:
        new: Makes a new decoder; called for each reading.
        body: The whole body of a response.
        cuts: The byte positions at which to cut the body in two; by default every byte, or 500
            positions in a long body.
        model: The requested model id, which the provenance must have; None accepts any.
        fails: Whether the provider reports a failure in this body. None decides by the body: a
            failure is a JSON object with an `error`, or of the type `error`, as the body or as the
            data of one of its lines.
        end_mark: Whether this body shows where the response ends. False is for a protocol without
            an end mark, where a response may continue after what looks like its end; cut off
            there, it finishes with fewer parts.

    Returns:
        The folded response.

    Raises:
        AssertionError: A rule is broken.
    """
    whole = decode_chunks(new(), [body])
    check_ends_once(whole, "the whole body")
    _check_begins(whole)
    _check_usage(whole)
    check_empty_body_fails(new())
    positions = _cut_positions(len(body)) if cuts is None else list(cuts)
    for cut in positions:
        halves = decode_chunks(new(), [body[:cut], b"", body[cut:]])
        assert halves == whole, f"cutting the body at byte {cut} changes the events"
        early = decode_chunks(new(), [body[:cut]])
        check_ends_once(early, f"the body cut off at byte {cut}")
        if end_mark:
            _check_broken_off(early, whole, cut)
    if len(body) <= _SHORT:
        bytewise = decode_chunks(new(), (body[n : n + 1] for n in range(len(body))))
        assert bytewise == whole, "feeding the body byte by byte changes the events"
    _check_stays_ended(new, body)
    try:
        response = fold_response(whole, strict=True)
    except DeltaOutOfOrder as error:
        raise AssertionError(f"the deltas do not fold in strict mode: {error}") from error
    if fails if fails is not None else has_error(body):
        _check_failed(response)
    check_response(response, model=model)
    return response


def check_response(response: ModelResponse, *, model: str | None = None) -> None:
    """Check the rules of a response, from any source.

    - No tool call has an empty id, and no two calls have the same one.
    - A response without a failure has a provenance. Its finish reason is `tool_call` only if it
      has calls, and never `completed` if it has any.
    - Its usage counts one request, and no negative number of tokens.
    - Custom parts and metadata of parts belong to the api or the provider of the provenance.

    Args:
        response: The response.
        model: The requested model id, which the provenance must have; None accepts any.

    Raises:
        AssertionError: A rule is broken.
    """
    item, calls = response.item, response.item.tool_calls
    for at, call in enumerate(calls):
        assert call.id, f"call {at} ({call.name!r}) has no id"
        twins = [other.name for other in calls if other.id == call.id]
        assert len(twins) == 1, f"the calls {twins} have the same id {call.id!r}"
    if item.provenance is not None:
        _check_provenance(response, model)
    if response.failure is None:
        assert item.provenance is not None, "the response has no provenance"
        _check_finish_reason(item.finish_reason, has_calls=bool(calls))
    usage = response.usage
    assert usage.requests == 1, f"the usage counts {usage.requests} requests instead of one"
    assert usage.reported_requests <= 1, "the usage reports more than one request"
    for name in usage.tokens.__struct_fields__:
        count = getattr(usage.tokens, name)
        assert count is None or count >= 0, f"the usage counts {count} tokens of {name}"


def check_ends_once(events: Sequence[ModelEvent], what: str) -> None:
    """Check that events are model events, with one end as the last of them."""
    for event in events:
        assert isinstance(event, get_args(ModelEvent)), f"{what}: {event!r} is not a model event"
    ends = [position for position, event in enumerate(events) if _is_end(event)]
    assert len(ends) == 1, f"{what}: there are {len(ends)} end events instead of one"
    assert ends[0] == len(events) - 1, f"{what}: {events[ends[0] + 1]!r} comes after the end"


def check_empty_body_fails(decoder: ResponseDecoder) -> None:
    """Check that a decoder reports an empty body as a failure."""
    events = decode_chunks(decoder, [])
    check_ends_once(events, "an empty body")
    assert isinstance(events[-1], ResponseFailed), "an empty body is decoded as a response"
    assert decoder.finish() == (), "a second call of `finish` returns events"


def has_error(body: bytes) -> bool:
    """Whether a body reports an error: as a JSON object, of its own or in one of its lines."""
    lines = [line.removeprefix(b"data:").strip() for line in body.splitlines()]
    return any(_is_error(_json(text)) for text in (body, *lines))


def _json(text: bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _is_error(value: Any) -> bool:
    if isinstance(value, list):
        return any(map(_is_error, value))
    return isinstance(value, dict) and bool(value.get("error") or value.get("type") == "error")


def _is_end(event: ModelEvent) -> bool:
    return isinstance(event, ResponseFinished | ResponseFailed)


def _cut_positions(length: int) -> list[int]:
    step = max(1, length // 500)
    return list(range(0, length + 1, step))


def _check_begins(events: Sequence[ModelEvent]) -> None:
    starts = [at for at, event in enumerate(events) if isinstance(event, ResponseStarted)]
    assert len(starts) <= 1, f"there are {len(starts)} ResponseStarted instead of one"
    if isinstance(events[-1], ResponseFailed):
        return
    assert starts, "the response finishes without a ResponseStarted, so it has no provenance"
    deltas = [at for at, event in enumerate(events) if isinstance(event, get_args(Delta))]
    assert not deltas or starts[0] < deltas[0], "the ResponseStarted comes after a delta"


def _check_usage(events: Sequence[ModelEvent]) -> None:
    for event in events:
        if isinstance(event, UsageReported):
            requests = event.usage.requests
            assert requests == 1, f"a UsageReported counts {requests} requests instead of one"


def _check_broken_off(early: Sequence[ModelEvent], whole: Sequence[ModelEvent], cut: int) -> None:
    if isinstance(early[-1], ResponseFailed) or isinstance(whole[-1], ResponseFailed):
        return
    parts, all_parts = (fold_response(events).item.parts for events in (early, whole))
    assert parts == all_parts, (
        f"the body cut off at byte {cut} is decoded as a whole response without "
        f"{[part for part in all_parts if part not in parts]!r:.200}; "
        f"end with a failure of the kind stream_cut unless the protocol's end mark came"
    )


def _check_stays_ended(new: Callable[[], ResponseDecoder], body: bytes) -> None:
    decoder = new()
    events = decoder.feed(body)
    if any(map(_is_end, events)):
        more = (*decoder.feed(body), *decoder.finish())
        assert more == (), f"the decoder continues after the end of the response: {more[0]!r}"
        twice = new().feed(body + body)
        assert twice == events, (
            f"the decoder continues after the end of the response: it returns {len(twice)} events "
            f"instead of {len(events)} where more bytes follow"
        )
    else:
        decoder.finish()
    assert decoder.finish() == (), "a second call of `finish` returns events"
    more = decoder.feed(body)
    assert more == (), f"the decoder continues after `finish`: {more and more[0]!r}"


def _check_failed(response: ModelResponse) -> None:
    failure = response.failure
    assert failure is not None, (
        "the body has an error, which the decoder ignores: it returns a whole response"
    )
    assert failure.kind is not FailureKind.STREAM_CUT, (
        f"the body has an error, which the decoder ignores: {failure.describe()}"
    )


def _check_provenance(response: ModelResponse, model: str | None) -> None:
    item = response.item
    origin = item.provenance
    assert origin is not None
    for name in ("provider", "api", "model"):
        assert getattr(origin, name).strip(), f"the provenance has no {name}"
    assert model is None or origin.model == model, (
        f"the provenance has the model {origin.model!r} instead of the requested {model!r}; "
        f"the provider's own name for it belongs in `response_model`"
    )
    owners = {metadata_owner(key) for part in item.parts for key in part.metadata}
    owners |= {metadata_owner(part.kind) for part in item.parts if isinstance(part, Custom)}
    owners -= {RESERVED_OWNER}
    assert not owners or owners & {origin.api, origin.provider}, (
        f"the provenance has the provider {origin.provider!r} and the api {origin.api!r}, and the "
        f"parts have metadata of {sorted(owners)}"
    )


def _check_finish_reason(reason: FinishReason | None, *, has_calls: bool) -> None:
    assert reason is not None, "the response has no finish reason"
    assert reason not in (FinishReason.ERROR, FinishReason.CANCELLED), (
        f"the response has no failure, and its finish reason is {reason.value}"
    )
    if has_calls:
        assert reason is not FinishReason.COMPLETED, (
            "the response has tool calls, and its finish reason is completed; it must be "
            "tool_call, unless a limit or a filter cut the response off"
        )
    else:
        assert reason is not FinishReason.TOOL_CALL, (
            "the finish reason is tool_call, and the response has no tool call"
        )
