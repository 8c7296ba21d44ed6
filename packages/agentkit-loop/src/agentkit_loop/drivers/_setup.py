"""What a driver's engine is made of, the same for both drivers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from agentkit_loop.drivers._event_dispatcher import EventDispatcher
from agentkit_loop.drivers._hook_runner import WorkOutInstructions
from agentkit_loop.drivers._session_lease import SessionLease
from agentkit_loop.extensions._budget import TurnBudget
from agentkit_loop.extensions._hooks import Hooks
from agentkit_loop.extensions._mutators import Mutator
from agentkit_loop.kernel._state import State
from agentkit_loop.ports import Clock
from agentkit_tools_core import Executor


class EngineSetup(Struct, kw_only=True):
    """The pieces of an engine.

    Attributes:
        state: The session's state at the start.
        executor: Checks and runs tool calls.
        events: Dispatches events to the reporters.
        clock: The time, and waits.
        jitter: Returns a random number between 0 and 1, for the length of waits.
        dependencies: Objects for tools, by type.
        hooks: The host's hooks.
        instructions: Works out the instructions of a request; None if the state has them.
        mutators: The host's mutators, in the order in which they run.
        parent_budget: The budget of the run whose tool this session is; None for a session of
            its own.
        saves: The sequence number of the last save; 0 if the session was never saved.
        lease: The lease of the stored session, which may be held already.
        depth: How many runs stand around this one, each the tool of another.
    """

    state: State
    executor: Executor
    events: EventDispatcher
    clock: Clock
    jitter: Callable[[], float]
    dependencies: Mapping[type[Any], object]
    hooks: Hooks
    instructions: WorkOutInstructions | None = None
    mutators: Sequence[Mutator] = ()
    parent_budget: TurnBudget | None = None
    saves: int = 0
    lease: SessionLease = field(default_factory=SessionLease)
    depth: int = 0
