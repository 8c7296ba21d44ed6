"""What can go wrong with a model call, as a value: kind, whose fault, worth a retry or not."""

from __future__ import annotations

from agentkit_core._json import JsonValue
from agentkit_core.values import Record, StringEnum


class FailureKind(StringEnum):
    """Why a model call failed; one set for all providers."""

    RATE_LIMIT = "rate_limit"
    """Too many requests or tokens for now; wait."""
    OVERLOADED = "overloaded"
    """The provider has no capacity for now; wait."""
    SERVER = "server"
    """The provider failed."""
    TIMEOUT = "timeout"
    """One of the limits on waiting passed."""
    CONNECTION = "connection"
    """No connection could be made, or it broke before the answer began."""
    STREAM_CUT = "stream_cut"
    """The answer began and ended without its end marker."""
    PROTOCOL = "protocol"
    """The answer is not what the protocol says."""
    AUTH = "auth"
    """The key is missing, wrong or not allowed this."""
    BILLING = "billing"
    """Out of credit or quota that waiting does not bring back."""
    INVALID_REQUEST = "invalid_request"
    """The provider refuses the request as it is."""
    CONTEXT_LENGTH = "context_length"
    """The request does not fit the model's context window."""
    CONTENT_FILTER = "content_filter"
    """The provider refuses the content."""
    NOT_FOUND = "not_found"
    """No such model, deployment or path."""
    CANCELLED = "cancelled"
    """The call was cancelled here."""


class ProviderFailure(Record, frozen=True, kw_only=True, omit_defaults=True):
    """One failed model call.

    `message` is for people and holds no secret; everything that code may want to decide on
    has a field of its own.

    Attributes:
        retryable: Whether the same request may succeed later.
        retry_after_s: The least wait that the provider asked for, in seconds; None when it asked
            for none.
        status: The HTTP status; None when no response arrived or the failure came inside a stream.
        code: The provider's own code.
        type: The provider's own type of error.
        param: The part of the request that the provider blames.
        request_id: The provider's name of the request, for its support.
        tokens: For `context_length`: how many tokens the request had, where the provider says so.
        token_limit: For `context_length`: how many it may have, where the provider says so.
        raw: The provider's error body as it came, cut where it is long.
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

    def describe(self) -> str:
        """Say it in one line: kind, status, code, message, wait."""
        facts = [self.kind.value]
        if self.status is not None:
            facts.append(f"HTTP {self.status}")
        if self.code is not None and self.code != str(self.status):
            facts.append(self.code)
        wait = "" if self.retry_after_s is None else f" (retry after {self.retry_after_s:g} s)"
        return f"{', '.join(facts)}: {self.message}{wait}"
