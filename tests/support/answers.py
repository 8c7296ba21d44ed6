"""Answers that the rig gives to effects of the kernel."""

from __future__ import annotations

from agentkit_core import (
    ApprovalId,
    ApprovalKind,
    ApprovalRequest,
    FinishReason,
    Item,
    ItemKind,
    ModelResponse,
    Part,
    Text,
    ToolCall,
    ToolCallId,
    Usage,
)
from agentkit_loop.kernel import (
    AnsweredEffect,
    Effect,
    Preflight,
    StartTimer,
    StartTool,
)


def call_of(effect: Effect) -> str | None:
    """Return the id of the call that an effect concerns; None if it concerns no call."""
    match effect:
        case Preflight(call=call) | StartTool(call=call):
            return call.id
        case StartTimer(call_id=call_id):
            return call_id
        case _:
            return None


def approval_requests(
    effect: AnsweredEffect, approvals: tuple[str, ...], want: ApprovalKind = ApprovalKind.APPROVAL
) -> tuple[ApprovalRequest, ...]:
    """Make approval requests of the call of an effect; their kind is the first letter of the id."""
    assert isinstance(effect, Preflight | StartTool)
    call = effect.call
    return tuple(
        ApprovalRequest(
            id=ApprovalId(name), call=call, kind=name[0], summary=f"do {name}", want=want
        )
        for name in approvals
    )


def model_answer(
    *calls: str | ToolCall,
    text: str = "t",
    reason: FinishReason | None = None,
    usage: Usage | None = None,
) -> ModelResponse:
    """Make an answer of the model with a text and tool calls, which may be given by their ids."""
    tool_calls = [
        ToolCall(id=ToolCallId(call), name=f"tool_{call}") if isinstance(call, str) else call
        for call in calls
    ]
    usual = FinishReason.TOOL_CALL if tool_calls else FinishReason.COMPLETED
    parts: tuple[Part, ...] = (Text(text=text), *tool_calls)
    return ModelResponse(
        Item(ItemKind.ASSISTANT, parts, finish_reason=reason or usual, usage=usage)
    )
