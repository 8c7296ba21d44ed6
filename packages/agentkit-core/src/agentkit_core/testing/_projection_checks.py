"""Checks of projections; `AssertionError` says which rule was broken."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec import field
from msgspec.structs import replace

from agentkit_core._errors import UnsupportedContent
from agentkit_core._ids import ToolCallId
from agentkit_core._item import Item, Provenance
from agentkit_core._part import Reasoning, Text, TextOutput, ToolCall, ToolResult
from agentkit_core._projection import (
    IncrementalProjection,
    Projection,
    RequestEncoder,
    WireRequest,
)
from agentkit_core._records import to_msgpack
from agentkit_core._request import ModelRequest
from agentkit_core._tool_spec import ToolSpec
from agentkit_core.testing._decoder_checks import check_empty_body_fails
from agentkit_core.testing._hard_transcripts import hard_transcripts

_TOOLS: Final = (
    ToolSpec(
        "find_book",
        "Finds a book by its shelfmark.",
        input_schema={
            "type": "object",
            "properties": {"shelfmark": {"type": "string", "description": "The mark, as printed."}},
            "required": ["shelfmark"],
        },
    ),
    ToolSpec(
        "lend_book",
        "Lends a book to a reader.",
        input_schema={
            "type": "object",
            "properties": {"shelfmark": {"type": "string"}, "reader": {"type": "string"}},
            "required": ["shelfmark", "reader"],
        },
    ),
)
"""The tools that are offered where the author names none."""
_CALL_ID: Final = ToolCallId("call_7")
_FOREIGN: Final = ("QUJD", "another_api.search")
"""What `hard_transcripts` has from another provider: a signature, and a block."""


def check_projection(
    projection: Projection,
    *,
    model: str = "a-model",
    tools: Sequence[ToolSpec] | None = None,
    histories: Mapping[str, Sequence[Item]] | None = None,
    streams: bool = True,
) -> None:
    """Check that a projection follows its rules for any request.

    - Encoding is pure: equal requests give the same bytes, and the request is not changed.
    - The path begins with a slash. The body is valid JSON in UTF-8 for every history, even a
      damaged one.
    - The history is made sendable first (see `sendable`): each call in the body has one result,
      and the body has no signatures and blocks of another provider.
    - The body has all texts, tools, calls, arguments and results of a valid history, results once.
      A request for a stream differs from one for a whole response.
    - The encoders of an `IncrementalProjection` give the same bytes while histories grow and are
      replaced by others.
    - A decoder reports an empty body as a failure.

    Args:
        projection: The projection to check.
        model: The model id for the requests.
        tools: The tools for the requests; two tools by default. Pass `()` for a protocol without
            tools.
        histories: Histories by name; `hard_transcripts()` by default.
        streams: Whether requests say if the response is to be streamed. Pass False for a protocol
            that always, or never, streams.

    Raises:
        AssertionError: A rule is broken.
    """
    named = hard_transcripts() if histories is None else histories
    offered = _TOOLS if tools is None else tuple(tools)
    ids_per_call = _ids_per_call(projection, model, offered)
    for name, items in named.items():
        for streamed in (True, False):
            request = ModelRequest(
                model=model, items=tuple(items), tools=offered, streamed=streamed
            )
            wire = _check_pure(projection, request, name)
            _check_sendable_body(wire, name, items, ids_per_call)
    _check_content(projection, model, offered)
    if streams:
        _check_stream_flag(projection, model)
    for streamed in (True, False):
        request = ModelRequest(model=model, items=(Item.user("hi"),), streamed=streamed)
        check_empty_body_fails(projection.decoder(request))
    if isinstance(projection, IncrementalProjection):
        _check_encoder(projection, projection.encoder(), named, model, offered)


def _check_pure(projection: Projection, request: ModelRequest, name: str) -> WireRequest:
    before = to_msgpack(request)
    try:
        wire = projection.encode(request)
    except UnsupportedContent as error:
        raise AssertionError(
            f"encoding history {name!r} raised {error!r}; if the protocol has no tools, "
            f"pass `tools=()`"
        ) from error
    except Exception as error:
        raise AssertionError(f"encoding history {name!r} raised {error!r}") from error
    assert to_msgpack(request) == before, f"encoding {name!r} changes the request"
    again = projection.encode(replace(request))
    assert again == wire, (
        f"encoding {name!r} twice gives other bytes; do not use random values or the time"
    )
    assert wire.path.startswith("/"), f"the path {wire.path!r} has no leading slash"
    return wire


def _check_sendable_body(
    wire: WireRequest, name: str, items: Sequence[Item], ids_per_call: int
) -> None:
    try:
        body = msgspec.json.decode(wire.body)
    except msgspec.DecodeError as error:
        raise AssertionError(f"the body of {name!r} is not JSON: {error}") from error
    texts = Counter(_texts_in(body))
    for call_id in {call.id for item in items for call in item.tool_calls} - {""}:
        # Ids that the protocol does not accept are sent as others.
        assert ids_per_call < 2 or texts[call_id] % ids_per_call == 0, (
            f"the body of {name!r} has the call id {call_id!r} {texts[call_id]} times, so a call "
            f"has no result or more than one; send what `sendable` returns"
        )
    for foreign in _FOREIGN:
        assert foreign not in wire.body.decode(), (
            f"the body of {name!r} has {foreign!r} of another provider; send what `sendable` "
            f"returns"
        )


def _texts_in(value: Any) -> Iterator[str]:
    """All texts in a JSON value, names of fields left out."""
    match value:
        case str():
            yield value
        case dict():
            for inner in value.values():
                yield from _texts_in(inner)
        case list():
            for inner in value:
                yield from _texts_in(inner)
        case _:
            pass


def _valid_request(model: str, tools: tuple[ToolSpec, ...]) -> ModelRequest:
    """Make a request with one of everything that every protocol with tools can send."""
    call = ToolCall(_CALL_ID, (*tools, *_TOOLS)[0].name, {"shelfmark": "argument-7"})
    items = (
        Item.system("instruction-7"),
        Item.user("question-7"),
        Item.assistant("announcement-7", call),
        Item.tool(ToolResult(call.id, TextOutput("result-7"))),
        Item.assistant("answer-7"),
        Item.user("last-question-7"),
    )
    return ModelRequest(model=model, items=items, tools=tools)


def _ids_per_call(projection: Projection, model: str, tools: tuple[ToolSpec, ...]) -> int:
    """Count how often the body has the id of a call with its result."""
    wire = _check_pure(projection, _valid_request(model, tools), "a valid history")
    try:
        body = msgspec.json.decode(wire.body)
    except msgspec.DecodeError as error:
        raise AssertionError(f"the body of a valid history is not JSON: {error}") from error
    return Counter(_texts_in(body))[_CALL_ID]


def _check_content(projection: Projection, model: str, tools: tuple[ToolSpec, ...]) -> None:
    """Check that the body has everything of a valid history."""
    request = _valid_request(model, tools)
    body = projection.encode(request).body.decode()
    for text in ("instruction-7", "question-7", "announcement-7", "answer-7", "last-question-7"):
        assert text in body, f"the text {text!r} of the history is not in the body"
    assert "result-7" in body, "the result of a tool is not in the body"
    results = sum("result-7" in text for text in _texts_in(msgspec.json.decode(body)))
    assert results == 1, f"the result of a tool is {results} times in the body"
    bare = replace(request, items=(Item.user("hi"),))
    offer = projection.encode(bare).body.decode()
    texts = set(_texts_in(msgspec.json.decode(offer)))
    for tool in tools:
        assert tool.name in texts, f"the tool {tool.name!r} is not in the body"
        for name in _parameters(tool):
            assert f'"{name}"' in offer, (
                f"the parameter {name!r} of {tool.name!r} is not in the body"
            )
    if tools:
        assert "argument-7" in body, "the arguments of a call are not in the body"


def _parameters(tool: ToolSpec) -> list[str]:
    properties = tool.input_schema.get("properties")
    return list(properties) if isinstance(properties, dict) else []


def _check_stream_flag(projection: Projection, model: str) -> None:
    request = ModelRequest(model=model, items=(Item.user("hi"),))
    streamed, whole = (projection.encode(replace(request, streamed=flag)) for flag in (True, False))
    assert streamed != whole, (
        "a request for a stream is the same as one for a whole response; if the protocol does "
        "not have both, pass `streams=False`"
    )


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


class _RecordingProvenance(Provenance, frozen=True):
    """A provenance that records what it is compared with."""

    compared: list[tuple[str, str, str]] = field(default_factory=list)

    def same_model(self, provider: str, api: str, model: str) -> bool:
        self.compared.append((provider, api, model))
        return False


def check_origin(projection: Projection, request: ModelRequest, origin: Provenance) -> None:
    """Check that the encoder recognizes the provenance that the decoder gives to responses.

    An encoder sends reasoning, signatures and blocks back only to the provider, api and model that
    they came from; it would leave out those of a response with another provenance. A projection
    that never compares a provenance passes.

    Args:
        projection: The projection to check.
        request: The request that was answered; its items are not used.
        origin: The provenance of the response.

    Raises:
        AssertionError: The encoder compares with another provider, api or model.
    """
    recording = _RecordingProvenance("nobody", "nothing", "none")
    item = replace(Item.assistant(Reasoning("hm"), Text("hi")), provenance=recording)
    projection.encode(replace(request, items=(Item.user("hi"), item, Item.user("go on"))))
    names = (origin.provider, origin.api, origin.model)
    assert not recording.compared or names in recording.compared, (
        f"the provenance of the response is {names}, and the encoder sends reasoning back to "
        f"{recording.compared[0]} only"
    )
