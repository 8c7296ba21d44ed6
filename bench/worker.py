"""One sample: does a job of some size in this process, checks it, prints the CPU time it took."""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import time

from model_server import SHORT, text_length


class Worker:
    """Whoever is measured, against a server at a base URL."""

    def __init__(self, base_url: str) -> None:
        self.base_url = base_url

    @staticmethod
    def messages(count: int) -> list[str]:
        """The texts of a history of `count` messages of 1 KB, and a last short one."""
        return ["lorem ipsum " * 85 + str(n % 10) for n in range(count)] + ["hi"]

    async def turn(self, model: str, history: int) -> tuple[int, int, int]:
        """Do one turn.

        Returns:
            Characters of the last text, characters that `write` was given, tool runs.
        """
        raise NotImplementedError

    async def close(self) -> None:
        raise NotImplementedError


def expected(model: str) -> tuple[int, int, int]:
    kind, one, *two = model.split("-")
    match kind:
        case "text":
            return text_length(int(one)), 0, 0
        case "tool":
            return text_length(SHORT), text_length(int(one) - 2), 1
        case _:
            return text_length(SHORT), 0, int(one) * int(two[0])


async def measure(worker: Worker, model: str, history: int) -> float:
    best = float("inf")
    for go in range(4):
        gc.collect()
        before = time.process_time()
        got = await worker.turn(model, history)
        spent = time.process_time() - before
        if got != expected(model):
            sys.exit(f"{model}: {got} came out, not {expected(model)}")
        if go:  # the first one warms up
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
