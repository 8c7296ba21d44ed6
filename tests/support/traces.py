"""Traces: effects as one line of tokens, to compare with a golden one.

turn_started           an event             +user      items appended, by kind
tool_result:a          one of a call        !start:a   an effect that is answered
turn_finished:error    with what matters    <finished> the host has the word
"""

from collections.abc import Iterable

from agentkit_loop.events import (
    ApprovalRequired,
    ApprovalResolved,
    Event,
    InputQueued,
    InputWithdrawn,
    ItemsAppended,
    MutationFinished,
    ToolCallRequested,
    TranscriptRewritten,
    TurnFinished,
)
from agentkit_loop.kernel import (
    Abort,
    CallModel,
    CheckFinish,
    Effect,
    Emit,
    Persist,
    Preflight,
    Prepare,
    RunMutators,
    StartTimer,
    StartTool,
    Yield,
)


def trace(effects: Iterable[Effect]) -> str:
    return " ".join(token for token in map(_token, effects) if token)


def event_trace(events: Iterable[Event]) -> str:
    return " ".join(token for token in map(_event, events) if token)


def _token(effect: Effect) -> str:
    match effect:
        case Emit(event=ItemsAppended() | TranscriptRewritten()):
            return ""  # as `Persist`
        case Emit(event=event):
            return _event(event)
        case Persist(items=items, rewrite=True):
            return "=rewrite"
        case Persist(items=items):
            return "+" + "/".join(item.kind.value for item in items)
        case Yield(status=step):
            return f"<{_tag(step)}>"
        case CallModel():
            return "!call_model"
        case Preflight(call=call):
            return f"!preflight:{call.id}"
        case StartTool(call=call):
            return f"!start_tool:{call.id}"
        case StartTimer(call_id=None):
            return "!timer"
        case StartTimer(call_id=call_id, why=why):
            return f"!timer:{why}:{call_id}"
        case RunMutators():
            return "!run_mutators"
        case Prepare():
            return "!prepare"
        case CheckFinish():
            return "!check_finish"
        case Abort():
            return "!abort"


def _event(event: Event) -> str:
    tag = _tag(event)
    match event:
        case ItemsAppended(items=items):
            return "+" + "/".join(item.kind.value for item in items)
        case TurnFinished(result=result):
            return f"{tag}:{result.end}"
        case ApprovalResolved(call_id=call_id, outcome=outcome):
            return f"{tag}:{call_id}:{outcome}"
        case ToolCallRequested(call=call):
            return f"{tag}:{call.id}"
        case ApprovalRequired(request=request):
            return f"{tag}:{request.call.id}"
        case InputQueued(lane=lane) | InputWithdrawn(lane=lane):
            return f"{tag}:{lane}"
        case MutationFinished(outcome=outcome):
            return f"{tag}:{outcome}"
        case TranscriptRewritten():
            return "=rewrite"
        case _:
            whose = getattr(event, "call_id", None)
            return tag if whose is None else f"{tag}:{whose}"


def _tag(value: object) -> str:
    return str(type(value).__struct_config__.tag)  # type: ignore[attr-defined]
