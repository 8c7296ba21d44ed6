"""A model's iterator is closed if it can be; one that cannot needs no `close`."""

from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any

import pytest

from agentkit_core import ModelRequest, SessionId
from agentkit_core.provider import ModelEvent
from agentkit_loop import Agent, TurnEnd
from agentkit_loop.events import ContentDelta
from agentkit_loop.testing import Reply, ScriptedModel

LONG = Reply.of("one two three four", piece=4)


class Plain:
    """An iterator of both kinds, and nothing else."""

    def __init__(self, batches: Iterator[Sequence[ModelEvent]]) -> None:
        self._batches = batches

    def __iter__(self) -> Iterator[Sequence[ModelEvent]]:
        return self

    def __next__(self) -> Sequence[ModelEvent]:
        return next(self._batches)

    def __aiter__(self) -> AsyncIterator[Sequence[ModelEvent]]:
        return self

    async def __anext__(self) -> Sequence[ModelEvent]:
        for batch in self._batches:
            return batch
        raise StopAsyncIteration


class Closing(Plain):
    """The same, with both ways to close it."""

    def __init__(self, batches: Iterator[Sequence[ModelEvent]]) -> None:
        super().__init__(batches)
        self.closed = 0

    def close(self) -> None:
        self.closed += 1

    async def aclose(self) -> None:
        self.closed += 1


class IteratorModel(ScriptedModel):
    """A scripted model whose responses are iterators of a kind."""

    def __init__(self, kind: type[Plain], *script: Any) -> None:
        super().__init__(*script)
        self.kind = kind
        self.responses: list[Any] = []

    def open(self, session_id: SessionId, /) -> Any:
        return _Session(self)

    def open_blocking(self, session_id: SessionId, /) -> Any:
        return _BlockingSession(self)


class _Opened:
    def __init__(self, model: IteratorModel) -> None:
        self.model = model

    def respond(self, request: ModelRequest, /) -> Any:
        batches = iter([(self.model.start_event(),), *self.model.answer(request).batches])
        self.model.responses.append(self.model.kind(batches))
        return self.model.responses[-1]


class _Session(_Opened):
    async def close(self) -> None: ...


class _BlockingSession(_Opened):
    def close(self) -> None: ...


@pytest.mark.parametrize("kind", [Plain, Closing])
async def test_a_response_that_is_read_to_its_end(kind: type[Plain]) -> None:
    model = IteratorModel(kind, LONG, LONG)

    assert (await Agent(model=model).run("go")).text == "one two three four"
    assert Agent(model=model).run_blocking("go").text == "one two three four"
    assert [getattr(response, "closed", None) for response in model.responses] == (
        [1, 1] if kind is Closing else [None, None]
    )


@pytest.mark.parametrize("kind", [Plain, Closing])
async def test_a_response_that_is_left_early(kind: type[Plain]) -> None:
    model = IteratorModel(kind, LONG, LONG)
    async with Agent(model=model).session() as session:
        async for event in session.stream("go"):
            if isinstance(event, ContentDelta):
                session.cancel()
        assert session.view.last is not None
        assert session.view.last.end is TurnEnd.CANCELLED
    with Agent(model=model).session_blocking() as blocking:
        for event in blocking.stream("go"):
            if isinstance(event, ContentDelta):
                blocking.cancel()
        assert blocking.view.last is not None
        assert blocking.view.last.end is TurnEnd.CANCELLED

    assert [getattr(response, "closed", None) for response in model.responses] == (
        [1, 1] if kind is Closing else [None, None]
    )
