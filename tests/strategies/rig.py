"""A rig: the kernel with nothing around it, answered by hand.

Every state passes through JSON before the next step, so each test that uses it also tries that a
saved run goes on as if nothing had been.
"""

from __future__ import annotations

from agentkit_core import (
    ApprovalId,
    FailureKind,
    FinishReason,
    Item,
    ItemKind,
    ModelResponse,
    Part,
    ProviderFailure,
    SessionId,
    Text,
    TextOutput,
    ToolCall,
    ToolCallId,
    ToolResult,
    Usage,
)
from agentkit_loop import (
    AnsweredEffect,
    ApprovalAsk,
    ApprovalDecision,
    CallModel,
    Cancel,
    Continue,
    Effect,
    Emit,
    Event,
    Input,
    Lane,
    LoopConfig,
    ModelFailed,
    ModelResponded,
    Phase,
    Preflight,
    PreflightAllowed,
    PreflightAsked,
    Prepare,
    Prepared,
    Resolve,
    StartTimer,
    StartTool,
    State,
    Submit,
    TimerFired,
    ToolDone,
    TurnFinished,
    TurnResult,
    decode_state,
    encode_state,
    start,
    step,
)
from strategies.traces import trace


class Rig:
    """Requests are prepared at once, unless `prepares` is switched off."""

    def __init__(
        self,
        config: LoopConfig | None = None,
        history: tuple[Item, ...] = (),
        *,
        prepares: bool = True,
    ) -> None:
        self.state: State
        self.now = 0
        self.prepares = prepares
        self.state, self.effects = start(SessionId("s"), model="m", config=config, history=history)
        self.effects = ()
        """Since `forget` was last called; what a start asks for is left out."""

    def give(self, given: Input) -> Rig:
        self.now += 1
        before = encode_state(self.state)
        after, effects = step(decode_state(before), given, self.now)
        again, same = step(self.state, given, self.now)
        assert encode_state(self.state) == before, "a step changed its input"
        assert (again, same) == (after, effects), "a saved state goes another way"
        self.state = after
        self.effects += effects
        if self.prepares and after.phase is Phase.PREPARING and after.turn is not None:
            assert after.turn.effect_id is not None
            return self.give(Prepared(after.turn.effect_id, {"t": "1"}))
        return self

    def forget(self) -> Rig:
        self.effects = ()
        return self

    @property
    def trace(self) -> str:
        return trace(one for one in self.effects if not (self.prepares and type(one) is Prepare))

    @property
    def events(self) -> list[Event]:
        return [effect.event for effect in self.effects if isinstance(effect, Emit)]

    @property
    def result(self) -> TurnResult:
        """Of the last turn that is over."""
        return next(one.result for one in reversed(self.events) if isinstance(one, TurnFinished))

    @property
    def last(self) -> Item:
        return self.state.transcript[-1]

    def out(self, kind: type[Effect], call_id: str | None = None) -> AnsweredEffect:
        found = [
            effect
            for effect in self.state.out.values()
            if isinstance(effect, kind) and call_id in (None, getattr(effect, "call_id", None))
        ]
        assert len(found) == 1, f"{len(found)} effects fit"
        return found[0]

    # the host

    def say(self, text: str = "hi", lane: Lane = Lane.NEXT) -> Rig:
        return self.give(Submit((Item.user(text),), lane))

    def ask(self, text: str = "hi") -> Rig:
        return self.say(text).give(Continue()).forget()

    def resolve(
        self,
        approval: str,
        *,
        approve: bool = True,
        call_id: str | None = None,
        **decision: object,
    ) -> Rig:
        return self.give(
            Resolve(
                ApprovalId(approval),
                ApprovalDecision(approve=approve, **decision),  # type: ignore[arg-type]
                None if call_id is None else ToolCallId(call_id),
            )
        )

    def cancel(self, partial: ModelResponse | None = None) -> Rig:
        return self.give(Cancel(partial))

    # the world

    def answer(
        self,
        *calls: str | ToolCall,
        text: str = "t",
        reason: FinishReason | None = None,
        usage: Usage | None = None,
    ) -> Rig:
        return self.give(
            ModelResponded(
                self.out(CallModel).id, answered(*calls, text=text, reason=reason, usage=usage)
            )
        )

    def fail(
        self,
        *parts: Part,
        kind: FailureKind = FailureKind.SERVER,
        retryable: bool = True,
        retry_after_s: float | None = None,
        usage: Usage | None = None,
    ) -> Rig:
        failure = ProviderFailure(
            kind=kind, message="down", retryable=retryable, retry_after_s=retry_after_s
        )
        item = Item(
            ItemKind.ASSISTANT, parts, finish_reason=FinishReason.ERROR, usage=usage,
            failure=failure, interrupted=True,
        )  # fmt: skip
        return self.give(ModelFailed(self.out(CallModel).id, ModelResponse(item, failure)))

    def allow(self, *call_ids: str) -> Rig:
        for call_id in call_ids:
            self.give(PreflightAllowed(self.out(Preflight, call_id).id))
        return self

    def ask_for(self, call_id: str, *approvals: str) -> Rig:
        effect = self.out(Preflight, call_id)
        assert isinstance(effect, Preflight)
        asks = tuple(
            ApprovalAsk(
                ApprovalId(one), effect.call_id, effect.name, effect.input, one[0], f"do {one}"
            )
            for one in approvals
        )
        return self.give(PreflightAsked(effect.id, asks))

    def done(self, *call_ids: str, text: str = "r", stop: bool = False) -> Rig:
        for call_id in call_ids:
            result = ToolResult(call_id=ToolCallId(call_id), output=TextOutput(text))
            self.give(ToolDone(self.out(StartTool, call_id).id, result, stop))
        return self

    def ring(self) -> Rig:
        return self.give(TimerFired(self.out(StartTimer).id))


def answered(
    *calls: str | ToolCall,
    text: str = "t",
    reason: FinishReason | None = None,
    usage: Usage | None = None,
) -> ModelResponse:
    made = [
        ToolCall(id=ToolCallId(one), name=f"tool_{one}") if isinstance(one, str) else one
        for one in calls
    ]
    usual = FinishReason.TOOL_CALL if made else FinishReason.COMPLETED
    parts: tuple[Part, ...] = (Text(text=text), *made)
    return ModelResponse(
        Item(ItemKind.ASSISTANT, parts, finish_reason=reason or usual, usage=usage)
    )
