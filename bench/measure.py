"""One sample: runs jobs of one column in this process, and prints what each took.

    python bench/measure.py COLUMN DIALECT BASE_URL JOB...

It prints a JSON object of the CPU seconds (user and system) of each job, the best of a few times.
With `--once`, each job runs once and nothing is printed; so `instructions.py` counts them. Of
jobs joined by a comma, each is prepared and the last is run.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import subprocess
import sys
import time

from answers import Dialect
from worker import Worker, run

WARM_UP = "text-50"
TIMES = 3
SECONDS = 20
"""A job that has taken longer in all is not run again."""


def worker_of(column: str, base_url: str, dialect: Dialect) -> Worker:
    """Import a column's libraries only when it is asked for."""
    if column == "floor":
        from floor import Floor

        return Floor(base_url, dialect)
    from contender import Run, Streamed

    return (Run if column == "run" else Streamed)(base_url, dialect)


async def best(worker: Worker, job: str) -> float:
    """Return the CPU seconds of the best time."""
    spent: list[float] = []
    began = time.monotonic()
    while len(spent) < TIMES and time.monotonic() - began < SECONDS:
        await worker.prepare(job)
        gc.collect()
        before = time.process_time()
        await run(worker, job)
        spent.append(time.process_time() - before)
    return min(spent)


async def main(column: str, dialect: Dialect, base_url: str, jobs: list[str]) -> None:
    once = jobs[0] == "--once"
    worker = worker_of(column, base_url, dialect)
    try:
        await worker.prepare(WARM_UP)
        await run(worker, WARM_UP)
        if once:
            gc.disable()  # where a collection falls varies
            for joined in jobs[1:]:
                job = ""
                for job in joined.split(","):
                    await worker.prepare(job)
                await run(worker, job)
            os._exit(0)  # what happens at the end of a process is not counted
        print(json.dumps({job: await best(worker, job) for job in jobs}))
    finally:
        await worker.close()


def sample(column: str, dialect: Dialect, base_url: str, jobs: list[str]) -> dict[str, float]:
    """Take one sample in a new process: the CPU seconds of each job.

    Raises:
        CalledProcessError: A job has failed, or has not come to what it should.
    """
    command = [sys.executable, __file__, column, dialect, base_url, *jobs]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    spent: dict[str, float] = json.loads(done.stdout)
    return spent


if __name__ == "__main__":
    asyncio.run(
        main(
            sys.argv[1],
            "anthropic" if sys.argv[2] == "anthropic" else "openai",
            sys.argv[3],
            sys.argv[4:],
        )
    )
