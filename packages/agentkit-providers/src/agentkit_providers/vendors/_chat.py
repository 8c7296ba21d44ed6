"""The vendors that speak Chat Completions, one endpoint each.

Quirks are the fields of `agentkit_providers.openai_chat.Quirks` that differ from the defaults,
which are OpenAI's. They are plain data, so that reading them imports no protocol.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from agentkit_core import JsonValue
from agentkit_providers.vendors._endpoint import Endpoint
from agentkit_providers.vendors._model_families import (
    GPT_OSS,
    KIMI,
    MODELS_OF_OPENAI,
    OPENAI,
    Models,
)

NOT_OPENAI: Final[Mapping[str, JsonValue]] = {
    "supports_store": False,
    "developer_role": False,
    "cache_key": False,
    "cache_retention_24h": False,
    "files": False,
    "media": ["image"],
}
"""The quirks of a server that has Chat Completions without OpenAI's own additions."""


def _vendor(
    name: str,
    base_url: str,
    *key_env: str,
    models: Models | None = None,
    catalogue: str = "",
    **quirks: JsonValue,
) -> Endpoint:
    return Endpoint(
        name=name,
        base_url=base_url,
        key_env=key_env,
        quirks={**NOT_OPENAI, **quirks},
        models=models or {},
        catalogue=catalogue,
    )


CHAT_VENDORS: Final = (
    Endpoint(
        name="openai",
        base_url="https://api.openai.com/v1",
        key_env=("OPENAI_API_KEY",),
        quirks=dict(OPENAI),
        models=MODELS_OF_OPENAI,
    ),
    Endpoint(
        # Each customer has their own base URL: https://<resource>.openai.azure.com/openai/v1
        name="azure",
        key_env=("AZURE_OPENAI_API_KEY",),
        auth_header="api-key",
        auth_prefix="",
        quirks={**OPENAI, "cache_retention_24h": False},
        # Matched against the names of deployments, which usually are those of the models.
        models=MODELS_OF_OPENAI,
        catalogue="openai",
        catalogue_prices=False,
    ),
    _vendor(
        "openrouter",
        "https://openrouter.ai/api/v1",
        "OPENROUTER_API_KEY",
        thinking_format="openrouter",
        reasoning_field_out="reasoning_details",
        cost_currency="USD",
        files=True,
        file_urls=True,
        media=["image", "audio"],
        models={
            "openai/*": {"developer_role": True},
            "anthropic/*": {"developer_role": True, "cache_control": True},
            "google/gemini-[12]*": {"json_with_tools": False},
            "deepseek/deepseek-v4*": {"forced_calls": "not_thinking", "thinks": True},
            "moonshotai/kimi-k[23]*": {"forced_calls": "not_thinking", "typed_schemas": True},
            "moonshotai/kimi-k2.[5-9]*": {"thinks": True},
            "moonshotai/kimi-k3*": {"thinks": True},
        },
    ),
    _vendor(
        "groq",
        "https://api.groq.com/openai/v1",
        "GROQ_API_KEY",
        reasoning_field_out="reasoning",
        max_stop_sequences=4,
        json_with_tools=False,
        models={
            # It has no levels: it thinks or it does not.
            "qwen/qwen3*": {
                "thinking_level_map": {
                    "off": "none",
                    "minimal": "default",
                    "low": "default",
                    "medium": "default",
                    "high": "default",
                },
            },
            "openai/gpt-oss*": GPT_OSS,
            "*llama*": {"thinking_format": "none"},
            "moonshotai/*": {"thinking_format": "none"},
        },
    ),
    _vendor(
        "mistral",
        "https://api.mistral.ai/v1",
        "MISTRAL_API_KEY",
        max_tokens_field="max_tokens",
        supports_usage_in_streaming=False,
        supports_seed=False,
        required_tool_choice="any",
        max_temperature=1.5,
        continuation="prefix",
        alternate_roles=True,
        call_ids={"characters": "A-Za-z0-9", "exact_length": 9},
        thinking_format="none",
        media=["image", "audio"],
    ),
    _vendor(
        "deepseek",
        "https://api.deepseek.com",
        "DEEPSEEK_API_KEY",
        max_tokens_field="max_tokens",
        json_schema=False,
        thinking_format="deepseek",
        reasoning_field_out="reasoning_content",
        requires_reasoning_content_on_assistant=True,
        media=[],
        max_stop_sequences=16,
        forced_calls="not_thinking",
        continuation="user_follows",
        thinks=True,
        models={
            # Always thinks.
            "deepseek-reasoner": {"thinking_level_map": {"off": None}},
            "deepseek-chat": {"thinks": False},
        },
    ),
    _vendor(
        "xai",
        "https://api.x.ai/v1",
        "XAI_API_KEY",
        supports_reasoning_effort=False,
        completion_tokens_exclude_reasoning=True,
        image_types=["image/jpeg", "image/png"],
        models={
            # https://docs.x.ai/docs/guides/reasoning: no stop sequences for reasoning models.
            "grok-[4-9]*": {"max_stop_sequences": 0},
            "grok-3-mini*": {"max_stop_sequences": 0},
            "grok-code*": {"max_stop_sequences": 0},
            "*non-reasoning*": {"max_stop_sequences": None, "thinking_format": "none"},
            "grok-4.[3-9]*": {"supports_reasoning_effort": True},
        },
    ),
    _vendor(
        "cerebras",
        "https://api.cerebras.ai/v1",
        "CEREBRAS_API_KEY",
        reasoning_field_out="reasoning",
        json_with_tools=False,
        media=[],
        models={"gpt-oss*": GPT_OSS},
    ),
    _vendor(
        "together",
        "https://api.together.xyz/v1",
        "TOGETHER_API_KEY",
        max_tokens_field="max_tokens",
        supports_strict_mode=False,
        thinking_format="together",
        supports_reasoning_effort=False,
    ),
    _vendor(
        "fireworks",
        "https://api.fireworks.ai/inference/v1",
        "FIREWORKS_API_KEY",
        max_tokens_field="max_tokens",
    ),
    _vendor(
        "perplexity",
        "https://api.perplexity.ai",
        "PERPLEXITY_API_KEY",
        max_tokens_field="max_tokens",
        alternate_roles=True,
        continuation="user_follows",
        cost_currency="USD",
    ),
    _vendor(
        "huggingface", "https://router.huggingface.co/v1", "HF_TOKEN", max_tokens_field="max_tokens"
    ),
    _vendor(
        "zai",
        "https://api.z.ai/api/paas/v4",
        "ZAI_API_KEY",
        max_tokens_field="max_tokens",
        json_schema=False,
        max_temperature=1.0,
        max_stop_sequences=1,
        thinking_format="zai",
        supports_reasoning_effort=False,
        reasoning_field_out="reasoning_content",
    ),
    _vendor(
        "moonshot",
        "https://api.moonshot.ai/v1",
        "MOONSHOT_API_KEY",
        max_tokens_field="max_tokens",
        supports_strict_mode=False,
        json_schema=False,
        max_temperature=1.0,
        thinking_format="deepseek",
        supports_reasoning_effort=False,
        reasoning_field_out="reasoning_content",
        requires_reasoning_content_on_assistant=True,
        forced_calls="not_thinking",
        typed_schemas=True,
        continuation="partial",
        models={
            # Their temperature is fixed, and they think by default.
            "kimi-k2.[5-9]*": KIMI,
            "kimi-k[3-9]*": KIMI,
            "kimi-k2-thinking*": {"thinks": True, "thinking_level_map": {"off": None}},
            "kimi-latest*": {"thinks": True},
        },
    ),
    _vendor(
        "alibaba",
        "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
        "DASHSCOPE_API_KEY",
        max_tokens_field="max_tokens",
        thinking_format="qwen",
        supports_reasoning_effort=False,
        forced_calls="not_thinking",
        continuation="partial",
        models={
            # https://www.alibabacloud.com/help/en/model-studio/deep-thinking
            "qwen3*": {"thinks": True},
            "qwq*": {"thinks": True, "thinking_level_map": {"off": None}},
            "*thinking*": {"thinks": True, "thinking_level_map": {"off": None}},
            "*instruct*": {"thinks": False, "thinking_format": "none"},
            "deepseek-v4*": {"thinks": True},
            "kimi-k2.[5-9]*": {"thinks": True},
            "glm-*": {"thinks": True},
        },
    ),
    _vendor(
        "minimax",
        "https://api.minimax.io/v1",
        "MINIMAX_API_KEY",
        supports_strict_mode=False,
        parallel_tools=False,
        json_schema=False,
        supports_seed=False,
        max_temperature=1.0,
        late_system=False,
        thinking_format="none",
        # Otherwise the reasoning comes inside the text.
        extra={"reasoning_split": True},
        reasoning_field_out="reasoning_details",
    ),
    _vendor(
        "nvidia",
        "https://integrate.api.nvidia.com/v1",
        "NVIDIA_API_KEY",
        max_tokens_field="max_tokens",
        supports_strict_mode=False,
        supports_reasoning_effort=False,
    ),
    _vendor(
        "baseten",
        "https://inference.baseten.co/v1",
        "BASETEN_API_KEY",
        max_tokens_field="max_tokens",
        thinking_format="baseten",
    ),
    _vendor(
        "deepinfra",
        "https://api.deepinfra.com/v1/openai",
        "DEEPINFRA_API_KEY",
        max_tokens_field="max_tokens",
    ),
    _vendor("venice", "https://api.venice.ai/api/v1", "VENICE_API_KEY"),
    _vendor("github-models", "https://models.github.ai/inference", "GITHUB_TOKEN"),
    _vendor(
        "vercel",
        "https://ai-gateway.vercel.sh/v1",
        "AI_GATEWAY_API_KEY",
        thinking_format="openrouter",
        reasoning_field_out="reasoning_details",
        cost_currency="USD",
        models={
            "google/gemini-[12]*": {"json_with_tools": False},
            "deepseek/deepseek-v4*": {"forced_calls": "not_thinking", "thinks": True},
        },
    ),
    _vendor(
        # Google's Chat Completions; `google` speaks its own protocol.
        "google-openai",
        "https://generativelanguage.googleapis.com/v1beta/openai",
        "GEMINI_API_KEY",
        "GOOGLE_API_KEY",
        catalogue="google",
        supports_seed=False,
        parallel_tools=False,
        imported_call_signature="skip_thought_signature_validator",
        media=["image", "audio"],
        image_types=["image/jpeg", "image/png", "image/webp", "image/heic", "image/heif"],
        models={"*gemini-[12]*": {"json_with_tools": False}},
    ),
)
