"""Turns: how one begins, calls the model and ends. The phases share these functions.

    begin_turn ─► next_model_call ─► (mutators) ─► prepare_model_call ─► call_model
                    ▲                                                        │
                    └── there is more to say ◄───────────────────────────────┤
                                                                             ▼
                                               finish_turn ─► (hooks) ─► end_turn

Each function returns the phase that the session is in afterwards.
"""

from __future__ import annotations

from typing import Final

from agentkit_core import (
    ANSWERABLE_KINDS,
    FinishReason,
    Item,
    ProviderFailure,
    Transcript,
    TurnId,
    Usage,
)
from agentkit_loop._result import TurnEnd, TurnResult, with_conversation
from agentkit_loop.events import (
    ModelCallStarted,
    MutationPoint,
    MutationStarted,
    ToolCatalogChanged,
    TurnFinished,
    TurnStarted,
)
from agentkit_loop.kernel._config import BackgroundDone
from agentkit_loop.kernel._draft import Draft
from agentkit_loop.kernel._effects import CallModel, CheckFinish, Prepare, RunMutators
from agentkit_loop.kernel._limits import Spent, any_limit_reached, most_tool_calls
from agentkit_loop.kernel._model_request import request_options
from agentkit_loop.kernel._state import TurnState
from agentkit_loop.kernel._status import Finished
from agentkit_loop.kernel._table import Phase

_NOTHING: Final = Usage()


def wants_answer(transcript: Transcript) -> bool:
    """Whether the last item is one that a model answers."""
    return len(transcript) > 0 and transcript[-1].kind in ANSWERABLE_KINDS


def _is_paused(transcript: Transcript) -> bool:
    return len(transcript) > 0 and transcript[-1].finish_reason is FinishReason.PAUSED


def begin_turn(draft: Draft) -> Phase:
    """Begin a turn with the input that waits for it, and call the model."""
    draft.turns += 1
    continues = draft.config.background_done is BackgroundDone.CONTINUE
    is_follow_up = continues and draft.notices and not draft.inputs
    draft.follow_ups = draft.follow_ups + 1 if is_follow_up else 0
    draft.current_turn = TurnState(
        id=TurnId(f"turn-{draft.turns}"),
        started_at=draft.clock,
        first=len(draft.transcript),
    )
    owed, draft.owed = draft.owed, _NOTHING
    if owed != _NOTHING:
        draft.add_usage(owed)
    draft.emit(TurnStarted())
    draft.append_inputs()
    return next_model_call(draft, MutationPoint.TURN_START)


def next_model_call(draft: Draft, point: MutationPoint, *, resumed: bool = False) -> Phase:
    """Start towards the next model call; mutators run first if there are any.

    Args:
        draft: The step.
        point: Where in the turn the mutators run.
        resumed: Whether the last item is an answer that the provider wants to continue.
    """
    draft.set_turn(resumed=resumed)
    if not draft.hooks.mutators:
        return prepare_model_call(draft)
    draft.emit(MutationStarted(point))
    draft.set_turn(effect_id=draft.issue(lambda effect_id: RunMutators(effect_id, point)))
    return Phase.MUTATING


def prepare_model_call(draft: Draft) -> Phase:
    """Prepare the next model call, unless there is nothing to answer or a limit forbids it."""
    turn = draft.turn
    # Mutators may have removed what the model was to answer, or to continue.
    if not wants_answer(draft.transcript) and not (turn.resumed and _is_paused(draft.transcript)):
        return end_turn(draft, TurnEnd.COMPLETED)
    limits, session_limits = draft.config.limits, draft.config.session_limits
    limit = any_limit_reached(limits, session_limits, _spent_by_turn(draft), draft.spent)
    most, name = most_tool_calls(limits, session_limits, draft.spent)
    if limit is None and most is not None:
        closed = turn.tool_calls >= most
        if closed and turn.tools_closed:
            limit = name
        draft.set_turn(tools_closed=closed)
    most_in_a_row = draft.config.max_follow_up_turns
    if limit is None and most_in_a_row is not None and draft.follow_ups > most_in_a_row:
        limit = "max_follow_up_turns"
    if limit is not None:
        return end_turn(draft, TurnEnd.LIMIT, limit=limit)
    return start_attempt(draft, 1)


def _spent_by_turn(draft: Draft) -> Spent:
    turn = draft.turn
    return Spent(
        model_calls=turn.model_calls,
        tool_calls=turn.tool_calls,
        usage=turn.usage,
        unreported=turn.unreported,
        unpriced=turn.unpriced,
        duration_ms=draft.clock - turn.started_at,
    )


def start_attempt(draft: Draft, attempt: int) -> Phase:
    """Start an attempt at the turn's next model call; hooks before the request run first."""
    if not draft.hooks.request:
        draft.set_turn(attempt=attempt, other_model=None, other_options=None)
        return call_model(draft)
    draft.set_turn(attempt=attempt, called=False, prepared=False, effect_id=draft.issue(Prepare))
    return Phase.PREPARING


def call_model(draft: Draft) -> Phase:
    """Call the model for the present attempt."""
    turn = draft.turn
    model, options = turn.other_model or draft.model, turn.other_options
    if options is None:
        options = request_options(draft.once or draft.options, turn, draft.config)
    draft.emit(ModelCallStarted(turn.model_calls + 1, turn.attempt, model, draft.provider, options))
    draft.set_turn(called=True, prepared=True, effect_id=draft.issue(CallModel))
    return Phase.CALLING


def change_model(draft: Draft, model: str, provider: str | None) -> None:
    """Call another model from the next call on; it is sent media that the one before refused."""
    draft.model, draft.provider = model, provider
    draft.accepted_items, draft.refused_media = 0, ()


def record_offer(
    draft: Draft, tools: dict[str, str], callable_tools: tuple[str, ...] | None
) -> None:
    """Record the tools that the model is offered, and report what is different from before.

    Args:
        draft: The step.
        tools: Each tool's name, and a digest of all that the model is told of it.
        callable_tools: The names of those that the answer may call; None means any.
    """
    draft.callable_tools = callable_tools
    before, draft.tools = draft.tools, tools
    if before is None or before == tools:
        return
    in_both = before.keys() & tools.keys()
    draft.emit(
        ToolCatalogChanged(
            added=tuple(sorted(tools.keys() - before.keys())),
            removed=tuple(sorted(before.keys() - tools.keys())),
            changed=tuple(sorted(name for name in in_both if before[name] != tools[name])),
        )
    )


def continue_or_finish(draft: Draft, end: TurnEnd, *, is_paused: bool = False) -> Phase:
    """After an answer without calls: continue if there is more to say, else end the turn.

    Args:
        draft: The step.
        end: How the turn ends if it does.
        is_paused: Whether the provider wants to continue the answer.
    """
    if has_more_input(draft):
        draft.append_steer()
        return next_model_call(draft, MutationPoint.CONTINUE)
    if is_paused:
        return next_model_call(draft, MutationPoint.CONTINUE, resumed=True)
    return finish_turn(draft, end)


def has_more_input(draft: Draft) -> bool:
    """Whether steering waits for the turn, or a notice that keeps it from ending."""
    continues = draft.config.background_done is BackgroundDone.CONTINUE
    return bool(draft.steer or (draft.notices and continues))


def finish_turn(draft: Draft, end: TurnEnd) -> Phase:
    """End the turn; if it is completed, hooks that may prevent this are asked first."""
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
    """End the turn and give its result to the host.

    Steering that found no safe point becomes the first input of the next turn. For the keyword
    arguments see `TurnResult`.
    """
    turn = draft.turn
    result = TurnResult(
        turn_id=turn.id,
        end=end,
        items=draft.turn_items(),
        usage=turn.usage,
        model_calls=turn.model_calls,
        tool_calls=turn.tool_calls,
        limit=limit,
        failure=failure,
        error=error,
        partial=partial,
    )
    with_conversation(result, draft.transcript)
    draft.inputs = draft.steer + draft.inputs
    draft.steer = ()
    draft.once = None
    draft.spent += _spent_by_turn(draft)
    draft.emit(TurnFinished(result))
    draft.yield_status(Finished(result))
    draft.current_turn = None
    return Phase.IDLE
