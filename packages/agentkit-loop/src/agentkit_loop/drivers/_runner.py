"""The port through which the engine has effects run that take time.

There are two implementations: `TaskRunner` runs them concurrently in tasks,
`InlineRunner` runs them one after another on the thread of the host.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from agentkit_loop.drivers._model_reading import ModelReading
from agentkit_loop.kernel._effects import EffectId


class EffectRunner(Protocol):
    """Runs the effects that take time; the engine leaves them in `Engine.pending`."""

    @property
    def reading(self) -> ModelReading[Any] | None:
        """The model response that is being read; None if none is."""
        ...

    @property
    def is_at_work(self) -> bool:
        """Whether the turn waits for something that has begun."""
        ...

    def call(self, action: Callable[[], None], /) -> None:
        """Run an action while no step is under way; callable from any thread.

        The action has run when this returns.
        """
        ...

    def after_step(self) -> None:
        """React to a finished step: begin new effects, withdraw questions, wake who waits."""
        ...

    def save_soon(self) -> None:
        """Save what an input from outside the work decided, if nothing else is about to."""
        ...

    def stop(self, effect_id: EffectId, /) -> None:
        """Stop an effect that has begun; its answer is no longer wanted."""
        ...

    def rest(self) -> None:
        """Let go of what only work needs: no effect is out, and nothing is to be saved.

        A dict that was emptied keeps its size until it is cleared.
        """
        ...

    def notify(self) -> None:
        """Wake everyone who waits for the session to change."""
        ...
