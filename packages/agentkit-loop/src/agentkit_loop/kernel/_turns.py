"""Turns: how one begins, asks the model and ends. Shared by the phases.

    begin_turn ─► drive ─► (mutators) ─► prepare ─► ask_model          a model call
                    ▲                                   │
                    └── there is more to say ◄──────────┤
                                                        ▼
                                  finish ─► (hooks) ─► end_turn

Each function says in which phase the session is afterwards.
"""

from __future__ import annotations

from agentkit_core import (
    ANSWERABLE_KINDS,
    FinishReason,
    Item,
    ItemKind,
    ProviderFailure,
    Transcript,
    TurnId,
    Usage,
)
from agentkit_loop._result import TurnEnd, TurnResult
from agentkit_loop.events import (
    InputQueued,
    InputRejected,
    ModelCallStarted,
    MutationPoint,
    MutationStarted,
    ToolCatalogChanged,
    TurnFinished,
    TurnStarted,
)
from agentkit_loop.kernel._config import BackgroundDone, BusyInput
from agentkit_loop.kernel._draft import Draft
from agentkit_loop.kernel._effects import CallModel, CheckFinish, Prepare, RunMutators
from agentkit_loop.kernel._inputs import Lane, Submit
from agentkit_loop.kernel._limits import Spent, limit_reached
from agentkit_loop.kernel._state import TurnState
from agentkit_loop.kernel._status import Finished
from agentkit_loop.kernel._table import Phase

_NOT_FOR_HOSTS = frozenset({ItemKind.ASSISTANT, ItemKind.TOOL})


def wants_answer(transcript: Transcript) -> bool:
    """Whether the last item is one that a model would answer."""
    return len(transcript) > 0 and transcript[-1].kind in ANSWERABLE_KINDS


def _is_paused(transcript: Transcript) -> bool:
    return len(transcript) > 0 and transcript[-1].finish_reason is FinishReason.PAUSED


def begin_turn(draft: Draft) -> Phase:
    """Begin a turn with what waits for it, and ask the model."""
    draft.turns += 1
    draft.running = TurnState(
        TurnId(f"turn-{draft.turns}"),
        started_at=draft.clock,
        first=len(draft.transcript),
    )
    owed, draft.owed = draft.owed, Usage()
    if owed != Usage():
        draft.add_usage(owed)
    draft.emit(TurnStarted())
    draft.append_inputs()
    return drive(draft, MutationPoint.TURN_START)


def drive(draft: Draft, point: MutationPoint, *, resumed: bool = False) -> Phase:
    """Get the next model call under way: mutators first, where there are any.

    Args:
        draft: The step.
        point: For the mutators.
        resumed: Whether the last item is an answer that the provider wants to go on with.
    """
    draft.set_turn(resumed=resumed)
    if not draft.hooks.mutators:
        return prepare(draft)
    draft.emit(MutationStarted(point))
    draft.set_turn(
        effect_id=draft.issue(lambda effect_id: RunMutators(effect_id, point)),
    )
    return Phase.MUTATING


def prepare(draft: Draft) -> Phase:
    """Prepare the next model call, if there is something to answer and no limit forbids it."""
    turn = draft.turn
    # Mutators may have taken away what there was to answer, or to go on with.
    if not wants_answer(draft.transcript) and not (turn.resumed and _is_paused(draft.transcript)):
        return end_turn(draft, TurnEnd.COMPLETED)
    limits = draft.config.limits
    spent = Spent(
        model_calls=turn.model_calls,
        usage=turn.usage,
        unreported=turn.unreported,
        unpriced=turn.unpriced,
        duration_ms=draft.clock - turn.started_at,
    )
    limit = limit_reached(limits, spent)
    if limit is None and limits.max_tool_calls is not None:
        closed = turn.tool_calls >= limits.max_tool_calls
        if closed and turn.tools_closed:
            limit = "max_tool_calls"
        draft.set_turn(tools_closed=closed)
    if limit is not None:
        return end_turn(draft, TurnEnd.LIMIT, limit=limit)
    return prepare_attempt(draft, 1)


def prepare_attempt(draft: Draft, attempt: int) -> Phase:
    """Make an attempt at the next model call; hooks see its request first if there are any."""
    if not draft.hooks.request:
        draft.set_turn(attempt=attempt)
        return ask_model(draft)
    draft.set_turn(attempt=attempt, called=False, prepared=False, effect_id=draft.issue(Prepare))
    return Phase.PREPARING


def note_tools(draft: Draft, tools: dict[str, str]) -> None:
    """Take note of the tools that the model is offered, and report what is different from before.

    Args:
        draft: The step.
        tools: Each tool's name, and a digest of all that the model is told of it.
    """
    before, draft.tools = draft.tools, tools
    if before is None or before == tools:
        return
    same = before.keys() & tools.keys()
    draft.emit(
        ToolCatalogChanged(
            added=tuple(sorted(tools.keys() - before.keys())),
            removed=tuple(sorted(before.keys() - tools.keys())),
            changed=tuple(sorted(name for name in same if before[name] != tools[name])),
        )
    )


def ask_model(draft: Draft) -> Phase:
    """Make the attempt that was prepared."""
    turn = draft.turn
    draft.emit(ModelCallStarted(turn.model_calls + 1, turn.attempt, draft.model))
    draft.set_turn(called=True, prepared=True, effect_id=draft.issue(CallModel))
    return Phase.CALLING


def go_on_or_finish(draft: Draft, end: TurnEnd, *, paused: bool = False) -> Phase:
    """After an answer without calls: go on where somebody has more to say, else end the turn.

    Args:
        draft: The step.
        end: How the turn ends if it does.
        paused: Whether the provider wants to go on with the answer.
    """
    if has_more(draft):
        draft.append_steer()
        return drive(draft, MutationPoint.CONTINUE)
    if paused:
        return drive(draft, MutationPoint.CONTINUE, resumed=True)
    return finish(draft, end)


def has_more(draft: Draft) -> bool:
    """Whether steering waits for the turn, or a notice that keeps it from ending."""
    told = draft.notices and draft.config.background_done is BackgroundDone.CONTINUE
    return bool(draft.steer or told)


def finish(draft: Draft, end: TurnEnd) -> Phase:
    """End the turn, after asking whether it may where there are hooks for that."""
    if end is not TurnEnd.COMPLETED or not draft.hooks.finish:
        return end_turn(draft, end)
    draft.set_turn(effect_id=draft.issue(CheckFinish))
    return Phase.FINISHING


def end_turn(
    draft: Draft,
    end: TurnEnd,
    *,
    limit: str | None = None,
    failure: ProviderFailure | None = None,
    error: str | None = None,
    partial: Item | None = None,
) -> Phase:
    """End the turn and hand its result to the host.

    Steering that found no safe point becomes the next turn's first input.
    """
    turn = draft.turn
    result = TurnResult(
        turn.id,
        end,
        items=draft.produced(),
        usage=turn.usage,
        model_calls=turn.model_calls,
        tool_calls=turn.tool_calls,
        limit=limit,
        failure=failure,
        error=error,
        partial=partial,
    )
    draft.inputs = draft.steer + draft.inputs
    draft.steer = ()
    draft.once = None
    draft.emit(TurnFinished(result))
    draft.give(Finished(result))
    draft.running = None
    return Phase.IDLE


def append_said(draft: Draft, items: tuple[Item, ...]) -> None:
    """Append what hooks have to say; what only models and tools can say is left out."""
    said = tuple(item for item in items if item.kind not in _NOT_FOR_HOSTS)
    if len(said) < len(items):
        draft.diagnose("hooks cannot say what comes from models and tools; it was left out")
    draft.append(*said)


def queue(draft: Draft, given: Submit) -> Lane | None:
    """Put the host's input in the lane where it waits for a safe point.

    Returns:
        The lane; None where nothing was put in any.
    """
    if not given.items:
        return None
    for item in given.items:
        if item.kind in _NOT_FOR_HOSTS:
            draft.emit(
                InputRejected(
                    f"{item.kind.value} items come from models and tools; "
                    f"start the session with a history instead"
                )
            )
            return None
    lane = given.lane
    if draft.running is None:
        lane = Lane.NEXT
    elif lane is Lane.NEXT:
        match draft.config.busy_input:
            case BusyInput.STEER:
                lane = Lane.STEER
            case BusyInput.REJECT:
                draft.emit(InputRejected("a turn is running"))
                return None
            case BusyInput.QUEUE:
                pass
    if lane is Lane.STEER:
        draft.steer += (given.items,)
    else:
        draft.inputs += (given.items,)
    draft.emit(InputQueued(given.items, lane.value))
    return lane
