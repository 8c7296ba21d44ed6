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
    """The parts of a driver.

    Attributes:
        state: The session to begin with.
        executor: Checks and runs calls.
        teller: Tells events.
        clock: Says what time it is.
        jitter: Gives a random number between 0 and 1, for waits.
        dependencies: Objects for tools, by type.
        above: The budget of the run whose tool this run is.
        store: Where the session is saved, in the driver's own form; None means nowhere.
        saves: The number of the last save there is.
    """

    state: State
    executor: Executor
    teller: Teller
    clock: Clock
    jitter: Callable[[], float]
    dependencies: Mapping[type[Any], object]
    hooks: Hooks
    mutators: Sequence[Mutator] = ()
    above: TurnBudget | None = None
    store: Any = None
    saves: int = 0
