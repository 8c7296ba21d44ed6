"""What a Gemini model takes, and the rules by which a request is fitted to it."""

from __future__ import annotations

from typing import Final

from agentkit_core.provider import Target
from agentkit_providers._protocol_kit._answer_formats import fit_format_with_tools
from agentkit_providers._protocol_kit._fitting import Rule
from agentkit_providers._protocol_kit._model_traits import ModelTraits
from agentkit_providers._protocol_kit._option_rules import (
    fit_cache,
    fit_output_limit,
    fit_sampling,
    fit_stop_sequences,
)
from agentkit_providers._protocol_kit._tool_rules import fit_strict_tools, fit_tool_schemas
from agentkit_providers.google_generate._models import is_before_gemini_3
from agentkit_providers.google_generate._quirks import Quirks


def traits_of(quirks: Quirks, target: Target) -> ModelTraits:
    """Read from an endpoint's quirks and the model's name what the model takes."""
    json_with_tools = quirks.json_with_tools
    if json_with_tools is None:
        json_with_tools = not is_before_gemini_3(target.model)
    return ModelTraits(
        target=target,
        max_stop_sequences=5,
        max_output_tokens=quirks.max_output_tokens,
        strict_tools=False,
        strict_answers=False,
        json_with_tools=json_with_tools,
        caches=False,
    )


RULES: Final = (
    Rule(
        "tool schemas",
        "a tool's schema is not an object's, combines schemas at its top, or breaks JSON Schema",
        "an object with all arguments; a tool that cannot be one is left out and noted",
        "https://ai.google.dev/api/caching#Schema, langchain-ai/langchain#39271",
        fit_tool_schemas,
    ),
    Rule(
        "strict tools",
        "always: the protocol has none",
        "the tool without it, noted",
        "https://ai.google.dev/api/caching#FunctionDeclaration",
        fit_strict_tools,
    ),
    Rule(
        "JSON answers with tools",
        "models before Gemini 3",
        "the tools, and the format as an instruction, noted",
        "symfony/ai#803, snailyp/gemini-balance#264",
        fit_format_with_tools,
    ),
    Rule(
        "temperature",
        "above 2",
        "2, noted",
        "https://ai.google.dev/api/generate-content#generationconfig",
        fit_sampling,
    ),
    Rule(
        "stop sequences",
        "more than 5",
        "the first 5, noted",
        "https://ai.google.dev/api/generate-content#generationconfig",
        fit_stop_sequences,
    ),
    Rule(
        "limit on the output",
        "more than the model puts out",
        "the most that it does, noted",
        "https://ai.google.dev/gemini-api/docs/models",
        fit_output_limit,
    ),
    Rule(
        "caching",
        "always: the vendor caches prefixes by itself",
        "nothing; the request for it is noted as left out",
        "https://ai.google.dev/gemini-api/docs/caching",
        fit_cache,
    ),
)
"""The rules of generateContent, in the order in which they are applied."""
