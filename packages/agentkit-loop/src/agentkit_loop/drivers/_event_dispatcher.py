"""Telling: each event once to each reporter, in order, whatever the reporters do."""

from __future__ import annotations

import inspect
from _thread import allocate_lock  # `threading` takes long to load, and some hosts have none
from collections.abc import Callable, Iterable

from agentkit_core import SessionId, TurnId
from agentkit_loop._errors import ReporterFailed
from agentkit_loop.events import Envelope, Event
from agentkit_loop.ports import Reporter


def require_reporter(reporter: Reporter) -> None:
    """Refuse what would be told nothing: the coroutine of an async function is never run.

    Raises:
        TypeError: It cannot be called, or is an async function or an object with an async
            `__call__`.
    """
    if not callable(reporter):
        raise TypeError(f"{reporter!r} is no reporter: it cannot be called with an envelope")
    if any(map(inspect.iscoroutinefunction, (reporter, type(reporter).__call__))):
        raise TypeError(
            f"{reporter!r} is an async function, and a reporter is called without await: "
            f"make it a plain one that hands the envelope on, to a queue for instance"
        )


class Teller:
    """Puts events into envelopes and hands them to reporters.

    A reporter that does something to the session makes further events; they are told when all
    have seen the present one.

    Args:
        session_id: For the envelopes.
        now_ms: The clock.
        reporters: Told in this order; those that `require_reporter` lets by.
        seq: The number of the last envelope there was, for a session that goes on.
    """

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
        self._changing = allocate_lock()
        self.seq = seq
        """The number of the last envelope."""
        self._at = 0
        self._telling = False
        self._waiting: list[Envelope] = []
        self.failures = 0
        """How often reporters have failed, all of them together."""
        # Compared by identity: a reporter need not be hashable, nor differ from another.
        self._failed: list[Reporter] = []
        self.stopped_by: ReporterFailed | None = None
        """Why the turn has to stop, until it has been raised."""

    def subscribe(self, reporter: Reporter) -> Callable[[], None]:
        """Add a reporter for what is told from now on; returns how to remove it.

        Raises:
            TypeError: It is none; see `require_reporter`.
        """
        require_reporter(reporter)
        told = True
        with self._changing:
            self._reporters = (*self._reporters, reporter)

        def unsubscribe() -> None:
            nonlocal told
            with self._changing:
                # One that was given twice goes on being told once.
                if told:
                    told = False
                    at = next(at for at, one in enumerate(self._reporters) if one is reporter)
                    self._reporters = self._reporters[:at] + self._reporters[at + 1 :]

        return unsubscribe

    def tell(self, event: Event, turn_id: TurnId | None, number: int | None = None) -> None:
        """Tell an event; never raises."""
        self.seq += 1
        now = self._now_ms()
        if now > self._at:
            self._at = now
        envelope = Envelope(self.seq, self._session_id, self._at, event, turn_id, number)
        if self._telling:
            self._waiting.append(envelope)
            return
        self._telling = True
        try:
            if self._waiting:  # a Ctrl-C came before they were told
                self._waiting.append(envelope)
            else:
                self._hand_out(envelope)
            while self._waiting:
                self._hand_out(self._waiting.pop(0))
        finally:
            self._telling = False

    def _hand_out(self, envelope: Envelope) -> None:
        for reporter in self._reporters:
            try:
                reporter(envelope)
            except ReporterFailed as failure:
                self.stopped_by = self.stopped_by or failure
            except Exception as error:
                self._note(reporter, error)

    def _note(self, reporter: Reporter, error: Exception) -> None:
        self.failures += 1
        if any(one is reporter for one in self._failed):
            return
        self._failed.append(reporter)
        import logging  # takes long to load, and a run without a fault needs none

        logging.getLogger("agentkit_loop").error(
            "reporter %r failed and is told on; its further failures are only counted",
            reporter,
            exc_info=error,
        )
