"""The work of a decoder grows with what a server sends, and no faster; nothing is kept twice."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit_core.provider import PartId, ResponseFold
from agentkit_providers.openai_chat._tool_slots import ToolSlot
from providers.test_common_events import (
    block,
    chat,
    chat_call,
    delta,
    google,
    grow,
    item,
    new_decoder,
)
from providers.wire_protocols import PROTOCOLS, decode, stream
from support.operations import bytes_looked_at, steps

pytestmark = pytest.mark.slow

Build = Callable[[int], list[Any]]


def output(kind: str, at: int, when: str, **fields: Any) -> dict[str, Any]:
    raw = {"type": kind, "id": f"i{at}", **fields}
    return {"type": f"response.output_item.{when}", "output_index": at, "item": raw}


def function(at: int) -> dict[str, Any]:
    return {"call_id": f"c{at}", "name": "get_weather", "arguments": "{}"}


def text_at(at: int, place: int = 0) -> dict[str, Any]:
    event = delta("output_text", "w", content_index=place)
    return {**event, "output_index": at}


def completed(*items: Any) -> dict[str, Any]:
    return {"type": "response.completed", "response": {"id": "r", "output": list(items)}}


def of_each(count: int, *events: Callable[[int], Any]) -> list[Any]:
    return [event(at) for at in range(count) for event in events]


def block_of(at: int, kind: str, **fields: Any) -> list[Any]:
    start = {**block(kind, **fields)[1], "index": at}
    return [start, {"type": "content_block_stop", "index": at}]


def google_call(**fields: Any) -> dict[str, Any]:
    content = {"parts": [{"functionCall": fields}]}
    return {"candidates": [{"content": content}]}


def google_value(path: str, value: str, *, more: bool = False) -> dict[str, Any]:
    argument = {"jsonPath": path, "stringValue": value, "willContinue": more}
    return google_call(partialArgs=[argument], willContinue=True)


NAMED = {"name": "get_weather", "arguments": "}"}
CASES: dict[str, tuple[str, Build]] = {
    "chat: text": ("openai_chat", lambda n: [chat(content="w")] * n),
    "chat: calls": (
        "openai_chat",
        lambda n: of_each(n, lambda at: chat_call(index=at, id=f"c{at}", function=function(at))),
    ),
    "chat: calls without ids": (
        "openai_chat",
        lambda n: of_each(n, lambda at: chat(tool_calls=[{"function": {**NAMED}}])),
    ),
    "chat: arguments with the name repeated": (
        "openai_chat",
        lambda n: [
            chat_call(function={**NAMED, "arguments": '{"a":"'}),
            *[chat_call(function=NAMED)] * n,
        ],
    ),
    "chat: fragments without a name": (
        "openai_chat",
        lambda n: of_each(n, lambda at: chat_call(index=at, function={"arguments": "{"})),
    ),
    "chat: kinds in turn": (
        "openai_chat",
        lambda n: [chat(content="w"), chat(reasoning_content="w")] * n,
    ),
    "chat: extra content": (
        "openai_chat",
        lambda n: [
            chat(content="w"),
            *of_each(n, lambda at: chat(extra_content={f"o{at}": {"a": 1}})),
        ],
    ),
    "chat: annotations": (
        "openai_chat",
        lambda n: [chat(content="w", annotations=[{"type": "x"}])] * n,
    ),
    "responses: text": ("openai_responses", lambda n: [*item("message"), *[text_at(0)] * n]),
    "responses: items": (
        "openai_responses",
        lambda n: [
            *item("message")[:1],
            *of_each(
                n,
                lambda at: output("message", at, "added"),
                text_at,
                lambda at: output("message", at, "done", content=[]),
            ),
        ],
    ),
    "responses: items that are not done": (
        "openai_responses",
        lambda n: [*of_each(n, lambda at: output("message", at, "added"), text_at), completed()],
    ),
    "responses: items that nobody announced": (
        "openai_responses",
        lambda n: [*item("message")[:1], *of_each(n, text_at), completed()],
    ),
    "responses: calls": (
        "openai_responses",
        lambda n: of_each(
            n,
            lambda at: output("function_call", at, "added", **function(at)),
            lambda at: output("function_call", at, "done", **function(at)),
        ),
    ),
    "responses: secrets in the last event": (
        "openai_responses",
        lambda n: [
            *of_each(n, lambda at: output("reasoning", at, "done", summary=[])),
            completed(*({"type": "reasoning", "id": f"i{at}"} for at in range(n))),
        ],
    ),
    "responses: items only in the last event": (
        "openai_responses",
        lambda n: [
            *item("message")[:1],
            completed(*({"type": "reasoning", "id": f"i{at}", "summary": []} for at in range(n))),
        ],
    ),
    "responses: the end of a text, again and again": (
        "openai_responses",
        lambda n: [
            *item("message"),
            *[text_at(0)] * n,
            *[{**text_at(0), "type": "response.output_text.done", "text": "w"}] * n,
        ],
    ),
    "messages: text": (
        "anthropic_messages",
        lambda n: [*block("text"), *[grow("text_delta", text="w")] * n],
    ),
    "messages: blocks": (
        "anthropic_messages",
        lambda n: [
            block("text")[0],
            *(event for at in range(n) for event in block_of(at, "text", text="w")),
        ],
    ),
    "messages: calls without ids": (
        "anthropic_messages",
        lambda n: [
            block("text")[0],
            *(event for at in range(n) for event in block_of(at, "tool_use", name="get_weather")),
        ],
    ),
    "messages: usage reports of ever more fields": (
        "anthropic_messages",
        lambda n: [
            *block("text"),
            *({"type": "message_delta", "delta": {}, "usage": {f"x{at}": at}} for at in range(n)),
        ],
    ),
    "messages: lists of unknown blocks": (
        "anthropic_messages",
        lambda n: [*block("future", list=[]), *[grow("future_delta", list=[1])] * n],
    ),
    "messages: signatures": (
        "anthropic_messages",
        lambda n: [*block("thinking"), *[grow("signature_delta", signature="w")] * n],
    ),
    "google: text": ("google_generate", lambda n: [google("w")] * n),
    "google: parts of unknown kinds in one event": (
        "google_generate",
        lambda n: [{"candidates": [{"content": {"parts": [{"future": {"a": 1}}] * n}}]}],
    ),
    "google: signatures": (
        "google_generate",
        lambda n: of_each(n, lambda at: google("w", thoughtSignature=f"s{at}")),
    ),
    "google: calls": (
        "google_generate",
        lambda n: [google_call(name="get_weather", args={})] * n,
    ),
    "google: arguments out of order": (
        "google_generate",
        lambda n: [
            google_call(name="get_weather", willContinue=True),
            *of_each(
                n,
                lambda at: google_value(f"$.a.x{at}", "w" * 20),
                lambda at: google_value(f"$.b.x{at}", "w" * 20),
            ),
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_vs07_four_times_as_much_takes_four_times_the_work(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    api, build = CASES[name]
    plain_decode, decoded = msgspec.json.decode, 0

    def counted_decode(data: bytes | str, **options: Any) -> Any:
        nonlocal decoded
        decoded += len(data)
        return plain_decode(data, **options)

    monkeypatch.setattr(msgspec.json, "decode", counted_decode)

    def work(count: int) -> tuple[int, int, int]:
        nonlocal decoded
        reads = stream(*build(count))

        def read() -> None:
            response = ResponseFold()
            response.feed(decode(api, reads))
            response.finish()

        decoded = 0
        return steps(read), bytes_looked_at(read), decoded

    for small, large in zip(work(50), work(200), strict=True):
        assert large <= 4.4 * small + 5_000


@pytest.mark.parametrize("size", [1_000, 50_000])
@pytest.mark.parametrize("api", PROTOCOLS)
def test_a_long_text_takes_at_most_twice_its_size(api: str, size: int) -> None:
    piece, count = "x" * size, 2_000_000 // size

    def reads() -> Iterator[bytes]:
        match api:
            case "openai_chat":
                head, event = [], chat(content=piece)
            case "openai_responses":
                head, event = item("message"), {**text_at(0), "delta": piece}
            case "anthropic_messages":
                head, event = block("text"), grow("text_delta", text=piece)
            case _:
                head, event = [], google(piece)
        yield from stream(*head)
        (read,) = stream(event)
        for _ in range(count):
            yield bytes(bytearray(read))  # as if it came from the network

    assert len(folded(api, reads)) == len(piece) * count  # imports and caches are not counted
    tracemalloc.start()
    try:
        text = folded(api, reads)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak <= 2.2 * len(text)


def folded(api: str, reads: Callable[[], Iterable[bytes]]) -> str:
    decoder, response = new_decoder(api), ResponseFold()
    for read in reads():
        response.feed(decoder.feed(read))
    response.feed(decoder.finish())
    return response.finish().item.text


PIECES = st.sampled_from(['{"a":', "1", "}", "{", '"}', '"', "\\", '{"b": "}"}', " ", "x", "é{}"])


@given(st.lists(PIECES, max_size=8), st.sets(st.integers(0, 8)))
def test_vs07_whether_arguments_are_whole_is_known_at_any_time(
    pieces: list[str], asked: set[int]
) -> None:
    slot = ToolSlot(PartId("p"), 0)
    for at, piece in enumerate(pieces):
        slot.arguments.append(piece)
        if at in asked:
            assert slot.is_whole == is_whole("".join(pieces[: at + 1]), piece)
    if pieces:
        assert slot.is_whole == is_whole("".join(pieces), pieces[-1])


def is_whole(text: str, last: str) -> bool:
    try:
        return last.rstrip().endswith("}") and isinstance(json.loads(text), dict)
    except ValueError:
        return False
