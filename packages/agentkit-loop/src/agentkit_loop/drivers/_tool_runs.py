"""The tool calls that run: the context that each gets, and what each has spent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Protocol

from msgspec.structs import replace

from agentkit_core import ToolCallId, Usage
from agentkit_loop.drivers._call_checks import CallChecks
from agentkit_loop.drivers._setup import EngineSetup
from agentkit_loop.extensions._budget import Budget, TurnBudget
from agentkit_loop.kernel._effects import EffectId, Preflight, StartTool
from agentkit_loop.kernel._inputs import Input, ToolAsked, ToolDone, ToolProgressed, ToolSpent
from agentkit_loop.kernel._state import State
from agentkit_loop.kernel._tool_run import Resumption
from agentkit_loop.ports import Clock
from agentkit_tools_core import CallTimer, ToolContext, ToolInvocation

_FIRST_RUN: Final = Resumption()


class RunningSession(Protocol):
    """What tool calls need of the engine of their session."""

    @property
    def state(self) -> State:
        """The session's present state."""
        ...

    @property
    def clock(self) -> Clock:
        """The time."""
        ...

    def post(self, kernel_input: Input) -> None:
        """Take an input for the kernel, from any thread."""
        ...

    def post_if_open(self, kernel_input: Input) -> None:
        """Do the same, but nothing once the session takes no more inputs."""
        ...


class ToolRuns:
    """The tool calls of one session that run, and the budget that they share.

    Args:
        session: The engine of the session.
        setup: The pieces of the engine.

    Attributes:
        checks: Checks calls, and knows with which tools they may run.
    """

    __slots__ = ("_budget", "_dependencies", "_running", "_session", "checks")

    def __init__(self, session: RunningSession, setup: EngineSetup) -> None:
        self.checks = CallChecks()
        self._session = session
        self._dependencies: Mapping[type[Any], object] = setup.dependencies
        self._budget = Budget(self, setup.parent_budget)
        self._running: dict[EffectId, ToolCallId] = {}
        """Calls that run, or have run and were not answered yet."""

    @property
    def state(self) -> State:
        """The session's present state."""
        return self._session.state

    def now_ms(self) -> int:
        """Return the time in milliseconds; the state has only the time of the last step."""
        return self._session.clock.now_ms()

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

    def rest(self) -> None:
        """Let go of what only running calls need; see `EffectRunner.rest`."""
        if not self._running:
            self._running.clear()
        self.checks.rest()

    def is_running(self, effect_id: EffectId) -> bool:
        """Whether a call runs, or has run and was not answered yet."""
        return effect_id in self._running

    def invocation(self, effect: Preflight | StartTool) -> ToolInvocation:
        """Build the executor's view of a call."""
        state = self.state
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
        resume, session = effect.resume or _FIRST_RUN, self._session
        return ToolContext(
            self.invocation(effect),
            progress=lambda message, data: session.post(ToolProgressed(effect.id, message, data)),
            cancelled=lambda: effect.id not in session.state.out or is_host_cancelled(),
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

    def report_spending(self, call_id: ToolCallId, usage: Usage) -> None:
        """Tell the kernel what a running call has used since it was last told."""
        for effect_id, running_call in list(self._running.items()):
            if running_call == call_id:
                return self._session.post_if_open(ToolSpent(effect_id, usage))
