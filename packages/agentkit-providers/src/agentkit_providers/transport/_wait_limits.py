"""How long a transport waits: the limits of one call, and which of them passed.

    limit          counts                                          checked by
    connect_s      until the connection is open                    the HTTP client
    first_byte_s   from the sent request to the response's head    both
    idle_s         between two reads of a streamed body            the HTTP client
    no_content_s   between two pieces of content                   `WaitLimits.deadline`
    total_s        the whole call                                  `WaitLimits.deadline`

For a server that sends its headers at once and then thinks, `idle_s` counts from the headers on;
most such servers send comments meanwhile. A client with a transport that is not httpx's own may
read its limits only once; there `first_byte_s` is also the limit for the body.
"""

from __future__ import annotations

from typing import NamedTuple

from agentkit_core import Timeouts
from agentkit_providers.transport._network_errors import is_connect_timeout


class Deadline(NamedTuple):
    """When one of the limits passes that the HTTP client does not check.

    Attributes:
        at: On the transport's monotonic clock, in seconds.
        limit: The field of `Timeouts`.
    """

    at: float
    limit: str


class WaitLimits:
    """The limits of one call.

    Args:
        timeouts: The caller's limits.
        now: The transport's monotonic clock, in seconds.
        began_at: When the call began on this clock; None for now.
    """

    def __init__(self, timeouts: Timeouts, now: float, began_at: float | None = None) -> None:
        self._timeouts = timeouts
        self._has_head = False
        self._content_at = now
        self._head_at: float | None = (
            None  # when the head must have come; connecting has a limit of its own
        )
        if timeouts.first_byte_s is not None and timeouts.connect_s is not None:
            self._head_at = now + timeouts.connect_s + timeouts.first_byte_s
        began_at = now if began_at is None else began_at
        self._total_at = None if timeouts.total_s is None else began_at + timeouts.total_s
        self.watched = timeouts.total_s is not None or timeouts.no_content_s is not None
        """Whether there are limits that the HTTP client does not check."""
        self.http: dict[str, float | None] = {
            "connect": self._shortest(timeouts.connect_s),
            "pool": self._shortest(timeouts.first_byte_s),
            "write": self._shortest(timeouts.first_byte_s),
            "read": self._shortest(timeouts.first_byte_s),
        }
        """The HTTP client's limits in seconds. The client must get this very dict: it looks a limit
        up when a phase begins, and `take_body` changes the limit for reading."""

    def _shortest(self, limit_s: float | None) -> float | None:
        limits = (limit_s, self._timeouts.total_s)
        return min((limit for limit in limits if limit is not None), default=None)

    def take_head(self, now: float, *, is_good: bool) -> None:
        """Take note that the head of the response has come.

        Args:
            now: The transport's clock.
            is_good: Whether a response follows; the body of an error has as long as its head.
        """
        self._has_head = True
        first_byte_s = self._timeouts.first_byte_s
        self._head_at = None if is_good or first_byte_s is None else now + first_byte_s
        self._content_at = now

    def take_body(self, *, streamed: bool) -> None:
        """Take note of what body follows the head."""
        limits = self._timeouts
        read_s = self._shortest(limits.idle_s if streamed else limits.first_byte_s)
        if limits.no_content_s is not None and read_s is not None:
            read_s = min(read_s, limits.no_content_s)
        self.http["read"] = read_s

    def take_content(self, now: float) -> None:
        """Take note that content has come."""
        self._content_at = now

    def deadline(self) -> Deadline | None:
        """The next of the limits that the HTTP client does not check; None where there is none."""
        no_content_s = self._timeouts.no_content_s
        total = None if self._total_at is None else Deadline(self._total_at, "total_s")
        if self._head_at is not None:
            head = Deadline(self._head_at, "first_byte_s")
            total = head if total is None else min(head, total)
        if no_content_s is None or not self._has_head:
            return total
        content = Deadline(self._content_at + no_content_s, "no_content_s")
        return content if total is None else min(content, total)

    def end(self) -> float | None:
        """When the next of these limits passes, on the transport's clock; None for never."""
        known = self.deadline()
        return None if known is None else known.at

    def passed(self, error: Exception, now: float) -> str:
        """Find out which limit passed, as a field of `Timeouts`.

        Args:
            error: The timeout that the HTTP client raised.
            now: The transport's clock.
        """
        ours = self.deadline()
        if ours is not None and now >= ours.at - 0.001:
            return ours.limit
        if is_connect_timeout(error):
            return "connect_s"
        if not self._has_head:
            return "first_byte_s"
        return "idle_s" if self.http["read"] == self._timeouts.idle_s else "first_byte_s"
