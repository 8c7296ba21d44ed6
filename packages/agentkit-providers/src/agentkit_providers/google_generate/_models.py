"""What a model's name says of it, as far as a request must know before it is sent.

Names that say nothing (aliases such as `gemini-flash-latest`, tuned models) are taken for the
newest family, but their thinking is asked for as a budget that is left to the model, which
every family takes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from agentkit_core import ThinkingLevel as Level

_LEVELS: Final = (Level.MINIMAL, Level.LOW, Level.MEDIUM, Level.HIGH)


class ThinkingScale(Struct, frozen=True):
    """How a family of models is told how much to think.

    Attributes:
        levels: A word for `thinkingLevel` or a number for `thinkingBudget`; -1 leaves it to the
            model.
        off: The same for no thinking, or for the least, with thoughts hidden.
        stops: Whether `off` really is no thinking.
    """

    levels: Mapping[Level, str | int]
    off: str | int
    stops: bool = True


def _scale(*values: str | int, off: str | int, stops: bool = True) -> ThinkingScale:
    return ThinkingScale(dict(zip(_LEVELS, values, strict=True)), off, stops)


_DYNAMIC: Final = _scale(-1, -1, -1, -1, off=0)
_SCALES: Final = tuple(
    (re.compile(pattern), scale)
    for pattern, scale in (
        # It always thinks: the vendor refuses a budget of 0.
        (r"gemini-2\.5-pro", _scale(128, 2048, 8192, 32768, off=128, stops=False)),
        (r"gemini-2\.5-flash-lite", _scale(512, 2048, 8192, 24576, off=0)),
        (r"gemini-2\.5-flash", _scale(128, 2048, 8192, 24576, off=0)),
        (r"gemini-2", _DYNAMIC),
        (r"gemini-1|gemma-[123]", None),
        (
            r"gemini-[3-9].*flash",
            _scale("minimal", "low", "medium", "high", off="minimal", stops=False),
        ),
        (r"gemini-[3-9]", _scale("low", "low", "high", "high", off="low", stops=False)),
        (r"", _DYNAMIC),
    )
)


def thinking_scale(model: str) -> ThinkingScale | None:
    """How a model is told how much to think; None where it does not think."""
    name = _bare(model)
    return next(scale for pattern, scale in _SCALES if pattern.match(name))


def is_before_gemini_3(model: str) -> bool:
    """Whether a model is of a family that came before Gemini 3, by its name."""
    return re.match(r"gemini-[12]|gemma-[123]", _bare(model)) is not None


def _bare(model: str) -> str:
    """The name without what stands before it: `models/`, a project, a publisher."""
    return model.rpartition("/")[2].lower()
