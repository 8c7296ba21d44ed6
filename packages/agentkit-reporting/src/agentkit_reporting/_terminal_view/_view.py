"""All sessions of a view on one screen, and the line about their work below them."""

from __future__ import annotations

import time
from typing import Final

from rich.text import Text

from agentkit_core import ApprovalRequest, SessionId, Usage
from agentkit_loop.events import (
    ApprovalRequired,
    ContentDelta,
    Envelope,
    ModelCallFinished,
    RunFinished,
    RunStarted,
    RunSuspended,
    ToolProgress,
    TurnFinished,
)
from agentkit_reporting._format import brief, brief_cost
from agentkit_reporting._open_requests import OpenRequests
from agentkit_reporting._repeats import RepeatFilter
from agentkit_reporting._terminal_view._calls import show_request
from agentkit_reporting._terminal_view._screen import Column, Screen
from agentkit_reporting._terminal_view._session import SessionView

_SPINNER: Final = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_AT_ONCE: Final = frozenset({ApprovalRequired, RunFinished, RunSuspended, TurnFinished})
"""What a person must see though a frame was drawn just before."""
_OFTEN: Final = frozenset({ContentDelta, ToolProgress})
_MOST_DEPTH: Final = 8
_NAME: Final = 60
_REST: Final = 10
"""How many times as long as it took to draw a frame nothing is drawn after it, at least."""


class View:
    """What is shown of any number of sessions.

    Attributes:
        is_live: Whether a turn runs, so that something may change.
    """

    __slots__ = (
        "_began",
        "_context_window",
        "_interval_s",
        "_is_animated",
        "_is_paused",
        "_next_s",
        "_repeats",
        "_requests",
        "_screen",
        "_sessions",
        "_show_reasoning",
        "_show_usage",
        "_usage",
    )

    def __init__(
        self,
        screen: Screen,
        *,
        context_window: int | None,
        show_reasoning: bool,
        show_usage: bool,
        interval_s: float,
        is_animated: bool,
    ) -> None:
        """Draw on a screen, a frame every `interval_s` seconds at most."""
        self._screen = screen
        self._context_window = context_window
        self._show_reasoning = show_reasoning
        self._show_usage = show_usage
        self._interval_s = interval_s
        self._is_animated = is_animated
        self._sessions: dict[SessionId, SessionView] = {}
        self._usage = Usage()
        self._repeats = RepeatFilter()
        self._requests = OpenRequests()
        self._next_s = 0.0
        """When the next frame may be drawn, by the clock of `time.monotonic`."""
        self._began = 0.0
        """When the turn began that is shown."""
        self._is_paused = False

    @property
    def is_live(self) -> bool:
        """Whether a turn runs, so that something may change."""
        return any(session.is_working for session in self._sessions.values())

    def take(self, envelope: Envelope) -> None:
        """Take one event, and draw a frame if it is time for one."""
        was_live = self.is_live
        session = self._session(envelope)
        event = envelope.event
        self._requests.session_id = envelope.session_id
        if isinstance(event, RunStarted):
            self._requests.begin_run(event)
        session.take(envelope, show_usage=self._show_usage)
        if isinstance(event, ModelCallFinished) and not self._repeats.is_repeat(envelope):
            self._usage += event.usage
        if isinstance(event, (RunFinished, RunSuspended)):
            self._requests.end_run(event)
        if isinstance(event, RunFinished):
            session.leave()
            del self._sessions[envelope.session_id]
        if self.is_live and not was_live:
            self._began = time.monotonic()
        kind = type(event)
        if kind in _AT_ONCE or not (self._is_animated or kind in _OFTEN):
            self.draw()
        else:
            self.draw_if_due()

    def draw_if_due(self) -> None:
        """Draw a frame if the last one was long enough ago.

        Raises:
            OSError: The terminal is gone.
        """
        if time.monotonic() >= self._next_s:
            self.draw()

    def draw(self) -> None:
        """Draw a frame, unless a person is being asked.

        Raises:
            OSError: The terminal is gone.
        """
        if not self._is_paused:
            began = time.monotonic()
            self._screen.draw(self._live() if self.is_live else [])
            now = time.monotonic()
            # A frame that takes long, as of a long table, must not take all the time there is.
            self._next_s = max(began + self._interval_s, now + (now - began) * _REST)

    def pause(self, request: ApprovalRequest) -> None:
        """Show a request, unless it is shown, and leave the terminal to a person's answer."""
        asked = [session for session in self._sessions.values() if session.has_asked(request.id)]
        if not asked:
            sessions = list(self._sessions.values())
            column = sessions[-1].column if sessions else self._column(SessionId(""), 0)
            show_request(column, request)
        for session in asked:
            session.answered_here(request.id)
        self._screen.draw([])
        self._is_paused = True

    def resume(self) -> None:
        """Go on after a person's answer, which has ended its line."""
        self._is_paused = False
        self.draw()

    def leave(self) -> None:
        """Show what is whole, and nothing that changes."""
        for session in self._sessions.values():
            session.leave()
        self._is_paused = False
        self.draw()

    def _session(self, envelope: Envelope) -> SessionView:
        session_id = envelope.session_id
        session = self._sessions.get(session_id)
        if session is None:
            session = self._sessions[session_id] = self._begin(envelope)
        return session

    def _begin(self, envelope: Envelope) -> SessionView:
        event = envelope.event
        depth, name, column = 0, f"session {brief(envelope.session_id, _NAME)}", None
        if isinstance(event, RunStarted) and event.parent_session_id in self._sessions:
            outer = self._sessions[event.parent_session_id]
            depth = min(outer.depth + 1, _MOST_DEPTH)
            call = outer.calls.get(event.parent_call_id) if event.parent_call_id else None
            if call is not None:
                call.announce(outer.column)
                column = self._column(brief(call.name, _NAME), depth)
                column.begin()
        elif any(not other.depth for other in self._sessions.values()):
            self._screen.has_several = True
        return SessionView(
            envelope.session_id,
            column or self._column(name, depth),
            self._requests,
            depth=depth,
            show_reasoning=self._show_reasoning,
        )

    def _column(self, name: str, depth: int) -> Column:
        return Column(self._screen, name=name, depth=depth)

    def _live(self) -> list[str]:
        frame = int(time.monotonic() / max(self._interval_s, 0.01))
        spinner = _SPINNER[frame % len(_SPINNER)]
        now_ms = int(time.time() * 1000)
        most = self._screen.most_live_lines
        lines: list[str] = []
        for session in self._sessions.values():
            if session.is_working:
                lines += session.live(spinner, now_ms, most)
        status = self._screen.render(self._status(spinner))
        room = most - len(status) - 1
        lines = lines[-room:] if room > 0 else []
        gap = [""] if lines or not self._screen.ends_with_gap else []
        return [*gap, *lines, *([""] if lines else []), *status]

    def _status(self, spinner: str) -> Text:
        """Return the line about the work: model, context, tokens, cost, time."""
        outer = [session for session in self._sessions.values() if not session.depth]
        working = [session for session in outer if session.is_working] or outer
        session = working[-1] if working else next(iter(self._sessions.values()))
        facts = [session.model or "…"]
        if len(working) > 1:
            facts.append(f"{len(working)} sessions")
        if (used := session.context_tokens) is not None:
            window = self._context_window
            share = f" of {window:,} ({used / window:.0%})" if window else ""
            facts.append(f"context {used:,}{share}")
        tokens = self._usage.tokens
        if tokens.prompt is not None:
            facts.append(f"{tokens.prompt:,} in")
        if tokens.output is not None:
            facts.append(f"{tokens.output:,} out")
        amounts = sorted(self._usage.cost.amounts.items())
        facts += [brief_cost(currency, amount) for currency, amount in amounts]
        facts.append(_duration(time.monotonic() - self._began))
        text = Text.assemble((f"{spinner} ", "cyan"), (" · ".join(facts), "dim"))
        text.no_wrap = True
        text.overflow = "ellipsis"
        return text


def _duration(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
