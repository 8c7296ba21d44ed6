"""Times and durations on a page: UTC, in few words."""

from __future__ import annotations

from datetime import datetime

from agentkit_reporting._format import moment_of
from agentkit_reporting._page._markup import Markup, element


def time_of_day(at: int) -> Markup:
    """Show a time of day; the date is in the element's `datetime`."""
    moment = moment_of(at)
    if moment is None:
        return element("span", f"{at} ms", class_="time")
    return element("time", f"{moment:%H:%M:%S}", datetime=_iso(moment), title=_full(moment))


def date_and_time(at: int) -> str:
    """Return a date and a time in words."""
    moment = moment_of(at)
    return f"{at} ms" if moment is None else _full(moment)


def duration(ms: int | float) -> str:
    """Return a duration in words: `85 ms`, `3.4 s`, `2 min 5 s`, `3 h 20 min`."""
    if ms < 1000:
        return f"{max(ms, 0):.0f} ms"
    if ms < 60_000:
        return f"{ms / 1000:.1f} s"
    minutes, seconds = divmod(round(ms / 1000), 60)
    if minutes < 60:
        return f"{minutes} min {seconds} s" if seconds else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours:,} h {minutes} min" if minutes else f"{hours:,} h"


def _iso(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _full(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"
