"""What an agent is assembled of, and how a session of it begins, or goes on."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from agentkit_core import Item, ModelOptions, SessionId
from agentkit_loop.agent._on_approval import OnApproval
from agentkit_loop.drivers._event_dispatcher import Teller
from agentkit_loop.drivers._parts import Parts
from agentkit_loop.extensions._budget import TurnBudget
from agentkit_loop.extensions._hooks import Hook, Hooks
from agentkit_loop.extensions._mutators import Mutator
from agentkit_loop.kernel._config import LoopConfig
from agentkit_loop.kernel._state import HookPoints, State
from agentkit_loop.kernel._step import Effects, resume, start
from agentkit_loop.persistence._records import Saved
from agentkit_loop.persistence._snapshot import Head, decode_head, decode_state
from agentkit_loop.ports import BlockingModel, Clock, Model, Reporter
from agentkit_tools_core import Executor, hidden_specs

if TYPE_CHECKING:  # neither driver is loaded before it is used
    from agentkit_loop.drivers._engine import Stepper


class Begun(Struct, frozen=True):
    """A session that is about to begin, or to go on.

    Attributes:
        head: What was saved; None for a new session.
        saves: The number of the last save there is.
    """

    state: State
    effects: Effects
    head: Head | None = None
    saves: int = 0

    def begin(self, driver: Stepper) -> None:
        """Have a driver carry out what there is to begin with."""
        driver.begin(self.head, self.effects)


class Inner(Struct, frozen=True):
    """What ties a session to the run whose tool it is."""

    above: TurnBudget | None
    hook: Hook


class Assembly(Struct, frozen=True, kw_only=True):
    """What an agent is assembled of; see `Agent`."""

    model: Model | BlockingModel
    executor: Executor
    instructions: tuple[Item, ...]
    options: ModelOptions | None
    config: LoopConfig
    hooks: Hooks
    mutators: tuple[Mutator, ...]
    reporters: tuple[Reporter, ...]
    on_approval: OnApproval | None
    dependencies: Mapping[type[Any], object]
    clock: Clock
    jitter: Callable[[], float]

    @property
    def detaches(self) -> bool:
        """Whether some tool may go on in the background."""
        specs = (*self.executor.specs(), *hidden_specs(self.executor.source))
        return any(spec.annotations.detach_after_s is not None for spec in specs)

    @property
    def _hook_points(self) -> HookPoints:
        return HookPoints(
            mutators=bool(self.mutators), request=True, finish=bool(self.hooks.finish)
        )

    def begun(
        self, session_id: SessionId, *, history: Iterable[Item] = (), saved: Saved | None = None
    ) -> Begun:
        """Begin a session, or go on with what a store has of it.

        Raises:
            TranscriptError: The history breaks a rule.
            RecordError: What is stored cannot be read.
        """
        if saved is not None:
            return self._going_on(decode_head(saved), saved.seq)
        state, effects = start(
            session_id,
            model=self.model.name,
            options=self.options,
            instructions=self.instructions,
            history=history,
            config=self.config,
            hooks=self._hook_points,
            now=self.clock.now_ms(),
        )
        return Begun(state, effects)

    def resumed(self, snapshot: bytes) -> Begun:
        """Go on with a session from a snapshot.

        Raises:
            RecordError: It is no snapshot, or one of a newer version.
        """
        return self._going_on(Head(state=decode_state(snapshot)), 0)

    def _going_on(self, head: Head, saves: int) -> Begun:
        state = replace(head.state, model=self.model.name)
        state, effects = resume(state, hooks=self._hook_points, now=self.clock.now_ms())
        return Begun(state, effects, head, saves)

    def parts(self, begun: Begun, store: object, inner: Inner | None) -> Parts:
        """Make the parts of a session's driver.

        Args:
            begun: The session.
            store: Where it is kept, in the driver's own form; None means nowhere.
            inner: The run whose tool it is, if it is one.
        """
        seq = 0 if begun.head is None else begun.head.seq
        session_id = begun.state.session_id
        return Parts(
            state=begun.state,
            executor=self.executor,
            teller=Teller(session_id, self.clock.now_ms, self.reporters, seq=seq),
            clock=self.clock,
            jitter=self.jitter,
            dependencies=self.dependencies,
            hooks=self.hooks if inner is None else self.hooks.with_first(inner.hook),
            mutators=self.mutators,
            above=None if inner is None else inner.above,
            store=store,
            saves=begun.saves,
        )


def chance() -> float:
    """Give a random number between 0 and 1."""
    from random import random  # loaded late: whoever embeds the kernel alone may have none

    return random()  # noqa: S311


def new_id() -> SessionId:
    """Make up a name for a session."""
    return SessionId(f"session-{os.urandom(12).hex()}")
