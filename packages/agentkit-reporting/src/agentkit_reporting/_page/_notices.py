"""Notices: what happened beside the conversation, in one line for people."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from agentkit_core import Item, JsonValue
from agentkit_core.values import StringEnum
from agentkit_loop.events import (
    Diagnostic,
    Event,
    InputQueued,
    InputRejected,
    InputWithdrawn,
    MutationFinished,
    MutationOutcome,
    RetryScheduled,
    RunStarted,
    SettingsChanged,
    ToolCatalogChanged,
    TranscriptRewritten,
)


class Level(StringEnum):
    """How much a notice matters."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that happened beside the conversation.

    Attributes:
        at: When, in milliseconds since the Unix epoch.
        text: What, in one line.
        level: How much it matters.
        items: Items that belong to it, shown folded.
        details: More about it, shown folded; None if there is no more.
    """

    at: int
    text: str
    level: Level = Level.INFO
    items: tuple[Item, ...] = ()
    details: JsonValue = None


def notice_of(at: int, event: Event) -> Notice | None:
    """Return the notice of an event; None for events that are shown in another way."""
    write = _WRITERS.get(type(event))
    return None if write is None else write(at, event)


def _retry(at: int, event: RetryScheduled) -> Notice:
    failure = event.failure
    text = (
        f"Attempt {event.attempt} failed: {failure.describe()}. "
        f"Another attempt after {event.wait_s:.1f} s"
    )
    return Notice(at, text, Level.WARNING, details=failure.raw)


def _diagnostic(at: int, event: Diagnostic) -> Notice:
    return Notice(at, event.message, Level.WARNING)


def _rejected(at: int, event: InputRejected) -> Notice:
    return Notice(at, f"Input was rejected: {event.reason}", Level.WARNING)


def _withdrawn(at: int, event: InputWithdrawn) -> Notice:
    return Notice(at, "Queued input was withdrawn", items=event.items)


def _queued(at: int, event: InputQueued) -> Notice | None:
    # Input of the next turn is shown where the turn begins.
    return Notice(at, "Input arrived while the turn ran") if event.lane == "steer" else None


def _settings(at: int, event: SettingsChanged) -> Notice:
    names = " and ".join(event.names) or "settings"
    return Notice(at, f"Changed {names}; the model is {event.model}")


def _catalogue(at: int, event: ToolCatalogChanged) -> Notice:
    changes = (("new", event.added), ("gone", event.removed), ("changed", event.changed))
    words = "; ".join(f"{word}: {', '.join(names)}" for word, names in changes if names)
    return Notice(at, f"Tools of the model: {words or 'none'}")


def _mutation(at: int, event: MutationFinished) -> Notice | None:
    if event.outcome is not MutationOutcome.ROLLED_BACK:
        return None
    return Notice(at, f"The transcript was not changed: {event.reason}", Level.WARNING)


def _rewrite(at: int, event: TranscriptRewritten) -> Notice:
    text = f"The transcript was rewritten; it has {len(event.items)} items now"
    return Notice(at, text, items=event.items)


def _start(at: int, event: RunStarted) -> Notice | None:
    return Notice(at, "The session goes on from what was saved") if event.resumed else None


_WRITERS: Final[dict[type[Any], Callable[[int, Any], Notice | None]]] = {
    RetryScheduled: _retry,
    Diagnostic: _diagnostic,
    InputRejected: _rejected,
    InputWithdrawn: _withdrawn,
    InputQueued: _queued,
    SettingsChanged: _settings,
    ToolCatalogChanged: _catalogue,
    MutationFinished: _mutation,
    TranscriptRewritten: _rewrite,
    RunStarted: _start,
}
