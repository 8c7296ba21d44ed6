"""Draw the diagram in `docs/kernel.md` from the kernel's table of transitions.

Run this file to update the page: `python docs/diagrams/kernel.py`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from agentkit_loop.kernel import EDGES, Phase

PAGE: Final = Path(__file__).resolve().parents[1] / "kernel.md"
BEGIN: Final = "```mermaid\n"
END: Final = "```\n"

ANYWHERE: Final = frozenset({"Cancel", "Close"})
"""Inputs that lead out of every phase of a turn; the page says so once, the diagram omits them."""

_ENDS_CALL: Final = frozenset({"CancelCall", "EffectLost", "Resolve", "TimerFired", "ToolDone"})
_CHECKS: Final = frozenset({"PreflightAllowed", "PreflightAsked", "PreflightRefused"})
SHORT: Final = {
    _ENDS_CALL | _CHECKS | {"Submit"}: "the last call has its result",
    _ENDS_CALL: "a background call is over",
}
"""Sets of inputs that the diagram gives one label, the largest set first."""


def diagram() -> str:
    """Draw the table as a Mermaid state diagram; inputs that change no phase are left out."""
    lines = ["stateDiagram-v2", f"    [*] --> {Phase.IDLE}"]
    for phase, row in EDGES.items():
        for target in Phase:
            inputs = {kind.__name__ for kind, targets in row.items() if target in targets}
            if phase is not Phase.IDLE:
                inputs -= ANYWHERE
            if inputs and target is not phase:
                lines.append(f"    {phase} --> {target} : {_label(inputs)}")
    lines.append(f"    {Phase.CLOSED} --> [*]")
    return "\n".join(lines) + "\n"


def _label(inputs: set[str]) -> str:
    labels = []
    for names, label in SHORT.items():
        if names <= inputs:
            inputs = inputs - names
            labels.append(label)
    return ", ".join([*sorted(inputs), *labels])


def replace_diagram(page: str) -> str:
    """Return the page with its diagram replaced by the current one."""
    head, _, rest = page.partition(BEGIN)
    _, _, tail = rest.partition(END)
    return head + BEGIN + diagram() + END + tail


if __name__ == "__main__":
    PAGE.write_text(replace_diagram(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
