"""A column of the table: what is measured, the jobs that it can do, and the check of their results.

A job is named `KIND-SIZE`, or `KIND-SIZE-SECOND`:

    text-N, paced-N    one answer in N text deltas
    large-N            one answer in N text deltas of 10.8 KB
    tool-N             one call of `write` whose arguments come in N deltas; then a short answer
    loop-K-P           K rounds of P calls of `add`; then a short answer
    streams-S-N        S answers at once, of N text deltas each
    cold-H, warm-H     a turn after H messages of 1 KB, the first or a later one
"""

from __future__ import annotations

import asyncio
import sys
from abc import ABC, abstractmethod
from typing import NamedTuple

from answers import LONG, SHORT, Dialect, text_length

FILLER = "lorem ipsum " * 85


class Work(NamedTuple):
    """What a job came to. Columns that do different work cannot be compared."""

    characters: int
    """Of the last text."""
    written: int = 0
    """Characters passed to the tool `write`."""
    calls: int = 0
    """Runs of tools."""


class Worker(ABC):
    """One column, with a server at a base URL."""

    def __init__(self, base_url: str, dialect: Dialect) -> None:
        self.base_url, self.dialect = base_url, dialect

    @abstractmethod
    async def prepare(self, job: str) -> None:
        """Make the new messages before which the next turn goes; this is not measured.

        For a warm job, the first turn after them is run too, unless it was before.
        """

    @abstractmethod
    async def turn(self, model: str) -> Work:
        """Run one turn of a new conversation, on the messages that were prepared."""

    @abstractmethod
    async def go_on(self, model: str) -> Work:
        """Run one more turn of the conversation that was prepared."""

    @abstractmethod
    async def close(self) -> None:
        """Let go of what is open."""


def messages(job: str) -> list[str]:
    """Return the texts of the messages of a job, 1 KB each, by user and assistant in turn."""
    kind, size, *_ = job.split("-")
    count = int(size) if kind in ("cold", "warm") else 0
    return [f"{number:06d} {FILLER}" for number in range(count)]


def expected(job: str) -> Work:
    kind, *numbers = job.split("-")
    size, second = int(numbers[0]), int([*numbers, "0"][1])
    match kind:
        case "text" | "paced":
            return Work(text_length(size))
        case "large":
            return Work(len(LONG) * size)
        case "tool":
            return Work(text_length(SHORT), written=text_length(size - 2), calls=1)
        case "loop":
            return Work(text_length(SHORT), calls=size * second)
        case "streams":
            return Work(text_length(second))
        case _:
            return Work(text_length(SHORT))


async def run(worker: Worker, job: str) -> None:
    """Run a job once, after `worker.prepare(job)`.

    Raises:
        SystemExit: The worker has not done the work of the job.
    """
    kind, size, *_ = job.split("-")
    match kind:
        case "streams":
            turns = [worker.turn(f"bench-{job}") for _ in range(int(size))]
            works = await asyncio.gather(*turns)
        case "cold":
            works = [await worker.turn(f"bench-text-{SHORT}")]
        case "warm":
            works = [await worker.go_on(f"bench-text-{SHORT}")]
        case _:
            works = [await worker.turn(f"bench-{job}")]
    for work in works:
        if work != expected(job):
            sys.exit(f"{type(worker).__name__}, {job}: came to {work}, expected {expected(job)}")
