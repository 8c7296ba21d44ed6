"""The table of transitions: which phase may follow which, on which input.

A session is in one phase at a time. A turn runs exactly in the phases between `idle` and
`closed`:

    idle       no turn runs; the host has control
    mutating   mutators may rewrite the transcript
    preparing  hooks may change the next request
    calling    the model is called and answers
    backoff    a model call failed; the next attempt waits for its time
    round      the model's tool calls are checked, approved and run, until all have a result
    paused     a round is over, and the host wants control before the model is called again
    finishing  the model has nothing more to do; hooks decide whether the turn ends
    closed     the end

    idle ──► mutating ──► preparing ──► calling ──► round ──► mutating (the next model call)
                              ▲           │           └─────► paused ──► mutating
                              └─ backoff ◄┘
                                          └──► finishing ──► idle

Phases without hooks are skipped: see `HookPoints`. `docs/kernel.md` has the whole diagram, drawn
from the table below. `Cancel` leads from any phase of a turn to idle in one step, `Close` from
anywhere to closed. So no phase is a trap, whatever the world does: a host can always get out.

The kernel looks up a row, lets the phase's handler choose among its targets, and takes no other. An
input without a row does not apply in the phase; it changes nothing and is reported as a diagnostic.
An answer to an effect that is no longer out is not even looked up.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from agentkit_core.values import StringEnum
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


class Phase(StringEnum):
    """What a session waits for."""

    IDLE = "idle"
    """A prompt of the host; no turn runs."""
    MUTATING = "mutating"
    """Mutators, which may rewrite the transcript."""
    PREPARING = "preparing"
    """Hooks, which may change the next request."""
    CALLING = "calling"
    """The model's answer."""
    BACKOFF = "backoff"
    """The time of the next attempt at a model call."""
    ROUND = "round"
    """The results of the model's tool calls."""
    PAUSED = "paused"
    """The host, which wanted control after the round."""
    FINISHING = "finishing"
    """Hooks, which may give the model more to do."""
    CLOSED = "closed"
    """Nothing; the session is over."""


Row = Mapping[type[Input], frozenset[Phase]]
"""The phases that may follow, by the type of input."""


def _to(*phases: Phase) -> frozenset[Phase]:
    return frozenset(phases)


_ASK: Final = (Phase.MUTATING, Phase.PREPARING, Phase.CALLING)
"""The model is called next, after mutators and hooks if there are any."""
_BEGIN: Final = _to(Phase.IDLE, *_ASK)
"""A turn may begin."""
_AFTER_ROUND: Final = _to(Phase.ROUND, Phase.PAUSED, *_ASK, Phase.IDLE)
"""A call got its result: the round goes on, or it was the last one."""


def _busy(phase: Phase, row: Row) -> Row:
    """Make the row of a phase of a turn: what is the same in all of them, and its own.

    Background calls, queues and settings do not depend on the phase.
    """
    stays = _to(phase)
    common: Row = {
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
    return {**common, **row}


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
        ToolAsked: _BEGIN,
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
            ToolAsked: _AFTER_ROUND,
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
"""The phases that may follow, by phase and type of input."""
