"""What the host may want in any phase: queues, settings, and a look at what is going on."""

from __future__ import annotations

from typing import Final

from agentkit_loop.events import SettingsChanged
from agentkit_loop.kernel._approvals import yield_approvals
from agentkit_loop.kernel._draft import Draft
from agentkit_loop.kernel._inputs import Configure, Continue, Submit, ToolsOffered, Unqueue
from agentkit_loop.kernel._phases._handler import Handlers
from agentkit_loop.kernel._queues import enqueue, withdraw_input
from agentkit_loop.kernel._status import Busy
from agentkit_loop.kernel._table import Phase
from agentkit_loop.kernel._turns import change_model, record_offer


def on_submit(draft: Draft, command: Submit) -> Phase:
    """Queue the host's input."""
    enqueue(draft, command)
    return draft.phase


def on_unqueue(draft: Draft, command: Unqueue) -> Phase:
    """Take back what is queued."""
    withdraw_input(draft, command.lane)
    return draft.phase


def on_continue(draft: Draft, command: Continue) -> Phase:
    """Show the host again which approvals are pending, if any are."""
    if not yield_approvals(draft):
        draft.yield_status(Busy())
    return draft.phase


def on_configure(draft: Draft, command: Configure) -> Phase:
    """Change settings, and remember which: they are the session's own from now on."""
    names = tuple(
        name
        for name in ("model", "options", "instructions", "config")
        if getattr(command, name) is not None
    )
    draft.changed += tuple(name for name in names if name not in draft.changed)
    if command.model is not None:
        change_model(draft, command.model, command.provider)
    if command.options is not None:
        draft.options = command.options
    if command.instructions is not None:
        draft.instructions = command.instructions
    if command.config is not None:
        draft.config = command.config
    if command.once is not None:
        draft.once = command.once
    if draft.phase is Phase.BACKOFF:
        # The request that was prepared has the old settings.
        draft.set_turn(prepared=False)
    draft.emit(SettingsChanged(draft.model, draft.once or draft.options, names))
    return draft.phase


def on_tools_offered(draft: Draft, offer: ToolsOffered) -> Phase:
    """Record the tools that the model is offered."""
    record_offer(draft, offer.tools, offer.callable_tools)
    return draft.phase


HANDLERS: Final[Handlers] = {
    Submit: on_submit,
    Unqueue: on_unqueue,
    Continue: on_continue,
    Configure: on_configure,
    ToolsOffered: on_tools_offered,
}
