"""What a driver is made of, whichever it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from agentkit_loop.drivers._event_dispatcher import Teller
from agentkit_loop.extensions._budget import TurnBudget
from agentkit_loop.extensions._hooks import Hooks
from agentkit_loop.extensions._mutators import Mutator
from agentkit_loop.kernel._state import State
from agentkit_loop.ports import Clock
from agentkit_tools_core import Executor


class Parts(Struct, kw_only=True):
    """The parts of a driver."""

    state: State
    """The session to begin with."""
    executor: Executor
    """Checks and runs calls."""
    teller: Teller
    """Tells events."""
    clock: Clock
    """Says what time it is."""
    jitter: Callable[[], float]
    """Gives a random number between 0 and 1, for waits."""
    dependencies: Mapping[type[Any], object]
    """Objects for tools, by type."""
    hooks: Hooks
    mutators: Sequence[Mutator] = ()
    above: TurnBudget | None = None
    """The budget of the run whose tool this run is."""
    store: Any = None
    """Where the session is saved, in the driver's own form; None means nowhere."""
    saves: int = 0
    """The number of the last save there is."""
