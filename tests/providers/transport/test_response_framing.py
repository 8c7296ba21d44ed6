"""Joined chunks change nothing: the HTTP parser reads the same responses, whatever servers send."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import h11
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit_providers.transport._response_framing import ResponseFraming

HEAD = b"HTTP/1.1 200 OK\r\nx-a: b\r\ntransfer-encoding: chunked\r\n\r\n"
EVENT = b"c\r\ndata: {}\r\n\r\n\r\n"
END = b"0\r\n\r\n"


class Reading(NamedTuple):
    """What the parser makes of the responses of one connection.

    Attributes:
        responses: Per response: status and headers of each head, body, trailers, and the error
            that ended it; None for trailers that did not come, and for no error.
        pieces: How many pieces of bodies the parser returned.
        has_rest: Whether bytes are left that belong to no response.
    """

    responses: list[tuple[list[Any], bytes, list[Any] | None, str | None]]
    pieces: int
    has_rest: bool


def read(responses: Sequence[Sequence[bytes]], *, joined: bool) -> Reading:
    """Read the responses of one connection, each cut into network reads, as httpcore does."""
    parser, framing = h11.Connection(h11.CLIENT), ResponseFraming()
    done: list[tuple[list[Any], bytes, list[Any] | None, str | None]] = []
    pieces = 0

    def next_bytes(reads: Iterator[bytes]) -> bytes:
        if not joined:
            return next(reads, b"")
        data = framing.read_on()
        while not data:
            data = next(reads, b"")
            if not data:
                break
            data = framing.feed(data)
        return data

    for response in responses:
        reads = iter(response)
        headers = [("host", "x"), ("content-length", "0")]
        parser.send(h11.Request(method="POST", target="/", headers=headers))
        parser.send(h11.EndOfMessage())
        framing.begin_response()
        heads: list[Any] = []
        body, trailers, error = b"", None, None
        try:
            while trailers is None:
                event: Any = parser.next_event()
                if event is h11.NEED_DATA:
                    parser.receive_data(next_bytes(reads))
                elif isinstance(event, h11.Data):
                    body += bytes(event.data)
                    pieces += 1
                elif isinstance(event, h11.EndOfMessage):
                    trailers = list(event.headers)
                else:
                    heads.append((event.status_code, list(event.headers)))
                    has_body = event.status_code not in (204, 304)
                    names = [name for name, _ in event.headers]
                    if isinstance(event, h11.Response):
                        framing.begin_body(chunked=has_body and b"transfer-encoding" in names)
        except h11.RemoteProtocolError as wrong:
            # What h11 says of a bad line end depends on where the network has cut it.
            error = "malformed footer" if "footer" in str(wrong) else str(wrong)
        done.append((heads, body, trailers, error))
        if error or (joined and framing.has_rest):
            break
        try:
            parser.start_next_cycle()
        except h11.LocalProtocolError:
            break
    return Reading(done, pieces, framing.has_rest)


TWO_CHUNKS = b"\r\n\r\n3\r\nabc\r\n3\r\nabc\r\n"
"""What looks like a blank line and a body, and would be changed if it were taken for that."""

DATA = st.one_of(
    st.binary(min_size=1, max_size=60),
    st.sampled_from(
        [b"data: {}\n\n", b"0\r\n\r\n", b"\r\n", b"\r", b"\n\r\n", b"a\r\n", TWO_CHUNKS]
    ),
)


@st.composite
def chunks(draw: st.DrawFn) -> bytes:
    data = draw(DATA)
    size = draw(st.sampled_from([b"%x", b"%X", b"0%x", b"%%0%dx" % 18])) % len(data)
    odd = draw(st.integers(0, 12))
    if odd == 0:
        size += draw(st.sampled_from([b";ext=1", b" ", b";" + b"e" * 40, b"\t"]))
    if odd == 1:
        size = draw(st.sampled_from([b"0x5", b"+5", b"1_0", b"", b" 5", b"-1", b"f" * 25, b"zz"]))
    ends = [b"\n", b"xx", b"", b"\r\r\n", b"ab\r\n"] if odd == 2 else [b"\r\n"]
    return size + b"\r\n" + data + draw(st.sampled_from(ends))


@st.composite
def responses(draw: st.DrawFn) -> list[bytes]:
    """A response, cut into the reads in which it comes."""
    line_end = draw(st.sampled_from([b"\r\n", b"\r\n", b"\r\n", b"\n"]))
    early = draw(st.sampled_from([0, 0, 0, 1, 2]))
    status = draw(st.sampled_from([b"200 OK"] * 6 + [b"204 No", b"500 Sorry"]))
    body = b"".join(draw(st.lists(chunks(), max_size=8)))
    ends = [END] * 8 + [
        b"0\r\nx-t: 1\r\n\r\n",
        b"",
        b"00\r\n\r\n",
        b"0;x\r\n\r\n",
        b"0\r\n\n",
        END + EVENT,
    ]
    body += draw(st.sampled_from(ends))
    framings = [b"transfer-encoding: chunked", b"Transfer-Encoding:CHUNKED"] * 4
    framings += [
        b"content-length: %d" % len(body),
        b"x-c: d",  # until the connection closes
        b"transfer-encoding: gzip, chunked",
        b"transfer-encoding:\r\n chunked",
        b"transfer-encoding: chunked\r\ncontent-length: 3",
    ]
    head = [b"HTTP/1.1 " + status, b"x-a: b", draw(st.sampled_from(framings)), b"", body]
    whole = (b"HTTP/1.1 100 Continue" + line_end * 2) * early + line_end.join(head)
    size = draw(st.sampled_from([1, 2, 5, 40, 5000]))
    cuts = draw(st.sets(st.integers(1, len(whole) - 1), max_size=12)) if size > 5 else set()
    edges = sorted({*range(0, len(whole), size), *cuts, len(whole)})
    return [whole[start:end] for start, end in pairwise(edges)]


@given(st.lists(responses(), min_size=1, max_size=3))
def test_the_parser_reads_the_same_with_joined_chunks(answers: list[list[bytes]]) -> None:
    plain, joined = read(answers, joined=False), read(answers, joined=True)

    count = len(joined.responses)
    assert joined.responses == plain.responses[:count]
    assert count == len(plain.responses) or joined.has_rest


def cut_twice(whole: bytes) -> Iterator[list[bytes]]:
    """Cut a response into up to three reads, at every place and a little behind it."""
    for first in range(1, len(whole)):
        for second in (first + 1, first + 2, first + 7, len(whole)):
            reads = (whole[:first], whole[first:second], whole[second:])
            yield [data for data in reads if data]


BODIES = {
    "usual": END,
    "trailers": b"0\r\nx-t: 1\r\n\r\n",
    "extension": b"5;x=y\r\nhello\r\n" + END,
    "cut off": b"",
    "more behind the end": END + EVENT,
    "an empty size": b"\r\n\r\n" + EVENT + END,
    "odd data": b"%x\r\n%s\r\n" % (len(TWO_CHUNKS), TWO_CHUNKS) + END,
    "no line end": b"3\r\nabcxx" + EVENT + END,
    "half a line end": b"3\r\nabc\r\r\n" + EVENT + END,
    "a bare line feed": b"3\r\nabc\n" + EVENT + END,
}


@pytest.mark.parametrize("tail", BODIES.values(), ids=BODIES)
@pytest.mark.parametrize("line_end", [b"\r\n", b"\n"])
def test_a_cut_at_any_place_changes_nothing(tail: bytes, line_end: bytes) -> None:
    """Also within the line end behind a chunk, and within the line of its size."""
    head = HEAD.replace(b"\r\n", line_end)
    whole = head + EVENT + b"1F\r\n" + b"x" * 31 + b"\r\n" + b"01\r\n\r\r\n" + tail
    expected = read([[whole]], joined=False).responses

    for reads in cut_twice(whole):
        assert read([reads], joined=True).responses == expected


@pytest.mark.parametrize("line_end", [b"\r\n", b"\n"])
def test_a_head_is_passed_on_without_anything_behind_it(line_end: bytes) -> None:
    head = HEAD.replace(b"\r\n", line_end)
    for reads in cut_twice(head + EVENT + END):
        framing, passed_on = ResponseFraming(), b""
        while not passed_on.endswith(line_end * 2):
            passed_on += framing.feed(reads.pop(0))

        assert passed_on == head


@given(
    st.lists(chunks(), min_size=1, max_size=8),
    st.lists(st.integers(-2, 2), min_size=8, max_size=8),
    st.sampled_from([END, END + EVENT, b""]),
)
def test_a_cut_near_the_ends_of_chunks_changes_nothing(
    chunks: list[bytes], beside: list[int], tail: bytes
) -> None:
    """A server that sends chunk by chunk is often read so, and one chunk is passed on as it is."""
    whole, edges = HEAD, {0, len(HEAD)}
    for chunk, shift in zip(chunks, beside, strict=False):
        whole += chunk
        edges.add(len(whole) + shift)
    whole += tail
    cuts = sorted(edge for edge in {*edges, len(whole)} if edge <= len(whole))
    reads = [whole[start:end] for start, end in pairwise(cuts)]

    assert read([reads], joined=True).responses == read([reads], joined=False).responses


@pytest.mark.parametrize("before", [b"", EVENT, EVENT * 2])
def test_the_end_of_a_chunk_that_looks_like_a_whole_one_is_none(before: bytes) -> None:
    chunk = b"18\r\n" + b"8\r\n12345678\r\n" + b"x" * 11 + b"\r\n"
    in_size = [HEAD + before, chunk[:1], chunk[1:14], chunk[14:] + END]
    in_data = [HEAD + before, chunk[:4], chunk[4:17], chunk[17:] + END]

    for cut in (in_size, in_data):
        assert read([cut], joined=True).responses == read([cut], joined=False).responses


def test_a_read_of_one_whole_chunk_is_passed_on_without_a_copy() -> None:
    framing = ResponseFraming()
    framing.feed(HEAD)
    framing.begin_body(chunked=True)

    assert framing.feed(EVENT) is EVENT
    assert framing.feed(EVENT) is EVENT
    joined = framing.feed(EVENT * 2)
    assert joined + framing.feed(EVENT) == b"18\r\n" + b"data: {}\r\n\r\n" * 2 + b"\r\n" + EVENT
    assert framing.feed(EVENT) is EVENT


def test_chunks_are_joined_wherever_the_reads_were_cut() -> None:
    for reads in cut_twice(HEAD + EVENT * 20 + END):
        assert read([reads], joined=True).pieces <= len(reads)


def test_the_chunks_of_one_read_are_one_piece() -> None:
    reads = [HEAD + EVENT * 3, EVENT * 100, EVENT * 50 + b"c\r\ndata", b": {}\r\n\r\n\r\n" + END]

    assert read([reads], joined=False).pieces == 155
    assert read([reads], joined=True).pieces == 4


def test_vs08_a_size_without_end_is_not_kept() -> None:
    framing = ResponseFraming()
    framing.feed(HEAD)
    framing.begin_body(chunked=True)
    sent = [b"0" * 1000] * 10

    assert sum(len(framing.feed(data)) for data in sent) == 10_000


@pytest.mark.parametrize(
    ("reads", "is_complete"),
    [
        ([HEAD + EVENT + END], True),
        ([HEAD, EVENT, END], True),
        ([HEAD + EVENT], False),
        ([HEAD + EVENT + END[:3], END[3:]], False),  # nobody needs to know it in this case
        ([HEAD + EVENT + END + b"more"], False),
    ],
)
def test_it_is_known_whether_all_has_come(reads: list[bytes], is_complete: bool) -> None:
    framing = ResponseFraming()
    framing.feed(reads[0])
    framing.begin_body(chunked=True)
    framing.read_on()
    for data in reads[1:]:
        framing.feed(data)

    assert framing.is_complete is is_complete


def test_bytes_behind_a_response_without_a_body_are_seen() -> None:
    framing = ResponseFraming()
    head = b"HTTP/1.1 204 No\r\n\r\n"
    assert framing.feed(head + b"more than belongs here") == head
    framing.begin_body(chunked=False)

    assert framing.has_rest
