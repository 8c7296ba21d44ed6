"""How a vendor's Responses differ from OpenAI's: a row of data, no code.

The defaults are OpenAI's own; each field says which vendors need another value. An endpoint has the
quirks of its vendor, and the catalogue may replace some of them for a model.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct, field

from agentkit_core import JsonValue, Modality, ThinkingLevel
from agentkit_core.provider import IdRule
from agentkit_providers._protocol_kit._media_types import COMMON_IMAGE_TYPES


class ReasoningReplay(StrEnum):
    """Which reasoning items go back to the model that made them."""

    NONE = "none"
    """None: for servers that refuse items of this type."""
    ENCRYPTED = "encrypted"
    """Those with `encrypted_content`. OpenAI looks up others by their id, and finds nothing if the
    response was not stored."""
    TEXT = "text"
    """Those with text in `content`: for llama.cpp, which refuses others."""
    ANY = "any"
    """All that hold more than an id."""


class Quirks(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How one vendor differs from OpenAI.

    Attributes:
        supports_store: Whether `store: false` may be sent. False: servers that refuse unknown
            fields.
        supports_strict_mode: Whether tools may have `strict`. If so, it is always sent, since
            OpenAI takes a tool without it as strict. False: servers that refuse unknown fields.
        parallel_tools: Whether `parallel_tool_calls` may be sent. False: OpenAI's o-series, servers
            that refuse unknown fields.
        json_schema: Whether the response format may be a schema. False: servers that silently
            ignore it.
        sampling: Whether `temperature` and `top_p` may be sent; else they are left out. False:
            OpenAI's reasoning models.
        extra: Further fields of every request.
        min_output_tokens: The vendor's minimum for `max_output_tokens`; lower limits are raised to
            it. 1: all but OpenAI and Azure.
        max_output_tokens: The most that the model puts out; a higher limit is lowered to it. None
            where it is not known.
        cache_key: Whether `prompt_cache_key` may be sent. False: all but OpenAI, Azure and
            xAI.
        cache_retention_24h: Whether `prompt_cache_retention` may be sent. False: all vendors
            but OpenAI.
        cache_breakpoints: Whether content may be marked as the end of a cached prefix, and
            `prompt_cache_options` replaces `prompt_cache_retention`. True: OpenAI from gpt-5.6 on.
        developer_role: Whether there is a role `developer`; else developer items are sent as
            system. False: xAI and most local servers.
        late_system: Whether system and developer messages may stand after the first user message;
            else they are sent as reminders of the user. False: local servers with strict templates.
        assistant_text_in_list: Whether the text of an assistant message that has no id must stand
            in a list. True: llama.cpp, which reads plain text as a user's.
        item_ids: Whether the model's own items go back under their ids. False: gateways that look
            ids up and refuse those of answers that were not stored.
        custom_items: Whether items other than messages, reasoning and function calls go back.
            False: servers that refuse the types they do not know, such as llama.cpp.
        call_ids: Which call ids are valid.
        error_prefix: The text before the output of a failed tool, since the protocol has no mark
            for failures; None for no text.
        media: Modalities that user messages may hold; empty for text-only servers.
        image_types: The MIME types of images that are read; others are left out, with a text that
            says so.
        tool_images: Whether a call's output may hold images and files; else they follow in a user
            message. False: llama.cpp, LM Studio, vLLM.
        files: Whether `input_file` is understood. False: most local servers.
        supports_reasoning_effort: Whether `reasoning.effort` is understood. False: xAI's models,
            except the smallest.
        reasoning_summary: The value of `reasoning.summary`; None does not send it, as required for
            accounts that OpenAI has not verified.
        thinking_level_map: Another word for a level, or None for a level that the model does not
            have. The model has `xhigh` and `max` only if they are in the map. `off` is the effort
            `none`; if the map has None for it, no effort is sent. For a model that has only `off`,
            nothing about reasoning is sent.
        encrypted_reasoning: Whether the request asks for `reasoning.encrypted_content`. False:
            servers that do not encrypt reasoning.
        reasoning_replay: Which reasoning goes back to its model. `any`: OpenRouter, DeepSeek,
            Bedrock, LM Studio, vLLM; `text`: llama.cpp.
        cost_currency: The currency of `usage.cost`; None where that is not money. `USD`:
            OpenRouter.
    """

    # Which fields a request may have.
    supports_store: bool = True
    supports_strict_mode: bool = True
    parallel_tools: bool = True
    json_schema: bool = True
    sampling: bool = True
    extra: dict[str, JsonValue] = field(default_factory=dict)
    min_output_tokens: int = 16
    max_output_tokens: int | None = None
    cache_key: bool = True
    cache_retention_24h: bool = True
    cache_breakpoints: bool = False

    # Which messages and items there are.
    developer_role: bool = True
    late_system: bool = True
    assistant_text_in_list: bool = False
    item_ids: bool = True
    custom_items: bool = True
    call_ids: IdRule = IdRule(characters=None, max_length=64)
    error_prefix: str | None = None

    # What content it takes.
    media: frozenset[Modality] = frozenset({Modality.IMAGE})
    image_types: frozenset[str] = COMMON_IMAGE_TYPES
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
