"""Media that a provider refuses: the conversation goes on without them, and keeps all else."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

import pytest
from msgspec.structs import replace

from agentkit_core import (
    FailureKind,
    File,
    InlineBytes,
    Item,
    Media,
    Modality,
    ModelRequest,
    Part,
    ProviderFailure,
    SessionId,
    Text,
    Uri,
    to_json,
)
from agentkit_loop import Agent, Mutation, TurnEnd, decode_state, encode_state
from agentkit_loop.events import Diagnostic, Envelope
from agentkit_loop.kernel._refused_media import media_of
from agentkit_loop.stores import MemoryStore
from agentkit_loop.testing import Reply, ScriptedModel, call, say
from agentkit_tools_core import tool
from support.forms import FORMS, Form

LIMIT = 2_000
LARGE = Media(Modality.IMAGE, "image/png", InlineBytes(b"\x89PNG" + bytes(LIMIT)))
SMALL = Media(Modality.IMAGE, "image/png", InlineBytes(b"\x89PNG small"))
LEFT_OUT = "left out"


def refusal(kind: FailureKind = FailureKind.INVALID_REQUEST, **facts: Any) -> ProviderFailure:
    return ProviderFailure(kind=kind, message="messages.2: image exceeds 5 MB maximum", **facts)


class Provider:
    """Refuses requests with large media, and remembers what it was sent."""

    def __init__(self, failure: ProviderFailure | None = None) -> None:
        self.failure = failure or refusal()
        self.requests: list[ModelRequest] = []

    def model(self, *first: Any) -> ScriptedModel:
        return ScriptedModel(*first, *[self.answer] * 9)

    def answer(self, request: ModelRequest) -> Reply | ProviderFailure:
        self.requests.append(request)
        return self.failure if any(map(is_large, media(request.items))) else say("fine")


def media(items: Sequence[Item]) -> list[Media | File]:
    return [part for item in items for part in media_of(item)]


def is_large(part: Media | File) -> bool:
    return len(to_json(part)) > LIMIT or isinstance(part.data, Uri)


@tool
def look() -> list[Part]:
    """Take pictures."""
    return [Text(text="beside"), SMALL, LARGE]


@tool
def read() -> File:
    """Read a document."""
    return File(InlineBytes(bytes(LIMIT)), "application/pdf", "a.pdf")


@tool(detach_after_s=0)
async def watch() -> Media:
    """Take a picture in the background."""
    return LARGE


WHERE: dict[str, tuple[list[Any], Any]] = {
    "a tool": ([call("look")], "Look."),
    "a tool that returns a document": ([call("read")], "Read."),
    "one of several tools": ([Reply.of(call("look"), call("read", {}, "c2"))], "Look."),
    "the prompt": ([], Item.user("Look:", LARGE)),
    "an address in the prompt": ([], Item.user(Media(Modality.IMAGE, "", Uri("https://x/y")))),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("where", WHERE)
def test_vl09_a_conversation_goes_on_after_media_that_the_provider_refuses(
    form: str, where: str
) -> None:
    forms, provider = Form(form), Provider()
    first, prompt = WHERE[where]
    told: list[Envelope] = []
    agent = Agent(model=provider.model(*first), tools=[look, read], reporters=[told.append])

    async def test() -> None:
        async with forms.opened(agent) as session:
            assert (await forms.do(session, "prompt", prompt)).end is TurnEnd.ERROR
            kept = session.transcript
            for _ in range(2):
                assert (await forms.do(session, "prompt", "Go on.")).end is TurnEnd.COMPLETED
            assert session.transcript[: len(kept)] == kept, "the history keeps the original"
            assert media(kept)

    forms.run(test)
    refused, *later = provider.requests
    for request in later:
        assert not any(map(is_large, media(request.items)))
        assert len(request.items) > len(refused.items)
        assert LEFT_OUT in to_json(request.items).decode()
    assert ("beside" in str(later[0].items)) == (first != [] and "document" not in where)
    notes = [one.event for one in told if isinstance(one.event, Diagnostic)]
    assert len(notes) == 1, "it is told once"
    assert "smaller" in notes[0].message


@pytest.mark.parametrize("form", FORMS)
def test_vl09_media_of_a_given_history_may_be_refused_too(form: str) -> None:
    forms, provider = Form(form), Provider()
    history = [Item.user(LARGE), Item.assistant("From another provider.")]

    async def test() -> None:
        agent = Agent(model=provider.model())
        async with forms.opened(agent, history=history) as session:
            await forms.do(session, "prompt", "Go on.")
            assert (await forms.do(session, "prompt", "Go on.")).end is TurnEnd.COMPLETED

    forms.run(test)


async def test_vl09_media_that_were_accepted_before_stay() -> None:
    provider = Provider()
    async with Agent(model=provider.model(), tools=[look]).session() as session:
        await session.prompt(Item.user("Small:", SMALL))
        await session.prompt(Item.user("Large:", LARGE))
        assert (await session.prompt("Go on.")).end is TurnEnd.COMPLETED
    assert media(provider.requests[-1].items) == [SMALL]


async def test_vl09_the_result_of_a_background_call_may_be_refused_too() -> None:
    provider = Provider()
    model = ScriptedModel(call("watch"), say("It runs."), *[provider.answer] * 9)
    async with Agent(model=model, tools=[watch]).session() as session:
        ends = [(await session.prompt("Go on.")).end for _ in range(4)]
    assert ends[-1] is TurnEnd.COMPLETED


@pytest.mark.parametrize(
    ("failure", "is_put_aside"),
    [
        (refusal(), True),
        (refusal(FailureKind.CONTENT_FILTER), True),
        (refusal(FailureKind.CONTEXT_LENGTH, status=413), True),
        (refusal(FailureKind.NOT_FOUND, status=404), True),
        (refusal(FailureKind.CONTEXT_LENGTH, status=400), False),
        (refusal(FailureKind.AUTH), False),
        (refusal(FailureKind.RATE_LIMIT), False),
        (refusal(FailureKind.OVERLOADED), False),
        (replace(refusal(FailureKind.NOT_FOUND), message="no such model"), False),
    ],
)
async def test_vl09_only_a_refusal_puts_media_aside(
    failure: ProviderFailure, is_put_aside: bool
) -> None:
    provider = Provider(failure)
    async with Agent(model=provider.model()).session() as session:
        await session.prompt(Item.user(LARGE))
        end = (await session.prompt("Go on.")).end
    assert (end is TurnEnd.COMPLETED) == is_put_aside


async def test_vl09_what_is_sent_in_place_of_media_is_the_same_object_in_each_request() -> None:
    provider = Provider()
    async with Agent(model=provider.model()).session() as session:
        for prompt in (Item.user(LARGE), "a", "b"):
            await session.prompt(prompt)
    before, after = provider.requests[1:]
    assert all(one is other for one, other in zip(before.items, after.items, strict=False))


async def test_vl09_another_model_is_sent_the_media_again() -> None:
    provider, able = Provider(), ScriptedModel(say("I see it."))
    agent = Agent(model=provider.model())
    async with agent.session() as session:
        await session.prompt(Item.user(LARGE))
        state = session.snapshot()
    assert encode_state(decode_state(state)) == state, "a snapshot has what was put aside"
    async with agent.resume(state) as session:
        assert (await session.prompt("Go on.")).end is TurnEnd.COMPLETED
        session.settings.change_model(able)
        assert (await session.prompt("And now?")).text == "I see it."
    assert media(able.requests[-1].items) == [LARGE]


@pytest.mark.parametrize("how", ["drop", "copy"])
async def test_vl09_a_history_that_is_rewritten_leaves_out_the_same_media(how: str) -> None:
    provider, count = Provider(), 0

    def rewrite(items: tuple[Item, ...], mutation: Mutation) -> Sequence[Item] | None:
        nonlocal count
        count += 1
        if how == "drop":
            return items[2:] if count == 4 else None
        return [Item.user("Before:"), *map(copy, items)] if count >= 4 else None

    async with Agent(model=provider.model(), mutators=[rewrite]).session() as session:
        for prompt in ("first", Item.user(SMALL), Item.user(LARGE)):
            await session.prompt(prompt)
        assert (await session.prompt("Go on.")).end is TurnEnd.COMPLETED
        large_again = Item.user(LARGE, "again")
        assert (await session.prompt(large_again)).end is TurnEnd.ERROR
        assert (await session.prompt("Go on.")).end is TurnEnd.COMPLETED
    assert media(provider.requests[-1].items) == [SMALL]


@pytest.mark.parametrize("form", FORMS)
def test_vl09_an_agent_that_is_a_tool_may_be_refused_media_too(form: str) -> None:
    forms, inner, outer = Form(form), Provider(), Provider()
    painter = Agent(model=inner.model(call("look")), tools=[look])
    paint = painter.as_tool("paint", "Paint.", blocking=forms.is_blocking)
    agent = Agent(model=outer.model(call("paint", {"task": "Paint."})), tools=[paint])

    async def test() -> None:
        async with forms.opened(agent) as session:
            result = await forms.do(session, "prompt", "Go on.")
            assert result.end is TurnEnd.COMPLETED
            assert [each.is_error for each in result.items[1].tool_results] == [True]

    forms.run(test)
    assert len(inner.requests) == len(outer.requests) == 1
    assert not media(outer.requests[-1].items)


@pytest.mark.parametrize("form", FORMS)
def test_vl09_a_stored_conversation_goes_on_without_the_media(form: str) -> None:
    forms, provider, store = Form(form), Provider(), MemoryStore()
    agent = Agent(model=provider.model())

    async def test() -> None:
        for prompt in (Item.user("Small:", SMALL), Item.user("Large:", LARGE), "a", "b"):
            async with forms.opened(agent, session_id=SessionId("s"), store=store) as session:
                await forms.do(session, "prompt", prompt)

    forms.run(test)
    assert [media(request.items) for request in provider.requests[-2:]] == [[SMALL], [SMALL]]
