"""The engine of a session: steps the kernel and carries out the effects that need no waiting.

Both drivers use it. Effects that take time are left in `Engine.pending` for the driver's
`EffectRunner`. With a store, nothing that a step decided is carried out before the step is saved:
its effects wait in the outbox. The only exception are aborts, which stop work at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import assert_never

from agentkit_core import ModelResponse, TurnId
from agentkit_loop.drivers._hook_runner import HookRunner
from agentkit_loop.drivers._host_queue import HostQueue
from agentkit_loop.drivers._instant_answers import instant_answer, recover_effects
from agentkit_loop.drivers._pending_effects import PendingEffects
from agentkit_loop.drivers._runner import EffectRunner
from agentkit_loop.drivers._setup import EngineSetup
from agentkit_loop.drivers._tool_runs import ToolRuns
from agentkit_loop.extensions._hooks import Hooks
from agentkit_loop.kernel._effects import (
    Abort,
    AnsweredEffect,
    CallModel,
    CheckFinish,
    Effect,
    EffectId,
    Emit,
    Persist,
    Preflight,
    Prepare,
    RunMutators,
    StartTimer,
    StartTool,
    Yield,
)
from agentkit_loop.kernel._inputs import Cancel, Close, Input, ToolProgressed
from agentkit_loop.kernel._state import State
from agentkit_loop.kernel._status import SessionStatus
from agentkit_loop.kernel._step import step_all
from agentkit_loop.persistence._outbox import Outbox
from agentkit_loop.persistence._snapshot import Head


class Engine:
    """The engine of one session: state, inbox, outbox, tool runs, events and host queue.

    Not thread-safe, except for `post`: everything else is called on the thread of the work, or
    within `EffectRunner.call`.

    Args:
        setup: The pieces it is made of.
        has_store: Whether steps are saved before they are carried out.

    Attributes:
        runner: Runs the effects that take time; set by the driver before the first step.
        state: The session's present state.
        pending: Effects that take time and have not begun, in order.
        executor: Checks and runs tool calls.
        events: Dispatches events to the reporters.
        hooks: Runs hooks and mutators.
        tools: The tool calls that run.
        host_queue: Statuses for the host.
        outbox: What was decided and is not saved yet.
        lease: The lease of the stored session; held while there is anything to run or to save.
        clock: The time, and waits.
        jitter: Returns a random number between 0 and 1, for the length of waits.
        depth: How many runs stand around this one, each the tool of another.
        has_store: Whether steps are saved before they are carried out.
        stops_after_read: Whether work stops after each read, so that the host gets its events.
        is_over: Whether the session was closed or suspended here.
        save_error: Why nothing can be saved any more; None while saving works. The engine does
            nothing once it is set.
    """

    __slots__ = ("_inbox", "_interrupted", "_is_stepping", "clock", "depth",
                 "events", "executor", "has_store", "hooks", "host_queue", "is_over", "jitter",
                 "lease", "outbox", "pending", "runner", "save_error", "state", "stops_after_read",
                 "tools")  # fmt: skip

    def __init__(self, setup: EngineSetup, *, has_store: bool) -> None:
        self.runner: EffectRunner
        self.pending = PendingEffects()
        self.executor = setup.executor
        self.events = setup.events
        self.hooks = HookRunner(setup.hooks, setup.mutators, setup.instructions)
        self.state: State = self.hooks.with_points(setup.state)
        self.tools = ToolRuns(self, setup)
        self.host_queue = HostQueue()
        self.outbox = Outbox(setup.saves)
        self.lease = setup.lease
        self.clock = setup.clock
        self.depth = setup.depth
        self.has_store = has_store
        self.stops_after_read = False
        self.is_over = False
        self.save_error: Exception | None = None
        self.jitter = setup.jitter
        self._inbox: list[Input] = []
        self._is_stepping = False
        self._interrupted: Sequence[Effect] = ()
        """Effects that an exception, such as a Ctrl-C, kept from being carried out."""

    # inputs

    def begin(self, head: Head | None, effects: Sequence[Effect]) -> None:
        """Carry out what a new or resumed session begins with.

        Args:
            head: What was saved of a session that goes on, perhaps in another process. Its unsent
                events are dispatched (again). None for a new session.
            effects: What `start` or `resume` returned.
        """
        self._is_stepping = True
        try:
            if head is not None:
                self._carry_out(head.reports)
            if self.has_store:
                # A session that is only opened, and left again, is not saved.
                self.outbox.take(effects, is_due=head is None)
            else:
                self._carry_out(effects)
            if head is not None:
                not_begun, lost = recover_effects(self.state)
                for effect in not_begun:
                    self.pending.add(effect)
                self._inbox += lost
            self._run_steps()
        finally:
            self._is_stepping = False

    def feed(self, *kernel_inputs: Input) -> None:
        """Step the kernel with inputs and carry out what needs no waiting.

        When a reporter calls this during a step, they wait until that step is over. With a store,
        the effects wait until they are saved.

        Raises:
            SessionInUse: Somebody else works on the stored session; nothing was changed.
            Exception: Nothing can be saved any more; see `save_error`.
        """
        if self.save_error is not None:
            raise self.save_error
        self.lease.take()
        self._inbox += kernel_inputs
        if not self._is_stepping:
            self._step_through()
            self.runner.after_step()

    def hold(self, answer: Input) -> None:
        """Take an answer that is stepped just before the next input, whatever that is."""
        self._inbox.append(answer)

    def post(self, kernel_input: Input) -> None:
        """Feed an input from outside the work; callable from any thread."""

        def feed_and_save() -> None:
            self.feed(kernel_input)
            self.runner.save_soon()

        self.runner.call(feed_and_save)

    def cancel(self) -> None:
        """Cancel the running turn and keep what has come of its response; else do nothing."""
        if self.state.turn is not None and self.save_error is None and not self.is_over:
            self.feed(Cancel(self._partial_response()))

    def close(self) -> None:
        """End the session; a running turn is cancelled."""
        self.feed(Close(self._partial_response()))

    def use_hooks(self, hooks: Hooks) -> None:
        """Call other hooks from now on."""

        def replace_hooks() -> None:
            self.hooks.hooks = hooks
            self.state = self.hooks.with_points(self.state)

        self.runner.call(replace_hooks)

    def interrupt(self, *, keeps_turn: bool = False) -> None:
        """Cancel the turn because an exception leaves the driver, unless the turn is kept."""
        if not keeps_turn:
            self.cancel()
        # What an exception left undone belongs to this turn, not to the next one.
        self._step_through()
        self.events.stopped_by = None  # one exception is enough

    def post_if_open(self, kernel_input: Input) -> None:
        """Do the same as `post`, but nothing once the session takes no more inputs."""
        if self.save_error is None and not self.is_over:
            self.post(kernel_input)

    def _partial_response(self) -> ModelResponse | None:
        reading = self.runner.reading
        if reading is None or not self.is_wanted(reading.effect.id):
            return None
        if reading.has_failed and not reading.has_begun:
            return None
        return reading.fold.cancel()

    # steps

    def _step_through(self, effects: Iterable[Effect] = ()) -> None:
        self._is_stepping = True
        try:
            self._carry_out(effects)
            self._run_steps()
        finally:
            self._is_stepping = False

    def _run_steps(self) -> None:
        while self._inbox:
            # What has come together is one step: the checks of all calls of a round, for example.
            inputs, self._inbox = self._inbox, []
            self.tools.end_answered(inputs)
            self.state, effects = step_all(self.state, inputs, self.clock.now_ms())
            # The progress of a tool changes nothing that would have to be saved.
            are_progress = all(type(each) is ToolProgressed for each in inputs)
            if not self.has_store or (are_progress and not self.outbox):
                self._carry_out(effects)
                continue
            self.outbox.take(effects)
            for effect in effects:
                if isinstance(effect, Abort):
                    _abort(self, effect)
            # What can be answered at once is saved together with the step that asked for it.
            for effect in effects:
                if isinstance(effect, (Prepare, CallModel, Preflight)):
                    _answer_at_once(self, effect)

    def _carry_out(self, effects: Iterable[Effect]) -> None:
        """Carry out effects in order; those that take time are left in `pending`.

        If an exception interrupts this, such as a Ctrl-C in a reporter, the remaining effects are
        carried out before the next ones.
        """
        waiting = [*self._interrupted, *effects] if self._interrupted else list(effects)
        done = 0
        try:
            for effect in waiting:
                done += 1
                self._carry_out_one(effect)
        finally:
            self._interrupted = waiting[done:] if done < len(waiting) else ()

    def _carry_out_one(self, effect: Effect) -> None:
        match effect:
            case Emit():
                self.events.dispatch(effect.event, effect.turn_id, effect.number or None)
            case StartTool() | StartTimer() | RunMutators() | CheckFinish():
                self.pending.add(effect)
            case Persist():
                pass  # the transcript is part of the state, which is saved
            case Yield():
                self.host_queue.put(effect.status)
            case Abort():
                _abort(self, effect)
            case Prepare() | Preflight():
                if not _answer_at_once(self, effect):
                    self.pending.add(effect)
            case CallModel():
                _answer_at_once(self, effect)
                self.pending.add(effect)
            case _:
                assert_never(effect)

    def carry_out_saved(self, effects: Iterable[Effect]) -> None:
        """Carry out the effects of a save, except those that were aborted meanwhile."""
        out = self.state.out
        self._step_through(
            [each for each in effects if not isinstance(each, AnsweredEffect) or each.id in out]
        )

    def fail_save(self, error: Exception) -> None:
        """Stop everything: what was decided could not be saved."""
        self.save_error = error
        self.outbox.clear()
        self.pending.clear()
        for effect_id in self.state.out:
            self.runner.stop(effect_id)

    # what the driver asks

    @property
    def turn_id(self) -> TurnId | None:
        """The running turn; None if none runs."""
        return None if self.state.turn is None else self.state.turn.id

    @property
    def is_at_work(self) -> bool:
        """Whether an effect is to be run, a response to be read on or a step to be saved."""
        return bool(self.pending) or self.runner.is_at_work or bool(self.outbox)

    @property
    def has_news(self) -> bool:
        """Whether there is work to do or a status for the host."""
        return self.is_at_work or bool(self.host_queue)

    def rest(self) -> None:
        """Let go of the lease, and of what only work needs, if nothing runs or is to be saved."""
        if not self.state.out and not self.outbox:
            self.lease.release()
            if not self.pending:
                self.pending.clear()  # a dict that was emptied keeps its size
            self.tools.rest()
            self.runner.rest()

    def is_wanted(self, effect_id: EffectId) -> bool:
        """Whether an effect is still to be answered."""
        return effect_id in self.state.out

    def take_status(self) -> SessionStatus | None:
        """Remove and return the next status for the host; None while there is work first."""
        return self.host_queue.take(is_at_work=self.is_at_work)

    def raise_failure(self) -> None:
        """Raise, once, a failure that a reporter wants raised, or why nothing can be saved.

        Raises:
            ReporterFailed: A reporter wants the turn to stop.
            Exception: See `save_error`.
        """
        failure, self.events.stopped_by = self.events.stopped_by, None
        if failure is not None:
            raise failure
        if self.save_error is not None:
            raise self.save_error


def _abort(engine: Engine, effect: Abort) -> None:
    engine.tools.abort(effect.id)
    engine.runner.stop(effect.id)
    engine.pending.pop(effect.id, None)


def _answer_at_once(engine: Engine, effect: Prepare | CallModel | Preflight) -> bool:
    """Queue what can be told about an effect at once; return whether it needs nothing more."""
    if effect.id not in engine.state.out:
        return True  # the same step has aborted it
    executor, hooks, tools = engine.executor, engine.hooks, engine.tools
    answer = instant_answer(effect, engine.state, executor=executor, hooks=hooks, tools=tools)
    if answer is not None:
        engine._inbox.append(answer)
    return answer is not None
