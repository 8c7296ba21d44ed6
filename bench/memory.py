"""Measures memory: a session at rest, and an answer of a hundred megabytes.

    python bench/memory.py           # both
    python bench/memory.py rest
    python bench/memory.py large

A session at rest has had a turn with one tool round. It holds what has to be kept to go on with it:
in a hand-written loop, which is its floor, the list of messages. The answer is measured by the
highest resident size of the process, minus the size before the answer; each is a new process.
"""

from __future__ import annotations

import asyncio
import gc
import sys
import tracemalloc

import environments
from answers import LONG
from columns import COLUMNS, Column
from measure import forget_peak, resident
from model_server import model_server
from worker import Worker, check, run

AT_REST = 100
WARM = 20
DELTAS = 100_000_000 // len(LONG)


async def bytes_at_rest(worker: Worker) -> float:
    """Return the bytes that one conversation holds after a turn with one tool round."""
    kept = [await worker.begin("bench-loop-1-1") for _ in range(WARM)]
    tracemalloc.start()
    gc.collect()
    before, _ = tracemalloc.get_traced_memory()
    kept += [await worker.begin("bench-loop-1-1") for _ in range(AT_REST)]
    gc.collect()
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return (after - before) / AT_REST


async def bytes_of_large(worker: Worker) -> float:
    """Return by how much the process grew at most while it read the answer."""
    job = f"large-{DELTAS}"
    await worker.prepare("large-1")
    check(worker, "large-1", await run(worker, "large-1"))
    before = forget_peak()
    works = await run(worker, job)
    grown = resident("VmHWM") - before
    check(worker, job, works)
    return grown


async def measured(what: str, column: str, base_url: str) -> float:
    worker = COLUMNS[column].new_worker(base_url, "openai")
    try:
        return await (bytes_at_rest if what == "rest" else bytes_of_large)(worker)
    finally:
        await worker.close()


def sample(what: str, column: Column, base_url: str) -> float:
    """Take one sample in a new process: bytes at rest, or bytes of a large answer.

    Raises:
        Unavailable: The column cannot be installed, or has failed.
    """
    printed = environments.run(column, __file__, what, column.name, base_url)
    return float(printed.splitlines()[-1])


def main(chosen: list[str]) -> None:
    floor, ours = COLUMNS["floor"], COLUMNS["stream"]
    with model_server() as base_url:
        if "rest" in chosen:
            least, most = (sample("rest", column, base_url) / 1024 for column in (floor, ours))
            print(f"a session at rest: floor {least:.2f}, agentkit {most:.2f} KiB", flush=True)
        if "large" in chosen:
            size = DELTAS * len(LONG)
            least, most = (sample("large", column, base_url) / size for column in (floor, ours))
            print(f"an answer of {size / 1e6:.0f} MB: floor {least:.2f}, agentkit {most:.2f} times")


if __name__ == "__main__":
    if len(sys.argv) == 4:
        print(asyncio.run(measured(*sys.argv[1:])))
    else:
        main(sys.argv[1:] or ["rest", "large"])
