"""Checks of projections, decoders and histories; `AssertionError` says which law broke."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import get_args

import msgspec

from agentkit_core._errors import DeltaOutOfOrder
from agentkit_core._history._target import ReasoningRule, Target, ToolMedia
from agentkit_core._item import Item, ItemKind
from agentkit_core._part import (
    Custom,
    File,
    FilesOutput,
    Handle,
    Media,
    Part,
    PartsOutput,
    Reasoning,
    Text,
    TextOutput,
    ToolResult,
)
from agentkit_core._projection import Projection, RequestEncoder, ResponseDecoder
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


def decoded(decoder: ResponseDecoder, chunks: Iterable[bytes]) -> tuple[ModelEvent, ...]:
    """Feed all chunks, finish, and give all events.

    Raises:
        AssertionError: The decoder raises, which it must not do for what a provider sent.
    """
    events: list[ModelEvent] = []
    try:
        for chunk in chunks:
            events += decoder.feed(chunk)
        return (*events, *decoder.finish())
    except Exception as error:
        raise AssertionError(f"the decoder raises {error!r} for what it is fed") from error


def check_decoder(
    new: Callable[[], ResponseDecoder], body: bytes, *, cuts: Iterable[int] | None = None
) -> ModelResponse:
    """Check a decoder's laws on one recorded body.

    Where the body is cut does not matter; there is one end and nothing after it; the deltas
    fold strictly; a body that breaks off early ends too, and never raises; no body at all is a
    failure.

    Args:
        new: Makes a fresh decoder for each reading.
        body: The whole body of a response.
        cuts: Where to cut it in two; by default at every byte (at 500 places in a long body).

    Returns:
        The folded response, to be looked at further.

    Raises:
        AssertionError: A law is broken.
    """
    whole = decoded(new(), [body])
    _check_ends_once(whole, "the whole body")
    _check_refuses_nothing(new(), "no body at all")
    places = _places(len(body)) if cuts is None else list(cuts)
    for cut in places:
        halves = decoded(new(), [body[:cut], b"", body[cut:]])
        assert halves == whole, f"cutting the body at byte {cut} changes the events"
        early = decoded(new(), [body[:cut]])
        _check_ends_once(early, f"the body broken off at byte {cut}")
    if len(body) <= 20_000:
        bytewise = decoded(new(), (body[n : n + 1] for n in range(len(body))))
        assert bytewise == whole, "feeding the body byte by byte changes the events"
    again = new()
    decoded(again, [body])
    assert again.finish() == (), "finish gives events a second time"
    try:
        return fold_response(whole, strict=True)
    except DeltaOutOfOrder as error:
        raise AssertionError(f"the deltas do not fold strictly: {error}") from error


def _places(length: int) -> list[int]:
    step = max(1, length // 500)
    return list(range(0, length + 1, step))


def _check_ends_once(events: Sequence[ModelEvent], what: str) -> None:
    known = get_args(ModelEvent)
    for event in events:
        assert isinstance(event, known), f"{what} gives {event!r}, which is no model event"
    ends = [n for n, one in enumerate(events) if isinstance(one, ResponseFinished | ResponseFailed)]
    assert len(ends) == 1, f"{what} ends {len(ends)} times; it must be once"
    assert ends[0] == len(events) - 1, f"{what} goes on after its end: {events[ends[0] + 1]!r}"


def _check_refuses_nothing(decoder: ResponseDecoder, what: str) -> None:
    events = decoded(decoder, [])
    _check_ends_once(events, what)
    assert isinstance(events[-1], ResponseFailed), f"{what} is taken for an answer"


def check_projection(
    projection: Projection,
    *,
    model: str = "a-model",
    tools: Sequence[ToolSpec] = (),
    histories: Mapping[str, Sequence[Item]] | None = None,
) -> None:
    """Check that a projection can be asked anything.

    Encoding is pure: the same request gives the same bytes, and is left as it was. The body is
    valid UTF-8 JSON for every history, however damaged. A decoder that is given nothing says
    that the response failed. An encoder, where the projection makes them, gives the same bytes
    while histories grow and are exchanged for others.

    Args:
        projection: What to check.
        model: The model to ask for.
        tools: Tools to offer.
        histories: Histories by name; `hard_transcripts()` by default.

    Raises:
        AssertionError: A law is broken.
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
                raise AssertionError(f"history {name!r} is refused: {error!r}") from error
            assert to_msgpack(request) == before, f"encoding {name!r} changes the request"
            assert projection.encode(request) == wire, f"encoding {name!r} twice differs"
            assert wire.path.startswith("/"), f"the path {wire.path!r} has no leading slash"
            try:
                msgspec.json.decode(wire.body)
            except msgspec.DecodeError as error:
                raise AssertionError(f"the body of {name!r} is not JSON: {error}") from error
    for streamed in (True, False):
        request = ModelRequest(model=model, items=(Item.user("hi"),), streamed=streamed)
        _check_refuses_nothing(projection.decoder(request), "an empty body")
    if hasattr(projection, "encoder"):
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
                f"an encoder that was asked before gives other bytes for {name!r}, item {end}"
            )


def check_sendable(items: Sequence[Item], target: Target) -> None:
    """Check that a target can be sent these items one by one, as `sendable` promises.

    Raises:
        AssertionError: An item breaks one of the target's rules; says which.
    """
    seen = set[str]()
    for at, item in enumerate(items):
        assert item.kind in target.kinds or item.kind is ItemKind.USER, (
            f"item {at} is of kind {item.kind}, which the target does not have"
        )
        assert item.parts, f"item {at} is empty"
        before = items[at - 1] if at else None
        if not target.consecutive_roles and before is not None and item.kind is not ItemKind.TOOL:
            assert before.kind is not item.kind, f"items {at - 1} and {at} are both {item.kind}"
        _check_pairs(items, at, target)
        for call in item.tool_calls:
            assert target.call_ids.accepts(call.id), f"item {at}: call id {call.id!r} is refused"
            assert target.tool_names.accepts(call.name), f"item {at}: name {call.name!r} is refused"
            assert call.id not in seen, f"item {at}: call id {call.id!r} is used twice"
            seen.add(call.id)
        for part in item.parts:
            _check_part(part, item, at, target)
    spoken = [one for one in items if one.kind not in (ItemKind.SYSTEM, ItemKind.DEVELOPER)]
    if target.first_user and spoken:
        assert spoken[0].kind is ItemKind.USER, f"the first item is {spoken[0].kind}, not a user's"


def _check_pairs(items: Sequence[Item], at: int, target: Target) -> None:
    item, following = items[at], items[at + 1] if at + 1 < len(items) else None
    calls = [call.id for call in item.tool_calls]
    if calls:
        assert following is not None, f"item {at} has unanswered calls at the end"
        answers = [result.call_id for result in following.tool_results]
        assert answers == calls, f"item {at} calls {calls}, item {at + 1} answers {answers}"
    if item.kind is ItemKind.TOOL and not target.orphan_results:
        assert at > 0, "results without a call come first"
        assert items[at - 1].tool_calls, f"item {at} has results without a call"


def _check_part(part: Part, item: Item, at: int, target: Target) -> None:
    match part:
        case Text(text=text):
            assert target.empty_text or text.strip(), f"item {at} has a blank text"
            _check_text(text, at)
        case Media(modality=modality, data=data):
            assert modality in target.media, f"item {at} has {modality}, which is not read"
            assert not isinstance(data, Handle), f"item {at} has {modality} that was not loaded"
        case File(data=data):
            assert target.files, f"item {at} has a file, which is not read"
            assert not isinstance(data, Handle), f"item {at} has a file that was not loaded"
        case Reasoning():
            _check_reasoning(part, item, at, target)
        case Custom(kind=kind):
            own = target.custom_kinds
            known = kind.startswith(f"{target.api}.") if own is None else kind in own
            assert known, f"item {at} has a custom part {kind!r} of another owner"
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
            assert part.modality in target.tool_media, f"item {at}: {part.modality} is not read"
        elif isinstance(part, File):
            assert inline, f"item {at} has a file inside a result"
            assert target.files, f"item {at} has a file, which is not read"


def _check_text(text: str, at: int) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise AssertionError(f"item {at} has text that UTF-8 cannot express: {error}") from error
