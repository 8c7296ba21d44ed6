"""VP15: a key that a function gives may come late, slowly, wrong, expired, or not at all."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import anyio
import httpx
import pytest

from agentkit_core import FailureKind, Item, ModelOptions, ModelRequest, ModelResponse, Timeouts
from agentkit_providers import (
    HttpModel,
    MissingBaseUrl,
    Secret,
    UnusableHeader,
    UnusableKey,
    connect,
)
from agentkit_providers.replay import Answer, openai_chat
from providers.wire_protocols import PROTOCOLS
from support.vendor import Vendor

KEY = "token-0123456789"
NEXT = "token-9876543210"
URL = "http://vendor.example/v1"
OK = openai_chat.text("ok")
REQUEST = ModelRequest(model="m", items=(Item.user("hi"),))


def plain() -> str:
    return KEY


async def later() -> str:
    await anyio.sleep(0)
    return KEY


class Plain:
    def __call__(self) -> Secret:
        return Secret(KEY)


class Later:
    async def __call__(self) -> str:
        return await later()

    async def token(self) -> str:
        return await later()


PLAIN: dict[str, Callable[[], Any]] = {
    "function": plain,
    "lambda": lambda: KEY,
    "object": Plain(),
    "class": type("Key", (str,), {"__new__": lambda cls: str.__new__(cls, KEY)}),
    "partial": partial(str, KEY),
    "runs a loop": lambda: anyio.run(later),
    "line end": lambda: f" {KEY}\n",
}
ASYNC: dict[str, Callable[[], Any]] = {
    "async function": later,
    "async object": Later(),
    "async method": Later().token,
    "async partial": partial(partial(later)),
    "returns a coroutine": lambda: later(),
}


def asked(vendor: Vendor, key: Any, name: str = "azure:m", **more: Any) -> HttpModel:
    return connect(name, base_url=URL, api_key=key, client=vendor.client(), **more)


def asked_blocking(vendor: Vendor, key: Any, name: str = "azure:m", **more: Any) -> HttpModel:
    return connect(name, base_url=URL, api_key=key, client=vendor.blocking_client(), **more)


async def answer(vendor: Vendor, key: Any, world: str, request: ModelRequest = REQUEST) -> Any:
    """The response on the event loop, or without one."""
    if world == "blocking":
        return asked_blocking(vendor, key).complete_blocking(request)
    return await asked(vendor, key).complete(request)


WORLDS = pytest.mark.parametrize("world", ["loop", "blocking"])


@pytest.mark.parametrize("form", [*PLAIN, *ASYNC])
async def test_vp15_a_function_of_any_form_gives_the_key(form: str) -> None:
    function = {**PLAIN, **ASYNC}[form]
    for protocol in PROTOCOLS.values():
        vendor = Vendor([protocol.answers.text("ok")])
        model = asked(vendor, function, f"{protocol.provider}:m")

        assert (await model.complete(REQUEST)).item.text == "ok"
        assert [name for name, value in vendor.requests[0].headers.items() if KEY in value] == [
            model.endpoint.auth_header.lower()
        ]


@pytest.mark.parametrize("form", PLAIN)
def test_vp15_a_plain_function_works_without_an_event_loop(form: str) -> None:
    vendor = Vendor([OK])
    model = asked_blocking(vendor, PLAIN[form])

    assert model.complete_blocking(REQUEST).item.text == "ok"
    assert vendor.requests[0].headers["api-key"] == KEY


@pytest.mark.parametrize("form", ASYNC)
def test_vp15_an_async_function_is_refused_without_an_event_loop(form: str) -> None:
    vendor = Vendor([OK])
    model = asked_blocking(vendor, ASYNC[form])

    with pytest.raises(UnusableKey, match="asynchronous"):
        model.complete_blocking(REQUEST)
    with pytest.raises(UnusableKey, match="asynchronous"):
        next(model.stream_blocking(REQUEST))
    gc.collect()  # a coroutine that nobody awaited would be told of here
    assert vendor.requests == []


async def test_vp15_the_loop_goes_on_while_a_plain_function_waits() -> None:
    loop_went_on = threading.Event()

    def slow() -> str:
        assert loop_went_on.wait(20), "the event loop stands still"
        assert threading.current_thread().daemon, "the process would wait for it"
        return KEY

    async def go_on() -> None:
        loop_went_on.set()

    vendor = Vendor([OK])
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(asked(vendor, slow).complete, REQUEST)
        tasks.start_soon(go_on)

    assert vendor.requests[0].headers["api-key"] == KEY


WRONG: dict[str, tuple[Any, str]] = {
    "nothing": (None, "gave None"),
    "bytes": (KEY.encode(), "type bytes; decode it"),
    "empty": ("", "gave an empty string"),
    "blank": (" \n", "gave a blank string"),
    "a line end within": (f"{KEY}\n{KEY}", "characters that an HTTP header cannot hold"),
    "letters of other alphabets": (f"{KEY}é", "characters that an HTTP header cannot hold"),
    "a mask": (str(Secret(KEY)), "mask of a secret"),
    "an empty secret": (Secret(""), "gave an empty string"),
    "an object": ({"token": KEY}, "type dict; return the key"),
    "a number": (12345678, "type int"),
}


@WORLDS
@pytest.mark.parametrize("wrong", WRONG)
async def test_vp15_what_a_function_gives_is_checked(wrong: str, world: str) -> None:
    given, said = WRONG[wrong]
    vendor = Vendor([OK])

    with pytest.raises(UnusableKey, match=said) as refused:
        await answer(vendor, lambda: given, world)

    assert KEY not in str(refused.value)
    assert vendor.requests == []


async def test_vp15_what_an_async_function_gives_is_checked_too() -> None:
    async def nothing() -> None:
        return None

    async def coroutine() -> Any:
        return later()

    for function, said in ((nothing, "None"), (coroutine, "type coroutine")):
        with pytest.raises(UnusableKey, match=said):
            await asked(Vendor([OK]), function).complete(REQUEST)
    gc.collect()


ERRORS: dict[str, tuple[Exception, bool]] = {
    "RuntimeError": (RuntimeError(f"no token like {KEY}"), False),
    "StopIteration": (StopIteration(), False),
    "StopAsyncIteration": (StopAsyncIteration(), False),
    "FileNotFoundError": (FileNotFoundError("token.txt"), False),
    "UnusableKey": (UnusableKey("other"), False),
    "ConnectionRefusedError": (ConnectionRefusedError("refused"), True),
    "TimeoutError": (TimeoutError(), True),
    "ConnectError": (httpx.ConnectError("no route"), True),
}


@WORLDS
@pytest.mark.parametrize("name", ERRORS)
async def test_vp15_what_a_function_raises_is_a_failure_and_nothing_is_sent(
    name: str, world: str
) -> None:
    error, retryable = ERRORS[name]

    def failing() -> str:
        raise error

    vendor = Vendor([OK])
    failure = (await answer(vendor, failing, world)).failure

    assert (failure.kind, failure.retryable) == (FailureKind.AUTH, retryable)
    assert f"the function in api_key= for 'azure' raised {name}" in failure.message
    assert KEY not in repr(failure)
    assert vendor.requests == []


async def test_vp15_the_cause_of_an_exception_is_told() -> None:
    async def failing() -> str:
        raise RuntimeError("no token") from OSError("no network")

    failure = (await asked(Vendor([OK]), failing).complete(REQUEST)).failure

    assert failure is not None
    assert failure.message.endswith("RuntimeError: no token (caused by OSError: no network)")


async def cancelled_elsewhere() -> str:
    work = asyncio.ensure_future(asyncio.sleep(0))
    work.cancel()
    await work
    return KEY


@pytest.mark.parametrize(
    "function", [cancelled_elsewhere, lambda: asyncio.run(cancelled_elsewhere())]
)
def test_vp15_what_was_cancelled_elsewhere_does_not_look_like_a_cancelled_request(
    function: Any,
) -> None:
    async def ask() -> ModelResponse:
        return await asked(Vendor([OK]), function).complete(REQUEST)

    failure = asyncio.run(ask()).failure

    assert failure is not None
    assert "raised CancelledError" in failure.message


def refusal(status: int, /, **error: Any) -> Answer:
    return Answer.json({"error": error}, status=status)


REFUSED = {
    "openai": refusal(401, message="Incorrect API key provided", code="invalid_api_key"),
    "anthropic": Answer.json(
        {"type": "error", "error": {"type": "authentication_error", "message": "has expired"}},
        status=401,
    ),
    "azure": refusal(401, code="401", message="Access token is missing, invalid, or have expired."),
    "google": refusal(
        400,
        code=400,
        status="INVALID_ARGUMENT",
        message="API key expired. Please renew the API key.",
        details=[{"reason": "API_KEY_INVALID"}],
    ),
    "google token": refusal(
        401, status="UNAUTHENTICATED", details=[{"reason": "ACCESS_TOKEN_EXPIRED"}]
    ),
    "amazon": Answer.json({"__type": "ExpiredTokenException", "message": "expired"}, status=403),
    "in the stream": openai_chat.error_in_stream({"message": "expired", "code": "token_expired"}),
    "empty body": Answer.error(401),
}
KEPT = {
    "forbidden": refusal(403, type="permission_error", message="not for this model"),
    "proxy": Answer.error(407),
    "rate limit": Answer.error(429),
    "server": Answer.error(500),
    "invalid": refusal(400, message="messages: must not be empty"),
}


@WORLDS
@pytest.mark.parametrize("vendor_name", REFUSED)
async def test_vp15_a_token_that_is_refused_is_fetched_anew_and_the_request_sent_again(
    vendor_name: str, world: str
) -> None:
    tokens = [KEY, NEXT]
    vendor = Vendor([REFUSED[vendor_name], OK])

    response: ModelResponse = await answer(vendor, lambda: tokens.pop(0), world)

    assert response.failure is None
    assert response.item.text == "ok"
    assert [request.headers["api-key"] for request in vendor.requests] == [KEY, NEXT]
    assert vendor.requests[0].content == vendor.requests[1].content


@WORLDS
@pytest.mark.parametrize("api", PROTOCOLS)
async def test_vp15_each_protocol_fetches_anew_and_ends_after_the_second_refusal(
    api: str, world: str
) -> None:
    protocol, calls = PROTOCOLS[api], []
    vendor = Vendor([Answer.error(401)])

    def function() -> str:
        calls.append(1)
        return KEY

    name = f"{protocol.provider}:m"
    if world == "blocking":
        failure = asked_blocking(vendor, function, name).complete_blocking(REQUEST).failure
    else:
        failure = (await asked(vendor, function, name).complete(REQUEST)).failure

    assert failure is not None
    assert (failure.kind, failure.status) == (FailureKind.AUTH, 401)
    assert (len(calls), len(vendor.requests)) == (2, 2)


@WORLDS
@pytest.mark.parametrize("kept", KEPT)
async def test_vp15_other_failures_fetch_nothing_anew(kept: str, world: str) -> None:
    vendor = Vendor([KEPT[kept]])

    assert (await answer(vendor, plain, world)).failure is not None
    assert len(vendor.requests) == 1


@WORLDS
@pytest.mark.parametrize("key", [KEY, Secret(KEY)])
async def test_vp15_a_key_that_is_known_is_not_tried_again(key: Any, world: str) -> None:
    vendor = Vendor([REFUSED["openai"], OK])

    assert (await answer(vendor, key, world)).failure.kind is FailureKind.AUTH
    assert len(vendor.requests) == 1


@WORLDS
async def test_vp15_a_fetch_that_fails_after_a_refusal_tells_of_both(world: str) -> None:
    tokens = iter([KEY])
    vendor = Vendor([REFUSED["openai"], OK])

    failure = (await answer(vendor, lambda: next(tokens), world)).failure

    assert (failure.kind, failure.status) == (FailureKind.AUTH, 401)
    assert "raised StopIteration" in failure.message
    assert "Incorrect API key provided" in failure.message
    assert len(vendor.requests) == 1


async def test_vp15_requests_at_the_same_time_fetch_their_keys_themselves() -> None:
    calls = []

    async def count() -> str:
        calls.append(1)
        await anyio.sleep(0)
        return f"{KEY}-{len(calls)}"

    vendor = Vendor([OK])
    model = asked(vendor, count)
    async with anyio.create_task_group() as tasks:
        for _ in range(5):
            tasks.start_soon(model.complete, REQUEST)

    assert len(calls) == len(vendor.requests) == 5


async def test_vp15_a_cancelled_fetch_leaves_nothing_behind() -> None:
    began, ended = anyio.Event(), []

    async def endless() -> str:
        try:
            began.set()
            await anyio.sleep_forever()
        finally:
            ended.append(True)
        return KEY

    vendor = Vendor([OK])
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(asked(vendor, endless).complete, REQUEST)
        await began.wait()
        tasks.cancel_scope.cancel()

    assert ended == [True]
    assert vendor.requests == []


async def test_vp15_cancelling_does_not_wait_for_a_thread_and_closes_what_it_gives() -> None:
    began, may_end, ended = threading.Event(), threading.Event(), threading.Event()
    given: list[Any] = []

    def slow() -> Any:
        began.set()
        may_end.wait(20)
        given.append(later())
        return given[0]

    def wait_for_close() -> None:
        while not (given and given[0].cr_frame is None):
            ended.wait(0.001)

    vendor = Vendor([OK])
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(asked(vendor, slow).complete, REQUEST)
        await anyio.to_thread.run_sync(began.wait)
        tasks.cancel_scope.cancel()
    may_end.set()
    await anyio.to_thread.run_sync(wait_for_close)

    gc.collect()
    assert vendor.requests == []


@pytest.mark.parametrize("limit", ["first_byte_s", "total_s"])
async def test_vp15_a_key_that_does_not_come_is_a_timeout(limit: str) -> None:
    async def never() -> str:
        await anyio.sleep_forever()
        return KEY

    vendor = Vendor([OK])
    timeouts = Timeouts(**{limit: 0.01})
    request = ModelRequest(model="m", items=REQUEST.items, options=ModelOptions(timeouts=timeouts))
    failure = (await asked(vendor, never).complete(request)).failure

    assert failure is not None
    assert failure.kind is FailureKind.TIMEOUT
    assert f"no key from the function in api_key= within 0.01 s (timeouts.{limit})" in (
        failure.message
    )
    assert vendor.requests == []


def test_vp15_without_a_loop_the_time_of_the_function_counts_too() -> None:
    vendor = Vendor([OK])
    options = ModelOptions(timeouts=Timeouts(total_s=0.001))
    request = ModelRequest(model="m", items=REQUEST.items, options=options)

    def slow() -> str:
        threading.Event().wait(0.002)
        return KEY

    failure = asked_blocking(vendor, slow).complete_blocking(request).failure

    assert failure is not None
    assert failure.kind is FailureKind.TIMEOUT
    assert vendor.requests == []


@pytest.mark.parametrize(
    ("key", "said"),
    [
        (KEY.encode(), "decode it"),
        (12345678, "type int"),
        ([KEY], "type list"),
        (lambda scope: KEY, "without arguments"),
        ("***", "mask of a secret"),
    ],
)
def test_vp15_what_gives_no_key_is_refused_and_not_shown(key: Any, said: str) -> None:
    vendor = Vendor([OK])

    with pytest.raises(UnusableKey, match=said) as refused:
        asked_blocking(vendor, key).complete_blocking(REQUEST)

    assert KEY not in str(refused.value)
    assert vendor.requests == []


def test_vp15_a_coroutine_in_place_of_its_function_is_refused() -> None:
    with pytest.raises(UnusableKey, match="without calling it"):
        connect("azure:m", base_url=URL, api_key=later())  # type: ignore[arg-type]
    gc.collect()


def test_vp15_a_function_whose_header_the_caller_sets_is_not_called() -> None:
    vendor = Vendor([REFUSED["openai"], OK])

    def function() -> str:
        raise AssertionError("called")

    model = asked_blocking(vendor, function, headers={"API-Key": "other-key-1"})

    assert model.complete_blocking(REQUEST).failure is not None
    assert [request.headers["api-key"] for request in vendor.requests] == ["other-key-1"]


# Other places where a function of the caller's may stand.


def test_vp15_functions_in_other_places_are_refused_where_they_are_given() -> None:
    with pytest.raises(UnusableHeader, match="api_key="):
        connect("azure:m", base_url=URL, headers={"x-own": plain})  # type: ignore[dict-item]
    with pytest.raises(TypeError, match="headers= takes a mapping"):
        connect("azure:m", base_url=URL, headers=plain)  # type: ignore[arg-type]
    with pytest.raises(MissingBaseUrl, match="type function"):
        connect("azure:m", base_url=plain)  # type: ignore[arg-type]
