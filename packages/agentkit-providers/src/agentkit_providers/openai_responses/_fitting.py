"""What a Responses model takes, and the rules by which a request is fitted to it."""

from __future__ import annotations

from typing import Final

from agentkit_core.provider import Target
from agentkit_providers._protocol_kit._answer_formats import fit_strict_answer
from agentkit_providers._protocol_kit._fitting import Draft, Rule
from agentkit_providers._protocol_kit._model_traits import ModelTraits
from agentkit_providers._protocol_kit._option_rules import (
    fit_cache,
    fit_output_limit,
    fit_parallel_calls,
    fit_sampling,
    fit_seed,
)
from agentkit_providers._protocol_kit._tool_rules import fit_strict_tools, fit_tool_schemas
from agentkit_providers.openai_responses._quirks import Quirks


def traits_of(quirks: Quirks, target: Target) -> ModelTraits:
    """Read from a vendor's quirks what the model takes."""
    return ModelTraits(
        target=target,
        sampling=quirks.sampling,
        seed=False,
        parallel_calls=quirks.parallel_tools,
        max_output_tokens=quirks.max_output_tokens,
        strict_tools=quirks.supports_strict_mode,
        strict_answers=quirks.supports_strict_mode,
        caches=quirks.cache_key or quirks.cache_retention_24h or quirks.cache_breakpoints,
    )


def _fit_answer(draft: Draft, traits: ModelTraits) -> None:
    fit_strict_answer(draft, strict_mode=traits.strict_answers)


RULES: Final = (
    Rule(
        "tool schemas",
        "a tool's schema is not an object's, combines schemas at its top, or breaks JSON Schema",
        "an object with all arguments; a tool that cannot be one is left out and noted",
        "nspady/google-calendar-mcp#39, langchain-ai/langchain#39271",
        fit_tool_schemas,
    ),
    Rule(
        "strict tools",
        "a strict tool's schema is open, or has what strict mode does not have",
        "the tool with `strict: false`, noted",
        "https://platform.openai.com/docs/guides/structured-outputs, "
        "openai/openai-agents-python#4277",
        fit_strict_tools,
    ),
    Rule(
        "temperature and top_p",
        "OpenAI's reasoning models",
        "left out, noted",
        "https://platform.openai.com/docs/guides/reasoning",
        fit_sampling,
    ),
    Rule(
        "seed",
        "always: the protocol has none",
        "left out, noted",
        "https://platform.openai.com/docs/api-reference/responses/create",
        fit_seed,
    ),
    Rule(
        "one call at a time",
        "OpenAI's o-series, and servers that refuse the field",
        "left out, noted",
        "https://learn.microsoft.com/azure/ai-foundry/openai/how-to/reasoning",
        fit_parallel_calls,
    ),
    Rule(
        "limit on the output",
        "more than the model puts out",
        "the most that it does, noted",
        "https://platform.openai.com/docs/models",
        fit_output_limit,
    ),
    Rule(
        "answers by schema",
        "the schema is to be followed exactly, and is open or has what strict mode does not have",
        "the format without `strict`, noted",
        "https://platform.openai.com/docs/guides/structured-outputs",
        _fit_answer,
    ),
    Rule(
        "caching",
        "the vendor has no field for it",
        "nothing; the request for it is noted as left out",
        "https://platform.openai.com/docs/guides/prompt-caching",
        fit_cache,
    ),
)
"""The rules of Responses, in the order in which they are applied."""
