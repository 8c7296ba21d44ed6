"""Failures of model calls and of tools, as values: their kind and the facts."""

from __future__ import annotations

from msgspec.structs import force_setattr

from agentkit_core._json import JsonValue
from agentkit_core.settings import member_of
from agentkit_core.values import Record, StringEnum


class FailureKind(StringEnum):
    """Why a model call failed; the same set for all providers."""

    RATE_LIMIT = "rate_limit"
    """Too many requests or tokens in a period; wait."""
    OVERLOADED = "overloaded"
    """The provider has no capacity at the moment; wait."""
    SERVER = "server"
    """An internal error of the provider."""
    TIMEOUT = "timeout"
    """One of the `Timeouts` was exceeded."""
    CONNECTION = "connection"
    """The connection could not be made, or broke before the response began."""
    STREAM_CUT = "stream_cut"
    """The response began, but ended without its end marker."""
    PROTOCOL = "protocol"
    """The response does not follow the protocol."""
    AUTH = "auth"
    """The API key is missing, wrong, or does not allow this."""
    BILLING = "billing"
    """No credit left, or a quota that waiting does not restore."""
    INVALID_ANSWER = "invalid_answer"
    """The provider rejects what its own model wrote, such as a tool call that it cannot read. The
    request is valid, and another attempt may succeed."""
    INVALID_REQUEST = "invalid_request"
    """The provider rejects the request as invalid."""
    CONTEXT_LENGTH = "context_length"
    """The request does not fit the model's context window."""
    CONTENT_FILTER = "content_filter"
    """The provider's filter rejects the content."""
    NOT_FOUND = "not_found"
    """The model, deployment or path does not exist."""
    CANCELLED = "cancelled"
    """The caller cancelled the call."""


class ProviderFailure(Record, frozen=True, kw_only=True, omit_defaults=True):
    """A failed model call.

    Attributes:
        kind: Why the call failed.
        message: What went wrong, for people; it contains no secrets. Facts for programs have
            fields of their own.
        retryable: Whether the same request may succeed later.
        retry_after_s: The shortest wait that the provider asks for, in seconds; None if it asks
            for none.
        status: The HTTP status; None if no response arrived or the failure was inside a stream.
        code: The provider's own error code; None if it gave none.
        type: The provider's own error type; None if it gave none.
        param: The part of the request that caused the error, as the provider says; None if it
            does not.
        request_id: The provider's id of the request, for its support; None if it gave none.
        tokens: For `context_length`: the tokens of the request; None if the provider does not say.
        token_limit: For `context_length`: the tokens allowed; None if the provider does not say.
        raw: The provider's error body as JSON or text, shortened if it is long; None if there is
            none.
    """

    kind: FailureKind
    message: str
    retryable: bool = False
    retry_after_s: float | None = None
    status: int | None = None
    code: str | None = None
    type: str | None = None
    param: str | None = None
    request_id: str | None = None
    tokens: int | None = None
    token_limit: int | None = None
    raw: JsonValue = None

    def __post_init__(self) -> None:
        # The other fields are what a provider reports, which may be nonsense.
        if type(self.kind) is not FailureKind:
            force_setattr(self, "kind", member_of(FailureKind, self.kind, "ProviderFailure.kind"))

    def describe(self) -> str:
        """Describe the failure in one line: kind, status, code, message, wait."""
        facts = [self.kind.value]
        if self.status is not None:
            facts.append(f"HTTP {self.status}")
        if self.code is not None and self.code != str(self.status):
            facts.append(self.code)
        wait = "" if self.retry_after_s is None else f" (retry after {self.retry_after_s:g} s)"
        return f"{', '.join(facts)}: {self.message}{wait}"


class ToolFailure(StringEnum):
    """Why a tool result is an error."""

    NOT_FOUND = "not_found"
    INVALID_INPUT = "invalid_input"
    CUT_OFF = "cut_off"
    """The model reached its output limit inside the arguments; the tool was not run."""
    PERMISSION_DENIED = "permission_denied"
    EXECUTION_FAILED = "execution_failed"
    UNAVAILABLE = "unavailable"
    TIMED_OUT = "timed_out"
    INTERRUPTED = "interrupted"
    SKIPPED = "skipped"
    """New input arrived before the call started."""
    OUTCOME_UNKNOWN = "outcome_unknown"
    """The process that ran the tool ended; the tool may or may not have finished."""
