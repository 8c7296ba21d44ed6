"""The phases: one file each, with what it does with each input that fits it."""

from agentkit_loop.kernel._phases._handlers import HANDLERS

__all__ = ["HANDLERS"]
