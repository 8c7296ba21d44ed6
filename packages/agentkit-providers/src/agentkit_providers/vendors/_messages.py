"""The vendors that speak Anthropic's Messages, one endpoint each.

Quirks are the fields of `agentkit_providers.anthropic_messages.Quirks` that differ from the
defaults, which are Anthropic's. The models are asked to show their reasoning, as in the other
protocols.
"""

from __future__ import annotations

from typing import Final

from agentkit_providers.vendors._endpoint import ANTHROPIC_MESSAGES, Endpoint

MESSAGES_VENDORS: Final = (
    Endpoint(
        name="anthropic",
        base_url="https://api.anthropic.com/v1",
        api=ANTHROPIC_MESSAGES,
        key_env=("ANTHROPIC_API_KEY",),
        auth_header="x-api-key",
        auth_prefix="",
        quirks={"thinking_display": "summarized"},
    ),
    Endpoint(
        name="anthropic-oauth",  # with an OAuth token, in the standard header
        base_url="https://api.anthropic.com/v1",
        api=ANTHROPIC_MESSAGES,
        key_env=("ANTHROPIC_AUTH_TOKEN",),
        catalogue="anthropic",
        quirks={"thinking_display": "summarized"},
    ),
    Endpoint(
        # Each customer has their own base URL: https://<region>-aiplatform.googleapis.com/v1/
        # projects/<project>/locations/<region>/publishers/anthropic/models
        name="vertex-anthropic",
        api=ANTHROPIC_MESSAGES,
        catalogue="anthropic",
        quirks={
            "path": "/{model}:rawPredict",
            "streamed_path": "/{model}:streamRawPredict",
            "version": "vertex-2023-10-16",
            "version_in_body": True,
            "thinking_display": "summarized",
        },
    ),
    Endpoint(
        name="openrouter-anthropic",
        base_url="https://openrouter.ai/api/v1",
        api=ANTHROPIC_MESSAGES,
        key_env=("OPENROUTER_API_KEY",),
        catalogue="openrouter",
        quirks={"cost_currency": "USD", "known_betas": False},
    ),
    Endpoint(
        # Any other server. No variable is read for it, so that no key goes to an unknown server.
        name="anthropic-compatible",
        api=ANTHROPIC_MESSAGES,
        key_required=False,
        auth_header="x-api-key",
        auth_prefix="",
        quirks={
            "known_betas": False,
            "unsigned_thinking": True,
            "supports_strict_mode": False,
            "json_schema": False,
            "files": False,
        },
    ),
)
