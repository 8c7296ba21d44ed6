"""Gathering: many things at once for one session, whose steps are taken one by one.

What goes on side by side runs in a group that ends with it. What may outlive the turn runs at
home, in a group of the session's. Whatever comes of either is fed on the thread of the event loop,
and saved before anything follows from it.
"""

from __future__ import annotations

import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from typing import Any, TypeVar

import anyio
import anyio.abc
import anyio.from_thread
import anyio.lowlevel

from agentkit_core import ApprovalRequest, ToolCallId
from agentkit_loop.drivers._effect_results import lost
from agentkit_loop.drivers._parts import Parts
from agentkit_loop.drivers._performing import Performer
from agentkit_loop.kernel._effects import AnsweredEffect, EffectId, StartTimer, StartTool
from agentkit_loop.kernel._inputs import Input, Resolve
from agentkit_loop.kernel._status import ApprovalDecision

_T = TypeVar("_T")


class Gathering(Performer, ABC):
    """Performs effects side by side, on the event loop on which it was made.

    Args:
        parts: See `Parts`; the store is a `Store`.
        home: Where calls run that may go on in the background; None means nowhere.
    """

    def __init__(self, parts: Parts, home: anyio.abc.TaskGroup | None) -> None:
        super().__init__(parts)
        self._home = home
        self._at_home: dict[EffectId, ToolCallId] = {}
        self._thread = threading.get_ident()
        self._loop = anyio.lowlevel.current_token()
        self._scopes: dict[EffectId, anyio.CancelScope] = {}
        self._group: anyio.abc.TaskGroup | None = None
        self._running = 0
        """How many tasks work in that group; with the last of them it takes no more."""
        self._fault: BaseException | None = None
        self._something_new: anyio.Event | None = None
        self._saving: anyio.Lock | None = None
        self._open: tuple[ApprovalRequest, anyio.CancelScope] | None = None
        """What the host is being asked."""
        self.asker: Callable[[ApprovalRequest], Awaitable[ApprovalDecision]] | None = None
        """Answers asks while other calls run; None leaves them until nothing runs."""
        self._is_asking = False
        self._context = copy_context()

    @abstractmethod
    async def perform(self, effect: AnsweredEffect) -> Input | None:
        """Perform an effect; None if there is more to come."""

    # inputs

    def on_thread(self, act: Callable[[], None]) -> None:
        """Do something on the thread of the event loop; it is done when this returns."""
        if threading.get_ident() == self._thread:
            act()
        else:
            anyio.from_thread.run_sync(act, token=self._loop)

    def feed(self, given: Input) -> None:
        """Take an input; what it brings joins the work that goes on side by side."""
        super().feed(given)
        self._join_in()

    def _join_in(self) -> None:
        self._send_home()
        if self._running:
            self._spawn()
        if self._group is not None and self.is_stopped:
            self._group.cancel_scope.cancel()
        if self._open is not None:
            self._leave_open()
        self.notify()

    def post(self, given: Input) -> None:
        """Take an input from outside the work; where there is a store, it is saved soon."""
        self.feed(given)
        if self.is_unsaved and self._running and self._group is not None:
            self._group.start_soon(self._flush_beside)

    async def _flush_beside(self) -> None:
        try:
            await self.flush()
        except Exception as error:
            self._fail(error)

    def notify(self) -> None:
        """Wake whoever waits for something new."""
        event, self._something_new = self._something_new, None
        if event is not None:
            event.set()

    # saving

    async def flush(self) -> None:
        """Save what was decided and carry it out, until nothing is left.

        Raises:
            Exception: It could not be saved; nothing is done any more.
        """
        if not self.is_unsaved:
            return
        if self._saving is None:
            self._saving = anyio.Lock()
        async with self._saving:
            while self.is_unsaved and self.broken is None:
                await self._save()
                self._join_in()

    async def _save(self) -> None:
        doubt = self.outbox.in_doubt
        try:
            # A save that has begun is waited for: only then is it known what is stored.
            with anyio.CancelScope(shield=True):
                if doubt:
                    found = await self._store.load(self.state.session_id)
                else:
                    save, head = self.begin_save()
                    await self._store.save(
                        self.state.session_id, seq=self.outbox.saves + 1, head=head, log=save.log
                    )
        except Exception as error:
            self.fail_save(error)
            self._join_in()
            raise
        if doubt:
            self.find_save(found)
        else:
            self.end_save(save)

    # waiting

    async def something_new(self) -> None:
        """Wait until anything was fed, or the host's work is over.

        Raises:
            BaseException: What struck a call in the background, or why nothing can be saved.
        """
        self._raise_fault()
        self.raise_failure()
        await self.changed()

    async def changed(self) -> None:
        """Wait until anything was fed, or the host's work is over; for whoever looks on."""
        if self._something_new is None:
            self._something_new = anyio.Event()
        await self._something_new.wait()

    async def while_open(self, ask: ApprovalRequest, work: Awaitable[_T]) -> _T | None:
        """Wait for an answer to an ask; None where it is not open any more.

        Then somebody else has answered, or the call is not wanted any more.
        """
        with anyio.CancelScope() as scope:
            self._open = ask, scope
            try:
                return await work
            finally:
                self._open = None
        return None

    def _leave_open(self) -> None:
        if self._open is not None:
            ask, scope = self._open
            if self._over or self.broken is not None or ask not in self.state.pending_approvals:
                scope.cancel()

    def _raise_fault(self) -> None:
        fault, self._fault = self._fault, None
        if fault is not None:
            raise fault

    @property
    def is_at_work(self) -> bool:
        """Whether there is something to perform, to read on or to save for the turn."""
        return super().is_at_work or self._waits_for_home

    @property
    def _waits_for_home(self) -> bool:
        aside = self.state.background
        return any(call_id not in aside for call_id in self._at_home.values())

    # side by side

    async def _side_by_side(self) -> None:
        try:
            async with anyio.create_task_group() as self._group:
                self._spawn()
        except BaseExceptionGroup as group:
            # The tasks leave theirs in `_fault`: this is what struck the host's own task, which
            # is how trio brings a Ctrl-C. Nobody who catches that looks into a group.
            _, struck = group.split(anyio.get_cancelled_exc_class())
            self._fault = self._fault or (struck or group).exceptions[0]
        finally:
            self._group, self._running = None, 0
        self._raise_fault()

    def _send_home(self) -> None:
        """Begin what may outlive the turn where it can: a call, and the timers of one."""
        if self._home is None:
            return
        for effect in [one for one in self.pending if self._outlives(one)]:
            self.pending.remove(effect)
            call = effect.call.id if isinstance(effect, StartTool) else effect.call_id
            self._at_home[effect.id] = call
            self._start(self._home, self._work_at_home, effect)

    def _outlives(self, effect: AnsweredEffect) -> bool:
        match effect:
            case StartTool(detaches=detaches):
                return detaches
            case StartTimer(call_id=str(call_id)):
                return call_id in self._at_home.values() or any(
                    isinstance(one, StartTool) and one.detaches and one.call.id == call_id
                    for one in self.pending
                )
            case _:
                return False

    def _spawn(self) -> None:
        if self._group is None:
            return
        self._send_home()
        while self.pending:
            self._running += 1
            self._start(self._group, self._work, self.pending.pop(0))
        if self.asker is not None and self.state.pending_approvals and not self._is_asking:
            self._is_asking = True
            self._running += 1
            self._start(self._group, self._ask_beside, self.asker)

    def _start(
        self, group: anyio.abc.TaskGroup, work: Callable[[Any], Coroutine[Any, Any, None]], one: Any
    ) -> None:
        # Whoever approves a call lends it nothing of its own context.
        self._context.copy().run(lambda: group.start_soon(work, one))

    async def _ask_beside(
        self, asker: Callable[[ApprovalRequest], Awaitable[ApprovalDecision]]
    ) -> None:
        try:
            while asks := self.state.pending_approvals:
                decision = await self.while_open(asks[0], asker(asks[0]))
                if decision is not None and asks[0] in self.state.pending_approvals:
                    self.feed(Resolve(asks[0].id, decision, asks[0].call.id))
                if self.is_unsaved:
                    await self.flush()
        except anyio.get_cancelled_exc_class():
            raise
        except BaseException as error:
            self._fail(error)
        finally:
            self._is_asking = False
            self._running -= 1

    async def _work(self, effect: AnsweredEffect) -> None:
        try:
            try:
                answer = await self._perform_one(effect)
            finally:
                self._running -= 1
            if answer is not None:
                self.feed(answer)
            if self.is_unsaved:
                await self.flush()
        except anyio.get_cancelled_exc_class():
            raise
        except BaseException as error:
            self._fail(error)

    def _fail(self, error: BaseException) -> None:
        # A task group would raise it wrapped. The siblings are stopped, then it is raised.
        self._fault = self._fault or error
        if self._group is not None:
            self._group.cancel_scope.cancel()

    async def _work_at_home(self, effect: StartTool | StartTimer) -> None:
        try:
            answer = await self._perform_one(effect)
            self._at_home.pop(effect.id, None)
            if answer is not None:
                self.feed(answer)
            if self.is_unsaved:
                await self.flush()
        except anyio.get_cancelled_exc_class():
            raise
        except BaseException as error:
            # The host gets it from whatever it asks for next, and the call is over.
            self._fault = self._fault or error
            if isinstance(effect, StartTool) and self.broken is None:
                self.feed(lost(effect))
            self._join_in()
        finally:
            self._at_home.pop(effect.id, None)
            self.notify()

    async def _perform_one(self, effect: AnsweredEffect) -> Input | None:
        """Perform an effect; None if it was aborted, or if there is more to come."""
        answer: Input | None = None
        if not self.is_wanted(effect.id):
            return None
        with self._scope_of(effect.id):
            try:
                answer = await self.perform(effect)
            except anyio.get_cancelled_exc_class() as error:
                if is_cancelled():
                    raise
                # What waits for something that is cancelled would end its host as if it were.
                text = f"{type(effect).__name__} was cancelled from within"
                raise RuntimeError(text) from error
        return answer if self.is_wanted(effect.id) else None

    @contextmanager
    def _scope_of(self, effect_id: EffectId) -> Iterator[None]:
        with anyio.CancelScope() as scope:
            self._scopes[effect_id] = scope
            try:
                yield
            finally:
                del self._scopes[effect_id]

    def stop_work(self, effect_id: EffectId) -> None:
        """Cancel the scope in which an effect is performed."""
        scope = self._scopes.get(effect_id)
        if scope is not None:
            scope.cancel()


def is_cancelled() -> bool:
    """Whether someone wants the running task to end, by a scope or by asyncio's own means."""
    if anyio.get_current_task().has_pending_cancellation():
        return True
    asyncio: Any = sys.modules.get("asyncio")
    try:
        return asyncio is not None and asyncio.current_task().cancelling() > 0
    except RuntimeError:  # trio runs
        return False
