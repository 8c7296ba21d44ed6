"""What the package offers for tests of others keeps its word."""

import pytest

from agentkit_core import (
    FailureKind,
    FinishReason,
    Media,
    Modality,
    ModelRequest,
    Reasoning,
    SessionId,
    Text,
    ToolCallId,
    Uri,
)
from agentkit_core.provider import fold_response
from agentkit_loop.testing import ManualClock, Reply, ScriptedModel, call, fail, say, walk

REQUEST = ModelRequest(model="m")


def test_a_reply_folds_to_the_parts_that_it_was_made_of() -> None:
    parts = (
        Reasoning(summary="let me think"),
        Text(text="two words"),
        Media(modality=Modality.IMAGE, mime_type="image/png", data=Uri("https://x.test/a.png")),
        call("read", {"path": "a", "lines": [1, 2]}),
    )
    reply = Reply.of(*parts, piece=3)
    response = fold_response([event for batch in reply.batches for event in batch], strict=True)

    assert response.item.parts == parts
    assert response.item.finish_reason is FinishReason.TOOL_CALL
    assert response.failure is None


def test_a_failure_comes_after_its_parts() -> None:
    reply = Reply.of("Hel", failure=fail(FailureKind.STREAM_CUT))
    response = fold_response([event for batch in reply.batches for event in batch])

    assert response.item.text == "Hel"
    assert response.failure is not None
    assert response.failure.kind is FailureKind.STREAM_CUT


async def test_both_forms_of_a_scripted_model_give_the_same_answers_and_note_the_requests() -> None:
    async def awaited(model: ScriptedModel) -> list[object]:
        return [batch async for batch in model.open(SessionId("s")).respond(REQUEST)]

    one, other = ScriptedModel(say("hi")), ScriptedModel(say("hi"))

    assert await awaited(one) == list(other.open_blocking(SessionId("s")).respond(REQUEST))
    assert one.requests == other.requests == [REQUEST]
    assert one.open_responses == other.open_responses == 0


def test_a_request_beyond_the_script_fails_and_says_so() -> None:
    model = ScriptedModel()
    events = [
        event for batch in model.open_blocking(SessionId("s")).respond(REQUEST) for event in batch
    ]

    failure = fold_response(events).failure
    assert failure is not None
    assert "0 answers" in failure.message
    assert not failure.retryable


def test_an_answer_can_be_made_of_the_request() -> None:
    model = ScriptedModel(lambda request: call("read", call_id=f"for-{request.model}"))
    (made,) = fold_response(
        event for batch in model.answer(REQUEST).batches for event in batch
    ).item.tool_calls

    assert made.id == ToolCallId("for-m")


def test_an_answer_that_hangs_does_not_block_a_thread_for_ever() -> None:
    responding = ScriptedModel(Reply.of("x", hangs=True)).open_blocking(SessionId("s"))

    with pytest.raises(RuntimeError, match="needs an event loop"):
        list(responding.respond(REQUEST))


def test_a_manual_clock_moves_when_someone_waits_or_moves_it() -> None:
    clock = ManualClock(1_000)
    clock.sleep_blocking(0.25)
    clock.advance(1)

    assert clock.now_ms() == 2_250
    assert clock.slept_s == [0.25]


def test_a_walk_depends_on_its_seed_alone() -> None:
    assert list(walk(7)) == list(walk(7))
    assert list(walk(7)) != list(walk(8))
