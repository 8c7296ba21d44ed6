"""The vendors that speak Chat Completions, one endpoint each.

Quirks are the fields of `agentkit_providers.openai_chat.Quirks` that differ from the defaults,
which are OpenAI's. They are plain data, so that reading them imports no protocol.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from agentkit_core import JsonValue
from agentkit_providers.vendors._endpoint import Endpoint

NOT_OPENAI: Final[Mapping[str, JsonValue]] = {
    "supports_store": False,
    "developer_role": False,
    "cache_key": False,
    "cache_retention_24h": False,
    "files": False,
    "media": ["image"],
}
"""The quirks of a server that has Chat Completions without OpenAI's own additions."""

Models = dict[str, dict[str, JsonValue]]
"""The type of `Endpoint.models`."""

_MODELS_OF_OPENAI: Final[Models] = {
    "o[1-9]*": {"sampling": False},
    "gpt-[5-9]*": {"sampling": False},
    # These cannot reason, and refuse requests that ask for it.
    "gpt-[34]*": {"thinking_format": "none"},
    "chatgpt-*": {"thinking_format": "none"},
    "gpt-5*-chat*": {"thinking_format": "none", "sampling": True},
}
_GPT_OSS: Final[dict[str, JsonValue]] = {"thinking_level_map": {"off": None, "minimal": None}}


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
        models=_MODELS_OF_OPENAI,
    ),
    Endpoint(
        # Each customer has their own base URL: https://<resource>.openai.azure.com/openai/v1
        name="azure",
        key_env=("AZURE_OPENAI_API_KEY",),
        auth_header="api-key",
        auth_prefix="",
        quirks={"cache_retention_24h": False},
        # Matched against the names of deployments, which usually are those of the models.
        models=_MODELS_OF_OPENAI,
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
        media=["image", "audio"],
        models={
            "openai/*": {"developer_role": True},
            "anthropic/*": {"developer_role": True, "cache_control": True},
        },
    ),
    _vendor(
        "groq",
        "https://api.groq.com/openai/v1",
        "GROQ_API_KEY",
        reasoning_field_out="reasoning",
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
            "openai/gpt-oss*": _GPT_OSS,
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
        # Always thinks.
        models={"deepseek-reasoner": {"thinking_level_map": {"off": None}}},
    ),
    _vendor(
        "xai",
        "https://api.x.ai/v1",
        "XAI_API_KEY",
        supports_reasoning_effort=False,
        completion_tokens_exclude_reasoning=True,
        models={"grok-4.[3-9]*": {"supports_reasoning_effort": True}},
    ),
    _vendor(
        "cerebras",
        "https://api.cerebras.ai/v1",
        "CEREBRAS_API_KEY",
        reasoning_field_out="reasoning",
        media=[],
        models={"gpt-oss*": _GPT_OSS},
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
        thinking_format="deepseek",
        supports_reasoning_effort=False,
        reasoning_field_out="reasoning_content",
    ),
    _vendor(
        "alibaba",
        "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
        "DASHSCOPE_API_KEY",
        max_tokens_field="max_tokens",
        thinking_format="qwen",
        supports_reasoning_effort=False,
    ),
    _vendor(
        "minimax",
        "https://api.minimax.io/v1",
        "MINIMAX_API_KEY",
        supports_strict_mode=False,
        parallel_tools=False,
        json_schema=False,
        supports_seed=False,
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
    ),
)
