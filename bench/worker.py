"""One sample: runs jobs in this process, checks their results, and prints their CPU times."""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import time

from model_server import SHORT, text_length


class Worker:
    """What is measured, with a server at a base URL."""

    def __init__(self, base_url: str) -> None:
        self.base_url = base_url

    @staticmethod
    def messages(count: int) -> list[str]:
        """Return the texts of `count` messages of 1 KB each, and of a short last one."""
        return ["lorem ipsum " * 85 + str(n % 10) for n in range(count)] + ["hi"]

    async def turn(self, model: str, history: int) -> tuple[int, int, int]:
        """Run one turn.

        Returns:
            Characters of the last text, characters passed to `write`, number of tool runs.
        """
        raise NotImplementedError

    async def close(self) -> None:
        raise NotImplementedError


def expected(model: str) -> tuple[int, int, int]:
    kind, count, *parallel = model.split("-")
    match kind:
        case "text":
            return text_length(int(count)), 0, 0
        case "tool":
            return text_length(SHORT), text_length(int(count) - 2), 1
        case _:
            return text_length(SHORT), 0, int(count) * int(parallel[0])


async def measure(worker: Worker, model: str, history: int) -> float:
    best = float("inf")
    for attempt in range(4):
        gc.collect()
        before = time.process_time()
        result = await worker.turn(model, history)
        spent = time.process_time() - before
        if result != expected(model):
            sys.exit(f"{model}: the result is {result}, expected {expected(model)}")
        if attempt:  # the first attempt warms up
            best = min(best, spent)
    return best


def run(cls: type[Worker]) -> None:
    base_url, *jobs = sys.argv[1:]

    async def main() -> dict[str, float]:
        worker = cls(base_url)
        try:
            spent = {}
            for job in jobs:
                model, _, history = job.partition("+")
                spent[job] = await measure(worker, model, int(history or 0))
            return spent
        finally:
            await worker.close()

    print(json.dumps(asyncio.run(main())))
