"""The edges of the kernel's table, and those that random walks hardly ever take."""

from agentkit_loop.kernel import (
    EDGES,
    CancelCall,
    EffectLost,
    Input,
    Phase,
    PreflightAllowed,
    PreflightAsked,
    PreflightRefused,
    Resolve,
    Submit,
    TimerFired,
    ToolAsked,
    ToolDone,
    ToolProgressed,
    ToolsOffered,
    ToolSpent,
    ToolStarted,
)
from agentkit_loop.testing import WalkStep

Edge = tuple[Phase, type[Input], Phase]
"""A phase, the type of the input that comes, and the phase that follows."""

ALL: set[Edge] = {
    (phase, kind, target)
    for phase, row in EDGES.items()
    for kind, targets in row.items()
    for target in targets
}
IN_A_TURN = [phase for phase in Phase if phase not in (Phase.IDLE, Phase.CLOSED)]
ENDS_ROUND: tuple[type[Input], ...] = (
    Submit, Resolve, CancelCall, PreflightAllowed, PreflightRefused, PreflightAsked,
    ToolAsked, ToolDone, TimerFired, EffectLost,
)  # fmt: skip
"""Inputs that may give the last call of a round its result."""
AFTER_ROUND = (Phase.CALLING, Phase.PREPARING, Phase.MUTATING, Phase.PAUSED, Phase.IDLE)
"""The phases that may follow a round."""
BEGINS_TURN: tuple[type[Input], ...] = (
    Resolve, CancelCall, ToolAsked, ToolDone, TimerFired, EffectLost,
)  # fmt: skip
"""Inputs that may end a background call while no turn runs, and so begin one."""

RARE: set[Edge] = {
    *((Phase.ROUND, kind, target) for kind in ENDS_ROUND for target in AFTER_ROUND),
    *(
        (Phase.IDLE, kind, target)
        for kind in BEGINS_TURN
        for target in (Phase.CALLING, Phase.PREPARING, Phase.MUTATING)
    ),
    *(
        (phase, kind, phase)
        for phase in IN_A_TURN
        for kind in (ToolsOffered, ToolStarted, ToolProgressed, ToolSpent)
    ),
}
"""Edges with a test of their own."""


def edge_of(step: WalkStep) -> Edge | None:
    """The edge that a step took; None for the first of a walk."""
    if step.before is None or step.input is None:
        return None
    return (step.before.phase, type(step.input), step.after.phase)
