"""Checks of projections, decoders and histories; `AssertionError` says which rule was broken."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import get_args

import msgspec

from agentkit_core._data_ref import Handle
from agentkit_core._errors import DeltaOutOfOrder
from agentkit_core._history._target import ReasoningRule, Target, ToolMedia
from agentkit_core._item import Item, ItemKind
from agentkit_core._part import (
    Custom,
    File,
    FilesOutput,
    Media,
    Part,
    PartsOutput,
    Reasoning,
    Text,
    TextOutput,
    ToolResult,
)
from agentkit_core._projection import (
    IncrementalProjection,
    Projection,
    RequestEncoder,
    ResponseDecoder,
)
from agentkit_core._records import to_msgpack
from agentkit_core._request import ModelRequest
from agentkit_core._streaming._response import (
    ModelEvent,
    ModelResponse,
    ResponseFailed,
    ResponseFinished,
    fold_response,
)
from agentkit_core._tool_spec import ToolSpec
from agentkit_core.testing._hard_transcripts import hard_transcripts


def decode_chunks(decoder: ResponseDecoder, chunks: Iterable[bytes]) -> tuple[ModelEvent, ...]:
    """Feed all chunks to a decoder, finish it, and return all events.

    Raises:
        AssertionError: The decoder raised, which it must never do because of its input.
    """
    events: list[ModelEvent] = []
    try:
        for chunk in chunks:
            events += decoder.feed(chunk)
        return (*events, *decoder.finish())
    except Exception as error:
        raise AssertionError(f"the decoder raised {error!r} because of its input") from error


def check_decoder(
    new: Callable[[], ResponseDecoder], body: bytes, *, cuts: Iterable[int] | None = None
) -> ModelResponse:
    """Check the rules of a decoder on one recorded body.

    The events do not depend on where the body is cut. There is one end, with nothing after it. The
    deltas fold in strict mode. A body that is cut off ends as well and never raises. An empty body
    is a failure.

    Args:
        new: Makes a new decoder; called for each reading.
        body: The whole body of a response.
        cuts: The byte positions at which to cut the body in two; by default every byte, or 500
            positions in a long body.

    Returns:
        The folded response.

    Raises:
        AssertionError: A rule is broken.
    """
    expected = decode_chunks(new(), [body])
    _check_ends_once(expected, "the whole body")
    _check_empty_body_fails(new())
    positions = _cut_positions(len(body)) if cuts is None else list(cuts)
    for cut in positions:
        halves = decode_chunks(new(), [body[:cut], b"", body[cut:]])
        assert halves == expected, f"cutting the body at byte {cut} changes the events"
        cut_off = decode_chunks(new(), [body[:cut]])
        _check_ends_once(cut_off, f"the body cut off at byte {cut}")
    if len(body) <= 20_000:
        single_bytes = decode_chunks(new(), (body[n : n + 1] for n in range(len(body))))
        assert single_bytes == expected, "feeding the body byte by byte changes the events"
    decoder = new()
    decode_chunks(decoder, [body])
    assert decoder.finish() == (), "a second call of `finish` returns events"
    try:
        return fold_response(expected, strict=True)
    except DeltaOutOfOrder as error:
        raise AssertionError(f"the deltas do not fold in strict mode: {error}") from error


def _cut_positions(length: int) -> list[int]:
    step = max(1, length // 500)
    return list(range(0, length + 1, step))


def _check_ends_once(events: Sequence[ModelEvent], what: str) -> None:
    ends: list[int] = []
    for position, event in enumerate(events):
        assert isinstance(event, get_args(ModelEvent)), f"{what}: {event!r} is not a model event"
        if isinstance(event, ResponseFinished | ResponseFailed):
            ends.append(position)
    assert len(ends) == 1, f"{what}: there are {len(ends)} end events instead of one"
    assert ends[0] == len(events) - 1, f"{what}: {events[ends[0] + 1]!r} comes after the end"


def _check_empty_body_fails(decoder: ResponseDecoder) -> None:
    events = decode_chunks(decoder, [])
    _check_ends_once(events, "an empty body")
    assert isinstance(events[-1], ResponseFailed), "an empty body is decoded as a response"


def check_projection(
    projection: Projection,
    *,
    model: str = "a-model",
    tools: Sequence[ToolSpec] = (),
    histories: Mapping[str, Sequence[Item]] | None = None,
) -> None:
    """Check that a projection follows its rules for any request.

    Encoding is pure: the same request gives the same bytes and is not changed. The body is valid
    JSON in UTF-8 for every history, even a damaged one. A decoder reports an empty body as a
    failure. The encoders of an `IncrementalProjection` give the same bytes while histories grow and
    are replaced by others.

    Args:
        projection: The projection to check.
        model: The model id for the requests.
        tools: The tools for the requests.
        histories: Histories by name; `hard_transcripts()` by default.

    Raises:
        AssertionError: A rule is broken.
    """
    named = hard_transcripts() if histories is None else histories
    for name, items in named.items():
        for streamed in (True, False):
            request = ModelRequest(
                model=model, items=tuple(items), tools=tuple(tools), streamed=streamed
            )
            before = to_msgpack(request)
            try:
                wire = projection.encode(request)
            except Exception as error:
                raise AssertionError(f"encoding history {name!r} raised {error!r}") from error
            assert to_msgpack(request) == before, f"encoding {name!r} changes the request"
            assert projection.encode(request) == wire, f"encoding {name!r} twice gives other bytes"
            assert wire.path.startswith("/"), f"the path {wire.path!r} has no leading slash"
            try:
                msgspec.json.decode(wire.body)
            except msgspec.DecodeError as error:
                raise AssertionError(f"the body of {name!r} is not JSON: {error}") from error
    for streamed in (True, False):
        request = ModelRequest(model=model, items=(Item.user("hi"),), streamed=streamed)
        _check_empty_body_fails(projection.decoder(request))
    if isinstance(projection, IncrementalProjection):
        _check_encoder(projection, projection.encoder(), named, model, tuple(tools))


def _check_encoder(
    projection: Projection,
    encoder: RequestEncoder,
    named: Mapping[str, Sequence[Item]],
    model: str,
    tools: tuple[ToolSpec, ...],
) -> None:
    for name, items in named.items():
        for end in range(len(items) + 1):
            request = ModelRequest(model=model, items=tuple(items[:end]), tools=tools)
            assert encoder.encode(request) == projection.encode(request), (
                f"an encoder that is used again gives other bytes for {name!r}, item {end}"
            )


def check_sendable(items: Sequence[Item], target: Target) -> None:
    """Check that a target accepts these items one by one, as `sendable` promises.

    Raises:
        AssertionError: An item breaks a rule of the target; the message says which.
    """
    call_ids = set[str]()
    for at, item in enumerate(items):
        assert item.kind in target.kinds or item.kind is ItemKind.USER, (
            f"item {at} is of kind {item.kind}, which the target does not accept"
        )
        assert item.parts, f"item {at} has no parts"
        before = items[at - 1] if at else None
        if not target.consecutive_roles and before is not None and item.kind is not ItemKind.TOOL:
            assert before.kind is not item.kind, f"items {at - 1} and {at} are both {item.kind}"
        _check_pairs(items, at, target)
        for call in item.tool_calls:
            assert target.call_ids.accepts(call.id), f"item {at}: call id {call.id!r} is invalid"
            assert target.tool_names.accepts(call.name), f"item {at}: name {call.name!r} is invalid"
            assert call.id not in call_ids, f"item {at}: call id {call.id!r} is used twice"
            call_ids.add(call.id)
        for part in item.parts:
            _check_part(part, item, at, target)
    rest = [item for item in items if item.kind not in (ItemKind.SYSTEM, ItemKind.DEVELOPER)]
    if target.first_user and rest:
        assert rest[0].kind is ItemKind.USER, f"the first item is of kind {rest[0].kind}, not user"


def _check_pairs(items: Sequence[Item], at: int, target: Target) -> None:
    item, following = items[at], items[at + 1] if at + 1 < len(items) else None
    calls = [call.id for call in item.tool_calls]
    if calls:
        assert following is not None, f"item {at} at the end has calls without results"
        results = [result.call_id for result in following.tool_results]
        assert results == calls, f"item {at} has calls {calls}, item {at + 1} results of {results}"
    if item.kind is ItemKind.TOOL and not target.orphan_results:
        assert at > 0, "the first item has results without a call"
        assert items[at - 1].tool_calls, f"item {at} has results without a call"


def _check_part(part: Part, item: Item, at: int, target: Target) -> None:
    match part:
        case Text(text=text):
            assert target.empty_text or text.strip(), f"item {at} has a blank text"
            _check_text(text, at)
        case Media(modality=modality, data=data):
            assert modality in target.media, f"item {at} has {modality}, which is not accepted"
            assert not isinstance(data, Handle), f"item {at} has {modality} that was not loaded"
        case File(data=data):
            assert target.files, f"item {at} has a file, which is not accepted"
            assert not isinstance(data, Handle), f"item {at} has a file that was not loaded"
        case Reasoning():
            _check_reasoning(part, item, at, target)
        case Custom(kind=kind):
            kinds = target.custom_kinds
            accepted = kind.startswith(f"{target.api}.") if kinds is None else kind in kinds
            assert accepted, f"item {at} has a custom part {kind!r} of another owner"
        case ToolResult():
            _check_result(part, at, target)
        case _:
            pass


def _check_reasoning(part: Reasoning, item: Item, at: int, target: Target) -> None:
    origin = item.provenance
    assert target.reasoning is not ReasoningRule.NONE, f"item {at} has reasoning"
    assert origin is not None, f"item {at} has reasoning of unknown origin"
    assert origin.same_model(target.provider, target.api, target.model), (
        f"item {at} has reasoning of another model"
    )
    if target.reasoning is ReasoningRule.SIGNED:
        signatures = [part.metadata.get(key) for key in target.signature_keys]
        assert any(signatures), f"item {at} has unsigned reasoning"


def _check_result(result: ToolResult, at: int, target: Target) -> None:
    inside: tuple[Part, ...] = ()
    match result.output:
        case TextOutput(text=text):
            assert target.empty_text or text.strip(), f"item {at} has a blank result"
            _check_text(text, at)
        case PartsOutput(parts=parts):
            inside = parts
        case FilesOutput(files=files):
            inside = files
        case _:
            pass
    inline = target.tool_media_place is ToolMedia.INLINE
    for part in inside:
        if isinstance(part, Media):
            assert inline, f"item {at} has media inside a result"
            assert part.modality in target.tool_media, f"item {at}: {part.modality} not accepted"
        elif isinstance(part, File):
            assert inline, f"item {at} has a file inside a result"
            assert target.files, f"item {at} has a file, which is not accepted"


def _check_text(text: str, at: int) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise AssertionError(f"item {at} has text that UTF-8 cannot express: {error}") from error
