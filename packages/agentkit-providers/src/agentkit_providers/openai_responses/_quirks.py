"""How a vendor's Responses differ from OpenAI's: a row of data, no code.

The defaults are OpenAI's own; each field says who needs another value. An endpoint keeps its
vendor's quirks, a catalogue may replace single ones for a model.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct, field

from agentkit_core import JsonValue, Modality, ThinkingLevel
from agentkit_core.provider import IdRule


class ReasoningReplay(StrEnum):
    """Which reasoning items go back to the model that made them."""

    NONE = "none"
    """None: servers that refuse items of this type."""
    ENCRYPTED = "encrypted"
    """Those with `encrypted_content`. OpenAI looks others up by their id, and finds none where the
    answer was not stored."""
    TEXT = "text"
    """Those with text in `content`: llama.cpp refuses others."""
    ANY = "any"
    """All that hold anything but an id."""


class Quirks(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one vendor wants and does in its own way.

    Attributes:
        supports_store: Whether `store: false` may be sent. False: servers that refuse unknown
            fields.
        supports_strict_mode: Whether tools may say `strict`; where they may, they always do, for
            OpenAI takes a tool that does not as strict. False: servers that refuse unknown fields.
        parallel_tools: Whether `parallel_tool_calls` may be sent. False: servers that refuse
            unknown fields.
        json_schema: Whether the answer's format may be a schema. False: servers that ignore it in
            silence.
        sampling: Whether `temperature` and `top_p` may be sent; else they are left out. False:
            models of OpenAI that reason.
        extra: Fields that every request has besides.
        min_output_tokens: The least `max_output_tokens`; lower limits are raised to it. 1: all but
            OpenAI and Azure.
        cache_key: Whether `prompt_cache_key` may be sent. False: everyone but OpenAI, Azure and
            xAI.
        cache_retention_24h: Whether `prompt_cache_retention` may be sent. False: everyone but
            OpenAI.
        cache_breakpoints: Whether content may be marked as the end of a cached prefix, and
            `prompt_cache_options` takes the place of `prompt_cache_retention`. True: OpenAI from
            gpt-5.6 on.
        developer_role: False sends developer items as system: xAI and most local servers.
        assistant_text_in_list: Whether the text of an assistant message that has no id must stand
            in a list. True: llama.cpp, which takes a plain one for a user's.
        item_ids: Whether the model's own items go back under their ids. False: gateways that look
            ids up and refuse those of answers that were not stored.
        custom_items: Whether items other than messages, reasoning and function calls go back.
            False: servers that refuse the types they do not know, such as llama.cpp.
        call_ids: Which call ids are accepted.
        error_prefix: What is put before the text of a tool's failure, for the protocol has no mark
            for it.
        media: Modalities that user messages may hold; empty for text-only servers.
        tool_images: Whether images and files may stand in a call's output; else they follow in a
            user message. False: llama.cpp, LM Studio, vLLM.
        files: Whether `input_file` is understood. False: most local servers.
        supports_reasoning_effort: Whether `reasoning.effort` is understood. False: xAI's models but
            the smallest.
        reasoning_summary: What is asked for as `reasoning.summary`; None asks for nothing, as
            accounts must that OpenAI has not verified.
        thinking_level_map: Another word for a level, or None where a model does not have it; of one
            that has none but `off` nothing about reasoning is asked. `xhigh` and `max` are had only
            where they are named here. `off` is the effort `none`; where it is None here, nothing is
            said instead.
        encrypted_reasoning: Whether `reasoning.encrypted_content` is asked for. False: servers that
            keep no secrets.
        reasoning_replay: Which reasoning goes back to its model. `any`: OpenRouter, DeepSeek,
            Bedrock, LM Studio, vLLM; `text`: llama.cpp.
        cost_currency: The currency of `usage.cost`, where that is money: `USD` at OpenRouter.
    """

    # Which fields a request may have.
    supports_store: bool = True
    supports_strict_mode: bool = True
    parallel_tools: bool = True
    json_schema: bool = True
    sampling: bool = True
    extra: dict[str, JsonValue] = field(default_factory=dict)
    min_output_tokens: int = 16
    cache_key: bool = True
    cache_retention_24h: bool = True
    cache_breakpoints: bool = False

    # Which messages and items there are.
    developer_role: bool = True
    assistant_text_in_list: bool = False
    item_ids: bool = True
    custom_items: bool = True
    call_ids: IdRule = IdRule(characters=None, max_length=64)
    error_prefix: str | None = None

    # What content it takes.
    media: frozenset[Modality] = frozenset({Modality.IMAGE})
    tool_images: bool = True
    files: bool = True

    # Thinking.
    supports_reasoning_effort: bool = True
    reasoning_summary: str | None = "auto"
    thinking_level_map: dict[ThinkingLevel, str | None] = field(default_factory=dict)
    encrypted_reasoning: bool = True
    reasoning_replay: ReasoningReplay = ReasoningReplay.ENCRYPTED

    # What comes back.
    cost_currency: str | None = None
