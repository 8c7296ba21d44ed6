"""The machine as a table: which phase may follow which, on what.

A session is in one phase at a time. A turn runs exactly in the phases between `idle` and
`closed`:

    idle       no turn; the host has the word
    mutating   mutators are shown the transcript
    preparing  the next request is made
    calling    the model is asked, and answers
    backoff    a model call failed; the next attempt waits for its time
    round      the model's calls are checked, approved and run, until all have a result
    paused     a round is over, and the host wanted the word before the model is asked again
    finishing  the model has nothing more to do, and hooks are asked whether the turn may end
    closed     the end

    idle ──► mutating ──► preparing ──► calling ──► round ──► mutating (the next model call)
                              ▲           │           └─────► paused ──► mutating
                              └─ backoff ◄┘
                                          └──► finishing ──► idle

`docs/kernel.md` has the whole diagram, drawn from the table below. `Cancel` leads from any phase
of a turn to idle in one step, `Close` from anywhere to closed. So no phase is a trap, whatever
becomes of the world: a host can always get out.

The kernel looks up a row, lets the phase decide among its targets, and takes no other. An input
without a row does not fit the phase; it changes nothing and is told as a diagnostic. Answers
to effects that nobody waits for any more do not even get as far as the table.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from agentkit_loop.kernel._inputs import (
    Cancel,
    CancelCall,
    Close,
    Configure,
    Continue,
    EffectLost,
    FinishChecked,
    Input,
    ModelFailed,
    ModelResponded,
    MutatorsDone,
    PreflightAllowed,
    PreflightAsked,
    PreflightRefused,
    Prepared,
    Reset,
    Resolve,
    Submit,
    TimerFired,
    ToolAsked,
    ToolDone,
    ToolProgressed,
    ToolsOffered,
    ToolSpent,
    ToolStarted,
    Unqueue,
)


class Phase(StrEnum):
    """Where a session stands."""

    IDLE = "idle"
    MUTATING = "mutating"
    PREPARING = "preparing"
    CALLING = "calling"
    BACKOFF = "backoff"
    ROUND = "round"
    PAUSED = "paused"
    FINISHING = "finishing"
    CLOSED = "closed"


Row = Mapping[type[Input], frozenset[Phase]]
"""Type of input to the phases that may follow."""


def _to(*phases: Phase) -> frozenset[Phase]:
    return frozenset(phases)


_ASK: Final = (Phase.MUTATING, Phase.PREPARING, Phase.CALLING)
"""The model is called next, after mutators and hooks if there are any."""
_BEGIN: Final = _to(Phase.IDLE, *_ASK)
"""A turn may begin."""
_AFTER_ROUND: Final = _to(Phase.ROUND, Phase.PAUSED, *_ASK, Phase.IDLE)
"""A call got its result: the round goes on, or it was the last one."""


def _busy(phase: Phase, row: Row) -> Row:
    """Make the row of a phase of a turn: what is alike in all of them, and its own.

    Calls in the background, queues and settings have nothing to do with the phase.
    """
    stays = _to(phase)
    anywhere: Row = {
        Submit: stays,
        ToolsOffered: stays,
        Unqueue: stays,
        Continue: stays,
        Configure: stays,
        Resolve: stays,
        CancelCall: stays,
        ToolStarted: stays,
        ToolProgressed: stays,
        ToolSpent: stays,
        ToolAsked: stays,
        ToolDone: stays,
        TimerFired: stays,
        EffectLost: stays,
        Cancel: _to(Phase.IDLE),
        Close: _to(Phase.CLOSED),
    }
    return {**anywhere, **row}


EDGES: Final[Mapping[Phase, Row]] = {
    Phase.IDLE: {
        Submit: _BEGIN,
        ToolsOffered: _to(Phase.IDLE),
        Unqueue: _to(Phase.IDLE),
        Continue: _BEGIN,
        Configure: _to(Phase.IDLE),
        Reset: _to(Phase.IDLE),
        Resolve: _BEGIN,
        CancelCall: _BEGIN,
        ToolStarted: _to(Phase.IDLE),
        ToolProgressed: _to(Phase.IDLE),
        ToolSpent: _to(Phase.IDLE),
        ToolAsked: _to(Phase.IDLE),
        ToolDone: _BEGIN,
        TimerFired: _BEGIN,
        EffectLost: _BEGIN,
        Close: _to(Phase.CLOSED),
    },
    Phase.MUTATING: _busy(
        Phase.MUTATING,
        {MutatorsDone: _to(Phase.PREPARING, Phase.CALLING, Phase.IDLE)},
    ),
    Phase.PREPARING: _busy(
        Phase.PREPARING,
        {Prepared: _to(Phase.CALLING, Phase.IDLE)},
    ),
    Phase.CALLING: _busy(
        Phase.CALLING,
        {
            ModelResponded: _to(Phase.FINISHING, *_AFTER_ROUND),
            ModelFailed: _to(Phase.BACKOFF, Phase.IDLE),
            EffectLost: _to(Phase.CALLING, Phase.PREPARING, Phase.IDLE),
        },
    ),
    Phase.BACKOFF: _busy(
        Phase.BACKOFF,
        {TimerFired: _to(Phase.BACKOFF, Phase.CALLING, Phase.PREPARING)},
    ),
    Phase.ROUND: _busy(
        Phase.ROUND,
        {
            Submit: _AFTER_ROUND,
            Resolve: _AFTER_ROUND,
            CancelCall: _AFTER_ROUND,
            PreflightAllowed: _AFTER_ROUND,
            PreflightRefused: _AFTER_ROUND,
            PreflightAsked: _AFTER_ROUND,
            ToolAsked: _to(Phase.ROUND),
            ToolDone: _AFTER_ROUND,
            TimerFired: _AFTER_ROUND,
            EffectLost: _AFTER_ROUND,
        },
    ),
    Phase.PAUSED: _busy(
        Phase.PAUSED,
        {Continue: _to(*_ASK, Phase.IDLE)},
    ),
    Phase.FINISHING: _busy(
        Phase.FINISHING,
        {FinishChecked: _to(*_ASK, Phase.IDLE)},
    ),
    Phase.CLOSED: {},
}
"""Phase and type of input to the phases that may follow."""
