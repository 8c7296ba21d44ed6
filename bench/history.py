"""What a new item costs the loop itself on top of 10 items and of 5,000, and their ratio.

The model does not look at the history, so what is left is the loop: kernel, driver, executor and,
where there is a store, the save. Each request has the history as one tuple, which is made anew;
that belongs to encoding, so it is measured by itself and taken off. CPU time; the two take turns,
minima are compared.
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
    """A model that calls `add` so many times, then says that it is done."""

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
    """Make turns with a call each, as a long run has them."""
    items: list[Item] = []
    for number in range(count // 4):
        made = call("add", {"a": number, "b": 1}, f"old_{number}")
        items += [
            Item.user(f"Add one to {number}."),
            Item.assistant(made),
            Item.tool(ToolResult(made.id, TextOutput(f"{number + 1}"))),
            Item.assistant(f"It is {number + 1}."),
        ]
    items += [Item.user("Well done.")] * (count - len(items))
    return items


async def cost(size: int, store: MemoryStore | None) -> tuple[float, float]:
    """CPU seconds of one turn on top of a history, and of making its requests' tuples alone."""
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
            session.transcript  # noqa: B018 - made anew each time
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
                turn, made = asyncio.run(cost(size, MemoryStore() if stored else None))
                turns[size].append(turn)
                tuples[size].append(made)
        whole = {size: min(turns[size]) / NEW_ITEMS * 1e6 for size in SIZES}
        loop = {size: whole[size] - min(tuples[size]) / NEW_ITEMS * 1e6 for size in SIZES}
        few, many = SIZES
        print(
            f"{name}: {loop[few]:.1f} µs a new item on top of {few} items, {loop[many]:.1f} on top "
            f"of {many:,}, ratio {loop[many] / loop[few]:.2f} "
            f"(with the requests' tuples {whole[many] / whole[few]:.2f})"
        )


if __name__ == "__main__":
    main()
