"""What an encoder changed of a request, as the answer's item tells it.

An encoder fits a request to its model: it leaves out an option that the model refuses, or sends
another value. It notes each such change in the metadata of the wire request, which becomes metadata
of the response's item. `request_changes` reads the notes of all protocols in one form.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from agentkit_core._json import JsonValue
from agentkit_core.values import Record

CHANGES: Final = "changes"
"""The name, after the owner and a dot, of the key that holds changes with their reasons."""
_DROPPED: Final = "dropped"
"""The name of the key that holds the names of options that were not sent."""
_LIMITED: Final = ("thinking", "max_output_tokens")
"""The names of keys that hold `{"asked": …, "sent": …}` for the option of that name."""


class RequestChange(Record, frozen=True, kw_only=True, omit_defaults=True):
    """One thing that was not sent as the request asks for it.

    Attributes:
        what: What was changed: the name of an option (`temperature`), or what it concerns
            (`the tool 'search'`).
        asked: What the request asks for; None where the note does not say it.
        sent: What was sent instead; None where it was left out.
        reason: Why, for people; empty where the note does not say it.
    """

    what: str
    asked: JsonValue = None
    sent: JsonValue = None
    reason: str = ""


def request_changes(metadata: Mapping[str, JsonValue]) -> tuple[RequestChange, ...]:
    """Read what was changed of the request that an item answers.

    Args:
        metadata: The metadata of the response's item, or of a wire request.

    Returns:
        The changes, each once, in the order of their notes; empty where all was sent as asked.
    """
    changes: dict[str, RequestChange] = {}
    for key, value in metadata.items():
        for change in _changes_under(key.partition(".")[2], value):
            known = changes.get(change.what)
            if known is None or not known.reason:
                changes[change.what] = change
    return tuple(changes.values())


def _changes_under(name: str, value: JsonValue) -> Iterator[RequestChange]:
    if name == _DROPPED and isinstance(value, list):
        yield from (RequestChange(what=entry) for entry in value if isinstance(entry, str))
    elif name in _LIMITED and isinstance(value, dict):
        yield RequestChange(what=name, asked=value.get("asked"), sent=value.get("sent"))
    elif name == CHANGES and isinstance(value, list):
        for entry in value:
            if isinstance(entry, dict) and isinstance(what := entry.get("what"), str):
                reason = entry.get("reason")
                yield RequestChange(
                    what=what,
                    asked=entry.get("asked"),
                    sent=entry.get("sent"),
                    reason=reason if isinstance(reason, str) else "",
                )
