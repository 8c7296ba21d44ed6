"""Servers that people run themselves, and any other one, with Chat Completions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from agentkit_core import JsonValue
from agentkit_providers.vendors._chat import NOT_OPENAI
from agentkit_providers.vendors._endpoint import Endpoint
from agentkit_providers.vendors._model_families import Models

_LOCAL: Final[Mapping[str, JsonValue]] = {
    **NOT_OPENAI,
    "max_tokens_field": "max_tokens",
    # "System message must be at the beginning": chat templates of many models.
    "late_system": False,
}


def _local(
    name: str, base_url: str, *key_env: str, models: Models | None = None, **quirks: JsonValue
) -> Endpoint:
    return Endpoint(
        name=name,
        base_url=base_url,
        key_env=key_env,
        key_required=False,
        quirks={**_LOCAL, **quirks},
        models=models or {},
    )


LOCAL_VENDORS: Final = (
    _local(
        "ollama", "http://localhost:11434/v1", "OLLAMA_API_KEY", reasoning_field_out="reasoning"
    ),
    _local("vllm", "http://localhost:8000/v1", "VLLM_API_KEY", thinking_format="qwen_template"),
    _local(
        "llamacpp",
        "http://localhost:8080/v1",
        "LLAMA_API_KEY",
        thinking_format="qwen_template",
        reasoning_field_out="reasoning_content",
    ),
    _local("lmstudio", "http://localhost:1234/v1"),
    _local("sglang", "http://localhost:30000/v1", thinking_format="qwen_template"),
    _local(
        "litellm",
        "http://localhost:4000/v1",
        "LITELLM_API_KEY",
        late_system=True,
        tools_with_history=True,
        models={"*claude*": {"cache_control": True}},
    ),
    # Any other server. No variable is read for it, so that no key goes to an unknown server.
    _local("compatible", ""),
)
