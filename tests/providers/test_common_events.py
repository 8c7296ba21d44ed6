"""Common events are read by narrow shapes, with the same result as by the full ones."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct

from agentkit_core import Item, ModelRequest
from agentkit_core.provider import AppendText, ModelEvent
from agentkit_providers._protocol_kit._body_decoder import BodyDecoder
from agentkit_providers._protocol_kit._narrow_shapes import NO_TEXT, narrow_shape
from agentkit_providers.endpoints import default_registry
from providers import corpus
from providers.odd_values import ODD, any_json, places, put
from providers.wire_protocols import PROTOCOLS, TOOL
from support.examples import examples

pytestmark = pytest.mark.slow


def new_decoder(api: str) -> Any:
    projection: Any = default_registry.projection(default_registry.get(PROTOCOLS[api].provider))
    return projection.decoder(
        ModelRequest(model="m", items=(Item.user("hi"),), tools=(TOOL,)),
    )


def events_of(decoder: Any, reads: Iterable[bytes]) -> list[ModelEvent]:
    events = [event for read in reads for event in decoder.feed(read)]
    return [*events, *decoder.finish()]


def read_fully(decoder: Any) -> Any:
    """The decoder, which reads all payloads by the full shapes now."""
    assert isinstance(decoder, BodyDecoder)
    decoder._chances = 0
    return decoder


def framed(payloads: Iterable[Any]) -> list[bytes]:
    return [b"data: " + json.dumps(payload).encode() + b"\n\n" for payload in payloads]


def check(api: str, payloads: list[Any]) -> None:
    """The same events, whether each is a read of its own or all are one read."""
    reads = framed(payloads)
    for pieces in (reads, [b"".join(reads)]):
        full = events_of(read_fully(new_decoder(api)), pieces)
        assert events_of(new_decoder(api), pieces) == full


def chat(**delta: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": None}
    return {"id": "r", "choices": [choice], "usage": None, "service_tier": "default"}


def chat_call(**fragment: Any) -> dict[str, Any]:
    return chat(tool_calls=[{"index": 0, **fragment}])


def google(text: str, **part: Any) -> dict[str, Any]:
    content = {"role": "model", "parts": [{"text": text, **part}]}
    usage = {"promptTokenCount": 1, "totalTokenCount": 3}
    return {"candidates": [{"content": content, "index": 0}], "usageMetadata": usage}


def block(kind: str, **fields: Any) -> list[dict[str, Any]]:
    return [
        {"type": "message_start", "message": {"id": "r", "model": "m", "usage": {}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": kind, **fields}},
    ]


def grow(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": 0, "delta": {"type": kind, **fields}}


def item(kind: str, **fields: Any) -> list[dict[str, Any]]:
    added = {"type": kind, "id": "i", **fields}
    return [
        {"type": "response.created", "response": {"id": "r", "model": "m"}},
        {"type": "response.output_item.added", "output_index": 0, "item": added},
    ]


def delta(kind: str, text: str, **place: int) -> dict[str, Any]:
    return {"type": f"response.{kind}.delta", "output_index": 0, **place, "delta": text}


ODD_HERE: list[Any] = [None, "", "x", [], {}, [{"index": 1}]]
NAME = {"name": "get_weather", "arguments": ""}
STREAMS: dict[str, tuple[str, list[Any], Callable[[str], dict[str, Any]]]] = {
    "chat text": ("openai_chat", [chat(role="assistant")], lambda text: chat(content=text)),
    "chat reasoning": ("openai_chat", [], lambda text: chat(content="", reasoning_content=text)),
    "chat arguments": (
        "openai_chat",
        [chat_call(id="c", function=NAME)],
        lambda text: chat_call(function={"arguments": text}),
    ),
    "responses text": (
        "openai_responses",
        item("message"),
        lambda text: delta("output_text", text, content_index=0),
    ),
    "responses reasoning": (
        "openai_responses",
        item("reasoning"),
        lambda text: delta("reasoning_summary_text", text, summary_index=0),
    ),
    "responses arguments": (
        "openai_responses",
        item("function_call", call_id="c", name="get_weather"),
        lambda text: delta("function_call_arguments", text),
    ),
    "messages text": (
        "anthropic_messages",
        block("text", text=""),
        lambda text: grow("text_delta", text=text),
    ),
    "messages reasoning": (
        "anthropic_messages",
        block("thinking", thinking=""),
        lambda text: grow("thinking_delta", thinking=text),
    ),
    "messages arguments": (
        "anthropic_messages",
        block("tool_use", id="c", name="get_weather", input={}),
        lambda text: grow("input_json_delta", partial_json=text),
    ),
    "google text": ("google_generate", [], google),
    "google reasoning": ("google_generate", [], lambda text: google(text, thought=True)),
}
"""How each kind of delta is streamed: the protocol, what comes first, and one delta."""


def finished(api: str) -> dict[str, Any]:
    match api:
        case "openai_chat":
            choice = {"index": 0, "delta": {}, "finish_reason": "stop"}
            return {"choices": [choice], "service_tier": "flex"}
        case "openai_responses":
            return {"type": "response.completed", "response": {"id": "r", "output": []}}
        case "anthropic_messages":
            return {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {}}
        case _:
            return {"candidates": [{"finishReason": "STOP"}]}


BETWEEN: dict[str, list[dict[str, Any]]] = {
    "openai_chat": [
        {**chat(content="a"), "service_tier": "flex"},
        {"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 2}},
        {"choices": [{"index": 1, "delta": {"content": "other"}}]},
        chat(content="a", refusal="no"),
        chat_call(id="c2", function={"name": "get_weather", "arguments": "{}"}),
        {"error": {"message": "no"}},
    ],
    "openai_responses": [
        {"type": "response.output_item.done", "output_index": 0, "item": {"type": kind, "id": "i"}}
        for kind in ("message", "reasoning", "function_call")
    ]
    + [
        {"type": "response.output_text.done", "output_index": 0, "content_index": 0, "text": "ab"},
        {"type": "response.output_item.added", "output_index": 0, "item": {"type": "message"}},
        {"type": "error", "message": "no"},
    ],
    "anthropic_messages": [
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text"}},
        grow("citations_delta", citation={"url": "x"}),
        grow("signature_delta", signature="x"),
        {"type": "ping"},
    ],
    "google_generate": [
        {"candidates": google("a")["candidates"]},
        {"usageMetadata": {"trafficType": "ON_DEMAND"}},
        google("", thoughtSignature="x"),
        google("a", thoughtSignature="x"),
        {"candidates": [{"content": {"parts": [{"functionCall": {"name": "get_weather"}}]}}]},
        {"candidates": [{"index": 1, "content": {"parts": [{"text": "other"}]}}]},
    ],
}
"""Events that end what grows, or change what the next events mean."""


def alike(grown: Callable[[str], dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Enough events for the decoder to know the bytes around the text."""
    return map(grown, "aeio")


def count_full_readings(decoder: Any) -> list[int]:
    """Collect the number of texts in each payload that is read by the full shape."""
    take, counts = decoder._take_payload, list[int]()

    def counted(payload: bytes, out: list[ModelEvent]) -> None:
        before = len(out)
        take(payload, out)
        counts.append(sum(type(event) is AppendText for event in out[before:]))

    decoder._take_payload = counted
    return counts


@pytest.mark.parametrize("kind", STREAMS)
def test_a_common_event_is_not_read_by_the_full_shape(kind: str) -> None:
    api, head, grown = STREAMS[kind]
    decoder = new_decoder(api)
    full_readings = count_full_readings(decoder)
    reads = framed([*head, *(grown(f" word {n}") for n in range(100))])

    events = [event for read in reads[:50] for event in decoder.feed(read)]
    events += decoder.feed(b"".join(reads[50:]))

    assert len(full_readings) <= len(head) + 1
    assert sum(isinstance(event, AppendText) for event in events) == 100


@pytest.mark.parametrize("kind", STREAMS)
def test_every_place_of_a_common_event_may_hold_any_odd_value(kind: str) -> None:
    api, head, grown = STREAMS[kind]
    for path in places(grown("b")):
        for odd in ODD:
            check(api, [*head, *alike(grown), put(grown("b"), path, odd), grown("c")])


@pytest.mark.parametrize("kind", STREAMS)
def test_every_name_that_means_something_may_be_where_it_is_not_expected(kind: str) -> None:
    api, head, grown = STREAMS[kind]
    event = grown("b")
    others = [other("x") for of, _, other in STREAMS.values() if of == api]
    names = {path[-1] for path in places(others) if path and isinstance(path[-1], str)}
    for path in places(event):
        holder = at(event, path)
        if isinstance(holder, dict):
            for name in sorted(names - set(holder)):
                for odd in ODD_HERE:
                    check(api, [*head, *alike(grown), put(event, (*path, name), odd), grown("c")])


REPEATED = [kind for kind in STREAMS if STREAMS[kind][0] in ("openai_chat", "anthropic_messages")]
"""What is streamed by payloads that differ in nothing but the text."""
PADS: dict[str, Callable[[int], bytes]] = {"": lambda at: b"", "padded": lambda at: b" " * (at % 5)}
CONFUSING = [
    *"aé\U0001f600",
    "",
    " ",
    '"',
    "\\",
    '":"',
    '"}}',
    "}}",
    "text_delta",
    "default",
    "content",
]


def padded(payload: dict[str, Any], pad: bytes) -> bytes:
    return b"data: " + json.dumps(payload).encode()[:-1] + pad + b"}\n\n"


@pytest.mark.parametrize("kind", REPEATED)
@pytest.mark.parametrize("pad", PADS)
def test_of_payloads_that_are_otherwise_equal_only_the_text_is_read(kind: str, pad: str) -> None:
    api, head, grown = STREAMS[kind]
    if pad and api == "openai_chat":
        pytest.skip("what follows the text has names, among which spaces may mean something")
    decoder = new_decoder(api)
    for read in framed([*head, *(grown(f"word {n}") for n in range(5))]):
        decoder.feed(read)
    decoder._take_common = None  # fails if it is called
    reads = [padded(grown(f'"{n}\n'), PADS[pad](n)) for n in range(10)]

    events = [event for read in reads[:5] for event in decoder.feed(read)]
    events += decoder.feed(b"".join(reads[5:]))

    assert [event.chunk for event in events] == [f'"{n}\n' for n in range(10)]


@pytest.mark.parametrize("kind", REPEATED)
@given(data=st.data())
@examples(60)
def test_whatever_the_texts_are_equal_payloads_read_as_by_the_full_shapes(
    kind: str, data: st.DataObject
) -> None:
    api, head, grown = STREAMS[kind]
    texts = data.draw(st.lists(st.sampled_from(CONFUSING), min_size=4, max_size=9))
    escaped = data.draw(st.booleans())
    payloads = [*head, *map(grown, [data.draw(st.sampled_from(CONFUSING))] * 3 + texts)]
    reads = [
        b"data: %b\n\n"
        % json.dumps(payload, ensure_ascii=escaped)
        .encode()
        .replace(b"}}", b"}" + b" " * data.draw(st.integers(0, 1)) + b"}")
        for payload in payloads
    ]

    assert events_of(new_decoder(api), reads) == events_of(read_fully(new_decoder(api)), reads)


@pytest.mark.parametrize("kind", REPEATED)
def test_a_text_is_not_taken_for_another_value_that_is_the_same(kind: str) -> None:
    api, head, grown = STREAMS[kind]
    for path in places(grown("b")):
        value = at(grown("b"), path)
        if isinstance(value, str):
            equal = [grown(value)] * 4
            check(api, [*head, *equal, put(grown(value), path, "other"), grown("c")])


def at(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        value = value[key]
    return value


@pytest.mark.parametrize("kind", STREAMS)
def test_what_comes_between_is_minded_by_the_common_events_after_it(kind: str) -> None:
    api, head, grown = STREAMS[kind]
    others = [*BETWEEN[api], finished(api), *head]
    for first in others:
        check(api, [*head, *alike(grown), first])
        for second in others:
            check(api, [*head, *alike(grown), first, grown("b"), grown("c"), second, grown("d")])
            check(api, [first, *head, grown("a"), second, grown("b"), grown("c"), finished(api)])


@pytest.mark.parametrize("api", PROTOCOLS)
@given(data=st.data())
@examples(60)
def test_kinds_in_any_order_with_odd_values_read_as_by_the_full_shapes(
    api: str, data: st.DataObject
) -> None:
    kinds = [stream for stream in STREAMS.values() if stream[0] == api]
    payloads: list[Any] = []
    for _ in range(data.draw(st.integers(1, 5))):
        _, head, grown = data.draw(st.sampled_from(kinds))
        payloads += data.draw(st.sampled_from([head, [], BETWEEN[api][:1], BETWEEN[api][-1:]]))
        payloads += [grown(text) for text in data.draw(st.lists(st.text(max_size=2), max_size=4))]
    for _ in range(data.draw(st.integers(0, 3)) if payloads else 0):
        path = data.draw(st.sampled_from([path for path in places(payloads) if path]))
        payloads = put(payloads, path, data.draw(any_json))

    check(api, payloads)


@pytest.mark.parametrize("protocol", sorted(corpus.PROTOCOLS))
def test_every_recorded_stream_reads_as_by_the_full_shapes(protocol: str, shared: Path) -> None:
    appended = by_full_shapes = 0
    for exchange in corpus.exchanges(shared / "wire-corpus" / "dev" / protocol):
        if not exchange["streamed"] or exchange["status"] >= 400:
            continue
        body, projection = corpus.body_of(exchange), corpus.projection_of(exchange)
        for reads in (body.splitlines(keepends=True), [body]):
            decoder: Any = projection.decoder(corpus.request_of(exchange))
            full_readings = count_full_readings(decoder)
            events = events_of(decoder, reads)
            full = read_fully(projection.decoder(corpus.request_of(exchange)))

            assert events == events_of(full, reads), exchange["id"]
            appended += sum(type(event) is AppendText for event in events)
            by_full_shapes += sum(full_readings)

    assert by_full_shapes < appended, "no text is read by a narrow shape"


class Full(Struct):
    text: str | None = None
    note: Any = None
    index: int | None = 7
    place: int | None = None


@pytest.mark.parametrize(
    "odd", [b"{}", b'{"text":null}', b'{"text":"a","note":1}', b'{"text":"a","place":4}', b"null"]
)
def test_a_narrow_shape_refuses_what_the_full_one_reads_and_it_does_not(odd: bytes) -> None:
    narrow = narrow_shape(Full, piece="text", allowed={"index": int, "note": NO_TEXT})
    read = msgspec.json.Decoder(narrow).decode

    assert read(b'{"text": "a", "other": [1], "note": "", "place": null}').piece == "a"
    assert read(b'{"text": "a"}').index == 7
    with pytest.raises(msgspec.ValidationError):
        read(odd)
