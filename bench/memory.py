"""Measures memory: a session at rest, and an answer of a hundred megabytes.

    python bench/memory.py           # both
    python bench/memory.py rest
    python bench/memory.py large

The floor of a session at rest is what a hand-written loop keeps of a conversation: its list of
messages. A session at rest has had a turn with one tool round. The answer is measured by the
highest resident size of the process, minus the size before the answer; each is a new process.
"""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
import tracemalloc
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from answers import LONG
from contender import Streamed
from floor import Floor
from model_server import model_server
from worker import run

AT_REST = 1_000
WARM = 50
DELTAS = 100_000_000 // len(LONG)


async def bytes_at_rest(worker: Floor | Streamed) -> float:
    """Return the bytes that one conversation holds after a turn with one tool round."""
    async with AsyncExitStack() as stack:
        agent = None if isinstance(worker, Floor) else worker.agent("bench-loop-1-1")

        async def conversation() -> Any:
            if isinstance(worker, Floor):
                await worker.prepare("loop-1-1")
                await worker.converse("bench-loop-1-1", worker.conversation)
                return worker.conversation
            assert agent is not None
            session = await stack.enter_async_context(agent.session())
            assert (await session.prompt("hi")).tool_calls == 1
            return session

        kept = [await conversation() for _ in range(WARM)]
        tracemalloc.start()
        gc.collect()
        before, _ = tracemalloc.get_traced_memory()
        kept += [await conversation() for _ in range(AT_REST)]
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    await worker.close()
    return (after - before) / AT_REST


def resident(field: str) -> int:
    """Return a size of this process in bytes, from Linux."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) for line in status.splitlines() if field in line) * 1024


async def bytes_of_large(worker: Floor | Streamed) -> float:
    """Return by how much the process grew at most while it read the answer."""
    await worker.prepare("large-1")
    await run(worker, "large-1")
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    before = resident("VmRSS")
    await run(worker, f"large-{DELTAS}")
    await worker.close()
    return resident("VmHWM") - before


def sample(what: str, column: str, base_url: str) -> float:
    """Take one sample in a new process."""
    command = [sys.executable, __file__, what, column, base_url]
    return float(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)


def main(chosen: list[str]) -> None:
    with model_server() as base_url:
        if "rest" in chosen:
            floor, ours = (
                sample("rest", column, base_url) / 1024 for column in ("floor", "stream")
            )
            print(f"a session at rest: floor {floor:.2f}, agentkit {ours:.2f} KiB", flush=True)
        if "large" in chosen:
            size = DELTAS * len(LONG)
            floor, ours = (sample("large", name, base_url) / size for name in ("floor", "stream"))
            print(f"an answer of {size / 1e6:.0f} MB: floor {floor:.2f}, agentkit {ours:.2f} times")


if __name__ == "__main__":
    if len(sys.argv) == 4:
        what, column, base_url = sys.argv[1:]
        measured = (Floor if column == "floor" else Streamed)(base_url, "openai")
        print(asyncio.run((bytes_at_rest if what == "rest" else bytes_of_large)(measured)))
    else:
        main(sys.argv[1:] or ["rest", "large"])
