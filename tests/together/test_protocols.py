"""What holds for every wire protocol, over real HTTP: switching, cutting, sending anything."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from types import ModuleType
from typing import Any, NamedTuple

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit_core import (
    FailureKind,
    InlineBytes,
    Item,
    Media,
    Modality,
    ModelOptions,
    ModelRequest,
    ModelResponse,
    Part,
    Reasoning,
    Text,
    ThinkingLevel,
    Transcript,
)
from agentkit_core.cache import CacheRequest, ItemEnd
from agentkit_core.provider import fold_response, sendable
from agentkit_core.testing import check_projection, check_sendable, decode_chunks, hard_transcripts
from agentkit_loop import Agent, TurnEnd
from agentkit_providers import connect
from agentkit_providers.endpoints import default_registry
from agentkit_providers.replay import (
    Answer,
    Cut,
    ReplayServer,
    Request,
    anthropic_messages,
    google_generate,
    openai_chat,
    openai_responses,
)
from agentkit_tools_core import tool
from support.examples import examples, thorough
from support.items import any_histories

PICTURE = Media(Modality.IMAGE, "image/png", InlineBytes(b"\x89PNG\r\n\x1a\n"))


class Spoken(NamedTuple):
    """A protocol: a vendor that speaks it, and how its answers are made."""

    provider: str
    answers: ModuleType


PROTOCOLS = {
    "openai_chat": Spoken("compatible", openai_chat),
    "openai_responses": Spoken("compatible-responses", openai_responses),
    "anthropic_messages": Spoken("anthropic-compatible", anthropic_messages),
    "google_generate": Spoken("google", google_generate),
}


@tool
def look(at: str) -> list[Part]:
    """Look at something."""
    return [Text(f"{at}, seen"), PICTURE]


# Any history can be sent to any vendor.


@pytest.mark.parametrize("row", list(default_registry), ids=lambda row: row.name)
def test_any_history_can_be_sent_to_every_vendor(row: Any) -> None:
    projection: Any = default_registry.projection(row)
    check_projection(projection, tools=(look.spec,))
    for items in hard_transcripts().values():
        target = projection.target("a-model")
        check_sendable(sendable(items, target), target)


@pytest.mark.parametrize("api", PROTOCOLS)
@given(histories=st.lists(any_histories(), min_size=1, max_size=3), data=st.data())
@examples(10)
def test_an_encoder_gives_the_bytes_of_its_projection_whatever_it_wrote_before(
    api: str, histories: list[list[Item]], data: st.DataObject
) -> None:
    row = default_registry.get(PROTOCOLS[api].provider)
    projection: Any = default_registry.projection(row)
    encoder = projection.encoder()
    for items in histories:
        for end in sorted(data.draw(st.lists(st.integers(0, len(items)), max_size=4))):
            options = ModelOptions(
                thinking=data.draw(st.sampled_from([None, ThinkingLevel.HIGH])),
                cache=data.draw(st.sampled_from([None, CacheRequest(marks=(ItemEnd(0),))])),
            )
            request = ModelRequest(model="a-model", items=tuple(items[:end]), options=options)

            assert encoder.encode(request) == projection.encode(request)


# A conversation may go round all protocols.

TURNS = ["Look at the sea.", "Look at the hill.", "Look at the town.", "Look at the sky."]


def scripted(answers: ModuleType, turn: int) -> Callable[[Request], Answer]:
    """Thinks and calls a tool, then thinks and says what came of it."""
    thing = TURNS[turn].removeprefix("Look at ").removesuffix(".")
    script: Iterator[Answer] = iter(
        [
            answers.tool_calls([("look", {"at": thing})], said="Let me see."),
            answers.text(f"I saw {thing}.", reasoning="What did I see?"),
        ]
    )
    return lambda request: next(script)


async def converse(order: Sequence[str]) -> tuple[list[Item], list[Request]]:
    """Have a turn with each protocol in the order, each on top of what was said before."""
    history: list[Item] = []
    requests: list[Request] = []
    for turn, api in enumerate(order):
        spoken = PROTOCOLS[api]
        with ReplayServer(scripted(spoken.answers, turn)) as server:
            model = connect(f"{spoken.provider}:a-model", base_url=server.url, api_key="key")
            agent = Agent(model=model, tools=[look], instructions="Be brief.")
            async with agent.session(history=history) as session:
                result = await session.prompt(TURNS[turn])
                assert result.end is TurnEnd.COMPLETED, result.failure
                history = list(session.transcript)
            requests += server.requests
    return history, requests


def gist(items: Sequence[Item]) -> list[tuple[str, str, list[Any], list[Any]]]:
    """What was said, called and given, without what only one protocol knows."""
    return [
        (
            item.kind,
            item.text,
            [(call.name, call.input) for call in item.tool_calls],
            [result.output for result in item.tool_results],
        )
        for item in items
    ]


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("backwards", [False, True], ids=["forwards", "backwards"])
async def test_a_conversation_that_goes_round_equals_one_that_stayed(
    backwards: bool, anyio_backend: str
) -> None:
    apis = list(itertools.islice(itertools.cycle(PROTOCOLS), len(TURNS)))
    order = apis[::-1] if backwards else apis

    went_round, requests = await converse(order)
    stayed, _ = await converse([order[0]] * len(TURNS))

    assert gist(went_round) == gist(stayed)
    Transcript(went_round)  # keeps the rules
    assert len(requests) == 2 * len(TURNS)
    last = requests[-1].body.decode()
    for thing in ("the sea", "the hill", "the town", "the sky"):
        assert f"{thing}, seen" in last, "what tools gave in earlier turns goes along"
    reasoned = [item for item in went_round if any(isinstance(p, Reasoning) for p in item.parts)]
    assert len(reasoned) == len(TURNS), "reasoning is kept, whoever did it"


# Wherever a stream is cut, the outcome is the turn or a typed failure.


def long_answer(api: str) -> Answer:
    """An answer that says something and calls a tool, with characters of two and four bytes."""
    answer: Answer = PROTOCOLS[api].answers.tool_calls(
        [("look", {"at": "é🙈"})], said="Let me look at it."
    )
    return answer


def question() -> ModelRequest:
    return ModelRequest(model="a-model", items=(Item.user("Look."),), tools=(look.spec,))


@pytest.mark.parametrize("api", PROTOCOLS)
def test_wherever_a_body_is_cut_the_outcome_is_typed(api: str) -> None:
    """At every byte, by the decoder alone; what a connection adds is tried below."""
    projection: Any = default_registry.projection(default_registry.get(PROTOCOLS[api].provider))
    body = long_answer(api).body

    def respond(place: int) -> ModelResponse:
        return fold_response(decode_chunks(projection.decoder(question()), [body[:place]]))

    check_cuts([respond(place) for place in range(len(body))], respond(len(body)))


@pytest.mark.timeout(180)
@pytest.mark.slow
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("api", PROTOCOLS)
async def test_wherever_a_stream_is_cut_the_outcome_is_typed_and_nothing_stays_open(
    api: str, anyio_backend: str
) -> None:
    """Around the end of every line, and at some bytes within."""
    answer = long_answer(api)
    places = places_to_cut(answer.body)
    left = iter(places)

    def cut(request: Request) -> Answer:
        place = next(left, None)
        return answer if place is None else answer.with_fault(Cut(after_bytes=place))

    with ReplayServer(cut) as server:
        name = f"{PROTOCOLS[api].provider}:a-model"
        model = connect(name, base_url=server.url, api_key="key")
        responses = [await model.complete(question()) for _ in places]
        with anyio.fail_after(5):
            while server.open_connections:
                await anyio.sleep(0.01)
        complete = await model.complete(question())

    check_cuts(responses, complete)


def places_to_cut(body: bytes) -> list[int]:
    places = {0, len(body), *range(0, len(body), thorough(64, 16))}
    for at, byte in enumerate(body):
        if byte == ord("\n"):
            places |= {at - 1, at, at + 1}
    return sorted(place for place in places if 0 <= place <= len(body))


def check_cuts(responses: Sequence[ModelResponse], complete: ModelResponse) -> None:
    """Check what came of the answers that were cut, the shortest first."""
    assert complete.failure is None
    assert complete.item.tool_calls[0].input == {"at": "é🙈"}
    shown = ""
    for response in responses:
        check_cut(response, complete)
        assert response.item.text.startswith(shown), "a later cut shows no less"
        shown = response.item.text


def check_cut(response: ModelResponse, complete: ModelResponse) -> None:
    if response.failure is None:
        assert gist([response.item]) == gist([complete.item])
        return
    assert response.failure.kind in {FailureKind.STREAM_CUT, FailureKind.CONNECTION}
    assert response.failure.retryable
    assert complete.item.text.startswith(response.item.text)
    assert response.item.interrupted
    for call in response.item.tool_calls:
        finished = call.input == complete.item.tool_calls[0].input
        assert finished or call.input_error is not None, "half a call is never offered to be run"
