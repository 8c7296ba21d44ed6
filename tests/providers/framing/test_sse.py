"""Server-sent events: the grammar, to the letter, however the bytes arrive."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit_providers._framing._sse import SseDecoder, SseEvent
from support.operations import bytes_looked_at, operations


def read(chunks: Iterable[bytes]) -> list[SseEvent]:
    decoder = SseDecoder()
    return [event for chunk in chunks for event in decoder.feed(chunk)]


def payloads(body: bytes) -> list[bytes]:
    return [event.data for event in read([body])]


def cut(body: bytes, places: Iterable[int]) -> list[bytes]:
    edges = [0, *sorted({place for place in places if place < len(body)}), len(body)]
    return [body[a:b] for a, b in pairwise(edges)]


@pytest.mark.parametrize("character", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c"])
def test_w01_a_unicode_line_separator_does_not_end_a_line(character: str) -> None:
    payload = f'{{"t":"a{character}b"}}'.encode()

    assert payloads(b"data: " + payload + b"\n\n") == [payload]


def test_w02_a_character_may_be_cut_in_two() -> None:
    body = 'data: {"t":"✅"}\n\n'.encode()

    for place in range(1, len(body)):
        assert read([body[:place], body[place:]])[0].data.decode() == '{"t":"✅"}'
    assert read(body[n : n + 1] for n in range(len(body)))[0].data.decode() == '{"t":"✅"}'


def test_w08_comments_crlf_missing_spaces_and_several_data_lines_are_read() -> None:
    body = (
        b": KEEPALIVE\r\n\r\nevent: ping\r\n"
        b'data:{"type":"ping"}\r\n\r\ndata:{"a":\r\ndata: 1}\r\n\r\n'
    )

    assert read([body]) == [
        SseEvent(b'{"type":"ping"}', "ping"),
        SseEvent(b'{"a":\n1}'),
    ]


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
def test_lf_cr_and_crlf_all_end_a_line(end: bytes) -> None:
    assert payloads(end.join([b"data: a", b"data: b", b"", b"data: c", b"", b""])) == [
        b"a\nb",
        b"c",
    ]


def test_an_lf_that_comes_apart_from_its_cr_is_no_line_of_its_own() -> None:
    assert [entry.data for entry in read([b"data: a\r", b"\ndata: b\r\n\r\n"])] == [b"a\nb"]


def test_a_lone_cr_ends_a_line_in_a_chunk_that_else_looks_plain() -> None:
    decoder = SseDecoder()

    assert decoder.feed_data(b"data: first\n\n") == [b"first"]
    assert decoder.feed_data(b"data: a\rdata: b\n\n") == [b"a\nb"]


@pytest.mark.parametrize(
    ("chunk", "payloads"),
    [
        (b"event: a\ndata: 1\n\n", [b"1"]),
        (b"event: a\ndata: 1\n\nevent: b\ndata: 2\n\n", [b"1", b"2"]),
        (b"event: data: 0\ndata: 1\n\n", [b"1"]),
        (b"event: a\n\nevent: b\ndata: 1\ndata: 2\n\n", [b"1\n2"]),
        (b"event: a\ndata: 1\n\ndata: 2\n\n", [b"1", b"2"]),
        (b"event: a\nid: 1\n\n", []),
        (b"event: a\ndata: 1\rdata: 2\n\n", [b"1\n2"]),
        (b"event: a\ndata: 1\n\n: \ndata: 2\n\n", [b"1", b"2"]),
    ],
)
def test_whole_events_with_names_are_read_as_any_others(
    chunk: bytes, payloads: list[bytes]
) -> None:
    whole, bytewise = SseDecoder(), SseDecoder()
    assert whole.feed_data(b"data: 0\n\n") == bytewise.feed_data(b"data: 0\n\n") == [b"0"]

    assert whole.feed_data(chunk) == payloads
    pieces = (chunk[at : at + 1] for at in range(len(chunk)))
    assert [entry for piece in pieces for entry in bytewise.feed_data(piece)] == payloads


def test_an_event_is_given_as_soon_as_its_blank_line_is_there_even_if_it_ends_in_cr() -> None:
    decoder = SseDecoder()

    assert [entry.data for entry in decoder.feed(b"data: a\r\n\r")] == [b"a"]
    assert decoder.feed(b"\n") == []
    assert [entry.data for entry in decoder.feed(b"data: b\r\n\r\n")] == [b"b"]


@pytest.mark.parametrize("cuts", [(1,), (2,), (1, 2), ()])
def test_a_byte_order_mark_is_skipped_once_at_the_start(cuts: tuple[int, ...]) -> None:
    assert [entry.data for entry in read(cut(b"\xef\xbb\xbfdata: a\n\n", cuts))] == [b"a"]
    assert payloads(b"\xef\xbb\xbf\xef\xbb\xbfdata: a\n\n") == []


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"data:  two spaces\n\n", [b" two spaces"]),
        (b"data\n\n", [b""]),
        (b"data\ndata\n\n", [b"\n"]),
        (b"data: a:b\n\n", [b"a:b"]),
        (b"datum: a\n\n", []),
        (b" data: a\n\n", []),
        (b"event: only a name\n\ndata: a\n\n", [b"a"]),
        (b"\n\n\n\ndata: a\n\n\n\ndata: b\n\n", [b"a", b"b"]),
    ],
)
def test_fields_are_read_by_the_grammar(body: bytes, expected: list[bytes]) -> None:
    assert payloads(body) == expected


def test_an_events_name_is_its_own_and_an_id_stays_until_the_next() -> None:
    body = b"id: 7\nevent: x\ndata: a\n\ndata: b\n\nid: with\0nul\ndata: c\n\nid\ndata: d\n\n"

    assert read([body]) == [
        SseEvent(b"a", "x", "7"),
        SseEvent(b"b", "message", "7"),
        SseEvent(b"c", "message", "7"),
        SseEvent(b"d", "message", ""),
    ]


def test_the_name_may_follow_the_data() -> None:
    assert read([b"data: a\nevent: late\n\n"]) == [SseEvent(b"a", "late")]


def test_the_reconnection_time_is_kept_if_it_is_a_number() -> None:
    decoder = SseDecoder()

    decoder.feed(b"retry: 1500\n\n")
    assert decoder.retry_ms == 1500
    decoder.feed(b"retry: soon\nretry: -1\n\n")
    assert decoder.retry_ms == 1500


@pytest.mark.parametrize("tail", [b"data: last", b"data: last\n", b"data: last\r"])
def test_an_event_without_its_blank_line_is_given_apart_at_the_end(tail: bytes) -> None:
    decoder = SseDecoder()

    assert [entry.data for entry in decoder.feed(b"data: a\n\n" + tail)] == [b"a"]
    assert decoder.finish() == [SseEvent(b"last")]
    assert decoder.finish() == []


def test_a_stream_that_ended_well_has_no_last_event() -> None:
    decoder = SseDecoder()
    decoder.feed(b"data: a\n\n: comment\n")

    assert decoder.finish() == []


LINES = st.sampled_from(
    [
        b"data: {}",
        b"data:x",
        b"data",
        b": comment",
        b"event: e",
        b"id: 1",
        b"id",
        b"retry: 3",
        b"",
        b"",
        "data: ✅\u2028".encode(),
    ]
)
BODIES = st.lists(st.tuples(LINES, st.sampled_from([b"\n", b"\r", b"\r\n"]))).map(
    lambda lines: b"".join(line + end for line, end in lines)
)


def by_the_book(body: bytes) -> list[SseEvent]:
    """The algorithm of the standard, line by line, for a body that is there as a whole."""
    lines = body.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")[:-1]
    events, data, name, last_id = list[SseEvent](), list[bytes](), b"", b""
    for line in lines:
        field, _, value = line.partition(b":")
        value = value[1:] if value.startswith(b" ") else value
        if not line:
            if data:
                event = name.decode() or "message"
                events.append(SseEvent(b"\n".join(data), event, last_id.decode()))
            data, name = [], b""
        elif field == b"data":
            data.append(value)
        elif field == b"event":
            name = value
        elif field == b"id":
            last_id = value
    return events


@given(body=BODIES, places=st.sets(st.integers(1, 200)))
def test_any_body_cut_anywhere_reads_as_the_standard_says(body: bytes, places: set[int]) -> None:
    assert read(cut(body, places)) == by_the_book(body)


@given(body=BODIES, places=st.sets(st.integers(1, 200)))
def test_payloads_alone_are_those_of_the_events(body: bytes, places: set[int]) -> None:
    decoder = SseDecoder()
    quick = [payload for chunk in cut(body, places) for payload in decoder.feed_data(chunk)]

    assert quick == [event.data for event in by_the_book(body)]


@given(st.lists(st.binary(max_size=20)))
def test_no_bytes_make_it_raise(chunks: list[bytes]) -> None:
    decoder = SseDecoder()
    for chunk in chunks:
        decoder.feed(chunk)
    decoder.finish()


PLAIN_LINES = st.sampled_from(
    [
        b"data: {}",
        b"data: a\rb",
        b"data: a\ndata: b",
        b"event: e\ndata: 1",
        b"event: e\ndata: 1\nretry: 2",
        b"event: e\rdata: 1\ndata: 2",
        b"event: f\nid: 7\ndata: event: e",
        b": ping",
        b"id: 1",
    ]
)


@given(
    events=st.lists(st.tuples(PLAIN_LINES, st.sampled_from([b"\n", b"\r\n", b"\r"]))),
    sizes=st.lists(st.integers(1, 4), min_size=1),
)
def test_reads_of_whole_events_are_read_as_the_standard_says(
    events: list[tuple[bytes, bytes]], sizes: list[int]
) -> None:
    whole = [lines.replace(b"\n", end) + end + end for lines, end in events]
    decoder, seen = SseDecoder(), list[bytes]()
    for size in sizes * len(whole):
        seen += decoder.feed_data(b"".join(whole[:size]))
        whole = whole[size:]

    body = b"".join(lines.replace(b"\n", end) + end + end for lines, end in events)
    assert seen == [event.data for event in by_the_book(body)]


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("name", [b"", b"event: delta"])
def test_a_read_of_one_event_takes_as_few_calls_with_crlf_as_with_lf(
    name: bytes, end: bytes
) -> None:
    decoder, event = SseDecoder(), (name + end if name else b"") + b"data: {}" + end + end
    decoder.feed_data(event)

    assert operations(lambda: decoder.feed_data(event)) <= 10


@pytest.mark.parametrize(
    ("body", "count"),
    [
        (b"data: %s\n\n", 150_000),
        (b"event: e\r\ndata: %s\r\n\r\n", 150_000),
        (b"data: x\n", 15_000),
        (b"data: {}\n\n", 15_000),
        (b"event: e\ndata: {}\n\n", 10_000),
        (b"data: {}\r\n\r\n", 15_000),
        (b": \n\n", 15_000),
        (b"\r", 15_000),
    ],
    ids=[
        "one long line", "one long line with crlf", "one long event", "many events",
        "many named events", "many crlf events", "many comments", "blank lines",
    ],
)  # fmt: skip
def test_vs07_work_is_linear_however_small_the_pieces(body: bytes, count: int) -> None:
    """Ten times the bytes take ten times the calls, and the bytes that these look at."""

    def work(count: int) -> tuple[int, int]:
        data = body % (b"x" * count) if b"%s" in body else body * count
        pieces = [data[at : at + 64] for at in range(0, len(data), 64)]
        decoder = SseDecoder()

        def feed() -> None:
            for piece in pieces:
                decoder.feed_data(piece)
            decoder.finish()

        return operations(feed), bytes_looked_at(feed)

    for small, large in zip(work(count // 10), work(count), strict=True):
        assert large <= 11 * small + 1_000
