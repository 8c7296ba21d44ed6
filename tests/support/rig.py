"""A rig: the kernel with nothing around it, answered by hand.

Every state passes through JSON before the next step, so each test that uses the rig also checks
that a saved run continues unchanged; after every step a ledger checks the kernel's laws.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from agentkit_core import (
    ApprovalId,
    ApprovalKind,
    FailureKind,
    FinishReason,
    Item,
    ItemKind,
    JsonValue,
    ModelOptions,
    ModelResponse,
    Part,
    ProviderFailure,
    SessionId,
    TextOutput,
    ToolCall,
    ToolCallId,
    ToolFailure,
    ToolResult,
    Usage,
)
from agentkit_loop import ApprovalDecision, Lane, LoopConfig, TurnResult, decode_state, encode_state
from agentkit_loop.events import Event, TurnFinished
from agentkit_loop.kernel import (
    AnsweredEffect,
    CallModel,
    Cancel,
    CheckFinish,
    Continue,
    Effect,
    EffectLost,
    Emit,
    FinishChecked,
    HookPoints,
    Input,
    ModelFailed,
    ModelResponded,
    MutatorsDone,
    Phase,
    Preflight,
    PreflightAllowed,
    PreflightAsked,
    PreflightRefused,
    Prepare,
    Prepared,
    Resolve,
    RunMutators,
    RunRules,
    StartTimer,
    StartTool,
    State,
    Submit,
    TimerFired,
    TimerKind,
    ToolAsked,
    ToolDone,
    ToolStarted,
    TurnState,
    resume,
    start,
    step,
)
from agentkit_loop.testing import WalkStep
from support.answers import approval_requests, call_of, model_answer
from support.ledger import Ledger
from support.traces import trace


class Rig:
    """The kernel with nothing around it.

    With `prepares`, the rig answers each `Prepare` by itself; without it a test has to.
    """

    def __init__(
        self,
        config: LoopConfig | None = None,
        history: tuple[Item, ...] = (),
        *,
        prepares: bool = True,
        hooks: HookPoints | None = None,
        options: ModelOptions | None = None,
        state: State | None = None,
    ) -> None:
        hooks = hooks or HookPoints(request=not prepares)
        self.now = 0
        self.prepares = prepares
        self.ledger: Ledger | None = None
        """None for a state that comes from elsewhere: what went before is not known."""
        if state is None:
            state, _ = start(
                SessionId("s"),
                model="m",
                config=config,
                history=history,
                hooks=hooks,
                options=options,
            )
            self.ledger = Ledger(state)
        elif hooks.request:
            state = replace(state, hooks=hooks)
        self.state = state
        self.effects: tuple[Effect, ...] = ()
        """Since `forget` was last called; what a start asks for is left out."""

    def give(self, source: Input) -> Rig:
        self.now += 1
        before = encode_state(self.state)
        after, effects = step(decode_state(before), source, self.now)
        again, same = step(self.state, source, self.now)
        assert encode_state(self.state) == before, "a step changed its input"
        assert (again, same) == (after, effects), "a saved state goes another way"
        return self._take(source, after, effects)

    def crash(self) -> Rig:
        """Lose the driver of the session, and resume from what was saved."""
        loaded = decode_state(encode_state(self.state))
        self._take(None, *resume(loaded, now=self.now))
        for effect in tuple(self.state.out.values()):
            if not isinstance(effect, StartTool) or effect.started:
                self.give(EffectLost(effect.id))
        return self

    def _take(self, source: Input | None, after: State, effects: tuple[Effect, ...]) -> Rig:
        if self.ledger is not None:
            self.ledger.see(WalkStep(self.state, source, self.now, after, effects))
        self.state = after
        self.effects += effects
        if self.prepares and after.phase is Phase.PREPARING and after.turn is not None:
            assert after.turn.effect_id is not None
            return self.give(Prepared(after.turn.effect_id, tools={"t": "1"}))
        return self

    def forget(self) -> Rig:
        self.effects = ()
        return self

    @property
    def trace(self) -> str:
        hidden = Prepare if self.prepares else None
        return trace(effect for effect in self.effects if type(effect) is not hidden)

    @property
    def events(self) -> list[Event]:
        return [effect.event for effect in self.effects if isinstance(effect, Emit)]

    @property
    def result(self) -> TurnResult:
        """The result of the last turn that is over."""
        finished = (event for event in reversed(self.events) if isinstance(event, TurnFinished))
        return next(finished).result

    @property
    def last(self) -> Item:
        return self.state.transcript[-1]

    @property
    def kinds(self) -> str:
        """The kinds of the transcript's items."""
        return " ".join(item.kind.value for item in self.state.transcript)

    @property
    def turn(self) -> TurnState:
        assert self.state.turn is not None
        return self.state.turn

    def result_of(self, call_id: str) -> ToolResult:
        """The result that a call of the transcript has."""
        (only,) = [
            result
            for item in self.state.transcript
            for result in item.tool_results
            if result.call_id == call_id
        ]
        return only

    def out(self, kind: type[Effect], call_id: str | None = None) -> AnsweredEffect:
        effects = [
            effect
            for effect in self.state.out.values()
            if isinstance(effect, kind) and call_id in (None, call_of(effect))
        ]
        assert len(effects) == 1, f"{len(effects)} effects fit"
        return effects[0]

    # the host

    def say(self, text: str = "hi", lane: Lane = Lane.NEXT) -> Rig:
        return self.give(Submit((Item.user(text),), lane))

    def ask(self, text: str = "hi") -> Rig:
        return self.give(Submit((Item.user(text),), begin=True)).forget()

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

    def steer(self, text: str = "wait") -> Rig:
        return self.say(text, Lane.STEER)

    def go_on(self, *, redrive: bool = False) -> Rig:
        return self.give(Continue(redrive))

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
                self.out(CallModel).id, model_answer(*calls, text=text, reason=reason, usage=usage)
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

    def allow(
        self,
        *call_ids: str,
        input: dict[str, JsonValue] | None = None,  # noqa: A002  (as in the answer)
        **how: Any,
    ) -> Rig:
        for call_id in call_ids:
            answer = PreflightAllowed(self.out(Preflight, call_id).id, RunRules(**how), input)
            self.give(answer)
        return self

    def refuse(self, call_id: str, text: str = "no", *, stop: bool = False) -> Rig:
        result = ToolResult(
            call_id=ToolCallId(call_id), output=TextOutput(text), is_error=True,
            failure=ToolFailure.PERMISSION_DENIED, started=False,
        )  # fmt: skip
        return self.give(PreflightRefused(self.out(Preflight, call_id).id, result, stop))

    def ask_for(self, call_id: str, *approvals: str, **how: Any) -> Rig:
        effect = self.out(Preflight, call_id)
        return self.give(
            PreflightAsked(
                effect.id, requests=approval_requests(effect, approvals), rules=RunRules(**how)
            )
        )

    def begin(self, *call_ids: str) -> Rig:
        for call_id in call_ids:
            self.give(ToolStarted(self.out(StartTool, call_id).id))
        return self

    def stop_to_ask(
        self,
        call_id: str,
        *approvals: str,
        want: ApprovalKind = ApprovalKind.APPROVAL,
        token: JsonValue = "token",
        takes_denials: bool = False,
    ) -> Rig:
        effect = self.out(StartTool, call_id)
        asks = approval_requests(effect, approvals, want)
        answer = ToolAsked(effect.id, requests=asks, token=token, takes_denials=takes_denials)
        return self.give(answer)

    def done(self, *call_ids: str, text: str = "r", stop: bool = False, **more: Any) -> Rig:
        for call_id in call_ids:
            result = ToolResult(call_id=ToolCallId(call_id), output=TextOutput(text), **more)
            self.give(ToolDone(self.out(StartTool, call_id).id, result, stop))
        return self

    def lose(self, kind: type[Effect], call_id: str | None = None) -> Rig:
        return self.give(EffectLost(self.out(kind, call_id).id))

    def ring(self, why: TimerKind | None = None) -> Rig:
        (timer,) = [
            effect
            for effect in self.state.out.values()
            if isinstance(effect, StartTimer) and why in (None, effect.why)
        ]
        return self.give(TimerFired(timer.id))

    def mutated(self, *items: Item, error: str | None = None) -> Rig:
        return self.give(
            MutatorsDone(
                self.out(RunMutators).id, items=items or None, mutators=("m",), error=error
            )
        )

    def checked(self, *items: Item) -> Rig:
        return self.give(FinishChecked(self.out(CheckFinish).id, items))
