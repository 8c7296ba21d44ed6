"""What a Chat Completions model takes, and the rules by which a request is fitted to it."""

from __future__ import annotations

from typing import Final

from agentkit_core import ThinkingLevel
from agentkit_core.provider import Target
from agentkit_providers._protocol_kit._answer_formats import (
    fit_format_with_tools,
    fit_strict_answer,
)
from agentkit_providers._protocol_kit._claude import claude_version, has_thinking_budget
from agentkit_providers._protocol_kit._fitting import Draft, Rule
from agentkit_providers._protocol_kit._model_traits import ForcedCalls, ModelTraits
from agentkit_providers._protocol_kit._option_rules import (
    fit_cache,
    fit_forced_call,
    fit_output_limit,
    fit_parallel_calls,
    fit_sampling,
    fit_seed,
    fit_stop_sequences,
)
from agentkit_providers._protocol_kit._thinking_levels import supported_level
from agentkit_providers._protocol_kit._tool_rules import (
    fit_strict_tools,
    fit_tool_schemas,
    fit_tools_of_history,
)
from agentkit_providers._protocol_kit._turns import open_turn, thinks_from_its_start
from agentkit_providers.openai_chat._quirks import EffortWithTools, Quirks, ThinkingFormat


class ChatTraits(ModelTraits, frozen=True, kw_only=True):
    """What one model takes at one vendor; see `ModelTraits` for the other fields.

    Attributes:
        quirks: How the vendor differs from OpenAI.
    """

    quirks: Quirks


def traits_of(quirks: Quirks, target: Target) -> ChatTraits:
    """Read from a vendor's quirks what the model takes."""
    level_map = quirks.thinking_level_map
    is_claude = claude_version(target.model) is not None
    silent = quirks.thinking_format is ThinkingFormat.NONE
    can_stop = not silent and supported_level(ThinkingLevel.OFF, level_map) is ThinkingLevel.OFF
    return ChatTraits(
        sampling=quirks.sampling,
        max_temperature=quirks.max_temperature,
        max_stop_sequences=quirks.max_stop_sequences,
        seed=quirks.supports_seed,
        parallel_calls=quirks.parallel_tools,
        max_output_tokens=quirks.max_output_tokens,
        forced_calls=ForcedCalls.NOT_THINKING if is_claude else quirks.forced_calls,
        thinks=quirks.thinks,
        can_stop_thinking=can_stop,
        strict_tools=quirks.supports_strict_mode,
        typed_schemas=quirks.typed_schemas,
        tools_of_history=quirks.tools_with_history,
        target=target,
        json_with_tools=quirks.json_with_tools,
        caches=quirks.cache_key or quirks.cache_retention_24h or quirks.cache_control,
        quirks=quirks,
    )


def _fit_effort_with_tools(draft: Draft, traits: ChatTraits) -> None:
    rule, asked = traits.quirks.effort_with_tools, draft.options.thinking
    has_tools = draft.request.tools or "tools" in draft.options.extra.get(traits.target.api, {})
    if rule is EffortWithTools.SENT or not has_tools:
        return
    sent = ThinkingLevel.OFF if rule is EffortWithTools.OFF else None
    if asked is sent:
        return
    draft.set_options(thinking=sent)
    draft.note(
        "thinking",
        None if asked is None else asked.value,
        None if sent is None else sent.value,
        "this model does not think with tools in Chat Completions; it does in Responses",
    )


def _fit_open_turn(draft: Draft, traits: ChatTraits) -> None:
    asked = draft.options.thinking
    if asked is None or asked is ThinkingLevel.OFF or not has_thinking_budget(traits.target.model):
        return
    turn = open_turn(draft.history)
    if turn is None or thinks_from_its_start(turn, draft.history, traits.target):
        return
    draft.set_options(thinking=ThinkingLevel.OFF)
    draft.note("thinking", asked.value, "off", "the open turn began without thinking")


def _fit_answer_format(draft: Draft, traits: ChatTraits) -> None:
    fit_strict_answer(draft, strict_mode=traits.quirks.supports_strict_mode)


RULES: Final = (
    Rule(
        "tool schemas",
        "a tool's schema is not an object's, combines schemas at its top, or breaks JSON Schema",
        "an object with all arguments; a tool that cannot be one is left out and noted",
        "nspady/google-calendar-mcp#39, MoonshotAI/kimi-code#2661, anthropics/claude-code#5319",
        fit_tool_schemas,
    ),
    Rule(
        "tools of the history",
        "the history has calls, the request no tools, and the host wants them",
        "the tools of the history are sent with `tool_choice: none`; elsewhere `tools` is absent",
        "BerriAI/litellm#24158, anthropics/anthropic-sdk-python#849",
        fit_tools_of_history,
    ),
    Rule(
        "strict tools",
        "a strict tool's schema is open, or has what strict mode does not have",
        "the tool without `strict`, noted",
        "https://platform.openai.com/docs/guides/structured-outputs, "
        "openai/openai-agents-python#4277",
        fit_strict_tools,
    ),
    Rule(
        "thinking in an open tool turn",
        "Claude with a thinking budget; the open turn did not begin with thinking",
        "thinking is turned off until the turn is over, noted",
        "mastra-ai/mastra#7799, OpenRouterTeam/ai-sdk-provider#162",
        _fit_open_turn,
    ),
    Rule(
        "thinking with tools",
        "OpenAI's gpt-5.2 and later, and the request has tools",
        "no `reasoning_effort` (gpt-5.2 to 5.5), or `none` (from gpt-5.6 on), noted",
        "openai/openai-openapi#541, BerriAI/litellm#34569, livekit/agents#7169",
        _fit_effort_with_tools,
    ),
    Rule(
        "a required call while the model thinks",
        "DeepSeek V4, Kimi, Qwen, Claude behind gateways",
        "thinking is turned off; where it cannot be, the choice is left to the model, noted",
        "deepseek-ai/DeepSeek-V3#1376, can1357/oh-my-pi#1077, cloudwego/eino#994",
        fit_forced_call,
    ),
    Rule(
        "temperature and top_p",
        "reasoning models of OpenAI, Kimi K2.5 and later; vendors with a lower highest temperature",
        "left out, or lowered, noted",
        "https://platform.openai.com/docs/guides/reasoning, ItzCrazyKns/Vane#1173",
        fit_sampling,
    ),
    Rule(
        "stop sequences",
        "reasoning models of OpenAI and xAI take none, OpenAI and others a few",
        "left out, or the first ones, noted",
        "https://platform.openai.com/docs/api-reference/chat/create, huggingface/smolagents#1671, "
        "https://docs.x.ai/docs/guides/reasoning",
        fit_stop_sequences,
    ),
    Rule(
        "seed",
        "vendors without a seed, or with another name for it",
        "left out, noted",
        "https://docs.mistral.ai/api/, BerriAI/litellm#15244",
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
        "JSON answers with tools",
        "Gemini before 3, Groq, Cerebras",
        "the tools, and the format as an instruction, noted",
        "symfony/ai#803, https://console.groq.com/docs/structured-outputs, "
        "https://inference-docs.cerebras.ai/capabilities/structured-outputs",
        fit_format_with_tools,
    ),
    Rule(
        "answers by schema",
        "the schema is to be followed exactly, and is open or has what strict mode does not have",
        "the format without `strict`, noted",
        "https://platform.openai.com/docs/guides/structured-outputs",
        _fit_answer_format,
    ),
    Rule(
        "caching",
        "the vendor has no field for it",
        "nothing; the request for it is noted as left out",
        "https://platform.openai.com/docs/guides/prompt-caching",
        fit_cache,
    ),
)
"""The rules of Chat Completions, in the order in which they are applied."""
