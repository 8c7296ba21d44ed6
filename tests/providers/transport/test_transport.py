"""What holds for every transport: with and without an event loop, over each kind of client."""

import gzip
import socket
import time
from collections.abc import Callable
from email.utils import formatdate

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentkit_core import FailureKind, FinishReason, ModelRequest, ModelResponse, ProviderFailure
from agentkit_core.provider import ModelEvent, ResponseFailed, ResponseFold
from agentkit_providers import Endpoint, HttpModel
from agentkit_providers.replay import Answer, Cut, Garbage, ReplayServer, Reset, Script, Stall
from providers.transports import Transport
from support.tiny_chat import TinyChat, tiny_answer, unended_answer

Batches = Transport
Serve = Callable[[Script], ReplayServer]
Make = Callable[..., HttpModel]
Ask = Callable[..., ModelRequest]


def folded(batches: list[tuple[ModelEvent, ...]]) -> ModelResponse:
    folding = ResponseFold(strict=True)
    for events in batches:
        folding.feed(events)
    return folding.finish()


def failed(batches: list[tuple[ModelEvent, ...]]) -> ProviderFailure:
    """The failure, which must be the one last event."""
    events = [event for batch in batches for event in batch]
    assert [type(event) for event in events].count(ResponseFailed) == 1
    assert isinstance(events[-1], ResponseFailed)
    return events[-1].failure


def test_an_answer_comes_in_batches_that_are_never_empty(
    batches: Batches, serve: Serve, tiny: Make, ask: Ask
) -> None:
    answer = Answer.from_body(b": hello\n\n" + tiny_answer("a", "b").body + b": bye\n\n")
    server = serve([answer.with_pace(0.02)])

    came = batches(tiny(server), ask())

    assert all(came)
    assert len(came) == 3
    assert folded(came).item.text == "ab"
    assert folded(came).item.finish_reason is FinishReason.COMPLETED


def test_what_the_encoder_decided_goes_into_the_items_metadata(
    batches: Batches, serve: Serve, tiny: Make, ask: Ask
) -> None:
    server = serve([tiny_answer("a"), Answer.error(500)])

    assert folded(batches(tiny(server), ask())).item.metadata["tiny.encoded"] is True
    assert folded(batches(tiny(server), ask())).item.metadata["tiny.encoded"] is True


def test_an_answer_is_read_as_it_comes_and_not_as_it_was_asked_for(
    batches: Batches, serve: Serve, tiny: Make, ask: Ask
) -> None:
    server = serve([Answer.json({"text": "whole"}), tiny_answer("pieces")])
    model = tiny(server)

    assert folded(batches(model, ask(streamed=True))).item.text == "whole"
    assert folded(batches(model, ask(streamed=False))).item.text == "pieces"


def test_the_request_has_the_headers_that_servers_ask_for(
    batches: Batches, serve: Serve, tiny: Make, ask: Ask
) -> None:
    server = serve([tiny_answer("a"), Answer.json({"text": "a"})])
    model = tiny(server, headers={"X-Own": "mine", "USER-AGENT": "agentkit/0.0 mine"})

    batches(model, ask())
    batches(model, ask(streamed=False))

    streamed, whole = server.requests
    assert (streamed.method, streamed.path) == ("POST", "/tiny")
    assert streamed.headers["accept"] == "text/event-stream"
    assert whole.headers["accept"] == "application/json"
    assert streamed.headers["content-type"] == "application/json"
    assert streamed.headers["user-agent"].startswith("agentkit/0.")
    assert streamed.headers["x-own"] == "mine"
    assert whole.headers["x-own"] == "mine"
    assert "authorization" not in streamed.headers


def test_a_body_that_is_compressed_is_read(
    batches: Batches, serve: Serve, tiny: Make, ask: Ask
) -> None:
    body = gzip.compress(tiny_answer("a", "b").body)
    answer = Answer(pieces=(body[:20], body[20:])).with_headers(content_encoding="gzip")
    error = Answer(pieces=(gzip.compress(b"no credit"),), status=402)
    server = serve([answer, error.with_headers(content_encoding="gzip")])

    assert folded(batches(tiny(server), ask())).item.text == "ab"
    assert failed(batches(tiny(server), ask())).message == "no credit"


def test_a_body_that_is_not_compressed_as_it_says_is_a_failure(
    batches: Batches, serve: Serve, tiny: Make, ask: Ask
) -> None:
    answer = tiny_answer("a").with_headers(content_encoding="gzip")

    failure = failed(batches(tiny(serve([answer])), ask()))

    assert failure.kind is FailureKind.PROTOCOL
    assert not failure.retryable


def test_a_connection_is_used_again_after_an_answer_was_read(
    batches: Batches, serve: Serve, ask: Ask
) -> None:
    """Also where the end of the body comes later than the end mark of the answer."""
    late = tiny_answer("a")
    late = Answer(pieces=(*late.pieces, b": bye\n\n"), pace_s=0.03)
    server = serve([late] * 3)

    texts = asked_by_turns(batches, server, ask(), times=3)

    assert texts == ["a"] * 3
    assert server.connections == 1


@pytest.mark.parametrize("fault", [Cut(), Reset()], ids=["cut", "reset"])
def test_a_connection_that_the_server_had_closed_is_replaced_and_the_request_sent_again(
    fault: Cut | Reset, batches: Batches, serve: Serve, ask: Ask
) -> None:
    """Servers close idle connections at any moment, also while a request is on its way."""
    server = serve([tiny_answer("a"), tiny_answer("b").with_fault(fault), tiny_answer("c")])

    assert asked_by_turns(batches, server, ask(), times=2) == ["a", "c"]
    assert len(server.requests) == 3
    assert server.requests[1].body == server.requests[2].body
    assert server.connections == 2


def test_a_request_is_not_sent_again_once_its_answer_has_begun(
    batches: Batches, serve: Serve, ask: Ask
) -> None:
    begun = tiny_answer("b", "b").with_fault(Cut(after_events=0))
    server = serve([tiny_answer("a"), begun, tiny_answer("c")])

    assert asked_by_turns(batches, server, ask(), times=2) == ["a", FailureKind.CONNECTION]
    assert len(server.requests) == 2


def asked_by_turns(
    batches: Batches, server: ReplayServer, request: ModelRequest, *, times: int
) -> list[str]:
    """Ask several times over the connections of one client; texts, or kinds of failure."""
    row = Endpoint(name="tiny", base_url=server.url, key_required=False)
    model = HttpModel("m", endpoint=row, projection=TinyChat())
    responses = batches.ask_in_turn(model, request, times=times)
    return [
        response.failure.kind if response.failure else response.item.text for response in responses
    ]


# What goes wrong before an answer.


def test_a_refused_connection_is_a_failure_that_names_the_host(batches: Batches, ask: Ask) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    row = Endpoint(name="tiny", base_url=f"http://{address}", key_required=False)

    failure = failed(batches(HttpModel("m", endpoint=row, projection=TinyChat()), ask()))

    assert failure.kind is FailureKind.CONNECTION
    assert failure.retryable
    assert failure.message.startswith(f"no connection to {address}: ")


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (Cut(), FailureKind.CONNECTION),
        (Reset(), FailureKind.CONNECTION),
        (Garbage(), FailureKind.PROTOCOL),
    ],
)
def test_an_answer_that_never_begins_is_a_failure(
    fault: Cut | Reset | Garbage,
    kind: FailureKind,
    batches: Batches,
    serve: Serve,
    tiny: Make,
    ask: Ask,
) -> None:
    failure = failed(batches(tiny(serve([tiny_answer("a").with_fault(fault)])), ask()))

    assert failure.kind is kind
    assert failure.retryable is (kind is FailureKind.CONNECTION)


def test_an_error_answer_is_classified_by_status_headers_and_body(
    batches: Batches, serve: Serve, tiny: Make, ask: Ask
) -> None:
    body = {"error": {"message": "slow down", "code": "rate_limit_exceeded"}}
    answer = Answer.error(429, body, retry_after=7).with_headers(x_request_id="req_1")

    failure = failed(batches(tiny(serve([answer])), ask()))

    assert failure.kind is FailureKind.RATE_LIMIT
    assert (failure.status, failure.code) == (429, "rate_limit_exceeded")
    assert failure.request_id == "req_1"
    assert failure.message == "slow down"


@pytest.mark.parametrize(
    ("headers", "least_s"),
    [
        ({"retry_after": "7"}, 7.0),
        ({"retry_after": "in 7 s, as a date"}, 5.0),
        ({"retry_after_ms": "1500"}, 1.5),
        ({"retry_after": "86400"}, 86400.0),
        ({"retry_after": "soon"}, None),
    ],
)
def test_x01_the_wait_that_a_provider_asks_for_reaches_the_failure(
    headers: dict[str, str],
    least_s: float | None,
    batches: Batches,
    serve: Serve,
    tiny: Make,
    ask: Ask,
) -> None:
    date = formatdate(time.time() + 7, usegmt=True)
    sent = {name: date if "date" in value else value for name, value in headers.items()}
    answer = Answer.error(429, "busy").with_headers(**sent)

    failure = failed(batches(tiny(serve([answer])), ask()))

    assert failure.retryable
    if least_s is None:
        assert failure.retry_after_s is None
    else:
        assert failure.retry_after_s is not None
        assert least_s <= failure.retry_after_s <= least_s + 2.5


def test_a_projection_may_read_error_answers_in_its_own_way(
    batches: Batches, serve: Serve, ask: Ask
) -> None:
    class Reading(TinyChat):
        def failure(
            self, status: int, headers: dict[str, str], body: bytes, *, now_s: float | None
        ) -> ProviderFailure:
            assert now_s is not None
            said = f"{status} {headers['x-why']} {body.decode()}"
            return ProviderFailure(kind=FailureKind.BILLING, message=said)

    server = serve([Answer.error(418, "teapot").with_headers(X_Why="tea")])
    row = Endpoint(name="tiny", base_url=server.url, key_required=False)

    failure = failed(batches(HttpModel("m", endpoint=row, projection=Reading()), ask()))

    assert (failure.kind, failure.message) == (FailureKind.BILLING, "418 tea teapot")


def test_an_error_answer_is_read_no_further_than_it_is_worth(
    batches: Batches, serve: Serve, tiny: Make, ask: Ask
) -> None:
    server = serve([Answer(pieces=(b"x" * 50_000,) * 400, status=503)])

    failure = failed(batches(tiny(server), ask()))

    assert failure.kind is FailureKind.OVERLOADED
    assert len(str(failure.raw)) < 70_000


def test_an_error_answer_that_breaks_off_is_still_classified_by_its_status(
    batches: Batches, serve: Serve, tiny: Make, ask: Ask
) -> None:
    server = serve([Answer.error(503).with_fault(Cut(after_bytes=5))])

    assert failed(batches(tiny(server), ask())).kind is FailureKind.OVERLOADED


def test_a_web_page_is_no_answer_of_a_model(
    batches: Batches, serve: Serve, tiny: Make, ask: Ask
) -> None:
    page = Answer(pieces=(b"<html>Welcome</html>",), content_type="text/html; charset=utf-8")

    failure = failed(batches(tiny(serve([page])), ask()))

    assert failure.kind is FailureKind.PROTOCOL
    assert "base_url" in failure.message


def test_a_redirect_is_not_followed_so_that_the_key_goes_nowhere_else(
    batches: Batches, serve: Serve, tiny: Make, ask: Ask
) -> None:
    elsewhere = serve([])
    answer = Answer.error(307).with_headers(location=f"{elsewhere.url}/tiny")

    failure = failed(batches(tiny(serve([answer])), ask()))

    assert failure.status == 307
    assert elsewhere.requests == []


# What goes wrong within an answer.


@pytest.mark.parametrize("fault", [Cut, Reset])
def test_x03_w07_a_connection_that_breaks_within_the_answer_leaves_what_came(
    fault: type[Cut] | type[Reset], batches: Batches, serve: Serve, tiny: Make, ask: Ask
) -> None:
    server = serve([tiny_answer("Hel", "lo").with_fault(fault(after_events=1))])

    came = batches(tiny(server), ask())

    assert failed(came).kind is FailureKind.STREAM_CUT
    assert failed(came).retryable
    assert folded(came).item.text == "Hel"
    assert folded(came).item.interrupted
    assert folded(came).item.finish_reason is FinishReason.ERROR


def test_a_connection_that_breaks_before_any_content_is_a_broken_connection(
    batches: Batches, serve: Serve, tiny: Make, ask: Ask
) -> None:
    answer = Answer.from_body(b": hello\n\n" + tiny_answer("a").body)
    server = serve([answer.with_fault(Cut(after_events=1))])

    assert failed(batches(tiny(server), ask())).kind is FailureKind.CONNECTION


def test_w07_a_stream_that_just_ends_is_no_answer_that_is_whole(
    batches: Batches, serve: Serve, tiny: Make, ask: Ask
) -> None:
    came = batches(tiny(serve([unended_answer("half")])), ask())

    assert failed(came).kind is FailureKind.STREAM_CUT
    assert folded(came).item.text == "half"


def test_u06_usage_that_was_seen_is_kept_when_the_answer_fails(
    batches: Batches, serve: Serve, tiny: Make, ask: Ask
) -> None:
    answer = Answer.events({"used": 500}, {"text": "a"}, {"text": "b"}, "END")
    server = serve([answer.with_fault(Cut(after_events=2)), Answer.error(500)])

    seen = folded(batches(tiny(server), ask())).usage
    unseen = folded(batches(tiny(server), ask())).usage

    assert (seen.requests, seen.tokens.input) == (1, 500)
    assert (unseen.requests, unseen.reported_requests, unseen.tokens.input) == (1, 0, None)


def test_an_error_inside_the_stream_has_the_requests_id(
    batches: Batches, serve: Serve, tiny: Make, ask: Ask
) -> None:
    answer = Answer.events({"text": "a"}, {"error": "crashed"}).with_headers(request_id="req_2")

    failure = failed(batches(tiny(serve([answer])), ask()))

    assert (failure.kind, failure.request_id) == (FailureKind.SERVER, "req_2")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20)
@given(offsets=st.sets(st.integers(1, len(tiny_answer("a", "é", "ö").body) - 1), max_size=12))
def test_where_the_network_cuts_the_body_does_not_matter(
    batches: Batches, tiny: Make, ask: Ask, offsets: set[int]
) -> None:
    answer = tiny_answer("a", "é", "ö")
    with ReplayServer([answer.cut_at(*offsets)]) as server:
        assert folded(batches(tiny(server), ask())).item.text == "aéö"


# Limits on waiting.


@pytest.mark.parametrize(
    ("limit", "script"),
    [
        ("first_byte_s", tiny_answer("a").with_fault(Stall())),
        ("idle_s", tiny_answer("a", "b").with_fault(Stall(after_events=1))),
        ("idle_s", tiny_answer("a", "b").with_fault(Stall(after_events=0))),
        ("total_s", tiny_answer("a").with_fault(Stall())),
        ("total_s", tiny_answer("a", "b").with_fault(Stall(after_events=1))),
        ("no_content_s", tiny_answer("a", "b").with_fault(Stall(after_events=1))),
    ],
)
def test_x06_each_limit_ends_the_wait_and_says_its_name(
    limit: str, script: Answer, batches: Batches, serve: Serve, tiny: Make, ask: Ask
) -> None:
    began = time.monotonic()

    came = batches(tiny(serve([script])), ask(**{limit: 0.1}))

    assert failed(came).kind is FailureKind.TIMEOUT
    assert failed(came).retryable
    assert limit in failed(came).message
    assert "0.1 s" in failed(came).message
    assert 0.09 < time.monotonic() - began < 5.0


def test_x06_a_stream_that_falls_silent_keeps_what_it_said(
    batches: Batches, serve: Serve, tiny: Make, ask: Ask
) -> None:
    server = serve([tiny_answer("Hel", "lo").with_fault(Stall(after_events=1))])

    came = batches(tiny(server), ask(idle_s=0.1))

    assert folded(came).item.text == "Hel"
    assert folded(came).item.interrupted


def test_x06_pings_reset_the_idle_limit(
    batches: Batches, serve: Serve, tiny: Make, ask: Ask
) -> None:
    pings = Answer.from_body(b": ping\n\n" * 12 + tiny_answer("thought").body).with_pace(0.05)

    came = batches(tiny(serve([pings])), ask(idle_s=0.4))

    assert folded(came).item.text == "thought"


def test_x06_pings_do_not_count_as_content(
    batches: Batches, serve: Serve, tiny: Make, ask: Ask
) -> None:
    pings = Answer.from_body(b": ping\n\n" * 200 + tiny_answer("late").body).with_pace(0.02)
    began = time.monotonic()

    came = batches(tiny(serve([pings])), ask(no_content_s=0.15, idle_s=1.0))

    assert failed(came).kind is FailureKind.TIMEOUT
    assert "no_content_s" in failed(came).message
    assert time.monotonic() - began < 3.0, "the pings take four seconds"


def test_x06_content_starts_the_limit_on_content_anew(
    batches: Batches, serve: Serve, tiny: Make, ask: Ask
) -> None:
    words = tiny_answer(*"abcdefgh").with_pace(0.04)

    came = batches(tiny(serve([words])), ask(no_content_s=0.15))

    assert folded(came).item.text == "abcdefgh"


def test_x06_a_long_wait_for_the_first_byte_is_not_held_to_the_idle_limit(
    batches: Batches, tiny: Make, ask: Ask
) -> None:
    def think(_: object) -> Answer:
        time.sleep(0.3)
        return tiny_answer("thought")

    with ReplayServer(think) as server:
        came = batches(tiny(server), ask(idle_s=0.1, first_byte_s=5.0))

    assert folded(came).item.text == "thought"


def test_x06_a_connection_that_does_not_come_is_a_timeout(batches: Batches, ask: Ask) -> None:
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        waiting = [socket.socket() for _ in range(4)]
        for entry in waiting:  # fill the queue, so that no further connection is taken
            entry.setblocking(False)
            entry.connect_ex(full.getsockname())
        try:
            url = f"http://127.0.0.1:{full.getsockname()[1]}"
            row = Endpoint(name="tiny", base_url=url, key_required=False)
            model = HttpModel("m", endpoint=row, projection=TinyChat())

            failure = failed(batches(model, ask(connect_s=0.1)))
        finally:
            for entry in waiting:
                entry.close()

    assert failure.kind is FailureKind.TIMEOUT
    assert "connect_s" in failure.message
