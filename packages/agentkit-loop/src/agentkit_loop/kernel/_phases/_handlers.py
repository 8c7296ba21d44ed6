"""The handlers of all phases in one table; its rows are those of `EDGES`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from agentkit_loop.kernel._phases import (
    _backoff,
    _calling,
    _finishing,
    _idle,
    _mutating,
    _paused,
    _preparing,
    _round,
)
from agentkit_loop.kernel._phases._handler import Handlers
from agentkit_loop.kernel._table import Phase

HANDLERS: Final[Mapping[Phase, Handlers]] = {
    Phase.IDLE: _idle.HANDLERS,
    Phase.MUTATING: _mutating.HANDLERS,
    Phase.PREPARING: _preparing.HANDLERS,
    Phase.CALLING: _calling.HANDLERS,
    Phase.BACKOFF: _backoff.HANDLERS,
    Phase.ROUND: _round.HANDLERS,
    Phase.PAUSED: _paused.HANDLERS,
    Phase.FINISHING: _finishing.HANDLERS,
    Phase.CLOSED: {},
}
"""The handlers, by phase and type of input."""
