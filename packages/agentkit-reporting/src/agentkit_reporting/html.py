"""agentkit_reporting.html: a run as one HTML page, which needs nothing but a browser.

The page shows the conversation with its tool calls and reasoning folded, images, inner agents
inside the calls that began them, what the run used, and what took how long. It loads nothing and
sends nothing: a policy in the page allows its own style, script and data only, and text of models
and tools is always text. Without scripts everything can be read; the script adds the search.

Text is shown as it was written: Markdown is not interpreted, but code blocks are set off.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from secrets import token_hex
from typing import Final

from agentkit_loop.events import ContentDelta, Envelope, RunFinished, RunSuspended, TurnFinished
from agentkit_reporting._closable import Closable
from agentkit_reporting._page._document import Page

__all__ = ["HtmlReporter", "render_page", "write_page"]

_GROWTH: Final = 1.25
"""How much longer a record has to be before its page is written again while it grows, so that all
pages together are some five times as long as the last one."""

_ENDS: Final = frozenset({RunFinished, RunSuspended})


def render_page(envelopes: Iterable[Envelope], *, title: str | None = None) -> str:
    """Return a run as an HTML page.

    Args:
        envelopes: The events, in order; of several sessions if there are inner agents. The record
            may end anywhere.
        title: The title of the page; None means the first words of the first input.
    """
    page = Page()
    for envelope in envelopes:
        page.add(envelope)
    return page.render(title)


def write_page(
    envelopes: Iterable[Envelope], path: str | os.PathLike[str], *, title: str | None = None
) -> None:
    """Write a run to a file, as an HTML page in UTF-8.

    A file that exists is replaced at once, so that a reader never sees half a page. A new file can
    be read by its owner only.

    Args:
        envelopes: The events, as for `render_page`.
        path: The file; its folder must exist.
        title: The title of the page, as for `render_page`.

    Raises:
        OSError: The file cannot be written; then it is as it was.
    """
    _replace(Path(path), render_page(envelopes, title=title))


class HtmlReporter(Closable):
    """Writes a run as an HTML page: when a turn or a session ends, and when it is closed.

    The page of a long run is not written after every turn, but each time that the record has grown
    by a quarter, and at the end. Rendering takes some time; an application that serves many people
    at once puts a `BackgroundReporter` around this one.
    """

    __slots__ = ("__weakref__", "_events", "_page", "_path", "_title", "_written")

    def __init__(self, path: str | os.PathLike[str], *, title: str | None = None) -> None:
        """Write to a file.

        Args:
            path: The file, which is replaced as by `write_page`; its folder must exist.
            title: The title of the page; None means the first words of the first input.
        """
        self._path = Path(path)
        self._title = title
        self._page = Page()
        self._events = 0
        self._written = 0

    def __call__(self, envelope: Envelope) -> None:
        """Take one event.

        Raises:
            OSError: The page cannot be written. A later event or `close` tries again.
        """
        self._page.add(envelope)
        event = type(envelope.event)
        if event is ContentDelta:
            return
        self._events += 1
        ended = event in _ENDS and self._page.is_outer(envelope.session_id)
        if ended or (event is TurnFinished and self._events >= self._written * _GROWTH):
            self._write()

    def close(self) -> None:
        """Write the page if anything has happened since it was written; later events are taken.

        Raises:
            OSError: The page cannot be written.
        """
        if self._events > self._written:
            self._write()

    def _write(self) -> None:
        _replace(self._path, self._page.render(self._title))
        self._written = self._events


def _replace(path: Path, text: str) -> None:
    """Replace the content of a file at once; keep its mode, and what a link points to."""
    target = path.resolve()
    mode = target.stat().st_mode & 0o777 if target.exists() else 0o600
    draft = target.with_name(f".{target.name}.{token_hex(4)}")
    try:
        draft.touch(mode, exist_ok=False)
        draft.write_text(text, encoding="utf-8")
        draft.chmod(mode)  # the mask of the process may have taken some of it
        draft.replace(target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
