import logging
import pickle
import subprocess
import sys
import traceback
from collections.abc import Callable
from contextlib import aclosing
from typing import TYPE_CHECKING

import httpx
import pytest

from agentkit_core import (
    FailureKind,
    FinishReason,
    Item,
    ModelOptions,
    ModelRequest,
    SessionId,
    Timeouts,
    ToolCall,
    UnsupportedContent,
)
from agentkit_core.provider import AppendText, ModelEvent, WireRequest
from agentkit_providers import (
    BadModelName,
    Endpoint,
    HttpModel,
    MissingBaseUrl,
    MissingKey,
    Secret,
    UnknownProvider,
    UnusableHeader,
    UnusableKey,
    connect,
)
from agentkit_providers.endpoints import Registry
from agentkit_providers.openai_chat import OpenAIChat
from agentkit_providers.replay import (
    Answer,
    Cut,
    ReplayServer,
    Script,
    Stall,
    mask_key,
    openai_chat,
)
from support.tiny_chat import TinyChat, tiny_answer

if TYPE_CHECKING:
    from agentkit_loop.ports import BlockingModel, Model

Serve = Callable[[Script], ReplayServer]
Make = Callable[..., HttpModel]
Ask = Callable[..., ModelRequest]
KEY = "sk-test-SECRET123"


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "OLLAMA_API_KEY"):
        monkeypatch.delenv(name, raising=False)


# Names and keys.


@pytest.mark.parametrize("name", ["", "openai", "openai:", ":gpt-5-mini", "gpt-5-mini"])
def test_a_name_without_provider_and_model_is_refused(name: str) -> None:
    with pytest.raises(BadModelName) as refused:
        connect(name)

    assert refused.value.name == name
    assert "<provider>:<model>" in str(refused.value)


def test_a_models_own_name_may_hold_colons_and_slashes() -> None:
    assert connect("ollama:llama3.2:3b").name == "llama3.2:3b"
    assert connect("openrouter:openai/gpt-5:free").name == "openai/gpt-5:free"


def test_an_unknown_provider_is_refused_at_once_and_the_known_ones_are_named() -> None:
    with pytest.raises(UnknownProvider) as unknown:
        connect("opnai:gpt-5-mini")

    assert "openai" in unknown.value.known
    assert "'opnai'" in str(unknown.value)


@pytest.mark.parametrize("url", [None, "", "localhost:8000", "ftp://x"])
def test_a_provider_without_an_address_needs_one(url: str | None) -> None:
    with pytest.raises(MissingBaseUrl, match="base_url"):
        connect("compatible:m", base_url=url)


def test_a_missing_key_is_an_error_at_the_first_request_and_not_before(ask: Ask) -> None:
    model = connect("google-openai:gemini", base_url="http://127.0.0.1:1")

    for send in (model.stream, model.stream_blocking, model.complete_blocking):
        with pytest.raises(MissingKey) as missing:
            send(ask())

        assert missing.value.variables == ("GEMINI_API_KEY", "GOOGLE_API_KEY")
        assert "GEMINI_API_KEY or GOOGLE_API_KEY" in str(missing.value)
        assert "\n" not in str(missing.value)


def test_an_endpoint_without_a_variable_says_how_to_do_without_a_key(ask: Ask) -> None:
    endpoint = Endpoint(name="own", base_url="http://127.0.0.1:1")

    with pytest.raises(MissingKey, match="pass api_key=…, or key_required=False to the Endpoint"):
        HttpModel("m", endpoint=endpoint, projection=OpenAIChat()).stream_blocking(ask())


def test_the_first_variable_that_is_not_empty_gives_the_key(
    serve: Serve, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve([openai_chat.text("hi")] * 2)
    model = connect("google-openai:gemini", base_url=server.url)
    monkeypatch.setenv("GEMINI_API_KEY", " ")
    monkeypatch.setenv("GOOGLE_API_KEY", "second-key")

    model.complete_blocking(ask())

    assert server.requests[0].headers["authorization"] == mask_key("Bearer second-key")


def test_a_key_that_is_given_goes_before_the_environments(
    serve: Serve, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve([openai_chat.text("hi")] * 2)
    monkeypatch.setenv("OPENAI_API_KEY", "from-the-environment")

    for key in (KEY, Secret(KEY)):
        connect("openai:m", base_url=server.url, api_key=key).complete_blocking(ask())

    sent = {request.headers["authorization"] for request in server.requests}
    assert sent == {mask_key(f"Bearer {KEY}")}


def test_a_key_that_expires_is_asked_for_at_every_request(serve: Serve, ask: Ask) -> None:
    server = serve([openai_chat.text("hi")] * 2)
    tokens = iter(["first-token", "second-token"])
    model = connect("openai:m", base_url=server.url, api_key=lambda: next(tokens))

    model.complete_blocking(ask())
    model.complete_blocking(ask())

    first, second = (request.headers["authorization"] for request in server.requests)
    assert (first, second) == (mask_key("Bearer first-token"), mask_key("Bearer second-token"))


def test_a_header_of_the_callers_own_may_take_the_keys_place(serve: Serve, ask: Ask) -> None:
    server = serve([openai_chat.text("hi")])
    model = connect("openai:m", base_url=server.url, headers={"Authorization": "Basic abc"})

    model.complete_blocking(ask())

    assert server.requests[0].headers["authorization"] == mask_key("Basic abc")


def test_a_vendor_may_take_the_key_in_a_header_of_its_own(serve: Serve, ask: Ask) -> None:
    server = serve([openai_chat.text("hi")])

    connect("azure:m", base_url=server.url, api_key=KEY).complete_blocking(ask())

    assert server.requests[0].headers["api-key"] == mask_key(KEY)
    assert "authorization" not in server.requests[0].headers


def test_a_server_that_needs_no_key_is_asked_without_one(serve: Serve, ask: Ask) -> None:
    server = serve([openai_chat.text("hi")])

    connect("ollama:m", base_url=server.url).complete_blocking(ask())

    assert "authorization" not in server.requests[0].headers


@pytest.mark.parametrize("key", ["sk-ü-SECRET123", "sk-\n-SECRET123", "“sk-SECRET123”"])
def test_z06_a_key_that_no_header_can_carry_is_refused_without_being_shown(
    key: str, ask: Ask
) -> None:
    model = connect("openai:m", base_url="http://127.0.0.1:1", api_key=key)

    with pytest.raises(UnusableKey) as refused:
        model.complete_blocking(ask())

    assert "SECRET123" not in "".join(traceback.format_exception(refused.value))


@pytest.mark.parametrize("value", ["Bearer sk-\0-SECRET123", "sk-\n-SECRET123", "sk-SECRET123-ü"])
def test_z06_a_header_that_cannot_be_sent_is_refused_without_being_shown(value: str) -> None:
    # The HTTP client would refuse it too, and write it into its log and its message.
    with pytest.raises(UnusableHeader) as refused:
        connect("openai:m", base_url="http://127.0.0.1:1", headers={"X-Own": value})

    assert refused.value.header == "X-Own"
    assert "SECRET123" not in str(refused.value)


def test_space_around_the_value_of_a_header_is_dropped(serve: Serve, ask: Ask) -> None:
    server = serve([openai_chat.text("hi")])
    model = connect("openai:m", base_url=server.url, headers={"authorization": f"Bearer {KEY}\n"})

    assert model.complete_blocking(ask()).item.text == "hi"
    assert server.requests[0].headers["authorization"] == mask_key(f"Bearer {KEY}")


def test_z06_an_invalid_base_url_is_shown_without_its_password() -> None:
    with pytest.raises(
        MissingBaseUrl, match=r"'host\.example/v1' is not a valid base URL"
    ) as missing:
        connect("compatible:m", base_url="user:SECRET123@host.example/v1")

    assert "SECRET123" not in str(missing.value)


# Secrets.


def everything_shown(model: HttpModel, request: ModelRequest) -> str:
    response = model.complete_blocking(request)
    assert response.failure is not None
    return " ".join(
        [
            repr(model),
            str(model),
            str(vars(model)),
            repr(model.endpoint),
            repr(response),
            response.failure.describe(),
            str(pickle.dumps(response)),
        ]
    )


@pytest.mark.parametrize(
    "answer",
    [
        Answer.error(401, {"error": {"message": f"no such key: {KEY}", "code": KEY}}),
        Answer.error(500, f"Authorization: Bearer {KEY}" + "x" * 9000),
        Answer.error(500, "x" * 8180 + KEY),
        openai_chat.error_in_stream({"message": f"your key {KEY} has expired", "code": 401}),
        Answer.from_body(f"<b>{KEY}</b>"),
        openai_chat.text("a").with_fault(Stall()),
        openai_chat.text("a").with_fault(Cut()),
    ],
    ids=["body", "text", "at the cut", "in the stream", "no protocol", "timeout", "cut"],
)
def test_z06_the_key_is_in_nothing_that_is_reported_stored_or_logged(
    answer: Answer, serve: Serve, ask: Ask, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    model = connect("openai:m", base_url=serve([answer]).url, api_key=KEY)

    shown = everything_shown(model, ask(first_byte_s=0.1))

    assert "SECRET" not in shown
    assert "SECRET" not in caplog.text
    assert caplog.records, "the HTTP client's log was not looked at"


@pytest.mark.parametrize("header", ["cf-aig-authorization", "X-Credential"])
def test_z06_credentials_in_a_header_of_the_callers_are_hidden_like_the_key(
    header: str, serve: Serve, ask: Ask
) -> None:
    server = serve([Answer.error(403, f"bad token {KEY}")])
    model = connect("compatible:m", base_url=server.url, headers={header: KEY})

    assert "SECRET123" not in repr(model.complete_blocking(ask()))


def test_vs16_a_models_copy_elsewhere_finds_its_key_in_the_environment(
    serve: Serve, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve([openai_chat.text("hi")] * 2)
    model = connect("openai:m", base_url=server.url, headers={"x-title": "kept"})
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    model.complete_blocking(ask())
    stored = pickle.dumps(model)
    monkeypatch.setenv("OPENAI_API_KEY", "another-key")

    assert "SECRET123" not in str(stored)
    assert pickle.loads(stored).complete_blocking(ask()).item.text == "hi"
    assert server.requests[1].headers["authorization"] == mask_key("Bearer another-key")
    assert server.requests[1].headers["x-title"] == "kept"


def test_a_placeholder_for_a_key_does_not_spoil_messages(serve: Serve, ask: Ask) -> None:
    server = serve([Answer.error(400, {"error": {"message": "exact words"}})])
    model = connect("vllm:m", base_url=server.url, api_key="x")

    failure = model.complete_blocking(ask()).failure

    assert failure is not None
    assert failure.message == "exact words"


# Asking.


async def test_text_streams_through_the_chat_protocol(serve: Serve, ask: Ask) -> None:
    server = serve([openai_chat.text("hello there", reasoning="hm", usage=(12, 3)).with_pace(0.01)])
    model = connect("compatible:m", base_url=server.url)
    batches: list[tuple[ModelEvent, ...]] = []

    async with aclosing(model.stream(ask())) as stream:
        async for events in stream:
            batches.append(events)

    words = [event.chunk for batch in batches for event in batch if isinstance(event, AppendText)]
    assert "".join(words).endswith("hello there")
    assert len(batches) > 3
    assert server.requests[0].json["stream"] is True
    assert server.requests[0].path == "/chat/completions"


@pytest.mark.parametrize("streamed", [True, False])
async def test_complete_gives_the_whole_response(streamed: bool, serve: Serve, ask: Ask) -> None:
    calls = openai_chat.tool_calls([("add", {"a": 1, "b": 2}), ("now", {})], said="Let me see.")
    server = serve([openai_chat.text("hello there", usage=(12, 3)), calls])
    model = connect("compatible:m", base_url=server.url)

    said = await model.complete(ask(streamed=streamed))
    called = await model.complete(ask(streamed=streamed))

    assert said.item.text == "hello there"
    assert said.item.finish_reason is FinishReason.COMPLETED
    assert (said.usage.tokens.prompt, said.usage.tokens.output) == (12, 3)
    assert said.item.provenance is not None
    assert said.item.provenance.provider == "compatible"
    assert called.item.finish_reason is FinishReason.TOOL_CALL
    assert [(call.name, call.input) for call in called.item.tool_calls] == [
        ("add", {"a": 1, "b": 2}),
        ("now", {}),
    ]
    assert all(isinstance(call, ToolCall) for call in called.item.tool_calls)


async def test_a_failure_is_returned_and_not_raised(serve: Serve, ask: Ask) -> None:
    model = connect("compatible:m", base_url=serve([Answer.error(529)]).url)

    response = await model.complete(ask())

    assert response.failure is not None
    assert response.failure.kind is FailureKind.OVERLOADED
    assert response.item.finish_reason is FinishReason.ERROR


def test_what_a_projection_cannot_express_is_raised_before_anything_is_sent(
    serve: Serve, ask: Ask
) -> None:
    class Refusing(TinyChat):
        def encode(self, request: ModelRequest, /) -> WireRequest:
            raise UnsupportedContent("a picture", target="tiny", advice="draw it")

    server = serve([])
    row = Endpoint(name="tiny", base_url=server.url, key_required=False)
    model = HttpModel("m", endpoint=row, projection=Refusing())

    with pytest.raises(UnsupportedContent):
        model.stream(ask())
    assert server.requests == []


def test_a_mistake_in_our_code_is_raised_and_not_reported_as_a_network_failure(
    serve: Serve, ask: Ask
) -> None:
    class Wrong(TinyChat):
        def decoder(self, request: ModelRequest, /) -> None:  # type: ignore[override]
            raise ZeroDivisionError

    row = Endpoint(name="tiny", base_url=serve([tiny_answer("a")]).url, key_required=False)
    model = HttpModel("m", endpoint=row, projection=Wrong())  # type: ignore[arg-type]

    with pytest.raises(ZeroDivisionError):
        model.complete_blocking(ask())


async def test_sessions_respond_and_close_any_number_of_times(serve: Serve, ask: Ask) -> None:
    model = connect("compatible:m", base_url=serve([openai_chat.text("hi")] * 2).url)
    session = model.open(SessionId("s"))
    blocking = model.open_blocking(SessionId("s"))

    came = [event async for events in session.respond(ask()) for event in events]
    also = [event for events in blocking.respond(ask()) for event in events]

    assert came == also
    await session.close()
    await session.close()
    blocking.close()
    blocking.close()


def test_a_session_gives_its_id_to_requests_that_have_none(serve: Serve) -> None:
    seen = []

    class Noting(TinyChat):
        def encode(self, request: ModelRequest, /) -> WireRequest:
            seen.append(request.session_id)
            return super().encode(request)

    server = serve([tiny_answer("a")] * 2)
    row = Endpoint(name="tiny", base_url=server.url, key_required=False)
    session = HttpModel("m", endpoint=row, projection=Noting()).open_blocking(SessionId("s"))

    list(session.respond(ModelRequest(model="m")))
    list(session.respond(ModelRequest(model="m", session_id=SessionId("other"))))

    assert seen == ["s", "other"]


async def test_a_client_of_the_callers_own_is_used_and_stays_open(
    serve: Serve, tiny: Make, ask: Ask
) -> None:
    server = serve([tiny_answer("a")])
    seen = []

    async def note(request: httpx.Request) -> None:
        seen.append(request.url.path)

    async with httpx.AsyncClient(
        event_hooks={"request": [note]}, trust_env=False, verify=False
    ) as client:
        await tiny(server, client=client).complete(ask())

        assert seen == ["/tiny"]
        assert not client.is_closed


@pytest.mark.parametrize("fault", [None, Cut(after_events=1), Stall(after_events=1)])
async def test_a_client_of_httpxs_successor_serves_as_well(
    fault: Cut | Stall | None, serve: Serve, tiny: Make, ask: Ask
) -> None:
    httpx2 = pytest.importorskip("httpx2")
    answer = tiny_answer("a", "b")
    server = serve([answer.with_fault(fault) if fault else answer] * 2)
    request = ask(idle_s=0.1)
    kinds = {Cut: FailureKind.STREAM_CUT, Stall: FailureKind.TIMEOUT, type(None): None}

    async with httpx2.AsyncClient(trust_env=False, verify=False) as client:
        response = await tiny(server, client=client).complete(request)
    with httpx2.Client(trust_env=False, verify=False) as blocking:
        again = tiny(server, client=blocking).complete_blocking(request)

    for entry in (response, again):
        assert (entry.failure.kind if entry.failure else None) is kinds[type(fault)]
        assert entry.item.text == ("a" if fault else "ab")


def test_a_base_url_of_ones_own_may_end_in_a_slash(serve: Serve, ask: Ask) -> None:
    server = serve([openai_chat.text("hi")])

    connect("compatible:m", base_url=f"{server.url}/v1/").complete_blocking(ask())

    assert server.requests[0].path == "/v1/chat/completions"


def test_endpoints_headers_go_with_every_request_and_the_callers_over_them(
    serve: Serve, ask: Ask
) -> None:
    server = serve([openai_chat.text("hi")])
    row = Endpoint(
        name="one",
        base_url=server.url,
        key_required=False,
        headers={"X-Title": "row", "X-Kept": "row", "X-Gone": "row"},
    )
    own = {"x-title": "caller", "X-GONE": None}

    connect("one:m", registry=Registry([row]), headers=own).complete_blocking(ask())

    sent = server.requests[0].headers
    assert (sent["x-title"], sent["x-kept"]) == ("caller", "row")
    assert "x-gone" not in sent


def test_the_ports_of_the_loop_are_fitted_without_knowing_it() -> None:
    """The type checker proves the fit; here it is shown that nothing of the loop was needed."""
    model = connect("ollama:m")

    def as_model(one: "Model") -> str:
        return one.name

    def as_blocking(one: "BlockingModel") -> str:
        return one.name

    assert as_model(model) == as_blocking(model) == "m"
    assert not {name for name in vars(sys.modules["agentkit_providers.model"]) if "loop" in name}


def test_asking_takes_an_items_list_and_options(serve: Serve) -> None:
    server = serve([openai_chat.text("hi")])
    model = connect("compatible:m", base_url=server.url)
    options = ModelOptions(max_output_tokens=7, timeouts=Timeouts(total_s=5.0))

    model.complete_blocking(
        ModelRequest(model=model.name, items=[Item.user("hi")], options=options)
    )

    assert server.requests[0].json["max_tokens"] == 7


def test_vp37_a_package_without_metadata_works(serve: Serve, ask: Ask) -> None:
    # A frozen program, a zip file or a vendored folder has no *.dist-info.
    pytest.importorskip(
        "agentkit_reporting", reason="asks through an agent; runs with all packages"
    )
    code = (
        "import importlib.metadata as metadata, sys\n"
        "def missing(name): raise metadata.PackageNotFoundError(name)\n"
        "metadata.version = metadata.distribution = missing\n"
        "from agentkit_core import Item, ModelRequest\n"
        "from agentkit_loop import Agent\n"
        "from agentkit_providers import connect\n"
        "import agentkit_tools_core, agentkit_reporting\n"
        "model = connect('compatible:m', base_url=sys.argv[1])\n"
        "print(Agent(model=model).run_blocking('hi').text)\n"
    )
    server = serve([openai_chat.text("works")])
    done = subprocess.run(
        [sys.executable, "-c", code, server.url], capture_output=True, text=True, check=False
    )

    assert (done.stdout, done.stderr) == ("works\n", "")
