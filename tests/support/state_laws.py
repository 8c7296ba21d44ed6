"""Laws that a state of the kernel obeys by itself, whatever came before it."""

from agentkit_core import ToolCallId
from agentkit_loop import Execution
from agentkit_loop.kernel import CallState, CallStatus, EffectId, Phase, State

IN_A_TURN = frozenset(Phase) - {Phase.IDLE, Phase.CLOSED}


def calls_of(state: State) -> tuple[CallState, ...]:
    """The calls that are under way: those in the background, then the round in call order."""
    return (*state.background.values(), *(() if state.turn is None else state.turn.calls))


def takes_denials(state: State | None, call_id: ToolCallId) -> bool:
    """Whether the tool of a call is told of denials."""
    calls = () if state is None else calls_of(state)
    return any(call.takes_denials for call in calls if call.id == call_id)


def check_phase(state: State) -> None:
    """Check what the phase says about the turn, and about what the session waits for."""
    assert (state.turn is not None) == (state.phase in IN_A_TURN), "I-2"
    if state.turn is None:
        assert not state.steer, "I-2: without a turn, steering is input of the next one"
    if state.phase not in (Phase.IDLE, Phase.PAUSED, Phase.CLOSED):
        assert state.out or state.pending_approvals, "I-6: something is awaited"
    if state.phase is Phase.CLOSED:
        assert not state.out, "I-6"
        assert not state.background


def check_open_calls(state: State) -> None:
    """Check that the calls without a result are those of the round."""
    waiting = () if state.turn is None else tuple(call.id for call in state.turn.calls)
    assert tuple(call.id for call in state.transcript.open_calls) == waiting, "I-1"
    assert state.phase is Phase.ROUND or not waiting


def check_owners(state: State) -> None:
    """Check that each effect belongs to a turn or a call, and that calls have what they need."""
    owned: list[EffectId | None] = [] if state.turn is None else [state.turn.effect_id]
    for call in calls_of(state):
        owned += (call.effect_id, call.timeout_id, call.detach_id)
        is_performed = call.status in (CallStatus.PREFLIGHT, CallStatus.RUNNING)
        assert is_performed == (call.effect_id is not None)
        assert (call.status is CallStatus.ASKING) == bool(call.pending_approvals)
        if call.status is not CallStatus.RUNNING:
            assert call.timeout_id is call.detach_id is None
    for call in state.background.values():
        assert call.status in (CallStatus.RUNNING, CallStatus.ASKING)
    effect_ids = [effect_id for effect_id in owned if effect_id is not None]
    assert len(effect_ids) == len(set(effect_ids)), "I-5: each owner has its own effect"
    assert set(effect_ids) == state.out.keys(), "I-5: each effect has an owner"


def check_schedule(state: State) -> None:
    """Check which calls of the round run at the same time."""
    if state.turn is None or not state.turn.calls:
        return
    calls = state.turn.calls
    running = [call for call in calls if call.status is CallStatus.RUNNING]
    if state.config.max_parallel is not None:
        assert len(running) <= state.config.max_parallel, "no more calls run than may"
    if any(call.rules.exclusive for call in running):
        assert len(running) == 1, "nothing runs beside an exclusive call"
    if state.config.execution is Execution.SEQUENTIAL:
        begun = [call for call in calls if call.status not in (CallStatus.NEW, CallStatus.DONE)]
        assert len(begun) <= 1, "calls run one after another"
    is_ready = any(call.status is CallStatus.READY for call in calls)
    is_checked = any(call.status is CallStatus.PREFLIGHT for call in calls)
    assert not is_ready or running or is_checked, "a call that may run does run"
