"""Validation of stored states: what is true of every state that the kernel makes.

A stored state may have been changed by mistake, or by an attacker. A state that contradicts itself
is refused when it is read; otherwise the kernel would fail in the middle of a turn.
"""

from __future__ import annotations

from typing import Final

from agentkit_loop.kernel._call_state import CallState, CallStatus
from agentkit_loop.kernel._effects import AnsweredEffect, EffectId, Preflight, StartTimer, StartTool
from agentkit_loop.kernel._state import State
from agentkit_loop.kernel._table import Phase

_WITHOUT_TURN: Final = frozenset({Phase.IDLE, Phase.CLOSED})
_TIME_LIMIT: Final = 2**63
"""No clock of milliseconds gets this far, and no larger number can become seconds."""


def find_contradiction(state: State) -> str | None:
    """Return what in a state contradicts the rest of it; None if nothing does."""
    turn = state.turn
    if (turn is None) != (state.phase in _WITHOUT_TURN):
        return f"it is {state.phase} {'without' if turn is None else 'with'} a turn"
    if not 0 <= state.clock < _TIME_LIMIT:
        return f"its clock is {state.clock}, which is not a valid time"
    calls = () if turn is None else turn.calls
    open_ids = tuple(call.id for call in state.transcript.open_calls)
    if tuple(call.id for call in calls) != open_ids:
        return "the calls of its round are not the open calls of its transcript"
    if any(call_id != call.id for call_id, call in state.background.items()):
        return "a background call is listed under the id of another call"
    if (state.phase is Phase.ROUND) != bool(calls):
        return f"it is {state.phase} {'with' if calls else 'without'} calls"
    for call in calls:
        if (call.status is CallStatus.DONE) != (call.result is not None):
            with_or_without = "without" if call.result is None else "with"
            return f"call {call.id!r} is {call.status} {with_or_without} a result"
        if call.result is not None and call.result.call_id != call.id:
            return f"call {call.id!r} has the result of call {call.result.call_id!r}"
    if turn is not None and not 0 <= turn.first <= len(state.transcript):
        return f"its turn begins at item {turn.first}, which is outside of the transcript"
    if not 0 <= state.accepted_items <= len(state.transcript):
        return f"{state.accepted_items} of its items were accepted, but it has fewer"
    if any(not 0 <= at < len(state.transcript) for at in state.refused_media):
        return "the media of an item outside of the transcript were refused"
    for effect_id, effect in state.out.items():
        if not _is_issued(state, effect_id) or effect.id != effect_id:
            return f"effect {effect_id!r} waits for an answer, but the kernel never asked for it"
        if not _is_waited_for(state, effect, calls):
            return f"effect {effect_id!r} waits for an answer, but nothing waits for it"
    return None


def _is_issued(state: State, effect_id: EffectId) -> bool:
    number = effect_id.removeprefix("e")
    is_short = number.isascii() and number.isdecimal() and len(number) <= len(str(_TIME_LIMIT))
    return is_short and effect_id == f"e{int(number)}" and 0 < int(number) <= state.effects


def _is_waited_for(state: State, effect: AnsweredEffect, calls: tuple[CallState, ...]) -> bool:
    running = [
        call for call in (*calls, *state.background.values()) if call.status is CallStatus.RUNNING
    ]
    match effect:
        case Preflight(id=effect_id, call=part):
            checked = [call for call in calls if call.status is CallStatus.PREFLIGHT]
            return any(call.effect_id == effect_id and call.id == part.id for call in checked)
        case StartTool(id=effect_id, call=part):
            return any(call.effect_id == effect_id and call.id == part.id for call in running)
        case StartTimer(at=at) if abs(at) >= _TIME_LIMIT:
            return False
        case StartTimer(id=effect_id, call_id=str(call_id)):
            return any(
                effect_id in (call.timeout_id, call.detach_id) and call.id == call_id
                for call in running
            )
        case _:
            return state.turn is not None and state.turn.effect_id == effect.id
