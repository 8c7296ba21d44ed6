"""What all phases of a turn do alike: queue input, say what they wait for, close."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from agentkit_loop._draft import Draft
from agentkit_loop._inputs import Close, Continue, Input, Submit
from agentkit_loop._steps import Busy, Closed
from agentkit_loop._table import Phase
from agentkit_loop._turns import queue
from agentkit_loop.events import RunFinished

Handler = Callable[[Draft, Any], Phase]
"""Changes the draft for an input of one type and says which phase follows."""

Handlers = Mapping[type[Input], Handler]
"""A phase's handlers, by the type of input."""


def submitted(draft: Draft, given: Submit) -> Phase:
    """Queue the host's input; the phase stays."""
    queue(draft, given)
    return draft.phase


def continued(draft: Draft, given: Continue) -> Phase:
    """Say that nothing is asked of the host; the phase stays."""
    draft.give(Busy())
    return draft.phase


def closing(cancel: Handler) -> Handler:
    """Make the handler of `Close` from the phase's own way of cancelling."""

    def closed(draft: Draft, given: Close) -> Phase:
        cancel(draft, given)
        return shut(draft)

    return closed


def shut(draft: Draft) -> Phase:
    """End the session; no turn runs any more."""
    draft.emit(RunFinished())
    draft.give(Closed())
    return Phase.CLOSED
