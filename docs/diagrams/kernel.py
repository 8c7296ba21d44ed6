"""Draw the kernel's diagram in `docs/kernel.md` from its table.

Run this file to draw it anew: `python docs/diagrams/kernel.py`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from agentkit_loop import EDGES, Phase

PAGE: Final = Path(__file__).resolve().parents[1] / "kernel.md"
BEGIN: Final = "```mermaid\n"
END: Final = "```\n"

ANYWHERE: Final = frozenset({"Cancel", "Close"})
"""Inputs that lead out of every phase of a turn alike; said once, not drawn."""

_ENDS_CALL: Final = frozenset({"CancelCall", "EffectLost", "Resolve", "TimerFired", "ToolDone"})
_CHECKS: Final = frozenset({"PreflightAllowed", "PreflightAsked", "PreflightRefused"})
SHORT: Final = {
    _ENDS_CALL | _CHECKS | {"Submit"}: "the last call has its result",
    _ENDS_CALL: "a background call is over",
}
"""Sets of inputs that are one thing for the reader, the largest first."""


def diagram() -> str:
    """Draw the table as a Mermaid state diagram; inputs that change no phase are left out."""
    lines = ["stateDiagram-v2", f"    [*] --> {Phase.IDLE}"]
    for phase, row in EDGES.items():
        for target in Phase:
            given = {kind.__name__ for kind, targets in row.items() if target in targets}
            if phase is not Phase.IDLE:
                given -= ANYWHERE
            if given and target is not phase:
                lines.append(f"    {phase} --> {target} : {_label(given)}")
    lines.append(f"    {Phase.CLOSED} --> [*]")
    return "\n".join(lines) + "\n"


def _label(given: set[str]) -> str:
    words = []
    for names, short in SHORT.items():
        if names <= given:
            given = given - names
            words.append(short)
    return ", ".join([*sorted(given), *words])


def drawn(page: str) -> str:
    """Put the diagram in the place of the one that the page has."""
    head, _, rest = page.partition(BEGIN)
    _, _, tail = rest.partition(END)
    return head + BEGIN + diagram() + END + tail


if __name__ == "__main__":
    PAGE.write_text(drawn(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
