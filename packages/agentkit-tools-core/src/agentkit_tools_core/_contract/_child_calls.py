"""Child calls: the tools that a tool calls, recorded so that none of them runs twice.

A call that suspends is run again from the start. It then makes the same child calls in the same
order, and the executor answers those that had finished from the record:

    run 1   search -> result     delete -> needs approval: the call suspends
    run 2   search -> recorded   delete -> granted, runs
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final, Protocol

import msgspec
from msgspec.structs import replace

from agentkit_core import ApprovalId, JsonValue, ToolCallId, ToolResult, Usage, to_json
from agentkit_core.json import canonical_json
from agentkit_core.values import Record
from agentkit_tools_core._contract._request import ToolInvocation
from agentkit_tools_core._contract._suspension import Suspension, check_token
from agentkit_tools_core._errors import ToolError
from agentkit_tools_core._lock import new_lock

_TAG: Final = "agentkit_tools_core.run"
_MAX_ECHO: Final = 200


class CheckedCall(Record, frozen=True, omit_defaults=True):
    """What the check of a child call said; it is not checked again when the call is run again.

    Attributes:
        input: The arguments to run with; None if they are those of the call.
        asked: The ids of the approvals that the call needs; empty if it needs none.
        revision: The revision of the tool; None if there was none of that name.
    """

    input: dict[str, JsonValue] | None = None
    asked: tuple[ApprovalId, ...] = ()
    revision: str | None = None


class ChildCall(Record, frozen=True, omit_defaults=True):
    """The record of one child call.

    Attributes:
        name: The name of the tool.
        input: The arguments.
        result: The result; None while the call is not finished.
        token: The token of its suspension; None if it did not suspend.
        asked: The approvals that it waits for, if a denial ends it; otherwise empty.
        checked: What its check said; None before the check, and for records of older versions.
    """

    name: str
    input: dict[str, JsonValue]
    result: ToolResult | None = None
    token: JsonValue = None
    asked: tuple[ApprovalId, ...] = ()
    checked: CheckedCall | None = None


class RunRecord(Record, frozen=True, omit_defaults=True, tag=_TAG, tag_field="type"):
    """The record of a suspended run; it is the token of the suspension.

    Attributes:
        own: The token of the tool itself; None if it set none.
        children: The child calls, in order.
    """

    own: JsonValue = None
    children: tuple[ChildCall, ...] = ()


class Caller(Protocol):
    """Makes the child calls of one run; the executor provides one for each run."""

    over: bool
    """Whether the run has ended."""

    async def call(self, name: str, arguments: dict[str, JsonValue] | None) -> ToolResult:
        """Make a child call on an event loop."""
        ...

    def call_blocking(self, name: str, arguments: dict[str, JsonValue] | None) -> ToolResult:
        """Make a child call without an event loop."""
        ...


class ChildCallsDiffer(ToolError):
    """A tool that was run again made other child calls than in the run before."""


@cache
def _record_decoder() -> msgspec.json.Decoder[RunRecord]:
    return msgspec.json.Decoder(RunRecord)  # built when it is needed: few tools are run again


def read_token(token: JsonValue) -> RunRecord:
    """Read the token of a suspension; a token that no executor wrote is the tool's own.

    Raises:
        ChildCallsDiffer: The token is a damaged record.
    """
    if not isinstance(token, dict) or token.get("type") != _TAG:
        return RunRecord(token)
    try:
        return _record_decoder().decode(to_json(token))
    except (msgspec.DecodeError, TypeError) as error:
        raise ChildCallsDiffer(f"the record of the last run is not valid: {error}") from None


def write_token(record: RunRecord) -> JsonValue:
    """Write a record as the token of a suspension.

    Raises:
        TokenRefused: The tool's own token is not plain JSON, or all of it is too large.
    """
    own = check_token(record.own)
    token: JsonValue = msgspec.json.decode(to_json(replace(record, own=own)))
    return check_token(token)


class Children:
    """The child calls of one run. It may be used from several threads."""

    def __init__(self, parent: ToolInvocation, recorded: Sequence[ChildCall] = ()) -> None:
        """Begin a run.

        Args:
            parent: The call that runs.
            recorded: The child calls of the run before; empty for the first run.
        """
        self.difference: ChildCallsDiffer | None = None
        """The first difference to the run before, which makes the run fail; None without any."""
        self._parent = parent
        self._calls = list(recorded)
        self._count = 0
        self._lock = new_lock()

    def begin(
        self, name: str, arguments: Mapping[str, JsonValue] | None
    ) -> tuple[int, ToolInvocation, ChildCall]:
        """Begin the next call.

        Returns:
            The position of the call, from 0; its invocation; and its record, which has a result if
            the call finished in the run before.

        Raises:
            TypeError: The arguments are not JSON.
            ChildCallsDiffer: The run before made another call at this position.
        """
        input_copy: dict[str, JsonValue] = msgspec.json.decode(to_json(dict(arguments or {})))
        with self._lock:
            if self.difference is not None:
                raise self.difference
            at = self._count
            self._count += 1
            if at == len(self._calls):
                self._calls.append(ChildCall(name, input_copy))
            call = self._calls[at]
            if call.name != name or canonical_json(call.input) != canonical_json(input_copy):
                self.difference = ChildCallsDiffer(
                    f"{self._parent.name!r} was run again and made other child calls: call "
                    f"{at + 1} was {_describe(call.name, call.input)} and is now "
                    f"{_describe(name, input_copy)}; a tool that suspends must make the same "
                    f"child calls in the same order in every run"
                )
                raise self.difference
        parent = self._parent
        request = ToolInvocation(
            ToolCallId(f"{parent.call_id}.{at + 1}"),
            name,
            input_copy,
            session_id=parent.session_id,
            turn_id=parent.turn_id,
        )
        return at, request, call

    def finish(self, at: int, result: ToolResult) -> None:
        """Record the result of a call."""
        call = self._calls[at]
        self._calls[at] = ChildCall(call.name, call.input, result)

    def note_check(self, at: int, checked: CheckedCall) -> None:
        """Record what the check of a call said."""
        self._calls[at] = replace(self._calls[at], checked=checked)

    def pause(self, at: int, suspension: Suspension) -> None:
        """Record that a call is suspended."""
        asked = (
            () if suspension.takes_denials else tuple(request.id for request in suspension.requests)
        )
        self._calls[at] = replace(self._calls[at], token=suspension.token, asked=asked)

    @property
    def calls(self) -> tuple[ChildCall, ...]:
        """All calls, including those of the run before that this run has not reached yet."""
        return tuple(self._calls)

    @property
    def usage(self) -> Usage | None:
        """The sum of the usage of finished calls; None if none of them reported usage."""
        reports = [
            call.result.usage
            for call in self._calls
            if call.result is not None and call.result.usage is not None
        ]
        return sum(reports[1:], reports[0]) if reports else None


def _describe(name: str, arguments: dict[str, JsonValue]) -> str:
    text = f"{name} {to_json(arguments).decode()}"
    return text if len(text) <= _MAX_ECHO else text[:_MAX_ECHO] + "…"
