"""What a server sends can be anything: every answer ends with one event, and can be stored."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit_core import ModelResponse, from_json, from_msgpack, to_json, to_msgpack
from agentkit_core.provider import (
    ModelEvent,
    ResponseFailed,
    ResponseFinished,
    fold_response,
)
from providers.odd_values import ODD, any_json, places, put
from providers.wire_protocols import PROTOCOLS, answers, decode, payloads_of, read, stream
from support.examples import examples, thorough

pytestmark = pytest.mark.slow

LAST = (ResponseFinished, ResponseFailed)


def check_answer(events: list[ModelEvent]) -> None:
    ends = [event for event in events if isinstance(event, LAST)]
    assert len(ends) == 1
    assert ends[0] is events[-1]

    response = fold_response(events)
    as_msgpack = from_msgpack(to_msgpack(response), ModelResponse)
    as_json = from_json(to_json(response), ModelResponse)
    assert to_json(as_msgpack) == to_json(response) == to_json(as_json)


@pytest.mark.parametrize("api", PROTOCOLS)
def test_vs10_every_place_of_a_stream_may_hold_any_odd_value(api: str) -> None:
    for answer in answers(api):
        payloads = payloads_of(answer)
        pieces = stream(*payloads)
        seen: list[list[ModelEvent]] = []
        met: set[tuple[str, tuple[Any, ...]]] = set()
        for number, path in enumerate(places(payloads)):
            if len(path) < 2:
                continue
            at, inside = path[0], path[1:]
            kind = str(payloads[at].get("type"))
            # Half of them at each place, by turns, and fewer where it comes again in a later event.
            share = thorough(5 if (kind, inside) in met else 2, 1)
            met.add((kind, inside))
            for odd in ODD[number % share :: share]:
                [piece] = stream(put(payloads[at], inside, odd))
                events = decode(api, [*pieces[:at], piece, *pieces[at + 1 :]])
                # Where a value is ignored, the events are those of another that was checked.
                if events not in seen[-3:]:
                    check_answer(events)
                    seen.append(events)


@pytest.mark.parametrize("api", PROTOCOLS)
def test_vs10_every_place_of_a_whole_answer_may_hold_any_odd_value(api: str) -> None:
    for answer in answers(api):
        whole = json.loads(answer.whole or b"")
        for path in places(whole):
            for odd in ODD:
                body = json.dumps(put(whole, path, odd)).encode()
                check_answer(decode(api, [body], streamed=False))


@pytest.mark.parametrize("api", PROTOCOLS)
@given(data=st.data())
@examples(60)
def test_vs10_any_values_in_any_places_at_once(api: str, data: st.DataObject) -> None:
    answer = data.draw(st.sampled_from(answers(api)))
    streamed = data.draw(st.booleans())
    value = payloads_of(answer) if streamed else json.loads(answer.whole or b"")
    for _ in range(data.draw(st.integers(1, 4))):
        path = data.draw(st.sampled_from(list(places(value))[1:]))
        value = put(value, path, data.draw(any_json))
    if streamed:
        check_answer(decode(api, stream(*value)))
    else:
        check_answer(decode(api, [json.dumps(value).encode()], streamed=False))


@pytest.mark.parametrize("api", PROTOCOLS)
def test_vs10_values_nested_without_end_do_no_harm(api: str) -> None:
    for answer in answers(api):
        whole = answer.whole or b""
        for depth in (90, 200, 500, 5_000, 200_000):
            deep = b"[" * depth + b"]" * depth
            check_answer(decode(api, [whole.replace(b'"m"', deep)], streamed=False))
            payload = answer.pieces[-2].partition(b"data: ")[2].strip()
            check_answer(decode(api, stream(payload[:-1] + b',"usage":' + deep + b"}")))


COUNTS = [2**63, 2**64, 10**400, -1, 1e300, 1.5, "7", True, None, [], {}, "\ud83d", float("1e18")]


@pytest.mark.parametrize("api", PROTOCOLS)
def test_vs19_a_usage_report_with_odd_counts_can_be_stored(api: str) -> None:
    for answer, count in itertools.product(answers(api), COUNTS):
        payloads = payloads_of(answer)
        for path in places(payloads):
            names = [str(key).lower() for key in path]
            if any("usage" in name for name in names) and "token" in names[-1]:
                events = decode(api, stream(*put(payloads, path, count)))
                check_answer(events)
                tokens = fold_response(events).usage.tokens
                for name in tokens.__struct_fields__:
                    value = getattr(tokens, name)
                    assert value is None or 0 <= value < 2**53


def test_vs10_the_smallest_trigger_is_a_failure() -> None:
    response = read("openai_chat", b'{"choices": "\\ud83d"}')

    assert response.failure is not None
