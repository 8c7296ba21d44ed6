"""The type of a handler: what a phase does with an input."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from agentkit_loop.kernel._draft import Draft
from agentkit_loop.kernel._inputs import Input
from agentkit_loop.kernel._table import Phase

Handler = Callable[[Draft, Any], Phase]
"""Changes the draft for an input of one type, and returns the phase that follows."""

Handlers = Mapping[type[Input], Handler]
"""The handlers of a phase, by the type of input."""
