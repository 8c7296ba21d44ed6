"""The replay server by itself: what it sends, by plain sockets and a plain HTTP client."""

import gc
import json
import socket
import threading
import time
from collections.abc import Callable

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit_core import Item, ModelRequest
from agentkit_providers import connect
from agentkit_providers.replay import (
    Answer,
    Cut,
    Garbage,
    ReplayServer,
    Request,
    Reset,
    Script,
    Stall,
    mask_key,
    openai_chat,
)

Serve = Callable[[Script], ReplayServer]


def post(server: ReplayServer, **given: object) -> httpx.Response:
    return httpx.post(f"{server.url}/chat", trust_env=False, timeout=2.0, **given)  # type: ignore[arg-type]


def raw(server: ReplayServer, body: bytes = b"{}") -> bytes:
    """All bytes of one answer, until the server closes the connection."""
    address = ("127.0.0.1", int(server.url.rpartition(":")[2]))
    with socket.create_connection(address, timeout=2.0) as connection:
        head = f"POST /chat HTTP/1.1\r\nhost: x\r\ncontent-length: {len(body)}\r\n\r\n"
        connection.sendall(head.encode() + body)
        connection.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: connection.recv(65536), b""))


def test_each_event_is_one_http_chunk(serve: Serve) -> None:
    sent = raw(serve([Answer.events({"a": 1}, "[DONE]")]))

    assert sent.startswith(b"HTTP/1.1 200 ")
    assert b"content-type: text/event-stream\r\n" in sent
    assert sent.endswith(
        b'\r\n\r\n10\r\ndata: {"a": 1}\n\n\r\n' + b"e\r\ndata: [DONE]\n\n\r\n" + b"0\r\n\r\n"
    )


def test_a_text_of_several_lines_is_one_event() -> None:
    assert Answer.events("one\ntwo").body == b"data: one\ndata: two\n\n"


@given(
    st.lists(
        st.sampled_from([b"data: a", b"event: x", b": note", b"\n", b"\r\n", b"\n\n", b"\r\r"])
    )
)
def test_a_recorded_body_is_sent_byte_for_byte(pieces: list[bytes]) -> None:
    body = b"".join(pieces)

    assert Answer.from_body(body).body == body
    assert all(Answer.from_body(body).pieces)


def test_a_recorded_stream_is_cut_after_its_events() -> None:
    recorded = Answer.from_body("data: a\n\n: note\r\n\r\ndata: b\n\ndata: half")

    assert recorded.pieces == (b"data: a\n\n", b": note\r\n\r\n", b"data: b\n\n", b"data: half")
    assert Answer.from_body('{"a": 1}').content_type == "application/json"


@given(st.binary(min_size=1), st.sets(st.integers(0, 40)))
def test_cutting_a_body_elsewhere_changes_none_of_it(body: bytes, offsets: set[int]) -> None:
    cut = Answer(pieces=(body,)).cut_at(*offsets)

    assert cut.body == body
    assert all(cut.pieces)
    inside = {offset for offset in offsets if 0 < offset < len(body)}
    assert len(cut.pieces) == len(inside) + 1


def test_answers_come_in_the_order_of_the_script_and_then_an_error_says_that_it_ended(
    serve: Serve,
) -> None:
    server = serve([Answer.json({"n": 1}), Answer.json({"n": 2})])

    assert [post(server).json()["n"] for _ in range(2)] == [1, 2]
    after = post(server)
    assert after.status_code == 500
    assert after.json()["error"]["type"] == "replay_script"
    assert "ended after 2 answers" in after.json()["error"]["message"]
    assert post(server).status_code == 500


def test_a_script_may_be_a_function_and_its_exceptions_are_reported(
    serve: Serve,
) -> None:
    server = serve(lambda request: Answer.json({"said": request.json["say"]}))

    assert post(server, json={"say": "hello"}).json() == {"said": "hello"}
    failed = post(server, json={})
    assert failed.status_code == 500
    assert "KeyError" in failed.json()["error"]["message"]


def test_requests_are_remembered_and_their_keys_are_not(serve: Serve) -> None:
    server = serve([Answer.json({})] * 2)

    for key in ("Bearer sk-SECRET123", "Bearer other"):
        post(server, json={"a": [1]}, headers={"Authorization": key, "X-Seen": "yes"})

    first, second = server.requests
    assert (first.method, first.path, first.json) == ("POST", "/chat", {"a": [1]})
    assert first.headers["x-seen"] == "yes"
    assert first.headers["authorization"] == mask_key("Bearer sk-SECRET123")
    assert first.headers["authorization"] != second.headers["authorization"]
    assert "SECRET123" not in repr(server.requests)


@pytest.mark.parametrize(
    ("path", "body", "streamed"),
    [
        ("/v1/chat", b'{"stream": true}', True),
        ("/v1/chat", b'{"stream": false}', False),
        ("/v1/chat", b"", False),
        ("/v1/chat", b"no json", False),
        ("/v1/models/m:streamGenerateContent?alt=sse", b"{}", True),
        ("/v1/models/m:generateContent?alt=stream", b"[]", False),
    ],
)
def test_a_request_says_whether_it_wants_a_stream(path: str, body: bytes, streamed: bool) -> None:
    request = Request(method="POST", path=path, headers={}, body=body)

    assert request.streamed is streamed


def test_one_connection_serves_many_requests(serve: Serve) -> None:
    server = serve([Answer.json({}), Answer.error(500), openai_chat.text("hi")])

    with httpx.Client(trust_env=False, verify=False) as client:
        for _ in range(3):
            client.post(server.url)
        assert (server.connections, server.open_connections) == (1, 1)


def test_a_connection_that_is_used_again_is_answered_at_once(serve: Serve) -> None:
    server = serve(lambda _: openai_chat.text("hi there"))
    model = connect("compatible:replayed", base_url=server.url)
    took_s = []
    for _ in range(9):
        began = time.monotonic()
        model.complete_blocking(ModelRequest(model=model.name, items=[Item.user("Hi")]))
        took_s.append(time.monotonic() - began)

    assert server.connections == 1
    assert sorted(took_s)[2] < 0.03, "waiting for a delayed ACK takes 40 ms"


def test_a_pace_is_kept(serve: Serve) -> None:
    server = serve([Answer.events("a", "b", "c").with_pace(0.05)])
    began = time.monotonic()

    assert post(server).text.count("data:") == 3
    assert 0.1 <= time.monotonic() - began < 5.0


def test_an_error_answer_has_status_body_and_wait(serve: Serve) -> None:
    server = serve([Answer.error(429, {"why": "busy"}, retry_after=2), Answer.error(503, "down")])

    told, text = post(server), post(server)

    assert (told.status_code, told.json(), told.headers["retry-after"]) == (
        429,
        {"why": "busy"},
        "2",
    )
    assert (text.status_code, text.text, text.headers["content-type"]) == (
        503,
        "down",
        "text/plain",
    )


@pytest.mark.parametrize(
    ("fault", "left"),
    [
        (Cut(), b""),
        (Cut(after_events=0), b"\r\n\r\n"),
        (Cut(after_events=1), b"9\r\ndata: a\n\n\r\n"),
        (Cut(after_bytes=12), b"3\r\ndat\r\n"),
        (Garbage(after_events=0), b"this is not HTTP \xff\r\n\r\n"),
    ],
)
def test_a_fault_happens_where_it_says(fault: Cut | Garbage, left: bytes, serve: Serve) -> None:
    sent = raw(serve([Answer.events("a", "b").with_fault(fault)]))

    assert sent.endswith(left)
    assert not sent.endswith(b"0\r\n\r\n")
    assert sent or left == b""


def test_a_reset_is_a_reset(serve: Serve) -> None:
    server = serve([Answer.events("a", "b").with_fault(Reset(after_events=1))])

    with pytest.raises(ConnectionResetError):
        raw(server)


def test_a_stall_lasts_until_the_client_leaves(serve: Serve) -> None:
    server = serve([Answer.events("a", "b").with_fault(Stall(after_events=1))])

    with (
        httpx.Client(trust_env=False, verify=False, timeout=0.1) as client,
        client.stream("POST", server.url) as response,
        pytest.raises(httpx.ReadTimeout),
    ):
        response.read()
    give_up_at = time.monotonic() + 5.0
    while server.open_connections and time.monotonic() < give_up_at:
        time.sleep(0.005)
    assert server.open_connections == 0


def test_nothing_is_left_after_the_server() -> None:
    before = threading.active_count()
    with ReplayServer([Answer.events("a").with_fault(Stall())] * 3) as server:
        address = ("127.0.0.1", int(server.url.rpartition(":")[2]))
        clients = [socket.create_connection(address) for _ in range(3)]
        clients[0].sendall(b"POST / HTTP/1.1\r\n\r\n")
        clients[1].sendall(b"half a requ")

    assert threading.active_count() == before
    for client in clients:
        client.close()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(address)


def test_a_request_that_is_not_http_closes_its_connection_and_nothing_else(serve: Serve) -> None:
    server = serve([Answer.json({"n": 1})])
    address = ("127.0.0.1", int(server.url.rpartition(":")[2]))

    with socket.create_connection(address, timeout=1.0) as client:
        client.sendall(b"what\r\n\r\n")
        assert client.recv(100).startswith(b"HTTP/1.1 400 ")
        assert client.recv(100) == b""

    assert post(server).json() == {"n": 1}


def test_chat_answers_come_in_the_form_that_was_asked_for(serve: Serve) -> None:
    server = serve([openai_chat.text("hello there"), openai_chat.text("hello there")])

    whole = post(server, json={"stream": False}).json()
    stream = post(server, json={"stream": True}).text

    assert whole["choices"][0]["message"]["content"] == "hello there"
    assert whole["usage"]["total_tokens"] == 15
    *events, done = [line.removeprefix("data: ") for line in stream.split("\n\n") if line]
    assert done == "[DONE]"
    deltas = [c["delta"] for event in events for c in json.loads(event)["choices"]]
    assert "".join(delta.get("content") or "" for delta in deltas) == "hello there"


@given(st.text(max_size=30))
def test_streamed_words_join_to_the_text(words: str) -> None:
    pieces = openai_chat.text(words, usage=None).pieces[:-1]
    chunks = [json.loads(piece.removeprefix(b"data: ")) for piece in pieces]

    said = [chunk["choices"][0]["delta"].get("content") or "" for chunk in chunks]
    assert "".join(said) == words


def test_vp15_an_async_script_is_told_of_in_the_answer_and_its_coroutine_closed() -> None:
    async def script(request: Request) -> Answer:
        raise AssertionError("awaited")

    with ReplayServer(script) as server:  # type: ignore[arg-type]
        answer = httpx.get(server.url, trust_env=False)

    gc.collect()  # a coroutine that nobody awaited would be told of here
    assert answer.status_code == 500
    assert "gave a value of type coroutine; return an Answer" in answer.text
