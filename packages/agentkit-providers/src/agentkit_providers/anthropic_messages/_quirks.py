"""How a vendor's Messages differ from Anthropic's: a row of data, no code.

The defaults are Anthropic's own; each field says which vendors need another value. What differs
between models is read from the model's name (see `_models`), and can be overridden here.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct, field

from agentkit_core import Modality, ThinkingLevel
from agentkit_core.provider import IdRule


class ThinkingStyle(StrEnum):
    """How a model is told how much to think."""

    NONE = "none"
    """Not at all: the model cannot think, or has no field for it."""
    BUDGET = "budget"
    """`thinking: {type: enabled, budget_tokens}`: Claude 3.7 to 4.5, most compatible servers."""
    ADAPTIVE = "adaptive"
    """`thinking: {type: adaptive}` and `output_config: {effort}`: Claude 4.6 and later."""


class Quirks(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How one vendor differs from Anthropic.

    Attributes:
        path: Below the base URL; `{model}` is replaced. Vertex: `/{model}:rawPredict`.
        streamed_path: The path of requests for a stream; None for the same path. Vertex:
            `/{model}:streamRawPredict`.
        version: The version of the protocol; Vertex: `vertex-2023-10-16`.
        version_in_body: Whether the version is in the body as `anthropic_version`, instead of in a
            header, and `model` is left out. True: Vertex.
        betas: Betas that every request opts into, in the header `anthropic-beta`.
        known_betas: Whether requests opt into the betas that their features need. False: servers
            that refuse unknown betas.
        default_max_tokens: The limit on the output where the caller gives none, since the protocol
            requires one. A model with a lower limit gets its own.
        max_output_tokens: The most that the model puts out, thinking included; None goes by the
            model's name.
        sampling: Whether `temperature` and `top_p` may be sent; None goes by the model's name.
        forced_tools: Whether a tool call may be required; None goes by the model's name.
        thinking_style: How the model is told how much to think; None goes by the model's name.
        thinking_level_map: Another effort for a level, or None for a level that the model does not
            have; for `off`, another type of thinking than `disabled`. Merged over what the model's
            name says.
        thinking_budgets: Other budgets for levels than the default ones, in tokens.
        thinking_display: `summarized` or `omitted`; None leaves it to the model, and newer models
            omit the text.
        unsigned_thinking: Whether a model's own thinking goes back to it without a signature. True:
            servers without signatures (llama.cpp, MiniMax).
        supports_strict_mode: Whether tools may have `strict`. False: compatible servers.
        parallel_tools: Whether `disable_parallel_tool_use` may be sent. False: servers that refuse
            unknown fields.
        json_schema: Whether the response format may be a schema. False: compatible servers.
        tools_with_history: Whether tools must be sent where the history has calls and the request
            no tools.
        prefill: Whether the model goes on from the assistant's words at the end of a history; else
            a user message follows them. None goes by the model's name.
        cache_control: Whether cache marks are understood. False: servers that refuse unknown
            fields.
        cache_1h: Whether a cached prefix may be kept for an hour.
        media: Modalities that user messages and tool results may hold; empty for text-only models.
        files: Whether `document` blocks are understood. False: compatible servers.
        call_ids: Which call ids are valid.
        cost_currency: The currency of `usage.cost`; None where that is not money. `USD`:
            OpenRouter.
    """

    # Where requests go, and what they say of the protocol.
    path: str = "/messages"
    streamed_path: str | None = None
    version: str = "2023-06-01"
    version_in_body: bool = False
    betas: tuple[str, ...] = ()
    known_betas: bool = True

    # What a model takes; None goes by the model's name.
    default_max_tokens: int = 32_000
    max_output_tokens: int | None = None
    sampling: bool | None = None
    forced_tools: bool | None = None

    # Thinking.
    thinking_style: ThinkingStyle | None = None
    thinking_level_map: dict[ThinkingLevel, str | None] = field(default_factory=dict)
    thinking_budgets: dict[ThinkingLevel, int] = field(default_factory=dict)
    thinking_display: str | None = None
    unsigned_thinking: bool = False

    # Which fields a request may have.
    supports_strict_mode: bool = True
    parallel_tools: bool = True
    json_schema: bool = True
    tools_with_history: bool = False
    prefill: bool | None = None
    cache_control: bool = True
    cache_1h: bool = True

    # What content it takes.
    media: frozenset[Modality] = frozenset({Modality.IMAGE})
    files: bool = True
    call_ids: IdRule = IdRule()

    # What comes back.
    cost_currency: str | None = None
