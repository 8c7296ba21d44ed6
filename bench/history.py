"""Compares the cost of a new item after a history of 10 items with that after 5,000 items.

The model ignores the history, so this measures the loop only: kernel, driver, executor and, with a
store, the save. Each request contains the history as a new tuple. Making that tuple belongs to
encoding, so it is measured separately and subtracted. Times are CPU time; the two sizes take
turns, and their minima are compared.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import sys
import time
from collections.abc import AsyncIterator, Sequence

from agentkit_core import Item, ModelRequest, SessionId, TextOutput, ToolResult
from agentkit_core.provider import ModelEvent
from agentkit_loop import Agent, TurnEnd
from agentkit_loop.stores import MemoryStore
from agentkit_loop.testing import Reply, call
from agentkit_tools_core import tool

ROUNDS = 200
SIZES = (10, 5_000)
NEW_ITEMS = 2 * ROUNDS + 2


class Rounds:
    """A model that calls `add` `ROUNDS` times and then answers."""

    name = "rounds"

    def __init__(self) -> None:
        self._answers = 0
        self._call, self._end = Reply.of(call("add", {"a": 1, "b": 2}, "")), Reply.of("done")

    def open(self, session_id: SessionId, /) -> Rounds:
        return self

    async def respond(self, request: ModelRequest, /) -> AsyncIterator[Sequence[ModelEvent]]:
        self._answers += 1
        ends = self._answers % (ROUNDS + 1) == 0
        for batch in (self._end if ends else self._call).batches:
            yield batch

    async def close(self) -> None:
        pass


@tool
async def add(a: int, b: int) -> str:
    """Add two numbers."""
    return str(a + b)


def history(count: int) -> list[Item]:
    """Make `count` items: turns with one tool call each, as in a long run."""
    items: list[Item] = []
    for number in range(count // 4):
        tool_call = call("add", {"a": number, "b": 1}, f"old_{number}")
        items += [
            Item.user(f"Add one to {number}."),
            Item.assistant(tool_call),
            Item.tool(ToolResult(tool_call.id, TextOutput(f"{number + 1}"))),
            Item.assistant(f"It is {number + 1}."),
        ]
    items += [Item.user("Well done.")] * (count - len(items))
    return items


async def cost(size: int, store: MemoryStore | None) -> tuple[float, float]:
    """Return the CPU seconds of one turn after a history, and of making its tuples alone."""
    agent = Agent(model=Rounds(), tools=[add])
    name = SessionId("bench")
    async with agent.session(history=history(size), session_id=name, store=store) as session:
        await session.flush()
        before_items = len(session.transcript)
        gc.collect()
        before = time.process_time()
        result = await session.prompt("go on")
        spent = time.process_time() - before
        new = len(session.transcript) - before_items
        if (result.end, result.tool_calls, new) != (TurnEnd.COMPLETED, ROUNDS, NEW_ITEMS):
            sys.exit(f"the turn came to {result.end}, {result.tool_calls} calls, {new} items")
        before = time.process_time()
        for _ in range(result.model_calls):
            session.transcript  # noqa: B018 - makes a new tuple
        return spent, time.process_time() - before


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=7, help="samples of each (default: 7)")
    repeat = parser.parse_args().repeat
    for name, stored in (("unsaved", False), ("saved", True)):
        turns: dict[int, list[float]] = {size: [] for size in SIZES}
        tuples: dict[int, list[float]] = {size: [] for size in SIZES}
        for _ in range(repeat):
            for size in SIZES:
                turn, making_tuples = asyncio.run(cost(size, MemoryStore() if stored else None))
                turns[size].append(turn)
                tuples[size].append(making_tuples)
        whole = {size: min(turns[size]) / NEW_ITEMS * 1e6 for size in SIZES}
        loop = {size: whole[size] - min(tuples[size]) / NEW_ITEMS * 1e6 for size in SIZES}
        few, many = SIZES
        print(
            f"{name}: {loop[few]:.1f} µs per new item after {few} items, {loop[many]:.1f} after "
            f"{many:,}, ratio {loop[many] / loop[few]:.2f} "
            f"(with the tuples {whole[many] / whole[few]:.2f})"
        )


if __name__ == "__main__":
    main()
