"""All phases' handlers in one table; its rows are those of `EDGES`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from agentkit_loop._phases import _backoff, _calling, _idle, _paused, _round
from agentkit_loop._phases._busy import Handlers
from agentkit_loop._table import Phase

HANDLERS: Final[Mapping[Phase, Handlers]] = {
    Phase.IDLE: _idle.HANDLERS,
    Phase.CALLING: _calling.HANDLERS,
    Phase.BACKOFF: _backoff.HANDLERS,
    Phase.ROUND: _round.HANDLERS,
    Phase.PAUSED: _paused.HANDLERS,
    Phase.CLOSED: {},
}
"""Phase and type of input to the handler."""
