"""VS16: however a key is given, nothing shows it, and it is neither lost nor swapped."""

from __future__ import annotations

import copy
import json
import logging
import pickle
import pprint
import traceback
from base64 import b64encode
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import httpx
import msgspec
import pytest
from msgspec.structs import replace

from agentkit_core import Item, ModelRequest, to_json
from agentkit_providers import (
    Endpoint,
    HttpModel,
    MissingBaseUrl,
    Secret,
    UnusableHeader,
    UnusableKey,
    connect,
)
from agentkit_providers.endpoints import Registry, default_registry
from agentkit_providers.replay import Answer, ReplayServer, openai_chat
from agentkit_providers.transport._environment import proxy_for
from support.vendor import Vendor

KEY = "Zq81LmNw47TgVx93bYcKd05RhJfPs62"
BASIC = b64encode(f"user:{KEY}".encode()).decode()
HOST = "http://vendor.example/v1"
WITH_USER = f"http://user:{KEY}@vendor.example/v1"
WITH_QUERY = f"{HOST}?api-version=1&key={KEY}"
REQUEST = ModelRequest(model="m", items=(Item.user("hi"),))


class Source:
    """A function that knows the key, and would show it."""

    def __call__(self) -> str:
        return KEY

    def __repr__(self) -> str:
        return f"Source({KEY})"


def endpoint(**more: Any) -> dict[str, Any]:
    row = Endpoint(name="mine", base_url=HOST, key_required=False)
    return {"name": "mine:m", "registry": Registry([replace(row, **more)])}


HEADERS = (
    *("x-api-key", "authorization", "api-key", "x-goog-api-key", "proxy-authorization"),
    *("cookie", "x-own", "X-Tenant"),
)
GIVEN: dict[str, dict[str, Any]] = {
    "string": {"api_key": KEY},
    "secret": {"api_key": Secret(KEY)},
    "function": {"api_key": Source()},
    "environment": {"name": "openai:m"},
    **{f"header {name}": {"headers": {name: KEY}} for name in HEADERS},
    "secret header": {"headers": {"x-own": Secret(KEY)}},
    "bearer": {"headers": {"authorization": f"Bearer {KEY}"}},
    "basic": {"headers": {"authorization": f"Basic {BASIC}"}},
    "cookies": {"headers": {"cookie": f"session={KEY}; theme=dark"}},
    "password in the URL": {"base_url": WITH_USER},
    "user in the URL": {"base_url": f"http://{KEY}@vendor.example/v1"},
    "query": {"base_url": WITH_QUERY},
    "bare query": {"base_url": f"{HOST}?{KEY}"},
    "endpoint header": endpoint(headers={"x-own": KEY}),
    "endpoint password": endpoint(base_url=WITH_USER),
    "endpoint query": endpoint(base_url=WITH_QUERY),
}


@pytest.fixture(autouse=True)
def in_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def made(way: str, vendor: Vendor | None = None, **more: Any) -> HttpModel:
    options = {"name": "compatible:m", **more, **GIVEN[way]}
    if options["name"] == "compatible:m":
        options.setdefault("base_url", HOST)
    if vendor is not None:
        options["client"] = vendor.blocking_client()
    return connect(options.pop("name"), **options)


def refusal(write: Callable[[], Any]) -> str:
    """What is written; where that is refused, all that the refusal says."""
    try:
        return str(write())
    except Exception as error:
        return "".join(traceback.format_exception(error)) + repr(error)


def within(value: Any, depth: int = 6) -> Iterator[str]:
    """The representations of an object and of all that its `__dict__` leads to."""
    yield repr(value)
    inner: Any = getattr(value, "__dict__", None)
    if isinstance(value, msgspec.Struct):
        inner = msgspec.structs.asdict(value)
    elif isinstance(value, dict | list | tuple):
        inner = dict(enumerate(value)) if not isinstance(value, dict) else value
    for child in inner.values() if inner and depth else ():
        if not isinstance(child, type) and not callable(child):
            yield from within(child, depth - 1)


SHOWN: dict[str, Callable[[HttpModel], Any]] = {
    "repr": repr,
    "str": str,
    "format": format,
    "vars": lambda model: repr(vars(model)),
    "nested vars": lambda model: list(within(model)),
    "pprint": lambda model: pprint.pformat([model, model.endpoint, vars(model)]),
    "attributes": lambda model: [
        getattr(model, name) for name in ("name", "provider", "base_url", "endpoint", "card")
    ],
    "endpoint": lambda model: repr(model.endpoint) + str(vars(type(model.endpoint))),
    "endpoint as a dict": lambda model: msgspec.structs.asdict(model.endpoint),
    "endpoint as builtins": lambda model: msgspec.to_builtins(model.endpoint),
    "endpoint as JSON": lambda model: msgspec.json.encode(model.endpoint),
    "endpoint as JSON, with a hook": lambda model: msgspec.json.encode(
        model.endpoint, enc_hook=str
    ),
    "JSON": lambda model: msgspec.json.encode(vars(model), enc_hook=vars),
    "json.dumps": lambda model: json.dumps(vars(model), default=vars),
    "json.dumps of texts": lambda model: json.dumps(vars(model), default=repr),
    "pickle of the endpoint": lambda model: pickle.dumps(model.endpoint),
    "copy": lambda model: list(within(copy.copy(model))),
    "deepcopy": lambda model: list(within(copy.deepcopy(model))),
    "changed endpoint": lambda model: repr(replace(model.endpoint, name="other")),
    "state": lambda model: repr(model.__getstate__()),
    "session": lambda model: list(within(model.open_blocking(None))),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("way", GIVEN)
def test_vs16_nothing_shows_a_key_however_it_is_given(way: str) -> None:
    client = Vendor([]).blocking_client(headers={"x-own": KEY})
    for seen in (made(way), made(way, client=client)):
        for shown, show in SHOWN.items():
            text = refusal(partial(show, seen))

            assert KEY not in text, shown
            assert BASIC not in text, shown


def sent(request: httpx.Request) -> str:
    """Where the key arrives."""
    where = [name for name, value in request.headers.items() if KEY in value or BASIC in value]
    query = request.url.raw_path.decode()
    basic = b64encode(f"{KEY}:".encode()).decode()
    if basic in request.headers.get("authorization", ""):
        where.append("authorization")
    return ",".join([*where, *(["query"] if KEY in query else [])])


PLACES = {
    **dict.fromkeys(("string", "secret", "function", "environment", "bearer", "basic"), ""),
    **{f"header {name}": name.lower() for name in HEADERS},
    "secret header": "x-own",
    "cookies": "cookie",
    **dict.fromkeys(("query", "bare query", "endpoint query"), "query"),
    "endpoint header": "x-own",
}


@pytest.mark.parametrize("way", GIVEN)
def test_vs16_a_key_is_sent_where_it_belongs_also_by_a_copy(way: str) -> None:
    vendor = Vendor([openai_chat.text("ok")])
    model = made(way, vendor)
    model.complete_blocking(REQUEST)

    for another in (copy.copy(model), copy.deepcopy(model), copy.deepcopy([model])[0]):
        assert another.complete_blocking(REQUEST).item.text == "ok"

    assert {sent(request) for request in vendor.requests} == {PLACES.get(way) or "authorization"}


@pytest.mark.parametrize("way", GIVEN)
def test_vs16_a_pickle_has_the_key_of_the_environment_or_is_refused(way: str) -> None:
    model = made(way)
    if way in ("environment", "function"):
        assert repr(pickle.loads(pickle.dumps(model))) == repr(model)
        return
    with pytest.raises(TypeError, match=r"cannot be pickled.*make what holds it again"):
        pickle.dumps(model)


def test_vs16_a_model_with_a_client_is_not_pickled_without_it() -> None:
    with pytest.raises(TypeError, match="HTTP client of its own"):
        pickle.dumps(made("environment", Vendor([])))


@pytest.mark.parametrize("way", [*GIVEN, "client"])
def test_vs16_no_failure_and_no_log_shows_a_key(way: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)

    def breaks(request: httpx.Request) -> Answer:
        said = f"{request.method} {request.url!r} {dict(request.headers)} {KEY} {BASIC}"
        raise httpx.ConnectError(said) from ValueError(said)

    def echoes(request: httpx.Request) -> Answer:
        headers = dict(request.headers)
        return Answer.json({"error": {"message": f"{headers}", "code": KEY, "u": KEY}}, status=400)

    in_stream = openai_chat.error_in_stream({"message": f"the key {KEY}", "code": BASIC})
    vendor = Vendor([echoes, Answer.error(500, f"<p>{KEY} {BASIC}"), in_stream, breaks])
    if way == "client":
        client = vendor.blocking_client(headers={"x-own": KEY}, auth=("user", KEY))
        model = connect("compatible:m", base_url=HOST, client=client)
    else:
        model = made(way, vendor)
    for _ in range(4):
        response = model.complete_blocking(REQUEST)
        assert response.failure is not None
        shown = f"{response!r} {response.failure.describe()} {to_json(response).decode()}"

        assert KEY not in shown
        if way in ("basic", "client", "password in the URL", "endpoint password"):
            assert BASIC not in shown

    assert KEY not in caplog.text
    assert "HTTP Request" in caplog.text, "the HTTP client's log was not looked at"


@pytest.mark.parametrize("way", GIVEN)
def test_vs16_the_locals_of_a_traceback_show_no_key(way: str) -> None:
    def breaks(request: httpx.Request) -> Answer:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError) as raised:
        made(way, Vendor([breaks])).complete_blocking(REQUEST)

    frames = traceback.TracebackException.from_exception(raised.value, capture_locals=True).stack
    ours = [frame for frame in frames if "agentkit_providers" in frame.filename]
    assert len(ours) > 3
    assert KEY not in "".join(str(frame.locals) for frame in ours)


def test_vs16_the_replay_servers_record_masks_keys() -> None:
    with ReplayServer([openai_chat.text("ok")]) as server:
        base_url = f"{server.url}?api-version=1&key={KEY}"
        headers = {name: KEY for name in HEADERS if name not in ("x-own", "X-Tenant")}
        connect("compatible:m", base_url=base_url, headers=headers).complete_blocking(REQUEST)

    assert KEY not in repr(server.requests)
    assert "api-version=1" in server.requests[0].path


def test_vs16_no_route_and_no_failure_shows_the_password_of_a_proxy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HTTP_PROXY", f"http://user:{KEY}@proxy.example:1")
    monkeypatch.setenv("http_proxy", f"http://user:{KEY}@proxy.example:1")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    vendor = Vendor([Answer.error(407, f"not {KEY}")])

    client = vendor.blocking_client()
    model = connect("compatible:m", base_url=HOST, client=client)
    failure = model.complete_blocking(REQUEST).failure

    assert KEY in str(tuple(proxy_for(HOST) or ()))
    assert KEY not in repr(proxy_for(HOST))
    assert KEY not in repr(failure)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"base_url": made("query").base_url}, MissingBaseUrl),
        ({"base_url": "http://***@vendor.example"}, MissingBaseUrl),
        ({"headers": {"x-own": str(Secret(KEY))}}, UnusableHeader),
        ({"headers": {"x-own": KEY.encode()}}, UnusableHeader),
        ({"base_url": WITH_USER, "api_key": "another-key"}, UnusableKey),
        ({"base_url": WITH_USER, "headers": {"Authorization": "another-key"}}, UnusableKey),
        ({"base_url": f"http://user:{KEY}@vendor.example:port"}, MissingBaseUrl),
        ({"base_url": f"http://user:{KEY}@[vendor"}, MissingBaseUrl),
        ({"base_url": f"http://user:{KEY}@"}, MissingBaseUrl),
        ({"headers": {"x-own": f"{KEY}\n{KEY}"}}, UnusableHeader),
    ],
)
def test_vs16_what_would_lose_or_swap_a_key_is_refused_and_not_shown(
    options: dict[str, Any], error: type[Exception]
) -> None:
    with pytest.raises(error) as refused:
        connect("compatible:m", **{"base_url": HOST, **options})

    assert KEY not in "".join(traceback.format_exception(refused.value))


def test_vs16_an_endpoint_that_was_printed_and_read_again_is_refused() -> None:
    row = Endpoint(name="mine", base_url=WITH_QUERY, headers={"x-own": KEY})
    read = msgspec.json.decode(msgspec.json.encode(row, enc_hook=str), type=dict[str, Any])
    read.pop("secret_url")

    with pytest.raises((MissingBaseUrl, UnusableHeader)):
        connect("mine:m", registry=Registry([msgspec.convert(read, Endpoint)]), api_key=KEY)
    assert replace(row, base_url=HOST).secret_url is None
    assert replace(row, name="other").secret_url == Secret(WITH_QUERY)
    assert row == Endpoint(name="mine", base_url=WITH_QUERY, headers={"x-own": Secret(KEY)})
    assert row != Endpoint(name="mine", base_url=WITH_QUERY, headers={"x-own": "another-key"})


def test_vs16_the_rows_of_vendors_are_written_and_read_as_json() -> None:
    for row in default_registry:
        assert msgspec.json.decode(msgspec.json.encode(row), type=Endpoint) == row


def test_vs16_a_key_beside_a_user_in_the_url_goes_into_a_header_of_its_own() -> None:
    vendor = Vendor([openai_chat.text("ok")])
    client = vendor.blocking_client()
    connect("azure:m", base_url=WITH_USER, api_key="k" * 12, client=client).complete_blocking(
        REQUEST
    )

    headers = vendor.requests[0].headers
    assert (headers["authorization"], headers["api-key"]) == (f"Basic {BASIC}", "k" * 12)
