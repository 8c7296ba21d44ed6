"""What an agent is made of, and how a session of it starts or goes on."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from msgspec import field
from msgspec.structs import force_setattr, replace

from agentkit_core import Item, ModelOptions, SessionId
from agentkit_core.values import Record
from agentkit_loop.agent._on_approval import OnApproval
from agentkit_loop.agent._prompt import InstructionsFunction, instructions_of, require_items
from agentkit_loop.drivers._depth import present_depth
from agentkit_loop.drivers._event_dispatcher import EventDispatcher
from agentkit_loop.drivers._session_lease import SessionLease
from agentkit_loop.drivers._setup import EngineSetup
from agentkit_loop.extensions._budget import TurnBudget
from agentkit_loop.extensions._hooks import Hook, Hooks, RunFacts
from agentkit_loop.extensions._mutators import Mutator
from agentkit_loop.kernel._config import LoopConfig
from agentkit_loop.kernel._inputs import Configure
from agentkit_loop.kernel._state import ParentCall, State
from agentkit_loop.kernel._step import Effects, resume, start
from agentkit_loop.persistence._records import Saved
from agentkit_loop.persistence._snapshot import Head, decode_head, decode_state
from agentkit_loop.ports import BlockingModel, Clock, Model, Reporter, provider_of
from agentkit_tools_core import Executor
from agentkit_tools_core.sync import await_if_needed

Dependencies = Mapping[type[Any], object]
"""Objects that tools get with `ToolContext.get`, by type."""


class SessionStart(Record, frozen=True):
    """What a new or resumed session begins with.

    Attributes:
        state: Its state.
        effects: What `start` or `resume` returned, to be carried out first.
        head: What was saved of it; None for a new session.
        saves: The sequence number of the last save; 0 if it was never saved.
        lease: The lease of the stored session.
    """

    state: State
    effects: Effects
    head: Head | None = None
    saves: int = 0
    lease: SessionLease = field(default_factory=SessionLease)


class OuterDependencies(Record, frozen=True):
    """Among the dependencies of each call: those that an agent inherits that is the call's tool.

    Attributes:
        of_agent: The dependencies of the outer agent; the inner agent's own win over them.
        of_run: Those that were given to the run; they win over all others.
    """

    of_agent: Dependencies
    of_run: Dependencies


class ParentRun(Record, frozen=True):
    """The run whose tool a session is.

    Attributes:
        budget: The tool call's share of that run's budget; None if it has none.
        dependencies: What the session's agent inherits; None if the call is of no session.
        hook: Called before all hooks of the session's agent.
    """

    budget: TurnBudget | None
    dependencies: OuterDependencies | None
    hook: Hook


class AgentParts(Record, frozen=True, kw_only=True):
    """What an agent is made of; see the arguments of `Agent`.

    Attributes:
        model: The language model.
        executor: Checks and runs tool calls.
        instructions: The items before the transcript in each request; empty if a function works
            them out.
        instructions_function: Works out the instructions of each request; None if they are fixed.
        options: The options of all model calls; None means the model's defaults.
        config: How the loop behaves.
        hooks: The host's hooks.
        mutators: The host's mutators.
        reporters: Called with each event.
        on_approval: Answers approval requests; None leaves them to the host.
        dependencies: Objects for tools, by type.
        run_dependencies: Those that were given to a run or a conversation; they win.
        clock: The time, and waits.
        jitter: Returns a random number between 0 and 1.
        call_dependencies: What tool calls get, the same for all sessions; worked out here.
    """

    model: Model | BlockingModel
    executor: Executor
    instructions: tuple[Item, ...]
    options: ModelOptions | None
    config: LoopConfig
    hooks: Hooks
    mutators: tuple[Mutator, ...]
    reporters: tuple[Reporter, ...]
    on_approval: OnApproval | None
    dependencies: Dependencies
    clock: Clock
    jitter: Callable[[], float]
    instructions_function: InstructionsFunction | None = None
    run_dependencies: Dependencies = field(default_factory=dict)
    call_dependencies: Dependencies = field(default_factory=dict)

    def __post_init__(self) -> None:
        inherited = OuterDependencies(self.dependencies, self.run_dependencies)
        own: Dependencies = {
            **self.dependencies,
            **self.run_dependencies,
            OuterDependencies: inherited,
        }
        force_setattr(self, "call_dependencies", own)

    def with_dependencies(self, dependencies: Dependencies | None) -> AgentParts:
        """Return the parts with more dependencies, which win over those that are there."""
        if not dependencies:
            return self
        return replace(self, run_dependencies={**self.run_dependencies, **dependencies})

    def within(self, outer: OuterDependencies | None) -> AgentParts:
        """Return the parts with the dependencies of the run of which the agent is a tool."""
        if outer is None:
            return self
        dependencies = {**outer.of_agent, **self.dependencies}
        return replace(self, dependencies=dependencies, run_dependencies=outer.of_run)

    def start(
        self,
        session_id: SessionId,
        *,
        history: Iterable[Item] = (),
        saved: Saved | None = None,
        parent: ParentCall | None = None,
    ) -> SessionStart:
        """Start a session, or go on with the one that a store has.

        Raises:
            TranscriptError: The history breaks a rule.
            RecordError: What is stored cannot be read, or is another session.
        """
        if saved is not None:
            return self._go_on(decode_head(saved, session_id), saved.seq)
        state, effects = start(
            session_id,
            model=self.model.name,
            provider=provider_of(self.model),
            parent=parent,
            options=self.options,
            instructions=self.instructions,
            history=require_items(history, "history"),
            config=self.config,
            now=self.clock.now_ms(),
        )
        return SessionStart(state, effects)

    def resume(self, snapshot: bytes) -> SessionStart:
        """Go on with a session from a snapshot.

        Raises:
            RecordError: The bytes are not a valid snapshot, or one of a newer version.
        """
        return self._go_on(Head(state=decode_state(snapshot)), 0)

    def _go_on(self, head: Head, saves: int) -> SessionStart:
        present = Configure(
            model=self.model.name,
            provider=provider_of(self.model),
            options=self.options or ModelOptions(),
            instructions=self.instructions,
            config=self.config,
        )
        state, effects = resume(head.state, present=present, now=self.clock.now_ms())
        return SessionStart(state, effects, head, saves)

    async def _work_out(self, facts: RunFacts) -> tuple[Item, ...]:
        """Work out the instructions of one request."""
        assert self.instructions_function is not None  # noqa: S101  (else nobody asks)
        return instructions_of(await await_if_needed(self.instructions_function(facts)))

    def engine_setup(self, begin: SessionStart, parent: ParentRun | None) -> EngineSetup:
        """Build the setup of a session's engine.

        Args:
            begin: What the session begins with.
            parent: The run whose tool it is; None for a session of its own.

        Raises:
            AgentsTooDeep: More runs stand around it than its configuration allows.
        """
        seq = 0 if begin.head is None else begin.head.seq
        session_id = begin.state.session_id
        return EngineSetup(
            state=begin.state,
            executor=self.executor,
            events=EventDispatcher(session_id, self.clock.now_ms, self.reporters, seq=seq),
            clock=self.clock,
            jitter=self.jitter,
            dependencies=self.call_dependencies,
            instructions=None if self.instructions_function is None else self._work_out,
            hooks=self.hooks if parent is None else self.hooks.with_first(parent.hook),
            mutators=self.mutators,
            parent_budget=None if parent is None else parent.budget,
            saves=begin.saves,
            lease=begin.lease,
            depth=present_depth(begin.state.config.max_agent_depth),
        )


def random_jitter() -> float:
    """Return a random number between 0 and 1."""
    from random import random  # imported late: platforms that only embed the kernel may lack it

    return random()  # noqa: S311


def new_session_id() -> SessionId:
    """Make a session id that no other session has."""
    return SessionId(f"session-{os.urandom(12).hex()}")
