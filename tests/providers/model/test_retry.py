"""Asking again: as often as the policy says, visibly, and never after something was shown."""

import gc
import time
from collections.abc import Callable
from contextlib import aclosing

import anyio
import pytest
from msgspec.structs import replace

from agentkit_core import FailureKind, ModelRequest, ModelResponse, RetryPolicy
from agentkit_core.provider import AppendText, ModelEvent, fold_response
from agentkit_providers import AttemptFailed, HttpModel, MissingKey, OnRetry, connect
from agentkit_providers.replay import Answer, Cut, ReplayServer, Script, openai_chat
from support.tiny_chat import tiny_answer, unended_answer

Serve = Callable[[Script], ReplayServer]
Make = Callable[..., HttpModel]
Ask = Callable[..., ModelRequest]
Run = Callable[..., ModelResponse]

QUICK = RetryPolicy(first_wait_s=0.0)
LIMITED = Answer.error(429, {"error": {"message": "slow down"}})


@pytest.fixture(params=["complete", "complete_blocking", "stream", "stream_blocking"])
def run(request: pytest.FixtureRequest) -> Run:
    """Asks a model for a whole answer, in each way in which one can ask."""

    def ask(
        model: HttpModel,
        asked: ModelRequest,
        retry: RetryPolicy | None = None,
        on_retry: OnRetry | None = None,
    ) -> ModelResponse:
        async def complete() -> ModelResponse:
            return await model.complete(asked, retry=retry, on_retry=on_retry)

        async def stream() -> ModelResponse:
            async with aclosing(model.stream(asked, retry=retry, on_retry=on_retry)) as batches:
                return fold_response([event async for events in batches for event in events])

        if request.param == "complete":
            return anyio.run(complete)
        if request.param == "stream":
            return anyio.run(stream)
        if request.param == "complete_blocking":
            return model.complete_blocking(asked, retry=retry, on_retry=on_retry)
        batched = model.stream_blocking(asked, retry=retry, on_retry=on_retry)
        return fold_response(event for events in batched for event in events)

    return ask


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What was waited, in seconds; nobody really waits."""
    waited: list[float] = []
    sleep, sleep_blocking = anyio.sleep, time.sleep

    async def note(seconds: float) -> None:
        waited.append(seconds)
        await sleep(0)

    def note_blocking(seconds: float) -> None:
        waited.append(seconds)
        sleep_blocking(0)

    monkeypatch.setattr("anyio.sleep", note)
    monkeypatch.setattr("time.sleep", note_blocking)
    return waited


def test_without_a_policy_a_model_is_asked_once(
    run: Run, serve: Serve, tiny: Make, ask: Ask
) -> None:
    server = serve([LIMITED, tiny_answer("a")])

    response = run(tiny(server), ask())

    assert response.failure is not None
    assert len(server.requests) == 1


def test_a_temporary_failure_is_retried_and_reported(
    run: Run, serve: Serve, tiny: Make, ask: Ask
) -> None:
    server = serve([LIMITED, Answer.error(503), tiny_answer("hello")])
    told: list[AttemptFailed] = []

    response = run(tiny(server), ask(), QUICK, told.append)

    assert response.failure is None
    assert response.item.text == "hello"
    assert [(entry.attempt, entry.failure.kind) for entry in told] == [
        (1, FailureKind.RATE_LIMIT),
        (2, FailureKind.OVERLOADED),
    ]
    assert [entry.wait_s for entry in told] == [0.0, 0.0]


def test_the_last_failure_is_the_answer_when_no_attempt_is_left(
    run: Run, serve: Serve, tiny: Make, ask: Ask
) -> None:
    server = serve([LIMITED] * 4)
    told: list[AttemptFailed] = []

    response = run(tiny(server), ask(), QUICK, told.append)

    assert response.failure is not None
    assert response.failure.kind is FailureKind.RATE_LIMIT
    assert len(server.requests) == 3
    assert [entry.attempt for entry in told] == [1, 2]


def test_a_failure_that_a_retry_cannot_fix_is_not_retried(
    run: Run, serve: Serve, tiny: Make, ask: Ask
) -> None:
    server = serve([Answer.error(400), tiny_answer("a")])

    assert run(tiny(server), ask(), QUICK).failure is not None
    assert len(server.requests) == 1


def test_x01_a_wait_that_the_provider_asks_for_is_waited(
    run: Run, serve: Serve, tiny: Make, ask: Ask, waits: list[float]
) -> None:
    server = serve([Answer.error(429, retry_after=2), tiny_answer("a")])

    response = run(tiny(server), ask(), RetryPolicy())

    assert response.failure is None
    assert [wait for wait in waits if wait] == [2.0]


def test_x01_a_wait_beyond_the_limit_fails_at_once_and_is_reported(
    run: Run, serve: Serve, tiny: Make, ask: Ask, waits: list[float]
) -> None:
    server = serve([Answer.error(429, retry_after=3600), tiny_answer("a")])

    failure = run(tiny(server), ask(), RetryPolicy()).failure

    assert failure is not None
    assert failure.retry_after_s == 3600.0
    assert "3600 s" in failure.describe()
    assert not any(waits)
    assert len(server.requests) == 1


def test_what_the_provider_says_of_a_retry_goes_before_the_status(
    run: Run, serve: Serve, tiny: Make, ask: Ask
) -> None:
    wanted = serve(
        [replace(Answer.error(400), headers={"x-should-retry": "true"}), tiny_answer("a")]
    )
    unwanted = serve(
        [replace(Answer.error(503), headers={"x-should-retry": "false"}), tiny_answer("a")]
    )

    assert run(tiny(wanted), ask(), QUICK).failure is None
    assert run(tiny(unwanted), ask(), QUICK).failure is not None


@pytest.mark.parametrize("blocking", [False, True])
async def test_a_stream_that_has_shown_text_is_not_begun_again(
    blocking: bool, serve: Serve, tiny: Make, ask: Ask
) -> None:
    server = serve([unended_answer("half"), tiny_answer("whole")])
    model, events = tiny(server), list[ModelEvent]()

    if blocking:
        for batch in model.stream_blocking(ask(), retry=QUICK):
            events += batch
    else:
        async for batch in model.stream(ask(), retry=QUICK):
            events += batch

    response = fold_response(events)
    assert response.item.text == "half"
    assert response.failure is not None
    assert response.failure.kind is FailureKind.STREAM_CUT
    assert len(server.requests) == 1


@pytest.mark.parametrize("blocking", [False, True])
async def test_a_whole_answer_is_asked_for_again_also_when_it_broke_off(
    blocking: bool, serve: Serve, ask: Ask
) -> None:
    broken = openai_chat.text("half", usage=(5, 1)).with_fault(Cut())
    server = serve([broken, openai_chat.text("whole", usage=(7, 2))])
    model, told = connect("compatible:m", base_url=server.url), list[AttemptFailed]()

    if blocking:
        response = model.complete_blocking(ask(), retry=QUICK, on_retry=told.append)
    else:
        response = await model.complete(ask(), retry=QUICK, on_retry=told.append)

    assert response.item.text == "whole"
    assert response.usage.tokens.prompt == 7
    assert [entry.failure.kind for entry in told] == [FailureKind.CONNECTION]
    assert told[0].usage.requests == 1


async def test_one_attempts_events_are_never_joined_to_anothers(serve: Serve, ask: Ask) -> None:
    overloaded = Answer.events({"error": {"message": "overloaded", "code": 529}})
    server = serve([overloaded, openai_chat.text("hello there")])
    model = connect("compatible:m", base_url=server.url)

    batches = [batch async for batch in model.stream(ask(), retry=QUICK)]

    events = [event for batch in batches for event in batch]
    assert all(batches)
    assert fold_response(events, strict=True).item.text == "hello there"
    assert len(server.requests) == 2


async def test_what_comes_before_the_first_content_is_not_lost(serve: Serve, ask: Ask) -> None:
    answer = Answer.events(
        {"id": "a", "choices": [{"index": 0, "delta": {"role": "assistant"}}]},
        {"choices": [{"index": 0, "delta": {"content": "hi"}, "finish_reason": "stop"}]},
        "[DONE]",
    ).with_pace(0.05)
    model = connect("compatible:m", base_url=serve([answer] * 2).url)

    plain = [event async for batch in model.stream(ask()) for event in batch]
    held = [event async for batch in model.stream(ask(), retry=QUICK) for event in batch]

    assert held == plain


async def test_text_streams_as_it_comes_also_with_a_policy(serve: Serve, ask: Ask) -> None:
    server = serve([openai_chat.text("hello there you").with_pace(0.01)])
    model = connect("compatible:m", base_url=server.url)

    batches = [batch async for batch in model.stream(ask(), retry=QUICK)]

    with_text = [
        batche for batche in batches if any(isinstance(event, AppendText) for event in batche)
    ]
    assert len(with_text) > 1


@pytest.mark.parametrize("streaming", [False, True])
async def test_a_wait_is_ended_by_cancelling(
    streaming: bool, serve: Serve, tiny: Make, ask: Ask
) -> None:
    server = serve([Answer.error(429, retry_after=30), tiny_answer("a")])
    model = tiny(server)

    async def cancel_the_wait(scope: anyio.CancelScope) -> None:
        while not server.requests:
            await anyio.sleep(0.005)
        await anyio.sleep(0.1)
        scope.cancel()

    async with anyio.create_task_group() as group:
        with anyio.CancelScope() as scope:
            group.start_soon(cancel_the_wait, scope)
            if streaming:
                async with aclosing(model.stream(ask(), retry=RetryPolicy())) as batches:
                    async for _ in batches:
                        pass
            else:
                await model.complete(ask(), retry=RetryPolicy())

    assert scope.cancelled_caught
    assert len(server.requests) == 1


def test_a_callers_mistake_is_raised_at_once_and_not_tried_again(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    model = connect("openai:m", base_url="http://127.0.0.1:1")

    with pytest.raises(MissingKey):
        model.stream(ask(), retry=QUICK)
    with pytest.raises(MissingKey):
        model.stream_blocking(ask(), retry=QUICK)
    with pytest.raises(MissingKey):
        model.complete_blocking(ask(), retry=QUICK)


def test_an_exception_of_on_retry_ends_the_attempts(
    run: Run, serve: Serve, tiny: Make, ask: Ask
) -> None:
    server = serve([LIMITED, tiny_answer("a")])

    def refuse(failed: AttemptFailed) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run(tiny(server), ask(), QUICK, refuse)
    assert len(server.requests) == 1


def test_vp15_an_async_on_retry_is_refused_before_anything_is_sent(
    run: Run, serve: Serve, tiny: Make, ask: Ask
) -> None:
    async def on_retry(failed: AttemptFailed) -> None:
        raise AssertionError("awaited")

    server = serve([LIMITED, tiny_answer("a")])

    with pytest.raises(TypeError, match="on_retry is asynchronous"):
        run(tiny(server), ask(), QUICK, on_retry)
    assert server.requests == []

    with pytest.raises(TypeError, match="on_retry is asynchronous"):
        run(tiny(server), ask(), QUICK, lambda failed: on_retry(failed))
    gc.collect()  # a coroutine that nobody awaited would be told of here
