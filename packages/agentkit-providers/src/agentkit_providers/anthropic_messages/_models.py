"""What a model accepts, read from its name: Anthropic's models differ by family and version.

Vendors write the names in different ways: `claude-opus-4-6`, `claude-3-7-sonnet@20250219`,
`anthropic/claude-haiku-4.5`. Models with other names belong to compatible servers. From the
vendor's model pages and migration guides, as of November 2026.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from msgspec import Struct, field

from agentkit_core import ThinkingLevel
from agentkit_providers.anthropic_messages._quirks import ThinkingStyle

_NAME: Final = re.compile(
    r"claude-(?:(?P<family>[a-z]+)-)?(?P<major>\d{1,2})(?!\d)(?:[-.](?P<minor>\d{1,2})(?!\d))?"
    r"(?:-(?P<family_after>[a-z]+))?"
)
_NEWEST: Final = (99, 0)
_ALWAYS_THINKING: Final = ("fable", "mythos")


class Traits(Struct, frozen=True, kw_only=True):
    """What one model accepts.

    Attributes:
        thinking: How the model is told how much to think.
        levels: Words for levels that differ from the default, and None for levels that the model
            does not have.
        max_output_tokens: The most that the model puts out, thinking included.
        sampling: Whether the model accepts `temperature` and `top_p`.
        both_samplings: Whether it accepts both together.
        forced_tools: Whether a tool call may be required.
        interleaves: Whether it needs a beta to think between calls.
        structured_output: Whether answers and tool calls can be made to follow a schema.
        prefill: Whether it goes on from the assistant's words at the end of a history.
    """

    thinking: ThinkingStyle = ThinkingStyle.BUDGET
    levels: dict[ThinkingLevel, str | None] = field(default_factory=dict)
    max_output_tokens: int = 64_000
    sampling: bool = True
    both_samplings: bool = True
    forced_tools: bool = True
    interleaves: bool = False
    structured_output: bool = True
    prefill: bool = True


@lru_cache(maxsize=256)
def traits_of(model: str) -> Traits:
    """Read from a model's name what the model accepts."""
    name = model.lower()
    if "claude" not in name:
        return Traits()
    match = _NAME.search(name)
    if match is None:
        family, version = name, _NEWEST
    else:
        family = match["family"] or match["family_after"] or ""
        version = (int(match["major"]), int(match["minor"] or 0))
    if version < (3, 7):
        most = 8192 if version == (3, 5) else 4096
        return Traits(thinking=ThinkingStyle.NONE, max_output_tokens=most, structured_output=False)
    if version < (4, 6):
        small = family == "opus" and version < (4, 5)
        return Traits(
            max_output_tokens=32_000 if small else 64_000,
            both_samplings=version < (4, 1),
            interleaves=version >= (4, 0),
            structured_output=version >= (4, 5) or (family == "opus" and version >= (4, 1)),
        )
    return _adaptive(family, version)


def _adaptive(family: str, version: tuple[int, int]) -> Traits:
    levels: dict[ThinkingLevel, str | None] = {ThinkingLevel.MAX: "max"}
    if (4, 7) <= version < _NEWEST:
        levels[ThinkingLevel.XHIGH] = "xhigh"
    always = any(word in family for word in _ALWAYS_THINKING)
    if always or (family == "opus" and version >= (5, 5)):
        levels[ThinkingLevel.OFF] = None
    elif family == "sonnet" and version >= (5, 5):
        levels[ThinkingLevel.OFF] = "between_tools"
    return Traits(
        thinking=ThinkingStyle.ADAPTIVE,
        levels=levels,
        max_output_tokens=128_000,
        sampling=version < (4, 7),
        both_samplings=False,
        prefill=False,
        forced_tools=not (
            (family in ("opus", "sonnet") and version >= (5, 5))
            or (family == "fable" and version >= (5, 1))
        ),
    )
