"""A long history makes nothing that is new cost more; shown by counting work, not by time."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, Final

import pytest

from agentkit_core import (
    ApprovalRequest,
    Item,
    SessionId,
    TextOutput,
    ToolCall,
    ToolResult,
    Transcript,
    to_json,
)
from agentkit_loop import Agent, ApprovalRequiredError, Finished, OnApproval, TurnEnd
from agentkit_loop.drivers import _cancellation, _performer
from agentkit_loop.persistence import _stored_calls
from agentkit_loop.stores import MemoryStore
from agentkit_loop.testing import ManualClock, Reply, ScriptedModel, call, say
from agentkit_tools_core import Tool, tool
from support.counted_lines import counting

NAME = SessionId("a session")
ROUNDS = 3
FEW, MANY = 10, 5_000
DIGITS = re.compile(rb"\d+")
SEALS = re.compile(rb'"seals":\{[^}]*\}')


@tool
async def add(a: int, b: int) -> str:
    """Add two numbers."""
    return str(a + b)


@tool
def subtract(a: int, b: int) -> str:
    """Subtract one from another."""
    return str(a - b)


def history(count: int) -> list[Item]:
    items: list[Item] = []
    for number in range(count // 4):
        made = call("add", {"a": number, "b": 1}, f"old_{number}")
        items += [
            Item.user("One more."),
            Item.assistant(made),
            Item.tool(ToolResult(made.id, TextOutput(f"{number + 1}"))),
            Item.assistant("Here it is."),
        ]
    return [*items, *[Item.user("Well done.")] * (count - len(items))]


def rounds(name: str) -> ScriptedModel:
    """A greeting; then rounds of two calls, the second with an id that is the loop's to make."""

    def both(number: int) -> list[ToolCall]:
        return [
            call(name, {"a": number, "b": 1}, f"new_{number}"),
            call(name, {"a": number, "b": 2}, ""),
        ]

    made = (Reply.of(*both(number)) for number in range(ROUNDS))
    return ScriptedModel(say("hello"), *made, say("done"))


async def run(count: int, store: MemoryStore | None, counted: Callable[[], Any]) -> None:
    agent = Agent(model=rounds("add"), tools=[add], clock=ManualClock(1_000))
    async with agent.session(history=history(count - 2), session_id=NAME, store=store) as session:
        await session.prompt("hello")
        with counted():
            result = await session.prompt("go on")
        assert (result.end, result.tool_calls) == (TurnEnd.COMPLETED, 2 * ROUNDS)


def run_blocking(count: int, store: MemoryStore | None, counted: Callable[[], Any]) -> None:
    agent = Agent(model=rounds("subtract"), tools=[subtract], clock=ManualClock(1_000))
    opened = agent.session_blocking(history=history(count - 2), session_id=NAME, store=store)
    with opened as session:
        session.prompt("hello")
        with counted():
            result = session.prompt("go on")
        assert (result.end, result.tool_calls) == (TurnEnd.COMPLETED, 2 * ROUNDS)


# the work of one turn


@contextmanager
def reading(reads: Counter[str], patch: pytest.MonkeyPatch) -> Iterator[None]:
    """Count the items that are taken out of transcripts, where many may be taken at once.

    What runs in C (a copy, a join) executes no lines of ours: it shows here.
    """
    items: Any = Transcript.items
    item_at: Any = Transcript.__getitem__
    each: Any = Transcript.__iter__

    def counted_items(self: Transcript) -> tuple[Item, ...]:
        reads["whole"] += 1
        found: tuple[Item, ...] = items.fget(self)
        return found

    def counted_each(self: Transcript) -> Iterator[Item]:
        for item in each(self):
            reads["one by one"] += 1
            yield item

    def counted_at(self: Transcript, index: Any) -> Any:
        found = item_at(self, index)
        reads["by position"] += len(found) if isinstance(index, slice) else 1
        return found

    with patch.context() as patched:
        patched.setattr(Transcript, "items", property(counted_items))
        patched.setattr(Transcript, "__iter__", counted_each)
        patched.setattr(Transcript, "__getitem__", counted_at)
        yield


async def test_a_turn_on_top_of_many_items_executes_what_one_on_top_of_few_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for module in (_cancellation, _performer):  # what takes long is looked after more closely
        monkeypatch.setattr(module, "LONG_S", math.inf)
    few, many = Counter[str](), Counter[str]()
    await run(FEW, None, nullcontext)  # what is worked out once, for each type, is worked out now
    await run(FEW, None, lambda: counting(few))
    await run(MANY, None, lambda: counting(many))

    assert few.total() > 500
    assert many == few


@pytest.mark.parametrize("stored", [False, True])
def test_a_turn_that_blocks_executes_no_more_either(stored: bool) -> None:
    few, many = Counter[str](), Counter[str]()
    run_blocking(FEW, MemoryStore() if stored else None, lambda: counting(few))
    run_blocking(MANY, MemoryStore() if stored else None, lambda: counting(many))

    assert few.total() > 500
    assert many == few


async def test_the_history_is_read_for_requests_and_else_only_what_is_new(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    few, many = Counter[str](), Counter[str]()
    await run(FEW, MemoryStore(), lambda: reading(few, monkeypatch))
    await run(MANY, MemoryStore(), lambda: reading(many, monkeypatch))

    assert many == few
    assert many["whole"] == ROUNDS + 1, "once for each request"
    assert many["one by one"] == 0


# what is saved


class Heads(MemoryStore):
    """A store that notes what is given to it."""

    def __init__(self) -> None:
        super().__init__()
        self.heads: list[bytes] = []
        self.items: list[int] = []

    def save_blocking(self, session_id: SessionId, /, *, seq: int, head: bytes, log: Any) -> None:
        self.heads.append(head)
        self.items.append(sum(len(entry.items) for entry in log))
        super().save_blocking(session_id, seq=seq, head=head, log=log)


def test_a_save_writes_the_same_on_top_of_many_items_as_on_top_of_few() -> None:
    few, many = Heads(), Heads()
    saves: list[int] = []

    @contextmanager
    def noted(store: Heads) -> Iterator[None]:
        saves.append(len(store.heads))
        yield

    run_blocking(FEW, few, lambda: noted(few))
    run_blocking(MANY, many, lambda: noted(many))

    # Positions have more digits, and that is all.
    assert [DIGITS.sub(b"0", SEALS.sub(b"", head)) for head in many.heads[saves[1] :]] == [
        DIGITS.sub(b"0", SEALS.sub(b"", head)) for head in few.heads[saves[0] :]
    ]
    assert many.items[saves[1] :] == few.items[saves[0] :]
    assert sum(many.items[saves[1] :]) == 2 * ROUNDS + 2


# many calls in one answer


@tool(inline=True)
def look(a: int) -> str:
    """Look at something."""
    return str(a)


@tool(needs_approval=True)
def pay(a: int) -> str:
    """Pay."""
    return str(a)


TOOLS: Final[tuple[Tool, ...]] = (add, subtract, look, pay)


def answer_of(name: str, count: int) -> ScriptedModel:
    calls = (call(name, {"a": number}, f"c{number}") for number in range(count))
    return ScriptedModel(Reply.of(*calls), say("done"))


def yes(request: ApprovalRequest) -> bool:
    return True


async def yes_later(request: ApprovalRequest) -> bool:
    return True


def prompt_blocking(agent: Agent, store: MemoryStore | None) -> None:
    with agent.session_blocking(session_id=NAME, store=store) as session:
        try:
            session.prompt("go")
        except ApprovalRequiredError as error:
            for request in error.requests:
                session.approve(request.id)
            assert isinstance(session.next(), Finished)


async def prompt(agent: Agent, store: MemoryStore | None) -> None:
    async with agent.session(session_id=NAME, store=store) as session:
        try:
            await session.prompt("go")
        except ApprovalRequiredError as error:
            for request in error.requests:
                session.approve(request.id)
            assert isinstance(await session.next(), Finished)


def require_proportion(few: Counter[str], many: Counter[str]) -> None:
    """Four times as much is four times the work in all, and in no function sixteen times."""
    assert many.total() < 4.2 * few.total()
    for where, lines in many.items():
        assert lines <= 8 * few[where] + 1_000, where


@pytest.mark.parametrize("stored", [False, True], ids=["not stored", "stored"])
@pytest.mark.parametrize(
    ("name", "on_approval"), [("look", None), ("subtract", None), ("pay", yes), ("pay", None)]
)
def test_vs07_many_calls_of_one_answer_are_work_in_proportion_without_an_event_loop(
    name: str, on_approval: OnApproval | None, stored: bool
) -> None:
    def work(count: int) -> Counter[str]:
        lines, store = Counter[str](), MemoryStore() if stored else None
        agent = Agent(model=answer_of(name, count), tools=TOOLS, on_approval=on_approval)
        with counting(lines):
            prompt_blocking(agent, store)
        return lines

    work(1)  # what is worked out once
    require_proportion(work(10), work(40))


@pytest.mark.parametrize("stored", [False, True], ids=["not stored", "stored"])
@pytest.mark.parametrize(
    ("name", "on_approval"),
    [("look", None), ("add", None), ("pay", yes), ("pay", yes_later), ("pay", None)],
)
async def test_vs07_many_calls_of_one_answer_are_work_in_proportion_on_an_event_loop(
    name: str, on_approval: OnApproval | None, stored: bool
) -> None:
    async def work(count: int) -> Counter[str]:
        lines, store = Counter[str](), MemoryStore() if stored else None
        agent = Agent(model=answer_of(name, count), tools=TOOLS, on_approval=on_approval)
        with counting(lines):
            await prompt(agent, store)
        return lines

    await work(1)
    require_proportion(await work(10), await work(40))


@pytest.mark.parametrize("count", [1, 2, 30])
async def test_calls_that_never_wait_are_saved_together_however_many_they_are(count: int) -> None:
    blocking, concurrent = Heads(), Heads()
    prompt_blocking(Agent(model=answer_of("look", count), tools=TOOLS), blocking)
    await prompt(Agent(model=answer_of("look", count), tools=TOOLS), concurrent)

    assert len(blocking.heads) == len(concurrent.heads) == 5


@pytest.mark.parametrize("name", ["pay", "subtract"])
def test_a_save_encodes_and_seals_the_calls_that_have_changed(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoded = 0

    def counted(value: object) -> bytes:
        nonlocal encoded
        encoded += 1
        return to_json(value)

    monkeypatch.setattr(_stored_calls, "to_json", counted)
    work = []
    for count in (10, 40):
        encoded = 0
        agent = Agent(model=answer_of(name, count), tools=TOOLS, on_approval=yes)
        prompt_blocking(agent, MemoryStore())
        work.append(encoded)

    assert work[1] <= 4.2 * work[0]
