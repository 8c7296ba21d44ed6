"""What counts when a session goes on under another version of its agent.

What the agent says now counts, except for settings that the host has changed for this session.
Nothing is ignored in silence: events say what is different from before, and what is kept.
"""

from __future__ import annotations

from typing import Final

from agentkit_loop.events import SettingsChanged
from agentkit_loop.kernel._draft import Draft
from agentkit_loop.kernel._inputs import Configure
from agentkit_loop.kernel._turns import change_model

_KEPT_WITH_THE_SESSION: Final = ("options", "instructions", "config")


def adopt_settings(draft: Draft, present: Configure) -> None:
    """Let what the agent says now count, and report what is different from before."""
    names: list[str] = []
    if present.model is not None and present.model != draft.model:
        if "model" in draft.changed:
            # A state has the name of a model, which cannot be opened by it.
            draft.diagnose(
                f"the session had changed its model to {draft.model!r}, which is not stored with "
                f"it; {present.model!r}, the agent's, is called: use `settings.change_model` again"
            )
        change_model(draft, present.model, present.provider)
        names.append("model")
    if present.model is not None:
        draft.provider = present.provider
    draft.changed = tuple(name for name in draft.changed if name != "model")
    kept: list[str] = []
    for name in _KEPT_WITH_THE_SESSION:
        value = getattr(present, name)
        if value is None or value == getattr(draft, name):
            continue
        if name in draft.changed:
            kept.append(name)
        else:
            setattr(draft, name, value)
            names.append(name)
    if names:
        draft.emit(SettingsChanged(draft.model, draft.once or draft.options, tuple(names)))
    if kept:
        draft.diagnose(
            f"the session keeps its own {', '.join(kept)}, set with `session.settings`; the agent "
            f"has others"
        )
