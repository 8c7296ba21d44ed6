"""Suspensions: a tool stops in the middle of a run, to ask, and is run again from its start."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec
from msgspec.structs import replace

from agentkit_core import ApprovalRequest, JsonValue, ToolCall, ToolFailure, to_json
from agentkit_core.values import Record
from agentkit_tools_core._errors import ToolError

MAX_TOKEN_BYTES: Final = 1 << 20


class Suspension(Record, frozen=True, omit_defaults=True):
    """A call that waits for answers; with them it is run again from its start.

    Attributes:
        requests: What the call waits for: at least one, each id once. Each has this call as its
            `call`, whatever the tool wrote there.
        token: To be handed back with the answers, as it is; at most 1 MiB as JSON.
        takes_denials: Whether a denial is handed to the tool as well; otherwise it ends the call.
    """

    requests: tuple[ApprovalRequest, ...]
    token: JsonValue = None
    takes_denials: bool = False


class ToolSuspended(BaseException):
    """A tool stops here until something is answered.

    Not an `Exception`, so that a tool's `except Exception` does not swallow it; `finally` and
    `with` are passed as usual. Of a group the suspensions are taken together if there is
    nothing else in it and they carry equal tokens (an async tool that asks in a task group);
    any other group is a failure of the tool.
    """

    def __init__(
        self,
        requests: Sequence[ApprovalRequest],
        *,
        token: JsonValue = None,
        takes_denials: bool = False,
    ) -> None:
        """Made by `ToolContext`.

        Raises:
            ValueError: Nothing is asked.
        """
        if not requests:
            raise ValueError("a tool that suspends has to ask something, or nothing wakes it")
        super().__init__(
            "waits for an answer: " + "; ".join(request.summary for request in requests)
        )
        self.requests = tuple(requests)
        self.token = token
        self.takes_denials = takes_denials


class ApprovalDenied(ToolError):
    """What a tool asked for in the middle of its run was denied."""

    def __init__(self, request: ApprovalRequest, reason: str | None = None) -> None:
        super().__init__(
            reason or f"This was denied: {request.summary}", failure=ToolFailure.PERMISSION_DENIED
        )
        self.request = request
        self.reason = reason


class TokenRefused(ToolError):
    """A token cannot be stored."""


def suspension_in(error: BaseException) -> ToolSuspended | None:
    """Find the suspension that an exception is, or that is alone in a group of exceptions."""
    found = list(_leaves(error))
    suspended = [one for one in found if isinstance(one, ToolSuspended)]
    if len(suspended) < len(found):
        return None
    first = suspended[0]
    if len(suspended) == 1:
        return first
    if any(one.token != first.token for one in suspended):
        return None
    return ToolSuspended(
        [request for one in suspended for request in one.requests],
        token=first.token,
        takes_denials=any(one.takes_denials for one in suspended),
    )


def is_failure(error: BaseException) -> bool:
    """Whether an exception ends no more than the call in which it was raised.

    A group that mixes failures with suspensions is a failure.
    """
    return all(isinstance(one, (Exception, ToolSuspended)) for one in _leaves(error))


def requests_of(call: ToolCall, requests: Sequence[ApprovalRequest]) -> tuple[ApprovalRequest, ...]:
    """Set the call of approval requests; of several with one id, the last stays."""
    return tuple({request.id: replace(request, call=call) for request in requests}.values())


def checked_token(token: JsonValue) -> JsonValue:
    """Look whether a token can be stored, and copy it.

    Raises:
        TokenRefused: It is not plain JSON, or too large.
    """
    if token is None:
        return None
    try:
        written = to_json(token)
        read: JsonValue = msgspec.json.decode(written)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise TokenRefused(f"the token of the suspension is not JSON: {error}") from None
    if read != token:
        raise TokenRefused(
            "the token of the suspension is not plain JSON; "
            "use None, bool, int, float, str, list and dict with str keys"
        )
    if len(written) > MAX_TOKEN_BYTES:
        raise TokenRefused(
            f"the token of the suspension has {len(written)} bytes as JSON, "
            f"and {MAX_TOKEN_BYTES} is the most"
        )
    return read


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for one in error.exceptions:
            yield from _leaves(one)
    else:
        yield error
