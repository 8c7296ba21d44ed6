"""Errors that are raised for mistakes of the caller. Failures of the world are values.

    AgentkitError
    ├── NormalizeError            a value cannot be converted to or from another format
    │   ├── RecordError           stored bytes are not a valid record
    │   └── UnsupportedContent    a model cannot be sent this part or option
    ├── ProtocolError             the rules of a stream or a transcript are broken
    │   ├── DeltaOutOfOrder       a delta does not fit the part it names
    │   ├── TranscriptError       an item breaks a rule of the transcript
    │   │   ├── MisplacedPart     a part is in an item or output that cannot contain it
    │   │   ├── DuplicateToolCall    a call has the id of an earlier call
    │   │   ├── OrphanToolResult     a result has no open call
    │   │   ├── DuplicateToolResult  a call gets a second result
    │   │   └── UnansweredToolCall   an item follows a call that has no result yet
    │   └── ProjectionError       a projection breaks a rule of its contract
    ├── CurrencyMismatch          an amount in several currencies was read as one number
    └── ProviderError             a model call failed, for callers that want an exception

Each message says what happened, where, and what to do. The same facts are attributes. Errors can
be pickled and written as JSON. The errors of the other packages are subclasses of `AgentkitError`.
"""

from __future__ import annotations

import msgspec

from agentkit_core._failure import ProviderFailure
from agentkit_core._ids import PartId, ToolCallId
from agentkit_core._json import JsonValue
from agentkit_core.values import PortableError


class AgentkitError(PortableError, Exception):
    """The base class of all errors that the agentkit packages define.

    The facts of an error are its instance attributes: JSON values or structs.
    """

    @property
    def details(self) -> dict[str, JsonValue]:
        """The facts by name, as JSON values."""
        facts = {name: fact for name, fact in vars(self).items() if not name.startswith("_")}
        builtins: dict[str, JsonValue] = msgspec.to_builtins(facts, enc_hook=repr)
        return builtins

    def to_json(self) -> dict[str, JsonValue]:
        """Return the error as `{"type": …, "message": …, "details": {…}}`."""
        return {"type": type(self).__name__, "message": str(self), "details": self.details}


class NormalizeError(AgentkitError):
    """A value cannot be converted: foreign data to our types, or ours to a foreign format."""


class RecordError(NormalizeError):
    """Stored bytes are not a valid record of the expected type."""

    def __init__(self, record: str, reason: str) -> None:
        super().__init__(
            f"the bytes are not a valid {record}: {reason}; check that they are complete and "
            f"were written by this library; if a newer version wrote them, pass unknown_parts=True"
        )
        self.record = record
        self.reason = reason


class UnsupportedContent(NormalizeError):
    """A model cannot be sent this part or option."""

    def __init__(self, what: str, *, target: str, advice: str) -> None:
        super().__init__(f"{target} does not support {what}; {advice}")
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
            f"fix the decoder, or fold with strict=False to ignore such deltas"
        )
        self.operation = operation
        self.part_id = part_id
        self.reason = reason


class TranscriptError(ProtocolError):
    """An item breaks a rule of the transcript; the transcript is unchanged."""


class MisplacedPart(TranscriptError):
    """A part is in an item, or in a tool's output, that cannot contain it."""

    def __init__(self, part: str, *, kind: str) -> None:
        super().__init__(
            f"a {part} part cannot be in {kind} content; put tool calls in assistant items, and "
            f"tool results (and nothing else) in tool items; a tool's output can contain neither"
        )
        self.part = part
        self.kind = kind


class DuplicateToolCall(TranscriptError):
    """A tool call has the id of an earlier call."""

    def __init__(self, call_id: ToolCallId, *, at: int, first_at: int) -> None:
        super().__init__(
            f"tool call {call_id!r} (item {at}) has the same id as a call in item {first_at}; "
            f"give each call of a transcript a unique id"
        )
        self.call_id = call_id
        self.at = at
        self.first_at = first_at


class OrphanToolResult(TranscriptError):
    """A tool result has no open tool call."""

    def __init__(self, call_id: ToolCallId, *, at: int) -> None:
        super().__init__(
            f"tool result {call_id!r} (item {at}) has no tool call before it; append the "
            f"assistant item with the call first, or leave the result out"
        )
        self.call_id = call_id
        self.at = at


class DuplicateToolResult(TranscriptError):
    """A tool call gets a second result."""

    def __init__(self, call_id: ToolCallId, *, at: int) -> None:
        super().__init__(
            f"tool result {call_id!r} (item {at}) is the second result of one call; "
            f"leave one of the two out"
        )
        self.call_id = call_id
        self.at = at


class UnansweredToolCall(TranscriptError):
    """An item follows tool calls that have no result yet."""

    def __init__(self, call_ids: tuple[ToolCallId, ...], *, at: int) -> None:
        names = ", ".join(map(repr, call_ids))
        super().__init__(
            f"item {at} follows tool calls without results: {names}; append a tool item with "
            f"their results first, or use `repair`"
        )
        self.call_ids = call_ids
        self.at = at


class ProjectionError(ProtocolError):
    """A projection or decoder breaks a rule of its contract."""


class CurrencyMismatch(AgentkitError):
    """An amount in several currencies was read as one number."""

    def __init__(self, currencies: tuple[str, ...]) -> None:
        super().__init__(
            f"the cost is in {len(currencies)} currencies ({', '.join(currencies)}), so it is not "
            f"one number; read `amounts` for each currency"
        )
        self.currencies = currencies


class ProviderError(AgentkitError):
    """A model call failed; for callers that want an exception instead of a value."""

    def __init__(self, failure: ProviderFailure) -> None:
        advice = "may succeed later" if failure.retryable else "would fail again"
        super().__init__(f"{failure.describe()}; the same request {advice}")
        self.failure = failure
