"""The logger of this package. Without logging that a host has configured, nothing is printed."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from logging import Logger


def logger() -> Logger:
    """Return the logger `agentkit_tools_core`, with a handler that does nothing.

    Without a handler, Python prints warnings and errors to stderr.
    """
    import logging  # takes long to import, and is needed only when something goes wrong

    log = logging.getLogger("agentkit_tools_core")
    if not any(isinstance(handler, logging.NullHandler) for handler in log.handlers):
        log.addHandler(logging.NullHandler())
    return log


if "logging" in sys.modules:
    logger()  # hosts that log find the handler from the beginning
