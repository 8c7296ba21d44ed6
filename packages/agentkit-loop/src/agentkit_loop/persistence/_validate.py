"""Consistency: what is true of every state that the kernel makes, for those that come from outside.

A stored state may have been changed by hand or by someone who means harm. One that contradicts
itself is refused when it is read; the kernel would trip over it in the middle of a turn.
"""

from __future__ import annotations

from typing import Final

from agentkit_loop.kernel._call_state import CallState, CallStatus
from agentkit_loop.kernel._effects import AnsweredEffect, EffectId, Preflight, StartTimer, StartTool
from agentkit_loop.kernel._state import State
from agentkit_loop.kernel._table import Phase

_WITHOUT_TURN: Final = frozenset({Phase.IDLE, Phase.CLOSED})
_LATEST: Final = 2**63
"""No clock of milliseconds comes so far, and no larger number becomes seconds."""


def contradiction(state: State) -> str | None:
    """Say what in a state contradicts the rest of it; None if nothing does."""
    turn = state.turn
    if (turn is None) != (state.phase in _WITHOUT_TURN):
        return f"it is {state.phase} {'without' if turn is None else 'with'} a turn"
    if not 0 <= state.clock < _LATEST:
        return "its clock shows no time"
    calls = () if turn is None else turn.calls
    open_ids = tuple(call.id for call in state.transcript.open_calls)
    if tuple(call.id for call in calls) != open_ids:
        return "its round is not about the open calls of the transcript"
    if any(call_id != call.id for call_id, call in state.background.items()):
        return "a background call stands under another's id"
    if (state.phase is Phase.ROUND) != bool(calls):
        return f"it is {state.phase} {'with' if calls else 'without'} calls"
    for call in calls:
        if (call.status is CallStatus.DONE) != (call.result is not None):
            return f"call {call.id!r} is {call.status}, and its result says otherwise"
        if call.result is not None and call.result.call_id != call.id:
            return f"call {call.id!r} has the result of another"
    if turn is not None and not 0 <= turn.first <= len(state.transcript):
        return "its turn begins outside the transcript"
    for effect_id, effect in state.out.items():
        if not _is_issued(state, effect_id) or effect.id != effect_id:
            return f"effect {effect_id!r} was never asked for"
        if not _is_waited_for(state, effect, calls):
            return f"nobody waits for effect {effect_id!r}"
    return None


def _is_issued(state: State, effect_id: EffectId) -> bool:
    number = effect_id.removeprefix("e")
    short = number.isascii() and number.isdecimal() and len(number) <= len(str(_LATEST))
    return short and effect_id == f"e{int(number)}" and 0 < int(number) <= state.effects


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
        case StartTimer(at=at) if abs(at) >= _LATEST:
            return False
        case StartTimer(id=effect_id, call_id=str(call_id)):
            return any(
                effect_id in (call.timeout_id, call.detach_id) and call.id == call_id
                for call in running
            )
        case _:
            return state.turn is not None and state.turn.effect_id == effect.id
