"""Worker threads for sync tools, on an event loop.

Nothing can stop a thread. A call that is given up, at its time limit or because it was cancelled,
leaves its thread behind, and that must hold up nothing else. So the threads are daemons: neither
the event loop nor the process waits for them when it ends. (Those of anyio are none on asyncio.)
And a thread that was left behind no longer counts among those that may run at the same time.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from contextvars import Context, copy_context
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, Final, Generic, TypeVar

import anyio
from anyio.lowlevel import RunVar, current_token
from anyio.to_thread import current_default_thread_limiter

T = TypeVar("T")

_IDLE_S: Final = 10.0
"""How long a thread waits for another call before it ends."""


async def run_in_tool_thread(
    function: Callable[[], T], *, is_limited: bool, on_given_up: Callable[[], None]
) -> T:
    """Run a function in a thread, in a copy of the context variables, and return its result.

    If the task is cancelled, the thread goes on, and its result or exception is dropped.

    Args:
        function: What to run.
        is_limited: Whether it waits until one of the threads is free that may run at the same
            time. There are as many as anyio allows for its own.
        on_given_up: Called, on the event loop, if the thread is left behind.
    """
    limiter = _limiter() if is_limited else None
    call = _Call(function, _context_of_thread())
    if limiter is not None:
        await limiter.acquire_on_behalf_of(call)
    try:
        _start(call)
        await call.ended.wait()
    except anyio.get_cancelled_exc_class():
        call.is_given_up = True
        if not call.has_ended:
            on_given_up()
        raise
    finally:
        if limiter is not None:
            limiter.release_on_behalf_of(call)
    return call.take_result()


class _Call(Generic[T]):
    """One call of a function in a thread, for the task that waits for it.

    Attributes:
        ended: Set on the event loop when the function has returned or raised.
        has_ended: Whether it has; set in the thread.
        is_given_up: Whether nobody waits any more.
    """

    __slots__ = ("_context", "_error", "_function", "_result", "_soon", "ended", "has_ended",
                 "is_given_up")  # fmt: skip

    def __init__(self, function: Callable[[], T], context: Context) -> None:
        self.ended = anyio.Event()
        self.has_ended = False
        self.is_given_up = False
        self._function = function
        self._context = context
        self._soon = _scheduler_of_loop()
        self._result: T
        self._error: BaseException | None = None

    def run(self) -> None:
        """Run the function; called in the thread."""
        if self.is_given_up:
            return
        try:
            self._result = self._context.run(self._function)
        except BaseException as error:  # the task raises it
            self._error = error
        self.has_ended = True
        if not self.is_given_up:
            with suppress(RuntimeError):  # the event loop has ended meanwhile
                self._soon(self.ended.set)

    def take_result(self) -> T:
        """Return what the function returned, or raise what it raised."""
        error, self._error = self._error, None
        if error is None:
            return self._result
        try:
            raise error
        finally:
            del error  # the traceback refers to this frame


class _Worker:
    """A thread that runs one call after another, and ends when there is none for some time."""

    __slots__ = ("_calls",)

    def __init__(self) -> None:
        self._calls: SimpleQueue[_Call[Any]] = SimpleQueue()
        Thread(target=self._work, name="agentkit-tool", daemon=True).start()

    def give(self, call: _Call[Any]) -> None:
        """Hand over the next call; the worker is idle."""
        self._calls.put(call)

    def _work(self) -> None:
        while True:
            try:
                call = self._calls.get(timeout=_IDLE_S)
            except Empty:
                try:
                    _idle.remove(self)
                except ValueError:
                    continue  # somebody has just taken it, to hand over a call
                return
            call.run()
            del call
            _idle.append(self)


_idle: Final[list[_Worker]] = []
"""The threads without a call. Operations on a list are atomic."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_idle.clear)  # a child process has none of the threads

_limiter_of_loop: Final[RunVar[anyio.CapacityLimiter]] = RunVar("agentkit_tool_threads")


def _start(call: _Call[Any]) -> None:
    try:
        worker = _idle.pop()
    except IndexError:
        worker = _Worker()
    worker.give(call)


def _limiter() -> anyio.CapacityLimiter:
    # Not anyio's own: tools that hang would keep stores, and the host's code, from their threads.
    limiter = _limiter_of_loop.get(None)
    if limiter is None:
        limiter = anyio.CapacityLimiter(current_default_thread_limiter().total_tokens)
        _limiter_of_loop.set(limiter)
    return limiter


def _context_of_thread() -> Context:
    """Copy the context variables, without the one that says that an event loop runs here."""
    context = copy_context()
    sniffio: Any = sys.modules.get("sniffio")
    if sniffio is not None:
        context.run(sniffio.current_async_library_cvar.set, None)
    return context


def _scheduler_of_loop() -> Callable[[Callable[[], None]], object]:
    """Return what schedules a callback on the running event loop, from any thread."""
    loop: Any = current_token().native_token  # an event loop of asyncio, or a token of trio
    schedule: Callable[[Callable[[], None]], object]
    schedule = loop.run_sync_soon if hasattr(loop, "run_sync_soon") else loop.call_soon_threadsafe
    return schedule
