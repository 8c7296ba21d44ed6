"""State: all that a run knows, as data that can be written as JSON at any moment.

Nothing here is ever changed in place: a step makes a new state and leaves the old one alone.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

import msgspec
from msgspec import Struct, field

from agentkit_core import (
    ApprovalId,
    Item,
    JsonValue,
    MetadataMap,
    ModelOptions,
    RecordError,
    SessionId,
    ToolCallId,
    ToolResult,
    TurnId,
    Usage,
    encode_json,
)
from agentkit_loop._config import LoopConfig
from agentkit_loop._effects import AnsweredEffect, EffectId
from agentkit_loop._steps import ApprovalAsk
from agentkit_loop._table import Phase

STATE_VERSION: Final = 1
"""Grows when the meaning of a stored state changes."""

Batch = tuple[Item, ...]
"""What came with one submission."""


class CallStatus(StrEnum):
    """How far a call of the running round is.

    new ─► preflight ─► ready ─► running ─► done, with asking between preflight and ready where
    someone must approve; done may follow on any of them.
    """

    NEW = "new"
    PREFLIGHT = "preflight"
    ASKING = "asking"
    READY = "ready"
    RUNNING = "running"
    DONE = "done"


class CallState(Struct, frozen=True, omit_defaults=True):
    """One call of the running round."""

    id: ToolCallId
    name: str
    input: dict[str, JsonValue]
    """What it runs with; whoever approved it may have changed it."""
    status: CallStatus = CallStatus.NEW
    effect_id: EffectId | None = None
    """The effect that it waits for: its preflight, or the tool itself."""
    asks: tuple[ApprovalAsk, ...] = ()
    """What is still to be answered."""
    granted: tuple[ApprovalId, ...] = ()
    vouched: tuple[str, ...] = ()
    """Kinds of permission that are not asked again: someone gave the input that it runs with
    when asked for them."""
    result: ToolResult | None = None
    metadata: MetadataMap = field(default_factory=dict)


class TurnState(Struct, frozen=True, omit_defaults=True):
    """The turn that runs."""

    id: TurnId
    model_calls: int = 0
    """Answers so far."""
    attempt: int = 0
    """The attempt at the model call that is under way, from 1; 0 when none is."""
    usage: Usage = Usage()
    produced: tuple[Item, ...] = ()
    """Assistant and tool items so far."""
    calls: tuple[CallState, ...] = ()
    """The running round, in call order."""
    stop: bool = False
    """Whether a tool of the running round wants the turn to end."""
    effect_id: EffectId | None = None
    """The model call or the timer that the turn waits for."""


class State(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A session as it stands. Make one with `start`."""

    version: int = STATE_VERSION
    session_id: SessionId
    model: str
    """The model's id, for requests."""
    options: ModelOptions = ModelOptions()
    instructions: tuple[Item, ...] = ()
    """What stands before the transcript in each request, and is no part of it."""
    config: LoopConfig = LoopConfig()
    phase: Phase = Phase.IDLE
    transcript: tuple[Item, ...] = ()
    revision: int = 0
    """How often the transcript has changed."""
    turn: TurnState | None = None
    """The turn that runs; None exactly when idle or closed."""
    turns: int = 0
    """How many turns there have been."""
    effects: int = 0
    """How many effects that are answered have been asked for."""
    clock: int = 0
    """The latest time that was told; never goes back."""
    inputs: tuple[Batch, ...] = ()
    """Submissions for the next turn, oldest first."""
    steer: tuple[Batch, ...] = ()
    """Submissions for the running turn, oldest first; empty when none runs."""
    seen_calls: tuple[ToolCallId, ...] = ()
    """All ids that calls ever had here; they stay unique even if the transcript is rewritten."""
    out: dict[EffectId, AnsweredEffect] = field(default_factory=dict)
    """Effects that were asked for and are not answered."""

    @property
    def asks(self) -> tuple[ApprovalAsk, ...]:
        """What waits for an approval, in call order."""
        if self.turn is None:
            return ()
        return tuple(ask for call in self.turn.calls for ask in call.asks)


_DECODER: Final = msgspec.json.Decoder(State)


def encode_state(state: State) -> bytes:
    """Write a state as JSON, for `decode_state`."""
    return encode_json(state)


def decode_state(data: bytes) -> State:
    """Read a state that `encode_state` wrote; the kernel goes on from it as if nothing had been.

    Raises:
        RecordError: The bytes are not a state, or one of a version that is not known here.
    """
    try:
        state = _DECODER.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise RecordError("state", str(error)) from error
    if state.version != STATE_VERSION:
        raise RecordError("state", f"version {state.version} is not {STATE_VERSION}")
    return state
