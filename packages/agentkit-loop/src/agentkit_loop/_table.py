"""The machine as a table: which phase may follow which, on what.

A session is in one phase at a time. A turn runs exactly in the phases between `idle` and
`closed`:

    idle      no turn; the host has the word
    calling   the model is asked, and answers
    backoff   a model call failed; the next attempt waits for its time
    round     the model's calls are checked, approved and run, until all have a result
    paused    a round is over, and the host wanted the word before the model is asked again
    closed    the end

          ┌──────────────────────── a turn ends ───────────────────────┐
          ▼                                                            │
        idle ──Continue──► calling ──ModelResponded──► round ──────────┤
                            │ ▲  ▲                      │ │            │
                ModelFailed ▼ │  └────── all done ──────┘ ▼            │
                          backoff ◄─┘ TimerFired        paused ────────┘

`Cancel` leads from any phase of a turn to idle in one step, `Close` from anywhere to closed. So
no phase is a trap, whatever becomes of the world: a host can always get out.

The kernel looks up a row, lets the phase decide among its targets, and takes no other. An input
without a row does not fit the phase; it changes nothing and is told as a diagnostic. Answers
to effects that nobody waits for any more do not even get as far as the table.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from agentkit_loop._inputs import (
    Cancel,
    Close,
    Continue,
    Input,
    ModelFailed,
    ModelResponded,
    PreflightAllowed,
    PreflightAsked,
    PreflightRefused,
    Resolve,
    Submit,
    TimerFired,
    ToolDone,
    ToolProgressed,
)


class Phase(StrEnum):
    """Where a session stands."""

    IDLE = "idle"
    CALLING = "calling"
    BACKOFF = "backoff"
    ROUND = "round"
    PAUSED = "paused"
    CLOSED = "closed"


_AFTER_ROUND: Final = frozenset({Phase.ROUND, Phase.PAUSED, Phase.CALLING, Phase.IDLE})
"""A call got its result: the round goes on, or it was the last one."""

EDGES: Final[Mapping[Phase, Mapping[type[Input], frozenset[Phase]]]] = {
    Phase.IDLE: {
        Submit: frozenset({Phase.IDLE}),
        Continue: frozenset({Phase.IDLE, Phase.CALLING}),
        Close: frozenset({Phase.CLOSED}),
    },
    Phase.CALLING: {
        Submit: frozenset({Phase.CALLING}),
        Continue: frozenset({Phase.CALLING}),
        ModelResponded: frozenset({Phase.CALLING, Phase.ROUND, Phase.PAUSED, Phase.IDLE}),
        ModelFailed: frozenset({Phase.BACKOFF, Phase.IDLE}),
        Cancel: frozenset({Phase.IDLE}),
        Close: frozenset({Phase.CLOSED}),
    },
    Phase.BACKOFF: {
        Submit: frozenset({Phase.BACKOFF}),
        Continue: frozenset({Phase.BACKOFF}),
        TimerFired: frozenset({Phase.CALLING}),
        Cancel: frozenset({Phase.IDLE}),
        Close: frozenset({Phase.CLOSED}),
    },
    Phase.ROUND: {
        Submit: frozenset({Phase.ROUND}),
        Continue: frozenset({Phase.ROUND}),
        Resolve: _AFTER_ROUND,
        PreflightAllowed: frozenset({Phase.ROUND}),
        PreflightRefused: _AFTER_ROUND,
        PreflightAsked: frozenset({Phase.ROUND}),
        ToolProgressed: frozenset({Phase.ROUND}),
        ToolDone: _AFTER_ROUND,
        Cancel: frozenset({Phase.IDLE}),
        Close: frozenset({Phase.CLOSED}),
    },
    Phase.PAUSED: {
        Submit: frozenset({Phase.PAUSED}),
        Continue: frozenset({Phase.CALLING, Phase.IDLE}),
        Cancel: frozenset({Phase.IDLE}),
        Close: frozenset({Phase.CLOSED}),
    },
    Phase.CLOSED: {},
}
"""Phase and type of input to the phases that may follow."""
