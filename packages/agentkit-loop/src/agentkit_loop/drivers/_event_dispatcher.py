"""Dispatches each event to all reporters, in order, and isolates those that fail."""

from __future__ import annotations

import inspect
from _thread import allocate_lock  # `threading` is slow to import, and some platforms lack it
from collections.abc import Callable, Iterable
from typing import Any, Final

from agentkit_core import SessionId, TurnId
from agentkit_loop._errors import ReporterFailed
from agentkit_loop._log import logger
from agentkit_loop.events import Envelope, Event, RunSuspended
from agentkit_loop.ports import Reporter
from agentkit_tools_core.sync import NeedsEventLoop, require_no_awaitable


def require_reporter(reporter: Reporter) -> None:
    """Reject a reporter that would never see an event.

    Raises:
        TypeError: It cannot be called, or it is an async function or an object with an async
            `__call__`, whose coroutine would never be awaited.
    """
    if not callable(reporter):
        raise TypeError(
            f"{reporter!r} is not a valid reporter: it cannot be called; "
            f"use a function that takes an envelope"
        )
    if any(map(inspect.iscoroutinefunction, (reporter, type(reporter).__call__))):
        raise TypeError(
            f"{reporter!r} is not a valid reporter: it is async, and reporters are called without "
            f"await; use a plain function, which may put the envelope on a queue"
        )


def require_reporters(reporters: Iterable[Reporter]) -> tuple[Reporter, ...]:
    """Return the reporters as a tuple if all are valid; see `require_reporter`."""
    checked = tuple(reporters)
    for reporter in checked:
        require_reporter(reporter)
    return checked


_SUBSCRIBING: Final = allocate_lock()
"""One for all sessions: it is held for the change of a tuple only."""


class EventDispatcher:
    """Puts events into envelopes and calls the reporters with them.

    A reporter may act on the session and so cause further events; those are dispatched when all
    reporters have seen the present one.

    Args:
        session_id: Goes into the envelopes.
        now_ms: Returns the time in milliseconds since the Unix epoch.
        reporters: Called in this order; `require_reporter` has accepted them.
        seq: The sequence number of the last envelope, for a session that goes on; else 0.

    Attributes:
        seq: The sequence number of the last envelope.
        failures: How often reporters have failed, all reporters together.
        stopped_by: Why a reporter wants the turn to stop, until that has been raised; else None.
    """

    __slots__ = (
        "_at",
        "_dispatching",
        "_failed",
        "_left_at",
        "_now_ms",
        "_reporters",
        "_session_id",
        "_waiting",
        "failures",
        "seq",
        "stopped_by",
    )

    def __init__(
        self,
        session_id: SessionId,
        now_ms: Callable[[], int],
        reporters: Iterable[Reporter],
        *,
        seq: int = 0,
    ) -> None:
        self._session_id = session_id
        self._now_ms = now_ms
        self._reporters = tuple(reporters)
        self.seq = seq
        self._at = 0
        self._left_at = seq
        self._dispatching = False
        self._waiting: list[Envelope] = []
        self.failures = 0
        # By identity: a reporter need not be hashable, nor differ from another.
        self._failed: dict[int, Reporter] = {}
        self.stopped_by: ReporterFailed | None = None

    def subscribe(self, reporter: Reporter) -> Callable[[], None]:
        """Add a reporter for all events from now on.

        Returns:
            A function that removes it; calling that again does nothing.

        Raises:
            TypeError: It is not a valid reporter; see `require_reporter`.
        """
        require_reporter(reporter)
        is_subscribed = True
        with _SUBSCRIBING:
            self._reporters = (*self._reporters, reporter)

        def unsubscribe() -> None:
            nonlocal is_subscribed
            with _SUBSCRIBING:
                # A reporter that was added twice stays once.
                if is_subscribed:
                    is_subscribed = False
                    at = next(at for at, other in enumerate(self._reporters) if other is reporter)
                    self._reporters = self._reporters[:at] + self._reporters[at + 1 :]

        return unsubscribe

    def dispatch(self, event: Event, turn_id: TurnId | None, number: int | None = None) -> None:
        """Dispatch an event; never raises what a reporter raises.

        Args:
            event: The event.
            turn_id: The turn that it belongs to; None for one of the session.
            number: Its number in the session, from 1; None for an event that leaves no trace in
                the state.
        """
        self.seq += 1
        now = self._now_ms()
        if now > self._at:
            self._at = now
        envelope = Envelope(
            seq=self.seq,
            session_id=self._session_id,
            at=self._at,
            event=event,
            turn_id=turn_id,
            number=number,
        )
        if self._dispatching:
            self._waiting.append(envelope)
            return
        self._dispatching = True
        try:
            if self._waiting:  # a Ctrl-C came before they were dispatched
                self._waiting.append(envelope)
            else:
                self._call_reporters(envelope)
            while self._waiting:
                self._call_reporters(self._waiting.pop(0))
        finally:
            self._dispatching = False

    def leave(self, turn_id: TurnId | None, *, is_closed: bool) -> None:
        """Dispatch that the session is left; once, and only if something was dispatched before.

        Args:
            turn_id: The turn that runs; None if none does.
            is_closed: Whether the session was closed, which was dispatched then.
        """
        if self.seq > self._left_at and not is_closed:
            self.dispatch(RunSuspended(), turn_id)
            self._left_at = self.seq

    def _call_reporters(self, envelope: Envelope) -> None:
        for reporter in self._reporters:
            call: Any = reporter  # one that returns an awaitable breaks its type
            try:
                if (value := call(envelope)) is not None:
                    require_no_awaitable(value, f"the reporter {reporter!r}")
            except NeedsEventLoop as error:
                self.stopped_by = self.stopped_by or ReporterFailed(str(error))
            except ReporterFailed as failure:
                self.stopped_by = self.stopped_by or failure
            except Exception as error:
                self._log_failure(reporter, error)

    def _log_failure(self, reporter: Reporter, error: Exception) -> None:
        self.failures += 1
        if id(reporter) in self._failed:
            return
        self._failed[id(reporter)] = reporter
        logger().error(
            "reporter %r failed; it still gets all events, and its further failures are counted "
            "but not logged",
            reporter,
            exc_info=error,
        )
