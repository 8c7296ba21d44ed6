"""The checks of projections pass what is good and catch what is not."""

import json
from collections.abc import Callable

import pytest
from msgspec.structs import replace

from agentkit_core import (
    FinishReason,
    Item,
    ModelRequest,
    ToolSpec,
    to_json,
)
from agentkit_core.provider import (
    ModelEvent,
    ResponseDecoder,
    ResponseFinished,
    Target,
    WireRequest,
    sendable,
)
from agentkit_core.testing import (
    check_projection,
)
from support.line_protocol import Lines

TARGET = Target(provider="here", api="an_api", model="a-model")


class Echo:
    """A projection as it should be: pure, for any history."""

    path = "/echo"
    decoding: Callable[[], ResponseDecoder] = Lines

    def encode(self, request: ModelRequest, /) -> WireRequest:
        items = sendable(request.items, replace(TARGET, model=request.model))
        return WireRequest(path=self.path, body=self.body(request, items))

    def body(self, request: ModelRequest, items: tuple[Item, ...]) -> bytes:
        names = ("model", "tools", "streamed")
        return to_json({"items": items, **{name: getattr(request, name) for name in names}})

    def decoder(self, request: ModelRequest, /) -> ResponseDecoder:
        return self.decoding()


class RefusesHistories(Echo):
    def encode(self, request: ModelRequest, /) -> WireRequest:
        if any(call.input_error for item in request.items for call in item.tool_calls):
            raise KeyError("input")
        return super().encode(request)


class Counts(Echo):
    def __init__(self) -> None:
        self.count = 0

    def body(self, request: ModelRequest, items: tuple[Item, ...]) -> bytes:
        self.count += 1
        return to_json({"count": self.count})


class WritesIntoTheRequest(Echo):
    def encode(self, request: ModelRequest, /) -> WireRequest:
        for item in request.items:
            item.metadata["echo.sent"] = True
        return super().encode(request)


class WritesLoneSurrogates(Echo):
    def body(self, request: ModelRequest, items: tuple[Item, ...]) -> bytes:
        return json.dumps([item.text for item in request.items]).encode()


class WritesBrokenText(Echo):
    def body(self, request: ModelRequest, items: tuple[Item, ...]) -> bytes:
        return json.dumps([item.text for item in request.items], ensure_ascii=False).encode(
            "utf-8", "surrogatepass"
        )


class HasNoSlash(Echo):
    path = "echo"


class TakesNothingForAnAnswer(Lines):
    def finish(self) -> tuple[ModelEvent, ...]:
        return (ResponseFinished(FinishReason.COMPLETED),)


class ReadsNothingAsAnAnswer(Echo):
    decoding = TakesNothingForAnAnswer


class WritesIdsOnCallsAlone(Echo):
    def body(self, request: ModelRequest, items: tuple[Item, ...]) -> bytes:
        by_place = [
            replace(item, parts=tuple(replace(result, call_id="") for result in item.tool_results))
            if item.tool_results
            else item
            for item in items
        ]
        return super().body(request, tuple(by_place))


def test_a_protocol_that_matches_results_by_their_place_passes() -> None:
    check_projection(WritesIdsOnCallsAlone())


def test_a_protocol_without_tools_or_without_streams_passes_if_it_says_so() -> None:
    class Bare(Echo):
        def body(self, request: ModelRequest, items: tuple[Item, ...]) -> bytes:
            return super().body(replace(request, tools=(), streamed=True), items)

    check_projection(Bare(), tools=(), streams=False)
    with pytest.raises(AssertionError, match="pass `streams=False`"):
        check_projection(Bare(), tools=())
    with pytest.raises(AssertionError, match="the tool 'find_book' is not in the body"):
        check_projection(Bare(), streams=False)


def test_a_good_projection_passes() -> None:
    check_projection(Echo(), tools=[ToolSpec("look")])
    check_projection(Echo(), histories={"mine": [Item.user("hi")]})


@pytest.mark.parametrize(
    ("broken", "law"),
    [
        (RefusesHistories, "history 'arguments that are not JSON' raised KeyError"),
        (Counts, "twice gives other bytes"),
        (WritesIntoTheRequest, "changes the request"),
        (WritesLoneSurrogates, "'lone surrogates' is not JSON"),
        (WritesBrokenText, "'lone surrogates' is not JSON"),
        (HasNoSlash, "no leading slash"),
        (ReadsNothingAsAnAnswer, "decoded as a response"),
    ],
)
def test_a_broken_projection_is_caught(broken: Callable[[], Echo], law: str) -> None:
    with pytest.raises(AssertionError, match=law):
        check_projection(broken())
