"""How a vendor's Chat Completions differ from OpenAI's: a row of data, no code.

The defaults are OpenAI's own; each field says which vendors need another value. An endpoint has the
quirks of its vendor, and the catalogue may replace some of them for a model.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct, field

from agentkit_core import JsonValue, Modality, ThinkingLevel
from agentkit_core.provider import IdRule


class ThinkingFormat(StrEnum):
    """In which field of the request a vendor takes the thinking level."""

    NONE = "none"
    """In none: the level is not sent."""
    OPENAI = "openai"
    """`reasoning_effort: <level>`."""
    OPENROUTER = "openrouter"
    """`reasoning: {effort: <level>}`; off is the effort `none`."""
    DEEPSEEK = "deepseek"
    """`thinking: {type: enabled | disabled}`, with `reasoning_effort` where supported."""
    ZAI = "zai"
    """`thinking: {type: enabled | disabled, clear_thinking: false}`."""
    TOGETHER = "together"
    """`reasoning: {enabled: bool}`, with `reasoning_effort` where supported."""
    QWEN = "qwen"
    """`enable_thinking: bool`: Alibaba and others that serve Qwen."""
    QWEN_TEMPLATE = "qwen_template"
    """`chat_template_kwargs: {enable_thinking, preserve_thinking}`: vLLM, SGLang, llama.cpp."""
    BASETEN = "baseten"
    """`chat_template_args: {enable_thinking: bool}`."""


class Quirks(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How one vendor differs from OpenAI.

    Attributes:
        max_tokens_field: `max_tokens`: DeepSeek, Together, Moonshot, Mistral, NVIDIA, Chutes,
            Cloudflare and most local servers; `num_predict`: Ollama's own.
        max_output_tokens: The most that the model puts out; a higher limit is lowered to it. None
            where it is not known.
        supports_store: Whether `store: false` may be sent. False: Cerebras, xAI, Together,
            DeepSeek, Z.ai, Moonshot, NVIDIA, Chutes, Cloudflare, Mistral.
        supports_usage_in_streaming: Whether `stream_options.include_usage` may be sent. False: old
            local servers, Mistral.
        supports_strict_mode: Whether tools may have `strict`. False: Moonshot, Together,
            Cloudflare's gateway, NVIDIA.
        parallel_tools: Whether `parallel_tool_calls` may be sent. False: servers that refuse
            unknown fields.
        json_schema: Whether the response format may be a schema. False: DeepSeek, Moonshot.
        supports_seed: Whether `seed` may be sent. False: vendors that refuse unknown fields
            (Mistral calls it `random_seed`: send it as an extra field).
        sampling: Whether `temperature` and `top_p` may be sent; else they are left out. False:
            OpenAI's reasoning models.
        extra: Further fields of every request. MiniMax: `reasoning_split`.
        required_tool_choice: The word for "must call a tool". `any`: Mistral.
        cache_key: Whether `prompt_cache_key` may be sent. False: all vendors but OpenAI.
        cache_retention_24h: Whether `prompt_cache_retention` may be sent. False: all vendors
            but OpenAI.
        cache_control: Whether Anthropic's cache marks (`cache_control` on text and tools) are
            understood. True: OpenRouter with Anthropic's models, LiteLLM.
        empty_tools_with_history: Whether `tools: []` must be sent where the history has calls and
            the request no tools. True: LiteLLM and other gateways before Anthropic's models.
        developer_role: Whether there is a role `developer`; else developer items are sent as
            system. False: all but OpenAI, Azure and OpenRouter's OpenAI models.
        alternate_roles: Whether neighbouring messages of one role are merged. True: Mistral, Ollama
            and vLLM with strict chat templates, Perplexity.
        requires_tool_result_name: Whether tool messages carry the tool's `name`. True: old Mistral,
            some templates.
        requires_assistant_after_tool_result: Whether an assistant message must stand between
            results and a user message; then an assistant message without text has `content: ""`.
            True: old Mistral, strict templates.
        call_ids: Which call ids are valid. Mistral: exactly 9 letters and digits.
        imported_call_signature: What is sent as the thought signature of calls that another model
            made. Google's endpoint: `skip_thought_signature_validator`.
        error_prefix: The text before the output of a failed tool, since the protocol has no mark
            for failures; None for no text.
        media: Modalities that user messages may hold; empty for text-only servers.
        tool_images: Whether a tool message may hold images; else they follow in a user message.
        files: Whether `file` parts are understood. True: OpenAI, Azure, OpenRouter.
        supports_reasoning_effort: Whether `reasoning_effort` is understood. False: xAI, Z.ai,
            Moonshot, Together, NVIDIA, Cloudflare's gateway.
        thinking_format: In which field of the request the vendor takes the thinking level.
        thinking_level_map: Another word for a level, or None for a level that the model does not
            have. The model has `xhigh` and `max` only if they are in the map. Groq's Qwen 3:
            `default` for every level.
        reasoning_field_out: The field in which a model's own reasoning goes back to it:
            `reasoning_content` (DeepSeek, llama.cpp, Z.ai, Moonshot), `reasoning` (Groq, Cerebras,
            Ollama), `reasoning_details` (OpenRouter, Vercel's gateway); None does not send it.
        requires_reasoning_content_on_assistant: Whether every assistant message has that field
            while thinking is on, even if it is empty. True: DeepSeek.
        supports_finish_reason: Whether the vendor sends finish reasons. If not, a stream without a
            finish reason and `[DONE]` is complete unless a call is open. False: some local servers.
        completion_tokens_exclude_reasoning: Whether `completion_tokens` does not include reasoning.
            True: xAI. Used only where `total_tokens` does not decide it.
        cost_currency: The currency of `usage.cost`; None where that is not money. `USD`:
            OpenRouter, Vercel's gateway, Perplexity.
    """

    # Which fields a request may have.
    max_tokens_field: str = "max_completion_tokens"
    max_output_tokens: int | None = None
    supports_store: bool = True
    supports_usage_in_streaming: bool = True
    supports_strict_mode: bool = True
    parallel_tools: bool = True
    json_schema: bool = True
    supports_seed: bool = True
    sampling: bool = True
    extra: dict[str, JsonValue] = field(default_factory=dict)
    required_tool_choice: str = "required"
    cache_key: bool = True
    cache_retention_24h: bool = True
    cache_control: bool = False
    empty_tools_with_history: bool = False

    # Which roles there are, and in what order.
    developer_role: bool = True
    alternate_roles: bool = False
    requires_tool_result_name: bool = False
    requires_assistant_after_tool_result: bool = False
    call_ids: IdRule = IdRule(characters=None, max_length=40)
    imported_call_signature: str | None = None
    error_prefix: str | None = None

    # What content it takes.
    media: frozenset[Modality] = frozenset({Modality.IMAGE, Modality.AUDIO})
    tool_images: bool = False
    files: bool = True

    # Thinking.
    thinking_format: ThinkingFormat = ThinkingFormat.OPENAI
    supports_reasoning_effort: bool = True
    thinking_level_map: dict[ThinkingLevel, str | None] = field(default_factory=dict)
    reasoning_field_out: str | None = None
    requires_reasoning_content_on_assistant: bool = False

    # What comes back.
    supports_finish_reason: bool = True
    completion_tokens_exclude_reasoning: bool = False
    cost_currency: str | None = None
