"""Names of the semantic conventions for generative AI, version 0.1.0, and of our own.

The conventions are those of the repository `open-telemetry/semantic-conventions-genai`. They are
not stable; another version of them means another version of this module.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from agentkit_core import FinishReason

VERSION: Final = "0.1.0"
SCHEMA_URL: Final = f"https://opentelemetry.io/schemas/gen-ai/{VERSION}"
SCOPE: Final = "agentkit_reporting.otel"

OPERATION: Final = "gen_ai.operation.name"
PROVIDER: Final = "gen_ai.provider.name"
CONVERSATION: Final = "gen_ai.conversation.id"
AGENT_NAME: Final = "gen_ai.agent.name"
REQUEST_MODEL: Final = "gen_ai.request.model"
RESPONSE_MODEL: Final = "gen_ai.response.model"
RESPONSE_ID: Final = "gen_ai.response.id"
FINISH_REASONS: Final = "gen_ai.response.finish_reasons"
TIME_TO_FIRST_CHUNK: Final = "gen_ai.response.time_to_first_chunk"
INPUT_MESSAGES: Final = "gen_ai.input.messages"
OUTPUT_MESSAGES: Final = "gen_ai.output.messages"
TOOL_NAME: Final = "gen_ai.tool.name"
TOOL_CALL_ID: Final = "gen_ai.tool.call.id"
TOOL_TYPE: Final = "gen_ai.tool.type"
INPUT_TOKENS: Final = "gen_ai.usage.input_tokens"
OUTPUT_TOKENS: Final = "gen_ai.usage.output_tokens"
MODALITY: Final = "gen_ai.token.modality"
ERROR_TYPE: Final = "error.type"

CHAT: Final = "chat"
EXECUTE_TOOL: Final = "execute_tool"
FUNCTION: Final = "function"
INVOKE_AGENT: Final = "invoke_agent"

CLIENT_EXCEPTION: Final = "gen_ai.client.inference.exception"
TOOL_EXCEPTION: Final = "gen_ai.execute_tool.exception"

PROVIDERS: Final[Mapping[str, str]] = {
    "anthropic-oauth": "anthropic",
    "azure": "azure.ai.openai",
    "azure-responses": "azure.ai.openai",
    "bedrock": "aws.bedrock",
    "google": "gcp.gemini",
    "google-openai": "gcp.gemini",
    "mistral": "mistral_ai",
    "moonshot": "moonshot_ai",
    "vertex": "gcp.vertex_ai",
    "vertex-anthropic": "gcp.vertex_ai",
    "xai": "x_ai",
    "xai-responses": "x_ai",
    "openai-responses": "openai",
}
"""Our names of vendors to those of the conventions; other names are passed on as they are."""

REASONS: Final[Mapping[FinishReason, str]] = {
    FinishReason.COMPLETED: "stop",
    FinishReason.MAX_TOKENS: "length",
    FinishReason.BLOCKED: "content_filter",
    FinishReason.TOOL_CALL: "tool_call",
    FinishReason.ERROR: "error",
}
"""Our finish reasons to those of the conventions; other reasons are passed on as they are."""
