"""The handlers that all phases share, and how the table of a phase is put together."""

from __future__ import annotations

from typing import Final

from agentkit_loop.events import RunFinished
from agentkit_loop.kernel import _background as background
from agentkit_loop.kernel._draft import Draft
from agentkit_loop.kernel._inputs import Cancel, Close
from agentkit_loop.kernel._phases import _background_calls, _host
from agentkit_loop.kernel._phases._handler import Handler, Handlers
from agentkit_loop.kernel._status import Closed
from agentkit_loop.kernel._table import Phase

COMMON: Final[Handlers] = {**_host.HANDLERS, **_background_calls.HANDLERS}
"""What a phase does with an input for which it has no handler of its own."""


def handlers_of_turn(on_cancel: Handler, own: Handlers) -> Handlers:
    """Make the handlers of a phase of a turn.

    Args:
        on_cancel: How the phase gives up: it leaves nothing open and ends the turn.
        own: The handlers of this phase; they replace the common ones.
    """
    return {**COMMON, Cancel: on_cancel, Close: _close_after(on_cancel), **own}


def close_session(draft: Draft) -> Phase:
    """End the session; no turn runs any more."""
    background.end_all_calls(draft)
    draft.emit(RunFinished())
    draft.yield_status(Closed())
    return Phase.CLOSED


def _close_after(on_cancel: Handler) -> Handler:
    """Make the handler of `Close` from a phase's own way of cancelling."""

    def on_close(draft: Draft, command: Close) -> Phase:
        on_cancel(draft, command)
        return close_session(draft)

    return on_close
