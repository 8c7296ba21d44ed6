"""A live view of a run in a terminal; needs the extra `rich`.

    view = RichReporter()
    agent = Agent(model=…, tools=[…], reporters=[view], on_approval=view.ask)

Markdown is rendered while it streams. What is whole is written once, and the terminal keeps it as
any other output; only the block that grows, the calls that run and a line about the work change.
Where lines cannot change (a pipe, a dumb terminal, `NO_COLOR`), it is a `TextReporter`.
"""

from __future__ import annotations

import atexit
import codecs
import sys
from collections.abc import Callable
from contextlib import suppress
from threading import RLock
from typing import Final, TextIO, cast

try:
    from rich.console import Console
except ImportError as error:
    raise ImportError(
        "agentkit_reporting.rich needs rich: pip install 'agentkit-reporting[rich]'"
    ) from error

from agentkit_core import ApprovalRequest
from agentkit_core.settings import number_of
from agentkit_loop import ApprovalDecision
from agentkit_loop.events import Envelope
from agentkit_reporting._closable import Closable
from agentkit_reporting._terminal_view._asking import ask
from agentkit_reporting._terminal_view._screen import Screen
from agentkit_reporting._terminal_view._ticker import Ticker
from agentkit_reporting._terminal_view._view import View
from agentkit_reporting._text import TextReporter

__all__ = ["RichReporter"]

_FRAMES_PER_S: Final = 12


class RichReporter(Closable):
    """Shows any number of sessions on one terminal.

    No control character of a model or a tool reaches the terminal, and no markup of theirs is
    interpreted but Markdown in answers. Links are shown with their addresses; images are not
    loaded. Their text is always indented: what begins at the left is the view's own.
    """

    __slots__ = ("__weakref__", "_console", "_lock", "_read", "_text", "_ticker", "_view")

    def __init__(
        self,
        console: Console | None = None,
        *,
        context_window: int | None = None,
        show_reasoning: bool = False,
        show_usage: bool = True,
        frames_per_s: float = _FRAMES_PER_S,
        animate: bool = True,
        read: Callable[[str], str] | None = None,
    ) -> None:
        """Show runs in a terminal.

        Args:
            console: Where; by default a console of rich for the current `sys.stdout`.
            context_window: How many tokens the model takes, so that the view can say how much of
                it is used; None does not say it.
            show_reasoning: Whether to show the model's reasoning, as far as it is streamed.
            show_usage: Whether each turn ends with a line about its usage.
            frames_per_s: How often the view changes at most, in frames a second, at least 1.
            animate: Whether it goes on moving between events, from a thread that lives only while
                a turn runs.
            read: A function that shows a prompt and returns the line that a person types; by
                default `input`.
        """
        self._console = console = Console() if console is None else console
        interval_s = 1 / number_of(frames_per_s, "frames_per_s", least=1)
        self._read = read
        self._lock = RLock()
        self._text: TextReporter | None = None
        if not _can_change_lines(console):
            self._text = TextReporter(
                cast("TextIO", console.file), show_reasoning=show_reasoning, show_usage=show_usage
            )
        self._view = View(
            Screen(console),
            context_window=context_window,
            show_reasoning=show_reasoning,
            show_usage=show_usage,
            interval_s=interval_s,
            is_animated=animate,
        )
        self._ticker = Ticker(self._tick, interval_s) if animate else None

    def __call__(self, envelope: Envelope) -> None:
        """Show one event.

        Raises:
            OSError: The terminal cannot be written to.
        """
        if self._text is not None:
            self._text(envelope)
            return
        with self._lock:
            was_live = self._view.is_live
            try:
                self._view.take(envelope)
            finally:
                self._follow(was_live=was_live)

    def ask(self, request: ApprovalRequest) -> ApprovalDecision:
        """Ask the person at the terminal; to be given to an agent as `on_approval`.

        The view stands still meanwhile. An approval is answered with y (this call), s (these
        arguments, in this session), a (always, in this session) or n; a question with any text. If
        its schema expects something else than a text, the answer is read as JSON. Without a
        terminal to read from, nobody can answer and the call is denied.

        Args:
            request: The request; it is shown if its event was not.
        """
        read = self._read
        if read is None:
            if not sys.stdin.isatty():
                return ApprovalDecision(approve=False, reason="Nobody is there to answer.")
            read = input
        if self._text is not None:
            return ask(request, read)
        with self._lock:
            self._view.pause(request)
        try:
            return ask(request, read)
        finally:
            with self._lock:
                self._view.resume()

    def close(self) -> None:
        """Leave the terminal in order: nothing changes any more, and the cursor is shown.

        To be called when a run was stopped without its events, as by Ctrl-C. Later events are
        shown.

        Raises:
            OSError: The terminal cannot be written to.
        """
        if self._text is not None:
            return
        with self._lock:
            was_live = self._view.is_live
            try:
                self._view.leave()
            finally:
                self._follow(was_live=was_live)

    def _follow(self, *, was_live: bool) -> None:
        """Move while a turn runs, and see to the cursor should the process end before it does."""
        is_live = self._view.is_live
        if is_live == was_live:
            return
        if is_live:
            atexit.register(self._leave)
        else:
            atexit.unregister(self._leave)
        if self._ticker is not None:
            if is_live:
                self._ticker.start()
            else:
                self._ticker.stop()

    def _leave(self) -> None:
        with suppress(OSError, ValueError):
            self.close()

    def _tick(self) -> None:
        with self._lock:
            if self._view.is_live:
                # If the terminal is gone, the next event tells the run's driver.
                with suppress(OSError, ValueError):
                    self._view.draw_if_due()


def _can_change_lines(console: Console) -> bool:
    """Whether a console is a terminal in which lines can be written over, in any characters."""
    if not console.is_terminal or console.is_dumb_terminal or console.no_color:
        return False
    try:
        encoding = codecs.lookup(console.encoding).name
    except LookupError:
        encoding = ""
    return encoding.startswith("utf") and not console.legacy_windows
