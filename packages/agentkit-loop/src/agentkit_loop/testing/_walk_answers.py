"""Answers for random walks: what models, tools, checks and hooks may answer to an effect.

Some answers are good, some are failures, some effects are lost, and some answers do not belong to
the effect that they name.
"""

from __future__ import annotations

from random import Random
from typing import NamedTuple

from agentkit_core import (
    ApprovalId,
    ApprovalKind,
    ApprovalRequest,
    FailureKind,
    FinishReason,
    Item,
    ItemKind,
    ModelResponse,
    ProviderFailure,
    Reasoning,
    Text,
    TextOutput,
    TokenUsage,
    ToolCall,
    ToolCallId,
    ToolFailure,
    ToolResult,
    Usage,
)
from agentkit_loop.kernel._effects import (
    AnsweredEffect,
    CallModel,
    CheckFinish,
    EffectId,
    Preflight,
    Prepare,
    RunMutators,
    StartTimer,
    StartTool,
)
from agentkit_loop.kernel._inputs import (
    EffectLost,
    FinishChecked,
    Input,
    ModelFailed,
    ModelResponded,
    MutatorsDone,
    PreflightAllowed,
    PreflightAsked,
    PreflightRefused,
    Prepared,
    TimerFired,
    ToolAsked,
    ToolDone,
    ToolProgressed,
    ToolSpent,
    ToolStarted,
)
from agentkit_loop.kernel._state import State
from agentkit_loop.kernel._table import Phase
from agentkit_loop.kernel._tool_run import Resumption, RunRules


class Temper(NamedTuple):
    """What is likely in one walk. Walks differ in it, so that together they reach more states.

    Attributes:
        loss: How often an effect is lost, from 0 to 1.
        detaches: How often a call goes on in the background, from 0 to 1.
        patience: How often the host waits for an answer instead of doing something, from 0 to 1.
    """

    loss: float
    detaches: float
    patience: float


def any_answer(state: State, chance: Random, temper: Temper, *, well: bool) -> Input | None:
    """Answer one of the effects that are out; return None if there are none."""
    if not state.out:
        return None
    effect = state.out[chance.choice(sorted(state.out))]
    if not well and chance.random() < temper.loss:
        return EffectLost(effect.id)
    return _answer_to(state, effect, chance, temper, well=well)


def _answer_to(
    state: State, effect: AnsweredEffect, chance: Random, temper: Temper, *, well: bool
) -> Input:
    match effect:
        case RunMutators():
            return _mutation(state, effect, chance, well=well)
        case Prepare():
            if not well and chance.random() < 0.08:
                return chance.choice(
                    (Prepared(effect.id, error="no"), Prepared(effect.id, stop=True))
                )
            return Prepared(effect.id, tools={"read": chance.choice("ab"), "write": "c"})
        case CallModel():
            return _model_answer(state, effect, chance, well=well)
        case Preflight():
            return _verdict(effect, chance, temper, well=well)
        case StartTool():
            return _tool_answer(effect, chance, well=well)
        case StartTimer():
            return TimerFired(effect.id)
        case CheckFinish():
            more = (Item.user("go on"),) if not well and chance.random() < 0.4 else ()
            return FinishChecked(effect.id, more)


def _mutation(state: State, effect: RunMutators, chance: Random, *, well: bool) -> Input:
    draw = chance.random()
    items = state.transcript.items
    if well or draw < 0.5:
        return MutatorsDone(effect.id)
    if draw < 0.6:
        return MutatorsDone(effect.id, error="a mutator failed")
    if draw < 0.65:
        return MutatorsDone(effect.id, items=items)
    # Cut the transcript anywhere, also between a call and its result.
    return MutatorsDone(effect.id, items=items[chance.randint(0, len(items)) :], mutators=("cut",))


def _tool_answer(effect: StartTool, chance: Random, *, well: bool) -> Input:
    draw = chance.random()
    if not well and draw < 0.15:
        if chance.random() < 0.5:
            return ToolProgressed(effect.id, "half done")
        return ToolSpent(effect.id, _usage())
    if not well and draw < 0.3 and not effect.started:
        return ToolStarted(effect.id)
    if draw < (0.1 if well else 0.35):
        return _tool_asks(effect, chance)
    usage = _usage() if chance.random() < 0.2 else None
    result = result_of(effect.call.id, is_error=chance.random() < 0.2, usage=usage)
    return ToolDone(effect.id, result, stop=chance.random() < 0.1)


def _tool_asks(effect: StartTool, chance: Random) -> ToolAsked:
    want = chance.choice(list(ApprovalKind))
    resume = effect.resume or Resumption()
    request = ApprovalRequest(
        id=ApprovalId(f"{want}:{len(resume.answers) + len(effect.granted) + len(resume.denied)}"),
        call=effect.call,
        kind=str(want),
        summary="asks in the middle",
        want=want,
    )
    return ToolAsked(
        effect.id,
        requests=(request,),
        token={"at": 1},
        takes_denials=chance.random() < 0.3,
    )


def _model_answer(state: State, effect: CallModel, chance: Random, *, well: bool) -> Input:
    if not well and chance.random() < 0.25:
        failure = ProviderFailure(
            kind=FailureKind.SERVER, message="down", retryable=chance.random() < 0.7
        )
        item = _answer_item(state, chance, calls=chance.choice((0, 1)))
        if chance.random() < 0.3:
            item = Item.assistant()
        return ModelFailed(effect.id, ModelResponse(item, failure), chance.random())
    calls = 0 if well and chance.random() < 0.6 else chance.choice((0, 1, 2, 3))
    again = () if well or chance.random() < 0.9 else (Item.user("that will not do"),)
    return ModelResponded(effect.id, ModelResponse(_answer_item(state, chance, calls=calls)), again)


def _answer_item(state: State, chance: Random, *, calls: int) -> Item:
    # Few ids, so that the provider seems to repeat them; and some that are empty.
    calls_made = [
        ToolCall(
            id=ToolCallId(chance.choice(("", f"c{chance.randint(0, 30)}"))),
            name=chance.choice(("read", "write")),
            input_error="not valid JSON" if chance.random() < 0.1 else None,
        )
        for _ in range(calls)
    ]
    reasons = [reason for reason in FinishReason if reason is not FinishReason.ERROR]
    reason = chance.choice(reasons)
    if reason is FinishReason.PAUSED and state.turn is not None and state.turn.model_calls > 20:
        reason = FinishReason.COMPLETED
    return Item(
        ItemKind.ASSISTANT,
        (Reasoning(summary="hm"), Text(text="well"), *calls_made),
        finish_reason=reason,
        usage=_usage(),
    )


def _usage() -> Usage:
    return Usage(tokens=TokenUsage(input=3, output=1), requests=1, reported_requests=1)


def _verdict(effect: Preflight, chance: Random, temper: Temper, *, well: bool) -> Input:
    draw = chance.random()
    if not well and draw < 0.15:
        refusal = result_of(effect.call.id, is_error=True, failure=ToolFailure.PERMISSION_DENIED)
        return PreflightRefused(effect.id, refusal, stop=chance.random() < 0.1)
    kinds = [kind for kind in ("read", "write", "send") if chance.random() < 0.5]
    requests = tuple(
        ApprovalRequest(
            id=ApprovalId(f"{kind}:{effect.call.input.get('patched', 0)}"),
            call=effect.call,
            kind=kind,
            summary=f"{kind} something",
        )
        for kind in kinds
        # Now and then a check asks for what is granted already.
        if ApprovalId(f"{kind}:{effect.call.input.get('patched', 0)}") not in effect.granted
        or chance.random() < 0.2
    )
    rules = RunRules(
        exclusive=chance.random() < 0.2,
        repeatable=chance.random() < 0.3,
        read_only=chance.random() < 0.5,
        timeout_s=chance.choice((None, None, 0.05)),
        detach_after_s=chance.choice((0.0, 0.02)) if chance.random() < temper.detaches else None,
    )
    if draw < 0.4 and requests:
        return PreflightAsked(effect.id, requests=requests, rules=rules)
    changed = {**effect.call.input, "changed": True} if chance.random() < 0.1 else None
    return PreflightAllowed(effect.id, rules, changed)


def result_of(
    call_id: ToolCallId,
    *,
    is_error: bool = False,
    failure: ToolFailure | None = None,
    usage: Usage | None = None,
) -> ToolResult:
    """Make the result of a call."""
    return ToolResult(
        call_id=call_id,
        output=TextOutput("done"),
        is_error=is_error,
        failure=failure,
        started=failure is None,
        usage=usage,
    )


def odd_answer(effect_id: EffectId, chance: Random) -> Input:
    """Make an answer that does not belong to its effect, or not to its call."""
    odd = Item(ItemKind.USER, (Text("I am no answer"),))
    return chance.choice(
        (
            ToolDone(effect_id, result_of(ToolCallId("nobody"))),
            ModelResponded(effect_id, ModelResponse(odd)),
            ModelResponded(effect_id, ModelResponse(Item.assistant("ok")), (Item.assistant("no"),)),
            FinishChecked(effect_id, (Item.tool(result_of(ToolCallId("nobody"))),)),
            PreflightRefused(effect_id, result_of(ToolCallId("nobody"), is_error=True)),
            PreflightAsked(effect_id, requests=()),
            ToolAsked(effect_id, requests=()),
            TimerFired(effect_id),
        )
    )


def partial_answer(state: State, chance: Random) -> ModelResponse | None:
    """Make what has come of a response that is being read; None if nothing has."""
    if state.phase is not Phase.CALLING or chance.random() < 0.3:
        return None
    return ModelResponse(_answer_item(state, chance, calls=chance.choice((0, 0, 1, 2))))
