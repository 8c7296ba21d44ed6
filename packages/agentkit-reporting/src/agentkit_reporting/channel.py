"""agentkit_reporting.channel: the events of a run, received by a task: an SSE stream, a websocket.

    channel = ChannelReporter()
    session.subscribe(channel)
    ...
    async for envelope in channel:        # in the task that sends
        await send(envelope)

It works on asyncio and trio, and the run may be on another thread.
"""

from __future__ import annotations

from collections import deque
from threading import Condition, get_ident
from typing import Any, Final, Self

import anyio
import anyio.lowlevel

from agentkit_core.settings import member_of, number_of
from agentkit_loop.events import Envelope
from agentkit_reporting._background import QueueOverflow
from agentkit_reporting._closable import Closable

__all__ = ["ChannelReporter"]

_CAPACITY: Final = 10_000


class ChannelReporter(Closable):
    """Passes events to a task, which iterates over the channel.

    It may be made on any thread; until a task has begun to receive, the thread that made it counts
    as the receiver's. One task receives; what it gets from a channel is in order, and complete
    unless `dropped` says otherwise.
    """

    __slots__ = (
        "__weakref__",
        "_capacity",
        "_changed",
        "_closed",
        "_home",
        "_overflow",
        "_queue",
        "_waiting",
        "dropped",
    )

    def __init__(
        self, *, capacity: int = _CAPACITY, overflow: QueueOverflow = QueueOverflow.DROP_OLDEST
    ) -> None:
        """Open a channel.

        Args:
            capacity: How many events wait in it, at least 1.
            overflow: What happens to an event if it is full. `block` lets a run on another thread
                wait. A run on the receiver's own thread cannot wait for it; there the new event is
                dropped.
        """
        self._capacity = int(number_of(capacity, "capacity", whole=True, least=1))
        self._overflow = member_of(QueueOverflow, overflow, "overflow")
        self._queue: deque[Envelope] = deque()
        self._changed = Condition()
        self._home = get_ident()
        self._waiting: tuple[anyio.Event, Any] | None = None
        """What the receiver waits for, and its event loop, or its token in trio."""
        self._closed = False
        self.dropped = 0
        """The number of events that were dropped because the channel was full."""

    def __call__(self, envelope: Envelope) -> None:
        """Put an event into the channel; after `close` it is ignored."""
        with self._changed:
            if self._make_room():
                self._queue.append(envelope)
                self._wake()

    def close(self) -> None:
        """End the channel: the receiver gets what is in it, and then its iteration ends.

        A receiver that leaves early closes it as well, so that nothing is kept for it.
        """
        with self._changed:
            self._closed = True
            self._wake()
            self._changed.notify_all()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Envelope:
        """Wait for the next event and take it out of the channel."""
        await anyio.lowlevel.checkpoint()  # a full channel must not keep other tasks waiting
        while True:
            with self._changed:
                self._home = get_ident()
                if self._queue:
                    envelope = self._queue.popleft()
                    self._changed.notify_all()
                    return envelope
                if self._closed:
                    raise StopAsyncIteration
                event = anyio.Event()
                self._waiting = event, anyio.lowlevel.current_token().native_token
            try:
                await event.wait()
            finally:  # if it was cancelled, its event loop may be gone when the next event comes
                self._waiting = None

    def _make_room(self) -> bool:
        """Make room according to `overflow`; return whether the new event is to be kept."""
        if self._closed:
            return False
        if len(self._queue) < self._capacity:
            return True
        if self._overflow is QueueOverflow.DROP_OLDEST:
            self._queue.popleft()
            self.dropped += 1
            return True
        if self._overflow is QueueOverflow.BLOCK and get_ident() != self._home:
            self._changed.wait_for(lambda: len(self._queue) < self._capacity or self._closed)
            return not self._closed
        self.dropped += 1
        return False

    def _wake(self) -> None:
        """Wake the receiver, from any thread."""
        waiting, self._waiting = self._waiting, None
        if waiting is None:
            return
        event, loop = waiting
        if get_ident() == self._home:
            event.set()
        elif hasattr(loop, "run_sync_soon"):
            loop.run_sync_soon(event.set)
        else:
            loop.call_soon_threadsafe(event.set)
