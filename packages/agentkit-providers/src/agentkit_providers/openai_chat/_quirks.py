"""How a vendor's Chat Completions differ from OpenAI's: a row of data, no code.

The defaults are OpenAI's own; each field says which vendors need another value. An endpoint has the
quirks of its vendor, and the catalogue may replace some of them for a model.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct, field

from agentkit_core import JsonValue, Modality, ThinkingLevel
from agentkit_core.provider import IdRule
from agentkit_providers._protocol_kit._media_types import COMMON_IMAGE_TYPES
from agentkit_providers._protocol_kit._model_traits import ForcedCalls
from agentkit_providers._protocol_kit._readable_media import MediaTraits


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


class EffortWithTools(StrEnum):
    """What becomes of the thinking level where a request has tools.

    From gpt-5.2 on, OpenAI's models think with tools in Responses only (openai/openai-openapi#541).
    """

    SENT = "sent"
    """It is sent."""
    UNSAID = "unsaid"
    """It is not sent: gpt-5.2 to gpt-5.5."""
    OFF = "off"
    """`none` is sent, even where nothing is asked: gpt-5.6 and later (BerriAI/litellm#34569)."""


class Continuation(StrEnum):
    """How a history is sent that ends with the assistant's words."""

    SENT = "sent"
    """As it is."""
    PREFIX = "prefix"
    """With `prefix: true` on the last message: Mistral."""
    PARTIAL = "partial"
    """With `partial: true` on the last message: Moonshot, Alibaba."""
    USER_FOLLOWS = "user_follows"
    """With a user message after it: DeepSeek, Perplexity."""


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
        parallel_tools: Whether `parallel_tool_calls` may be sent. False: OpenAI's o-series, servers
            that refuse unknown fields.
        json_schema: Whether the response format may be a schema. False: DeepSeek, Moonshot.
        json_with_tools: Whether a request may have tools and a response format. False: Groq,
            Cerebras, Gemini before 3.
        supports_seed: Whether `seed` may be sent. False: vendors that refuse unknown fields
            (Mistral calls it `random_seed`: send it as an extra field).
        sampling: Whether `temperature` and `top_p` may be sent; else they are left out. False:
            OpenAI's reasoning models.
        max_temperature: The highest temperature. 1.5: Mistral; 1: Z.ai, Moonshot, MiniMax.
        max_stop_sequences: How many stop sequences may be sent; 0 for none, None for any number. 4:
            OpenAI, Groq; 0: reasoning models of OpenAI from o3 on, and of xAI.
        extra: Further fields of every request. MiniMax: `reasoning_split`.
        required_tool_choice: The word for "must call a tool". `any`: Mistral.
        cache_key: Whether `prompt_cache_key` may be sent. False: all vendors but OpenAI.
        cache_retention_24h: Whether `prompt_cache_retention` may be sent. False: all vendors
            but OpenAI.
        cache_control: Whether Anthropic's cache marks (`cache_control` on text and tools) are
            understood. True: OpenRouter with Anthropic's models, LiteLLM.
        forced_calls: Whether the model can be made to call a tool. `not_thinking`: DeepSeek V4,
            Moonshot, Alibaba; Anthropic's models at any host.
        tools_with_history: Whether tools must be sent where the history has calls and the request
            no tools. True: LiteLLM before Anthropic's models.
        typed_schemas: Whether each schema in a tool's schema must name its type. True: Moonshot.
        developer_role: Whether there is a role `developer`; else developer items are sent as
            system. False: all but OpenAI, Azure and OpenRouter's OpenAI models.
        late_system: Whether system messages may stand after the first user message; else they are
            sent as reminders in user messages. False: strict chat templates, Mistral, Perplexity,
            MiniMax; Anthropic's models, before which hosts move them to the front.
        continuation: How a history is sent that ends with the assistant's words. Anthropic's models
            from 4.6 on get a user message after them at any host.
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
        image_types: The MIME types of images that are read; others are left out, with a text that
            says so.
        files: Whether `file` parts are understood. True: OpenAI, Azure, OpenRouter.
        file_urls: Whether a `file` part may hold a URL. True: OpenRouter.
        supports_reasoning_effort: Whether `reasoning_effort` is understood. False: xAI, Z.ai,
            Moonshot, Together, NVIDIA, Cloudflare's gateway.
        effort_with_tools: What becomes of the thinking level where the request has tools.
        thinks: Whether the model thinks where the request does not say so. True: DeepSeek V4,
            Kimi K2.5 and later.
        thinking_format: In which field of the request the vendor takes the thinking level.
        thinking_level_map: Another word for a level, or None for a level that the model does not
            have. The model has `xhigh` and `max` only if they are in the map. Groq's Qwen 3:
            `default` for every level.
        reasoning_field_out: The field in which a model's own reasoning goes back to it:
            `reasoning_content` (DeepSeek, llama.cpp, Z.ai, Moonshot), `reasoning` (Groq, Cerebras,
            Ollama), `reasoning_details` (OpenRouter, Vercel's gateway); None does not send it.
        requires_reasoning_content_on_assistant: Whether every assistant message has that field
            while the model thinks, even if it is empty. True: DeepSeek, Moonshot.
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
    json_with_tools: bool = True
    supports_seed: bool = True
    sampling: bool = True
    max_temperature: float = 2.0
    max_stop_sequences: int | None = None
    extra: dict[str, JsonValue] = field(default_factory=dict)
    required_tool_choice: str = "required"
    cache_key: bool = True
    cache_retention_24h: bool = True
    cache_control: bool = False
    forced_calls: ForcedCalls = ForcedCalls.ALWAYS
    tools_with_history: bool = False
    typed_schemas: bool = False

    # Which roles there are, and in what order.
    developer_role: bool = True
    late_system: bool = True
    continuation: Continuation = Continuation.SENT
    alternate_roles: bool = False
    requires_tool_result_name: bool = False
    requires_assistant_after_tool_result: bool = False
    call_ids: IdRule = IdRule(characters=None, max_length=40)
    imported_call_signature: str | None = None
    error_prefix: str | None = None

    # What content it takes.
    media: frozenset[Modality] = frozenset({Modality.IMAGE, Modality.AUDIO})
    tool_images: bool = False
    image_types: frozenset[str] = COMMON_IMAGE_TYPES
    files: bool = True
    file_urls: bool = False

    # Thinking.
    thinking_format: ThinkingFormat = ThinkingFormat.OPENAI
    supports_reasoning_effort: bool = True
    effort_with_tools: EffortWithTools = EffortWithTools.SENT
    thinks: bool = False
    thinking_level_map: dict[ThinkingLevel, str | None] = field(default_factory=dict)
    reasoning_field_out: str | None = None
    requires_reasoning_content_on_assistant: bool = False

    # What comes back.
    supports_finish_reason: bool = True
    completion_tokens_exclude_reasoning: bool = False
    cost_currency: str | None = None

    @property
    def media_traits(self) -> MediaTraits:
        """What the models read: a `file` part takes PDFs only (openai/openai-dotnet#613)."""
        return MediaTraits(image_types=self.image_types, pdf_only=True, file_urls=self.file_urls)
