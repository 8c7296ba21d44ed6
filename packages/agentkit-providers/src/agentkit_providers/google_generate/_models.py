"""What a request must know of a model, read from the model's name.

A name that shows no family (an alias such as `gemini-flash-latest`, a tuned model) is treated as
the newest family. Its thinking budget is left to the model, which every family accepts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from agentkit_core import ThinkingLevel as Level

_LEVELS: Final = (Level.MINIMAL, Level.LOW, Level.MEDIUM, Level.HIGH)


class ThinkingScale(Struct, frozen=True):
    """What each thinking level is called in one family of models.

    Attributes:
        levels: For each level a word for `thinkingLevel`, or a number of tokens for
            `thinkingBudget`; -1 leaves the budget to the model.
        off: The same for no thinking, or for the least thinking, with thoughts hidden.
        can_be_off: Whether `off` means no thinking; else the family always thinks.
    """

    levels: Mapping[Level, str | int]
    off: str | int
    can_be_off: bool = True


def _scale(*values: str | int, off: str | int, can_be_off: bool = True) -> ThinkingScale:
    return ThinkingScale(dict(zip(_LEVELS, values, strict=True)), off, can_be_off)


_DYNAMIC: Final = _scale(-1, -1, -1, -1, off=0)
_SCALES: Final = tuple(
    (re.compile(pattern), scale)
    for pattern, scale in (
        # Always thinks: the vendor refuses a budget of 0.
        (r"gemini-2\.5-pro", _scale(128, 2048, 8192, 32768, off=128, can_be_off=False)),
        (r"gemini-2\.5-flash-lite", _scale(512, 2048, 8192, 24576, off=0)),
        (r"gemini-2\.5-flash", _scale(128, 2048, 8192, 24576, off=0)),
        (r"gemini-2", _DYNAMIC),
        (r"gemini-1|gemma-[123]", None),
        (
            r"gemini-[3-9].*flash",
            _scale("minimal", "low", "medium", "high", off="minimal", can_be_off=False),
        ),
        (r"gemini-[3-9]", _scale("low", "low", "high", "high", off="low", can_be_off=False)),
        (r"", _DYNAMIC),
    )
)


def thinking_scale(model: str) -> ThinkingScale | None:
    """The thinking levels of a model; None where it does not think."""
    name = _bare(model)
    return next(scale for pattern, scale in _SCALES if pattern.match(name))


def is_before_gemini_3(model: str) -> bool:
    """Whether a model's name is one of a family before Gemini 3."""
    return re.match(r"gemini-[12]|gemma-[123]", _bare(model)) is not None


def _bare(model: str) -> str:
    """The name without the path before it: `models/`, a project, a publisher."""
    return model.rpartition("/")[2].lower()
