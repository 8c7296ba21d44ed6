"""A column of the table: what is measured, the jobs that it can do, and the check of their results.

A job is named `KIND-SIZE`, or `KIND-SIZE-SECOND`:

    text-N, paced-N    one answer in N text deltas
    large-N            one answer in N text deltas of 10.8 KB
    tool-N             one call of `write` whose arguments come in N deltas; then a short answer
    loop-K-P           K rounds of P calls of `add`; then a short answer
    sessions-S-N       S new conversations at once, each with an answer of its own in N text deltas
    cold-H, warm-H     a turn after H messages of 1 KB, the first or a later one
"""

from __future__ import annotations

import asyncio
import sys
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Generic, NamedTuple, TypeVar

from answers import LONG, SHORT, Dialect, mark, text

FILLER = "lorem ipsum " * 85
SHORT_MODEL = f"bench-text-{SHORT}"
TIMEOUT_S = 600
"""Of all columns: opening a thousand connections takes longer than most libraries allow."""
H = TypeVar("H")


class Work(NamedTuple):
    """What a turn came to. Columns that do different work cannot be compared."""

    text: str
    """The last text, whole."""
    deltas: int
    """How many text deltas were handed on one by one; joined, they would cost less."""
    written: int = 0
    """Characters passed to the tool `write`."""
    calls: int = 0
    """Runs of tools."""


class Worker(ABC):
    """One column, with a server at a base URL."""

    def __init__(self, base_url: str, dialect: Dialect) -> None:
        """Make what all conversations share.

        Args:
            base_url: Ends with `/v1`.
            dialect: Which of the protocols the server is to be asked in.
        """
        self.base_url, self.dialect = base_url, dialect

    @abstractmethod
    async def prepare(self, job: str) -> None:
        """Make the new messages before which the next turn goes; this is not measured.

        For a warm job, the first turn after them is run too, unless it was before.
        """

    @abstractmethod
    async def turn(self, model: str, prompt: str) -> Work:
        """Run one turn of a new conversation, on the messages that were prepared."""

    @abstractmethod
    async def go_on(self, model: str, prompt: str) -> Work:
        """Run one more turn of the conversation that was prepared."""

    @abstractmethod
    async def begin(self, model: str) -> object:
        """Run the first turn of a new conversation; return what has to be kept to go on with it."""

    @abstractmethod
    async def close(self) -> None:
        """Let go of what is open."""


class Conversing(Worker, Generic[H]):
    """A column whose conversations are values, histories of type `H`, with nothing beside them."""

    history: H

    def __init__(self, base_url: str, dialect: Dialect) -> None:
        super().__init__(base_url, dialect)
        self.kept: dict[str, H] = {}

    @abstractmethod
    def new_history(self, texts: Sequence[str]) -> H:
        """Make a history of messages by user and assistant in turn."""

    @abstractmethod
    async def converse(self, model: str, prompt: str, history: H) -> tuple[Work, H]:
        """Run one turn after a history, which stays as it is; return the longer one too."""

    async def prepare(self, job: str) -> None:
        self.job, self.history = job, self.new_history(messages(job))
        if job.startswith("warm") and job not in self.kept:
            _, self.kept[job] = await self.converse(SHORT_MODEL, "hi", self.history)

    async def turn(self, model: str, prompt: str) -> Work:
        return (await self.converse(model, prompt, self.history))[0]

    async def go_on(self, model: str, prompt: str) -> Work:
        work, self.kept[self.job] = await self.converse(model, prompt, self.kept[self.job])
        return work

    async def begin(self, model: str) -> object:
        return (await self.converse(model, "hi", self.new_history([])))[1]


def messages(job: str) -> list[str]:
    """Return the texts of the messages of a job, 1 KB each, by user and assistant in turn."""
    kind, size, *_ = job.split("-")
    count = int(size) if kind in ("cold", "warm") else 0
    return [f"{number:06d} {FILLER}" for number in range(count)]


def expected(job: str, session: int = 0) -> Work:
    """Return what a turn of a job has to come to."""
    kind, *numbers = job.split("-")
    size, second = int(numbers[0]), int([*numbers, "0"][1])
    match kind:
        case "text" | "paced":
            return Work(text(size), size)
        case "large":
            return Work(LONG * size, size)
        case "tool":
            return Work(text(SHORT), SHORT, written=len(text(size - 2)), calls=1)
        case "loop":
            return Work(text(SHORT), SHORT, calls=size * second)
        case "sessions":
            return Work(text(second, mark(session)), second)
        case _:
            return Work(text(SHORT), SHORT)


async def run(worker: Worker, job: str) -> list[Work]:
    """Run a job once, after `worker.prepare(job)`; return its turns, in the order of sessions."""
    kind, size, *_ = job.split("-")
    match kind:
        case "sessions":
            prompts = [f"hi, this is session {mark(session)}" for session in range(int(size))]
            turns = [worker.turn(f"bench-{job}", prompt) for prompt in prompts]
            return await asyncio.gather(*turns)
        case "cold":
            return [await worker.turn(SHORT_MODEL, "hi")]
        case "warm":
            return [await worker.go_on(SHORT_MODEL, "hi")]
        case _:
            return [await worker.turn(f"bench-{job}", "hi")]


def check(worker: Worker | None, job: str, works: Sequence[Work]) -> None:
    """Check that a job came to what it should, each of its sessions to its own.

    Raises:
        SystemExit: It did not.
    """
    kind, size, *_ = job.split("-")
    sessions = int(size) if kind == "sessions" else 1
    name = f"{type(worker).__name__}, {job}"
    if len(works) != sessions:
        sys.exit(f"{name}: {len(works)} sessions have ended of {sessions}")
    for session, work in enumerate(works):
        wanted = expected(job, session)
        if work.text != wanted.text:
            come, lack = len(work.text), len(wanted.text)
            problem = f"has a text of {come} characters that is not the {lack} that were sent"
        elif work.deltas < wanted.deltas:
            problem = f"handed on {work.deltas} text deltas of {wanted.deltas}"
        elif (work.written, work.calls) != (wanted.written, wanted.calls):
            problem = (
                f"wrote {work.written} characters in {work.calls} calls, "
                f"not {wanted.written} in {wanted.calls}"
            )
        else:
            continue
        sys.exit(f"{name}, session {session}: {problem}")
