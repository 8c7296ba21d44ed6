"""Runs coroutines that never suspend, without an event loop; see `agentkit_tools_core.sync`."""

from agentkit_tools_core.sync import NeedsEventLoop
from agentkit_tools_core.sync import await_if_needed as settled
from agentkit_tools_core.sync import run_at_once as at_once

__all__ = ["NeedsEventLoop", "at_once", "settled"]
