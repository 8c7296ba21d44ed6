"""The vendors that speak Responses, one endpoint each.

Most of them also speak Chat Completions, under their plain names; the names here end with
`-responses`. Quirks are the fields of `agentkit_providers.openai_responses.Quirks` that differ from
the defaults, which are OpenAI's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from agentkit_core import JsonValue
from agentkit_providers.vendors._endpoint import OPENAI_RESPONSES, Endpoint

_NO_THINKING: Final[dict[str, JsonValue]] = {
    "thinking_level_map": {"minimal": None, "low": None, "medium": None, "high": None}
}
_MODELS_OF_OPENAI: Final[dict[str, dict[str, JsonValue]]] = {
    "o[1-9]*": {"sampling": False, "parallel_tools": False},
    "gpt-[5-9]*": {"sampling": False},
    "gpt-5.[6-9]*": {"cache_breakpoints": True},
    # These cannot reason, and refuse requests that ask for it.
    "gpt-[34]*": _NO_THINKING,
    "chatgpt-*": _NO_THINKING,
    "gpt-5*-chat*": {"sampling": True, **_NO_THINKING},
}
_NOT_OPENAI: Final[Mapping[str, JsonValue]] = {
    "cache_key": False,
    "cache_retention_24h": False,
    "reasoning_replay": "any",
}
_LOCAL: Final[Mapping[str, JsonValue]] = {
    **_NOT_OPENAI,
    "developer_role": False,
    "late_system": False,
    "encrypted_reasoning": False,
    "files": False,
    "min_output_tokens": 1,
    "reasoning_summary": None,
    "tool_images": False,
}


def _local(name: str, base_url: str, *key_env: str, **quirks: JsonValue) -> Endpoint:
    return Endpoint(
        name=name,
        base_url=base_url,
        api=OPENAI_RESPONSES,
        key_env=key_env,
        key_required=False,
        quirks={**_LOCAL, **quirks},
    )


RESPONSES_VENDORS: Final = (
    Endpoint(
        name="openai-responses",
        base_url="https://api.openai.com/v1",
        api=OPENAI_RESPONSES,
        key_env=("OPENAI_API_KEY",),
        models=_MODELS_OF_OPENAI,
        catalogue="openai",
    ),
    Endpoint(
        # Each customer has their own base URL: https://<resource>.openai.azure.com/openai/v1
        name="azure-responses",
        api=OPENAI_RESPONSES,
        key_env=("AZURE_OPENAI_API_KEY",),
        auth_header="api-key",
        auth_prefix="",
        quirks={"cache_retention_24h": False},
        # Matched against the names of deployments, which usually are those of the models.
        models={**_MODELS_OF_OPENAI, "gpt-5.[6-9]*": {}},
        catalogue="openai",
        catalogue_prices=False,
    ),
    Endpoint(
        name="xai-responses",
        base_url="https://api.x.ai/v1",
        api=OPENAI_RESPONSES,
        key_env=("XAI_API_KEY",),
        quirks={
            "cache_retention_24h": False,
            "developer_role": False,
            "image_types": ["image/jpeg", "image/png"],
            "min_output_tokens": 1,
            "supports_reasoning_effort": False,
        },
        models={"grok-4.[3-9]*": {"supports_reasoning_effort": True}},
        catalogue="xai",
    ),
    Endpoint(
        name="openrouter-responses",
        base_url="https://openrouter.ai/api/v1",
        api=OPENAI_RESPONSES,
        key_env=("OPENROUTER_API_KEY",),
        quirks={**_NOT_OPENAI, "cost_currency": "USD"},
        catalogue="openrouter",
    ),
    _local("lmstudio-responses", "http://localhost:1234/v1"),
    _local(
        "llamacpp-responses",
        "http://localhost:8080/v1",
        "LLAMA_API_KEY",
        assistant_text_in_list=True,
        custom_items=False,
        reasoning_replay="text",
    ),
    # Any other server. No variable is read for it, so that no key goes to an unknown server.
    _local("compatible-responses", ""),
)
