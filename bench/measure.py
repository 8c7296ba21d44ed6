"""One sample: runs jobs of one column in this process, and prints what each took.

    python bench/measure.py COLUMN DIALECT BASE_URL JOB...

It prints a JSON object: for each job, the CPU seconds (user and system) of its best time, and on
Linux the highest resident size so far, in bytes above that of the process before the first job.
With `--once`, each job runs once and nothing is printed; so `instructions.py` counts them. Of
jobs joined by a comma, each is prepared and the last is run.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import sys
import time
from pathlib import Path
from typing import NamedTuple

import environments
from answers import Dialect
from columns import COLUMNS, Column
from units import MANY_SESSIONS
from worker import Worker, check, run

WARM_UP = "text-50"
TIMES = 3
SECONDS = 5
"""A job that has taken longer in all is not run again."""
STATUS = Path("/proc/self/status")


class Taken(NamedTuple):
    """What a job has taken.

    Attributes:
        cpu_s: CPU seconds, user and system, of the best time.
        peak_bytes: By how much the process has been larger than before the first job, at most;
            None where the system does not say.
    """

    cpu_s: float
    peak_bytes: int | None = None


def resident(field: str) -> int:
    """Return a size of this process in bytes, from Linux: `VmRSS` now, `VmHWM` at most."""
    lines = STATUS.read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field)) * 1024


def forget_peak() -> int:
    """Let the highest resident size begin anew; return the size now, in bytes."""
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    return resident("VmRSS")


async def take(worker: Worker, job: str, idle: int | None) -> Taken:
    """Run a job a few times; check each. The size of the idle process is in bytes, if known."""
    spent: list[float] = []
    began = time.monotonic()
    kind, size, *_ = job.split("-")
    # The first time of many sessions opens their connections, which belongs to the work.
    times = 1 if kind == "sessions" and int(size) >= MANY_SESSIONS else TIMES
    while len(spent) < times and time.monotonic() - began < SECONDS:
        await worker.prepare(job)
        gc.collect()
        before = time.process_time()
        works = await run(worker, job)
        spent.append(time.process_time() - before)
        check(worker, job, works)
    return Taken(min(spent), None if idle is None else resident("VmHWM") - idle)


async def main(column: str, dialect: Dialect, base_url: str, jobs: list[str]) -> None:
    once = jobs[0] == "--once"
    worker = COLUMNS[column].new_worker(base_url, dialect)
    try:
        await worker.prepare(WARM_UP)
        check(worker, WARM_UP, await run(worker, WARM_UP))
        if once:
            gc.disable()  # where a collection falls varies
            for joined in jobs[1:]:
                job = ""
                for job in joined.split(","):
                    await worker.prepare(job)
                check(worker, job, await run(worker, job))
            os._exit(0)  # what happens at the end of a process is not counted
        idle = forget_peak() if STATUS.exists() else None
        print(json.dumps({job: (await take(worker, job, idle))._asdict() for job in jobs}))
    finally:
        await worker.close()


def sample(column: Column, dialect: Dialect, base_url: str, jobs: list[str]) -> dict[str, Taken]:
    """Take one sample in a new process: what each job takes.

    Raises:
        Unavailable: The column cannot be installed, or a job has failed, or has not come to what
            it should.
    """
    printed = environments.run(column, __file__, column.name, dialect, base_url, *jobs)
    found = json.loads(printed.splitlines()[-1])
    return {job: Taken(**taken) for job, taken in found.items()}


if __name__ == "__main__":
    asyncio.run(
        main(
            sys.argv[1],
            "anthropic" if sys.argv[2] == "anthropic" else "openai",
            sys.argv[3],
            sys.argv[4:],
        )
    )
