"""How a vendor's Messages differ from Anthropic's: a row of data, no code.

The defaults are Anthropic's own; each field says who needs another value. What differs from
model to model is known by the model's name (see `_models`), and each field of that can be
overridden here.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct, field

from agentkit_core import IdRule, Modality, ThinkingLevel


class ThinkingStyle(StrEnum):
    """How a model is told how much to think."""

    NONE = "none"
    """Not at all: the model cannot, or takes no word for it."""
    BUDGET = "budget"
    """`thinking: {type: enabled, budget_tokens}`: Claude 3.7 to 4.5, most compatible servers."""
    ADAPTIVE = "adaptive"
    """`thinking: {type: adaptive}` and `output_config: {effort}`: Claude 4.6 and later."""


class Quirks(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one vendor wants and does in its own way."""

    # Where requests go, and what they say of the protocol.
    path: str = "/messages"
    """Below the base URL; `{model}` is replaced. Vertex: `/{model}:rawPredict`."""
    streamed_path: str | None = None
    """The path of requests for a stream, where it is another. Vertex."""
    version: str = "2023-06-01"
    """The version of the protocol; Vertex: `vertex-2023-10-16`."""
    version_in_body: bool = False
    """Whether the body says `anthropic_version` and no `model`, instead of a header. Vertex."""
    betas: tuple[str, ...] = ()
    """Betas that every request opts into, in one `anthropic-beta` header."""
    known_betas: bool = True
    """Whether features opt into the betas they need by themselves. False: servers that refuse
    betas they do not know."""

    # What a model takes; None goes by the model's name.
    default_max_tokens: int = 32_000
    """The limit on the output where none is asked for, since the protocol wants one; a model whose
    own limit is lower gets that."""
    max_output_tokens: int | None = None
    """The most that the model puts out, thinking included."""
    sampling: bool | None = None
    """Whether `temperature` and `top_p` may be sent."""
    forced_tools: bool | None = None
    """Whether a call of a tool may be required."""

    # Thinking.
    thinking_style: ThinkingStyle | None = None
    """None goes by the model's name."""
    thinking_level_map: dict[ThinkingLevel, str | None] = field(default_factory=dict)
    """Another effort for a level, or None where a model does not have it; for `off`, another type
    of thinking than `disabled`. Laid over what is known by the model's name."""
    thinking_budgets: dict[ThinkingLevel, int] = field(default_factory=dict)
    """Other budgets than the usual ones, in tokens."""
    thinking_display: str | None = None
    """`summarized` or `omitted`; None leaves it to the model, and newer ones omit the text."""
    unsigned_thinking: bool = False
    """Whether a model's own thinking goes back to it without a signature. True: servers that
    sign nothing (llama.cpp, MiniMax)."""

    # Which fields a request may have.
    supports_strict_mode: bool = True
    """Whether tools may say `strict`. False: compatible servers."""
    parallel_tools: bool = True
    """Whether `disable_parallel_tool_use` may be sent. False: servers that refuse what they do
    not know."""
    json_schema: bool = True
    """Whether the answer's format may be a schema. False: compatible servers."""
    cache_control: bool = True
    """Whether cache marks are understood. False: servers that refuse unknown fields."""
    cache_1h: bool = True
    """Whether a cached prefix may be kept for an hour."""

    # What content it takes.
    media: frozenset[Modality] = frozenset({Modality.IMAGE})
    """Modalities that user messages and results may hold; empty for text-only models."""
    files: bool = True
    """Whether `document` blocks are understood. False: compatible servers."""
    call_ids: IdRule = IdRule()
    """Which call ids are accepted."""

    # What comes back.
    cost_currency: str | None = None
    """The currency of `usage.cost`, where that is money: `USD` at OpenRouter."""
