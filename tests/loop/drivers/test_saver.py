"""Saving on an event loop: a save that waits for somebody else ends when it is cancelled."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from agentkit_core import SessionId
from agentkit_loop import Agent
from agentkit_loop.stores import FileStore, SqliteStore, StoreLocked
from agentkit_loop.stores._disk import lock_file
from agentkit_loop.testing import ScriptedModel, say

NAME = SessionId("alice")
KINDS = pytest.mark.parametrize("kind", ["files", "database"])


class Stored:
    """A store in which somebody else can hold the lock of the session."""

    def __init__(self, kind: str, folder: Path, lock_timeout_s: float) -> None:
        self.kind, self.folder = kind, folder
        self.store: FileStore | SqliteStore
        if kind == "files":
            self.store = FileStore(folder, lock_timeout_s=lock_timeout_s)
        else:
            self.store = SqliteStore(folder / "sessions.db", lock_timeout_s=lock_timeout_s)

    @property
    def seq(self) -> int:
        saved = self.store.load_blocking(NAME)
        self.close()
        return 0 if saved is None else saved.seq

    def close(self) -> None:
        """Close the file of the store; the next use opens it again."""
        if isinstance(self.store, SqliteStore):
            self.store.close()

    @contextmanager
    def locked(self) -> Iterator[None]:
        if self.kind == "files":
            with lock_file(self.folder / "id-alice" / "lock", durable=False):
                yield
            return
        connection = sqlite3.connect(self.folder / "sessions.db", isolation_level=None)
        connection.execute("BEGIN IMMEDIATE")
        yield
        connection.execute("ROLLBACK")
        connection.close()

    @asynccontextmanager
    async def session(self, *script: Any) -> AsyncIterator[Any]:
        agent = Agent(model=ScriptedModel(*script))
        try:
            async with agent.session(session_id=NAME, store=self.store) as session:
                yield session
        finally:
            self.close()


@KINDS
@pytest.mark.parametrize("way", ["prompt", "stream"])
async def test_vs11_a_cancelled_session_does_not_wait_for_a_lock_and_writes_nothing(
    kind: str, way: str, tmp_path: Path
) -> None:
    stored = Stored(kind, tmp_path, lock_timeout_s=5)
    async with stored.session(say("first")) as session:
        await session.prompt("go")
    before = stored.seq

    with stored.locked():
        with anyio.move_on_after(0.05) as scope:
            async with stored.session(say("second")) as session:
                if way == "prompt":
                    await session.prompt("more")
                else:
                    async for _ in session.stream("more"):
                        pass
        assert scope.cancelled_caught  # not `StoreLocked`
    await anyio.sleep(0.05)

    assert stored.seq == before


@KINDS
async def test_vs11_the_session_goes_on_once_the_lock_is_free(kind: str, tmp_path: Path) -> None:
    stored = Stored(kind, tmp_path, lock_timeout_s=5)
    async with stored.session(say("first"), say("second"), say("third")) as session:
        await session.prompt("go")
        with stored.locked(), anyio.move_on_after(0.1) as scope:
            await session.prompt("more")
        assert scope.cancelled_caught
        assert (await session.prompt("again")).text in ("second", "third")
        transcript = session.transcript

    async with stored.session(say("never")) as session:
        assert session.transcript == transcript


@KINDS
def test_vs11_the_timeout_of_asyncio_ends_it_too(kind: str, tmp_path: Path) -> None:
    stored = Stored(kind, tmp_path, lock_timeout_s=5)

    async def prompt() -> None:
        async with stored.session(say("second")) as session:
            await session.prompt("more")

    async def main() -> None:
        async with stored.session(say("first")) as session:
            await session.prompt("go")
        with stored.locked(), pytest.raises(TimeoutError):
            await asyncio.wait_for(prompt(), 0.05)

    asyncio.run(main())


@KINDS
async def test_vs11_who_is_not_cancelled_gets_a_typed_error(kind: str, tmp_path: Path) -> None:
    stored = Stored(kind, tmp_path, lock_timeout_s=0.05)
    async with stored.session(say("first")) as session:
        await session.prompt("go")

    with stored.locked(), pytest.raises(StoreLocked):
        async with stored.session(say("second")) as session:
            await session.prompt("more")
