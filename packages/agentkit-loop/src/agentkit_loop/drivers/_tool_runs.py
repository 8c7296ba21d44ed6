"""The tool calls that run: the context that each gets, and what each has spent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from msgspec.structs import replace

from agentkit_core import ToolCallId, Usage
from agentkit_loop.drivers._call_checks import CallChecks
from agentkit_loop.drivers._setup import EngineSetup
from agentkit_loop.extensions._budget import Budget, TurnBudget
from agentkit_loop.kernel._effects import EffectId, Preflight, StartTool
from agentkit_loop.kernel._inputs import Input, ToolAsked, ToolDone, ToolProgressed, ToolSpent
from agentkit_loop.kernel._state import State
from agentkit_loop.kernel._tool_run import Resumption
from agentkit_tools_core import CallTimer, ToolContext, ToolInvocation

_FIRST_RUN: Final = Resumption()


class ToolRuns:
    """The tool calls of one session that run, and the budget that they share.

    Args:
        setup: The pieces of the engine.
        state: Returns the session's present state.
        post: Takes an input for the kernel, from any thread.
        post_if_open: The same, but does nothing once the session takes no more inputs.

    Attributes:
        checks: Checks calls, and knows with which tools they may run.
    """

    __slots__ = (
        "_budget",
        "_dependencies",
        "_post",
        "_post_if_open",
        "_running",
        "_state",
        "checks",
    )

    def __init__(
        self,
        setup: EngineSetup,
        state: Callable[[], State],
        post: Callable[[Input], None],
        post_if_open: Callable[[Input], None],
    ) -> None:
        self.checks = CallChecks()
        self._state = state
        self._post = post
        self._post_if_open = post_if_open
        self._dependencies: Mapping[type[Any], object] = setup.dependencies
        self._budget = Budget(
            state, setup.clock.now_ms, setup.parent_budget, on_charge=self._report_spending
        )
        self._running: dict[EffectId, ToolCallId] = {}
        """Calls that run, or have run and were not answered yet."""

    def begin(self, effect: StartTool) -> None:
        """Note that a call runs."""
        self._running[effect.id] = effect.call.id

    def end_answered(self, inputs: Iterable[Input]) -> None:
        """Note that calls no longer run, just before the kernel takes their answers.

        From then on the kernel counts what they have used, and until then the budget does. A call
        that stopped to ask a person reports all that it has used when it goes on, so the budget
        takes back what it was charged.
        """
        for answer in inputs:
            if isinstance(answer, ToolDone):
                self.abort(answer.effect_id)
            elif isinstance(answer, ToolAsked):
                call_id = self._running.pop(answer.effect_id, None)
                if call_id is not None:
                    self._budget.take_back((call_id,))

    def abort(self, effect_id: EffectId) -> None:
        """Forget a call whose answer is no longer wanted.

        The result that the call got instead contains the usage that it had reported.
        """
        call_id = self._running.pop(effect_id, None)
        if call_id is not None:
            self.checks.forget(call_id)
            self._budget.settle(call_id)

    def is_running(self, effect_id: EffectId) -> bool:
        """Whether a call runs, or has run and was not answered yet."""
        return effect_id in self._running

    def invocation(self, effect: Preflight | StartTool) -> ToolInvocation:
        """Build the executor's view of a call."""
        state = self._state()
        return ToolInvocation(
            call_id=effect.call.id,
            name=effect.call.name,
            input=effect.call.input,
            session_id=state.session_id,
            turn_id=None if state.turn is None else state.turn.id,
            metadata=effect.call.metadata,
        )

    def context(
        self,
        effect: StartTool,
        timer: CallTimer,
        *,
        is_host_cancelled: Callable[[], bool] = lambda: False,
    ) -> ToolContext:
        """Build the context of a call that is about to run.

        Args:
            effect: The call.
            timer: Keeps the time limits of the call and of its child calls.
            is_host_cancelled: Whether the task in which it is called is to end; from any thread.
        """
        resume = effect.resume or _FIRST_RUN
        return ToolContext(
            self.invocation(effect),
            progress=lambda message, data: self._post(ToolProgressed(effect.id, message, data)),
            cancelled=lambda: effect.id not in self._state().out or is_host_cancelled(),
            dependencies={TurnBudget: self._budget.share(effect.call.id), **self._dependencies},
            approved=effect.granted,
            answers=resume.answers,
            denied=resume.denied,
            token=resume.token,
            timer=timer,
        )

    def mark_started(self, state: State) -> State:
        """Mark the running calls as started, for a snapshot: a resumed session lacks them."""
        out = {
            effect_id: replace(effect, started=True)
            if isinstance(effect, StartTool) and effect_id in self._running
            else effect
            for effect_id, effect in state.out.items()
        }
        return replace(state, out=out)

    def _report_spending(self, call_id: ToolCallId, usage: Usage) -> None:
        for effect_id, running_call in list(self._running.items()):
            if running_call == call_id:
                return self._post_if_open(ToolSpent(effect_id, usage))
