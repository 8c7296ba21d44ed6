"""The conversation of `crashing` in processes of their own, which are killed.

`python -m support.killed` reads one `Order` per line and answers each with an `Outcome`. It loads
everything once and forks a child for each order, which is much faster than a new interpreter.

What outlives a child is in one folder:

    store     the session
    effects   a line for each thing that a tool did
    reported  a line for each envelope
"""

from __future__ import annotations

import os
import signal
import sys
import time
import traceback
from pathlib import Path
from typing import NoReturn

import anyio
import msgspec
from msgspec import Struct

from agentkit_core import from_json, to_json
from agentkit_loop.drivers import blocking, concurrent  # noqa: F401  (loaded once for all)
from agentkit_loop.events import Envelope
from agentkit_loop.stores import FileStore, SqliteStore
from support.crashing import NAME, AnyStore, Dying, agent_in, live, live_blocking


class Order(Struct, frozen=True):
    """Run one process.

    Attributes:
        folder: Where its store is, and what it leaves.
        store: `file` or `sqlite`.
        driver: `blocking`, `asyncio` or `trio`.
        kill_at: At which of its points it is killed, from 1; 0 means never.
        later_s: How many seconds after that point.
    """

    folder: str
    store: str
    driver: str
    kill_at: int = 0
    later_s: float = 0.0


class Outcome(Struct, frozen=True):
    """What became of a process.

    Attributes:
        killed: Whether it was killed before it came to its end.
        points: How many of its points were seen.
        error: Its traceback if it failed; empty if it was killed or came to its end.
    """

    killed: bool
    points: int
    error: str = ""


class OnDisk:
    """A world in files that reports each point to the process that may kill this one."""

    def __init__(self, folder: Path, watcher: int) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        self._effects = os.open(folder / "effects", flags)
        self._reported = os.open(folder / "reported", flags)
        self._watcher = watcher

    def point(self, where: str) -> None:
        os.write(self._watcher, b".")

    def act(self, call_id: str) -> None:
        os.write(self._effects, f"{call_id}\n".encode())
        os.fsync(self._effects)

    def report(self, envelope: Envelope) -> None:
        self.point("before")
        # A line that a kill cuts short must not spoil the next one.
        os.write(self._reported, b"\n" + to_json(envelope) + b"\n")
        self.point("after")


def open_store(kind: str, folder: Path) -> AnyStore:
    return FileStore(folder / "store") if kind == "file" else SqliteStore(folder / "store")


def effects_in(folder: Path) -> list[str]:
    path = folder / "effects"
    return path.read_text().split() if path.exists() else []


def envelopes_in(folder: Path) -> list[Envelope]:
    path = folder / "reported"
    lines = path.read_bytes().splitlines() if path.exists() else []
    # An envelope whose line was cut short by a kill counts as not delivered.
    return [from_json(line, Envelope) for line in lines if _is_json(line)]


def _is_json(line: bytes) -> bool:
    try:
        msgspec.json.decode(line)
    except msgspec.DecodeError:
        return False
    return True


async def _nothing() -> None:
    pass


def main() -> None:
    """Carry out orders until there are no more."""
    for backend in ("asyncio", "trio"):
        anyio.run(_nothing, backend=backend)  # loads what the children would load each
    for line in sys.stdin:
        outcome = _carry_out(msgspec.json.decode(line, type=Order))
        print(msgspec.json.encode(outcome).decode(), flush=True)


def _carry_out(order: Order) -> Outcome:
    watched, watcher = os.pipe()
    failed, failing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(watched)
        _live(order, watcher, failing)
    os.close(watcher)
    os.close(failing)
    points = 0
    while points < order.kill_at or not order.kill_at:
        seen = os.read(watched, order.kill_at - points if order.kill_at else 4096)
        if not seen:
            break
        points += len(seen)
    else:
        time.sleep(order.later_s)
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    os.close(watched)
    with os.fdopen(failed, encoding="utf-8") as errors:
        error = errors.read()
    return Outcome(os.WIFSIGNALED(status), points, error)


def _live(order: Order, watcher: int, failing: int) -> NoReturn:
    status = 1
    try:
        folder = Path(order.folder)
        world = OnDisk(folder, watcher)
        store = Dying(open_store(order.store, folder), world)
        if order.driver == "blocking":
            with agent_in(world).session_blocking(session_id=NAME, store=store) as session:
                live_blocking(session)
        else:
            anyio.run(_live_async, world, store, backend=order.driver)
        status = 0
    except BaseException:
        os.write(failing, traceback.format_exc().encode()[-4000:])
    finally:
        os._exit(status)


async def _live_async(world: OnDisk, store: Dying) -> None:
    async with agent_in(world, waits=True).session(session_id=NAME, store=store) as session:
        await live(session)


if __name__ == "__main__":
    main()
