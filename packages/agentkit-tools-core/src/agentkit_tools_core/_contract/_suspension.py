"""Suspensions: a tool stops during a run to ask a person, and is run again from the start."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec
from msgspec.structs import replace

from agentkit_core import ApprovalKind, ApprovalRequest, JsonValue, ToolCall, ToolFailure, to_json
from agentkit_core.settings import Settings
from agentkit_core.values import PortableError
from agentkit_tools_core._contract._approval import is_permission_id
from agentkit_tools_core._errors import ToolError
from agentkit_tools_core.sync import NeedsEventLoop

MAX_TOKEN_BYTES: Final = 1 << 20


class Suspension(Settings, frozen=True, omit_defaults=True):
    """A call that waits for answers; after these, it is run again from the start.

    Attributes:
        requests: What the call waits for: at least one request, each id once, all with this call as
            their `call`.
        token: Data that the executor needs to continue, at most 1 MiB as JSON. Pass it unchanged
            to the context of the next run.
        takes_denials: Whether the tool is run again after a denial too; otherwise a denial ends
            the call.
        broken_by: What broke the tool while it waited, such as a `SystemExit` in an agent that is a
            tool. Whoever runs the call keeps what waits, and then raises this. None if nothing did.
    """

    requests: tuple[ApprovalRequest, ...]
    token: JsonValue = None
    takes_denials: bool = False
    broken_by: BaseException | None = None


class ToolSuspended(PortableError):
    """Stops a tool until a person has answered.

    It is not an `Exception`, so that `except Exception` in a tool does not catch it; `finally` and
    `with` work as usual. Suspensions in an exception group count as one if the group contains
    nothing else and their tokens are equal (an async tool that asks in a task group). Any other
    group is a failure of the tool.

    With a cause (`raise … from error`), it keeps what waits for a person although the tool broke:
    the cause is raised to the host as soon as the call waits.
    """

    def __init__(
        self,
        requests: Sequence[ApprovalRequest],
        *,
        token: JsonValue = None,
        takes_denials: bool = False,
    ) -> None:
        """The methods of `ToolContext` make and raise it.

        Raises:
            ValueError: There is no request, or a question has the id of a permission.
        """
        if not requests:
            raise ValueError("there is nothing to wait for; pass at least one approval request")
        for request in requests:
            if request.want is not ApprovalKind.APPROVAL and is_permission_id(request.id):
                raise ValueError(
                    f"the {request.want} {request.id!r} has the id of a permission, so its answer "
                    f"could be taken for one; make it with approval_request(…, want=…)"
                )
        super().__init__(
            "waits for an answer: " + "; ".join(request.summary for request in requests)
        )
        self.requests = tuple(requests)
        self.token = token
        self.takes_denials = takes_denials


class ApprovalDenied(ToolError):
    """A person denied what a tool requested during its run."""

    def __init__(self, request: ApprovalRequest, reason: str | None = None) -> None:
        super().__init__(
            reason or f"The request was denied: {request.summary}",
            failure=ToolFailure.PERMISSION_DENIED,
        )
        self.request = request
        self.reason = reason


class TokenRefused(ToolError):
    """The token of a suspension cannot be stored."""


def suspension_in(error: BaseException) -> ToolSuspended | None:
    """Return the suspension in an exception or a group of suspensions; None if there is another."""
    errors = list(_leaves(error))
    suspensions = [leaf for leaf in errors if isinstance(leaf, ToolSuspended)]
    if len(suspensions) < len(errors):
        return None
    first = suspensions[0]
    if len(suspensions) == 1:
        return first
    if any(suspension.token != first.token for suspension in suspensions):
        return None
    together = ToolSuspended(
        [request for suspension in suspensions for request in suspension.requests],
        token=first.token,
        takes_denials=any(suspension.takes_denials for suspension in suspensions),
    )
    causes = (suspension.__cause__ for suspension in suspensions)
    together.__cause__ = next((cause for cause in causes if cause is not None), None)
    return together


def is_failure(error: BaseException) -> bool:
    """Whether an exception ends only the call that raised it, unlike a cancellation.

    A group of failures and suspensions is a failure. A missing event loop is a mistake of the host,
    which nothing but the host can mend.
    """
    return all(
        isinstance(leaf, (Exception, ToolSuspended)) and not isinstance(leaf, NeedsEventLoop)
        for leaf in _leaves(error)
    )


def requests_of(call: ToolCall, requests: Sequence[ApprovalRequest]) -> tuple[ApprovalRequest, ...]:
    """Return requests with this call; of several requests with one id, the last one."""
    return tuple({request.id: replace(request, call=call) for request in requests}.values())


def check_token(token: JsonValue) -> JsonValue:
    """Check that a token can be stored, and return a copy of it.

    Raises:
        TokenRefused: The token is not plain JSON, or is too large.
    """
    if token is None:
        return None
    try:
        data = to_json(token)
        decoded: JsonValue = msgspec.json.decode(data)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise TokenRefused(f"the token of the suspension is not JSON: {error}") from None
    if decoded != token:
        raise TokenRefused(
            "the token of the suspension is not plain JSON; "
            "use None, bool, int, float, str, list and dict with str keys"
        )
    if len(data) > MAX_TOKEN_BYTES:
        raise TokenRefused(
            f"the token of the suspension has {len(data)} bytes as JSON; "
            f"use at most {MAX_TOKEN_BYTES}"
        )
    return decoded


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    else:
        yield error
