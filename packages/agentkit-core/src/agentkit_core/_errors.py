"""Errors that are raised: a caller's mistakes. The world's failures are values.

    AgentkitError
    ├── NormalizeError            something foreign cannot be expressed in our types
    │   ├── RecordError           stored bytes are not the record they should be
    │   └── UnsupportedContent    a target cannot be sent this part or option
    ├── ProtocolError             the rules of a stream or a transcript are broken
    │   ├── DeltaOutOfOrder       a delta does not fit the part it names
    │   ├── TranscriptError       an item does not fit where it is put
    │   │   ├── MisplacedPart     a part stands in an item or output that cannot hold it
    │   │   ├── DuplicateToolCall    a call reuses the id of an earlier one
    │   │   ├── OrphanToolResult     a result answers no open call
    │   │   ├── DuplicateToolResult  a call is answered twice
    │   │   └── UnansweredToolCall   an item follows a call that has no result yet
    │   └── ProjectionError       a projection breaks the laws of its contract
    ├── CurrencyMismatch          money of several currencies was asked for as one number
    └── ProviderError             a model call failed, for callers that want it raised

Each says what, where and what to do, carries the same facts as attributes, can be pickled
and written as JSON. Other packages hang their own errors below `AgentkitError`.
"""

from __future__ import annotations

from typing import Any

import msgspec

from agentkit_core._failure import ProviderFailure
from agentkit_core._ids import PartId, ToolCallId
from agentkit_core._json import JsonValue


class AgentkitError(Exception):
    """Anything that the packages of agentkit raise on purpose.

    The facts of an error are its instance attributes, all of them JSON values or structs.
    """

    @property
    def details(self) -> dict[str, JsonValue]:
        """The facts, by name, as JSON values."""
        facts = {name: one for name, one in vars(self).items() if not name.startswith("_")}
        written: dict[str, JsonValue] = msgspec.to_builtins(facts, enc_hook=repr)
        return written

    def to_json(self) -> dict[str, JsonValue]:
        """Write the error as `{"type": …, "message": …, "details": {…}}`."""
        return {"type": type(self).__name__, "message": str(self), "details": self.details}

    def __reduce__(self) -> tuple[Any, ...]:
        # BaseException would call the class with the message alone, but ours take facts.
        return _rebuilt, (type(self), self.args, vars(self).copy())


def _rebuilt(
    cls: type[AgentkitError], args: tuple[Any, ...], facts: dict[str, Any]
) -> AgentkitError:
    error = cls.__new__(cls, *args)
    error.args = args
    vars(error).update(facts)
    return error


class NormalizeError(AgentkitError):
    """Something foreign cannot be expressed in our types, or ours not in theirs."""


class RecordError(NormalizeError):
    """Stored bytes are not the record that they should be."""

    def __init__(self, record: str, reason: str) -> None:
        super().__init__(
            f"cannot read a stored {record}: {reason}; check that the bytes are whole and were "
            f"written by this library, or allow unknown parts if they are newer"
        )
        self.record = record
        self.reason = reason


class UnsupportedContent(NormalizeError):
    """A target cannot be sent this part or option."""

    def __init__(self, what: str, *, target: str, advice: str) -> None:
        super().__init__(f"{target} cannot be sent {what}; {advice}")
        self.what = what
        self.target = target
        self.advice = advice


class ProtocolError(AgentkitError):
    """The rules of a stream or of a transcript are broken."""


class DeltaOutOfOrder(ProtocolError):
    """A delta does not fit the part that it names."""

    def __init__(self, operation: str, part_id: PartId | None, reason: str) -> None:
        super().__init__(
            f"{operation} for part {part_id!r}: {reason}; "
            f"mend the decoder, or fold leniently to pass over it"
        )
        self.operation = operation
        self.part_id = part_id
        self.reason = reason


class TranscriptError(ProtocolError):
    """An item does not fit where it is put; the transcript is unchanged."""


class MisplacedPart(TranscriptError):
    """A part stands in a kind of item, or in a tool's output, that cannot hold it."""

    def __init__(self, part: str, *, kind: str) -> None:
        super().__init__(
            f"a {part} part cannot stand in {kind} content; tool calls belong to assistant "
            f"items, tool results (and nothing else) to tool items, neither into a tool's output"
        )
        self.part = part
        self.kind = kind


class DuplicateToolCall(TranscriptError):
    """A tool call reuses the id of an earlier one."""

    def __init__(self, call_id: ToolCallId, *, at: int, first_at: int) -> None:
        super().__init__(
            f"tool call {call_id!r} (item {at}) reuses the id of a call in item {first_at}; "
            f"give every call of a transcript an id of its own"
        )
        self.call_id = call_id
        self.at = at
        self.first_at = first_at


class OrphanToolResult(TranscriptError):
    """A tool result answers no tool call that is open."""

    def __init__(self, call_id: ToolCallId, *, at: int) -> None:
        super().__init__(
            f"tool result {call_id!r} (item {at}) answers no tool call before it; "
            f"append the assistant item that made the call first, or drop the result"
        )
        self.call_id = call_id
        self.at = at


class DuplicateToolResult(TranscriptError):
    """A tool call is answered a second time."""

    def __init__(self, call_id: ToolCallId, *, at: int) -> None:
        super().__init__(
            f"tool result {call_id!r} (item {at}) answers a call that has its result already; "
            f"drop one of the two"
        )
        self.call_id = call_id
        self.at = at


class UnansweredToolCall(TranscriptError):
    """An item follows tool calls that have no result yet."""

    def __init__(self, call_ids: tuple[ToolCallId, ...], *, at: int) -> None:
        names = ", ".join(map(repr, call_ids))
        super().__init__(
            f"item {at} follows the unanswered tool call(s) {names}; "
            f"append a tool item with their results first, or repair the transcript"
        )
        self.call_ids = call_ids
        self.at = at


class ProjectionError(ProtocolError):
    """A projection or decoder breaks the laws of its contract."""


class CurrencyMismatch(AgentkitError):
    """Money of several currencies was asked for as one number."""

    def __init__(self, currencies: tuple[str, ...]) -> None:
        super().__init__(
            f"the cost is in {len(currencies)} currencies ({', '.join(currencies)}) and cannot be "
            f"one number; read `amounts` currency by currency"
        )
        self.currencies = currencies


class ProviderError(AgentkitError):
    """A model call failed, for callers that want it raised rather than returned."""

    def __init__(self, failure: ProviderFailure) -> None:
        advice = "may succeed later" if failure.retryable else "would fail again"
        super().__init__(f"{failure.describe()}; the same request {advice}")
        self.failure = failure
