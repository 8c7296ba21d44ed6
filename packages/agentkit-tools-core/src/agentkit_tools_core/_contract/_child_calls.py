"""Child calls: what a tool called while it ran, recorded so that nothing runs twice.

A call that suspends is run again from its start. It then makes the same child calls in the
same order, and those that were over by then are answered from the record:

    run 1   search -> result     delete -> needs approval: the call suspends
    run 2   search -> recorded   delete -> granted, runs
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Protocol

import msgspec
from msgspec.structs import replace

from agentkit_core import ApprovalId, JsonValue, ToolCallId, ToolResult, Usage, to_json
from agentkit_core.json import canonical_json
from agentkit_core.values import Record
from agentkit_tools_core._contract._request import ToolInvocation
from agentkit_tools_core._contract._suspension import Suspension, checked_token
from agentkit_tools_core._errors import ToolError
from agentkit_tools_core._lock import new_lock

_TAG: Final = "agentkit_tools_core.run"
_MAX_ECHO: Final = 200


class ChildCall(Record, frozen=True, omit_defaults=True):
    """A child call, as far as it came.

    Attributes:
        input: The arguments as the parent gave them.
        result: None as long as it is not over.
        token: What it left when it suspended.
        asked: What it waits for and cannot take a denial of; a denial ends it.
    """

    name: str
    input: dict[str, JsonValue]
    result: ToolResult | None = None
    token: JsonValue = None
    asked: tuple[ApprovalId, ...] = ()


class RunRecord(Record, frozen=True, omit_defaults=True, tag=_TAG, tag_field="type"):
    """What is kept of a run that was suspended; the token of a suspension is one of these.

    Attributes:
        own: The tool's own token.
        children: In the order in which they were called.
    """

    own: JsonValue = None
    children: tuple[ChildCall, ...] = ()


class Caller(Protocol):
    """Who makes the child calls of a run; the executor gives one to each run."""

    over: bool
    """Whether the run has ended."""

    async def call(self, name: str, arguments: dict[str, JsonValue] | None) -> ToolResult:
        """Make a child call beside an event loop."""
        ...

    def call_blocking(self, name: str, arguments: dict[str, JsonValue] | None) -> ToolResult:
        """Make a child call here and now."""
        ...


class ChildCallsDiffer(ToolError):
    """A tool that is run again called other children than the first time."""


_RECORD: Final = msgspec.json.Decoder(RunRecord)


def read_token(token: JsonValue) -> RunRecord:
    """Read the token of a suspension; one that no executor wrote is the tool's own.

    Raises:
        ChildCallsDiffer: It is a record, and damaged.
    """
    if not isinstance(token, dict) or token.get("type") != _TAG:
        return RunRecord(token)
    try:
        return _RECORD.decode(to_json(token))
    except (msgspec.DecodeError, TypeError) as error:
        raise ChildCallsDiffer(f"the record of the run before cannot be read: {error}") from None


def write_token(record: RunRecord) -> JsonValue:
    """Write a record as the token of a suspension.

    Raises:
        TokenRefused: The tool's own token is not plain JSON, or all of it is too large.
    """
    own = checked_token(record.own)
    written: JsonValue = msgspec.json.decode(to_json(replace(record, own=own)))
    return checked_token(written)


class Children:
    """The child calls of one run. May be used from several threads."""

    def __init__(self, parent: ToolInvocation, recorded: Sequence[ChildCall] = ()) -> None:
        """Begin a run.

        Args:
            parent: The call that is run.
            recorded: The child calls of the run before.
        """
        self.difference: ChildCallsDiffer | None = None
        """Where this run left the path of the run before; it has failed then."""
        self._parent = parent
        self._calls = list(recorded)
        self._count = 0
        self._lock = new_lock()

    def begin(
        self, name: str, arguments: Mapping[str, JsonValue] | None
    ) -> tuple[int, ToolInvocation, ChildCall]:
        """Number the next call.

        Returns:
            Its place, counted from 0, its request, and what is known of it from the run before.

        Raises:
            TypeError: The arguments are not JSON.
            ChildCallsDiffer: Another call stood at this place in the run before.
        """
        given: dict[str, JsonValue] = msgspec.json.decode(to_json(dict(arguments or {})))
        with self._lock:
            if self.difference is not None:
                raise self.difference
            at = self._count
            self._count += 1
            if at == len(self._calls):
                self._calls.append(ChildCall(name, given))
            call = self._calls[at]
            if call.name != name or canonical_json(call.input) != canonical_json(given):
                self.difference = ChildCallsDiffer(
                    f"{self._parent.name!r} was run again and took another way: its child call "
                    f"{at + 1} was {_shown(call.name, call.input)} and is now "
                    f"{_shown(name, given)}; a tool that suspends must call the same children "
                    f"in the same order each time"
                )
                raise self.difference
        parent = self._parent
        request = ToolInvocation(
            ToolCallId(f"{parent.call_id}.{at + 1}"),
            name,
            given,
            session_id=parent.session_id,
            turn_id=parent.turn_id,
        )
        return at, request, call

    def finish(self, at: int, result: ToolResult) -> None:
        """Record the result of a call."""
        call = self._calls[at]
        self._calls[at] = ChildCall(call.name, call.input, result)

    def pause(self, at: int, suspension: Suspension) -> None:
        """Record that a call waits."""
        asked = (
            () if suspension.takes_denials else tuple(request.id for request in suspension.requests)
        )
        self._calls[at] = replace(self._calls[at], token=suspension.token, asked=asked)

    @property
    def calls(self) -> tuple[ChildCall, ...]:
        """All calls, also those of the run before that this one has not come to yet."""
        return tuple(self._calls)

    @property
    def usage(self) -> Usage | None:
        """What the calls that are over used together; None if none of them said."""
        found = [
            call.result.usage
            for call in self._calls
            if call.result is not None and call.result.usage is not None
        ]
        return sum(found[1:], found[0]) if found else None


def _shown(name: str, arguments: dict[str, JsonValue]) -> str:
    text = f"{name} {to_json(arguments).decode()}"
    return text if len(text) <= _MAX_ECHO else text[:_MAX_ECHO] + "…"
