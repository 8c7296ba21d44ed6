"""The phases: one file each, with a handler for each input that applies in it."""

from agentkit_loop.kernel._phases._handlers import HANDLERS

__all__ = ["HANDLERS"]
