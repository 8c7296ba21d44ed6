"""Calls that never wait: they run one after another, and are stepped and saved together.

A call that waits for something is worth two saves and a step of its own: what came of it is told
and kept at once. For calls that never wait that would be n times the work for n of them, so all
are saved as started before the first one runs, and their results together after the last one. If
the process crashes in between, all of them count as started.
"""

from __future__ import annotations

from agentkit_loop.drivers._engine import Engine
from agentkit_loop.kernel._effects import AnsweredEffect, StartTool
from agentkit_loop.kernel._inputs import ToolStarted


def next_is_quick(engine: Engine) -> bool:
    """Whether the next effect is a call that never waits."""
    return bool(engine.pending) and _is_quick(engine, engine.pending.first)


def start_quick_calls(engine: Engine) -> None:
    """Let the kernel know that the quick calls that come next are about to run."""
    started = []
    for effect in engine.pending.values():
        if not _is_quick(engine, effect):
            break
        if not is_started(engine, effect):
            started.append(ToolStarted(effect.id))
    if started:
        engine.feed(*started)


def feed_held_answers(engine: Engine) -> None:
    """Step the answers that the engine holds, if they can still be saved."""
    if engine.save_error is None:
        engine.feed()


def is_started(engine: Engine, effect: AnsweredEffect) -> bool:
    """Whether the kernel knows already that a call is about to run."""
    out = engine.state.out.get(effect.id)
    return isinstance(out, StartTool) and out.started


def _is_quick(engine: Engine, effect: AnsweredEffect) -> bool:
    return isinstance(effect, StartTool) and engine.executor.is_quick(effect.call.name)
