"""Seals: digests of stored calls, so that what runs is what a person was shown.

A call that was checked is stored with a digest of all that is known about it: its name, arguments
and tool, what a person is shown and what was approved. When it is read, all of it must still be the
same. This finds damage and changes by other hands. It is no signature: whoever can compute digests
can write new ones, so keep stored sessions where only you can write.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from hashlib import sha256
from typing import Final

import msgspec
from msgspec.structs import replace

from agentkit_core import ApprovalRequest, to_json
from agentkit_core.json import canonical_json
from agentkit_loop.events import ApprovalRequired
from agentkit_loop.kernel._call_state import CallState, CallStatus
from agentkit_loop.kernel._effects import Emit, Preflight, StartTool, Yield
from agentkit_loop.kernel._state import State
from agentkit_loop.kernel._status import WaitingForApproval

_UNSEALED: Final = frozenset({CallStatus.NEW, CallStatus.PREFLIGHT, CallStatus.DONE})
_LENGTH: Final = 32


@cache
def _call_decoder() -> msgspec.json.Decoder[CallState]:
    return msgspec.json.Decoder(CallState)  # built when it is needed, which takes milliseconds


def with_seals(state: State) -> State:
    """Return a state with the seals of its calls, to be stored."""
    seals = {call.id: seal_of_json(to_json(call)) for call in _calls(state) if is_sealed(call)}
    return replace(state, seals=seals) if seals else state


def is_sealed(call: CallState) -> bool:
    """Whether a call is stored with a seal: it was checked, and has no result."""
    return call.status not in _UNSEALED


def seal_of_json(call: bytes | msgspec.Raw) -> str:
    """Return the seal of a call, given as the JSON that is stored."""
    # As it will be read: an integer in a field for numbers is read as a float, for example.
    return _seal_of(_call_decoder().decode(call))


def without_seals(state: State) -> State:
    """Return a stored state without its seals."""
    return replace(state, seals={}) if state.seals else state


def find_changed_call(state: State) -> str | None:
    """Return what of a stored state's calls was changed since it was stored; None if nothing was.

    States of older versions have no seals; of these only that is checked which must be equal.
    """
    calls = {call.id: call for call in _calls(state)}
    for call in calls.values():
        seal = state.seals.get(call.id)
        if seal is not None and seal != _seal_of(call):
            return f"call {call.id!r} was changed after it was stored"
        if call.pending_approvals and call.status is not CallStatus.ASKING:
            return f"call {call.id!r} is {call.status} with pending approvals"
        if any(request.call != call.call for request in call.pending_approvals):
            return f"an approval of call {call.id!r} shows another call"
    for effect in state.out.values():
        if isinstance(effect, (Preflight, StartTool)):
            waiting = calls.get(effect.call.id)
            if waiting is not None and effect.call != waiting.call:
                return f"effect {effect.id!r} is about another call than {effect.call.id!r}"
            if (
                isinstance(effect, StartTool)
                and waiting is not None
                and (effect.revision, effect.resume) != (waiting.revision, waiting.resume)
            ):
                return f"effect {effect.id!r} would run call {effect.call.id!r} in another way"
    return None


def find_changed_report(state: State, reports: Iterable[Emit | Yield]) -> str | None:
    """Return which stored report shows an approval as something else; None if none does."""
    pending = {(request.id, request.call.id): request for request in state.pending_approvals}
    for request in _reported(reports):
        if pending.get((request.id, request.call.id), request) != request:
            return f"a report shows another approval {request.id!r}"
    return None


def _reported(reports: Iterable[Emit | Yield]) -> Iterable[ApprovalRequest]:
    for report in reports:
        if isinstance(report, Yield) and isinstance(report.status, WaitingForApproval):
            yield from report.status.requests
        elif isinstance(report, Emit) and isinstance(report.event, ApprovalRequired):
            yield report.event.request


def _calls(state: State) -> list[CallState]:
    """The calls that have no result; a call in the background left a placeholder in its round."""
    calls = (*state.background.values(), *(() if state.turn is None else state.turn.calls))
    return [call for call in calls if call.status is not CallStatus.DONE]


def _seal_of(call: CallState) -> str:
    return sha256(canonical_json(call)).hexdigest()[:_LENGTH]
