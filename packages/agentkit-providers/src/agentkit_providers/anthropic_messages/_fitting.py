"""What a Messages model takes, and the rules by which a request is fitted to it."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from agentkit_core import JsonSchemaFormat, ThinkingLevel
from agentkit_core.provider import Target
from agentkit_providers._protocol_kit._answer_formats import ask_in_words
from agentkit_providers._protocol_kit._closed_schemas import Size, closed_schema
from agentkit_providers._protocol_kit._fitting import Draft, Rule
from agentkit_providers._protocol_kit._model_traits import ModelTraits
from agentkit_providers._protocol_kit._option_rules import (
    fit_cache,
    fit_output_limit,
    fit_parallel_calls,
)
from agentkit_providers._protocol_kit._tool_rules import (
    fit_strictness,
    fit_tool_schemas,
    fit_tools_of_history,
)
from agentkit_providers._protocol_kit._turns import open_turn, thinks_from_its_start
from agentkit_providers.anthropic_messages._models import Traits
from agentkit_providers.anthropic_messages._models import traits_of as traits_of_name
from agentkit_providers.anthropic_messages._quirks import Quirks, ThinkingStyle

_MAX_TEMPERATURE: Final = 1.0


class MessagesTraits(ModelTraits, frozen=True, kw_only=True):
    """What one model takes at one vendor; see `ModelTraits` for the other fields.

    Attributes:
        quirks: How the vendor differs from Anthropic.
        of_name: What the model's name says.
    """

    quirks: Quirks
    of_name: Traits

    @property
    def has_budget(self) -> bool:
        """Whether the model thinks by a budget of tokens."""
        style = self.quirks.thinking_style or self.of_name.thinking
        return style is ThinkingStyle.BUDGET


def traits_of(quirks: Quirks, target: Target) -> MessagesTraits:
    """Read from a vendor's quirks and the model's name what the model takes."""
    of_name = traits_of_name(target.model)
    structured = of_name.structured_output
    return MessagesTraits(
        target=target,
        parallel_calls=quirks.parallel_tools,
        max_output_tokens=quirks.max_output_tokens or of_name.max_output_tokens,
        strict_tools=quirks.supports_strict_mode and structured,
        strict_answers=structured,
        tools_of_history=quirks.tools_with_history,
        caches=quirks.cache_control,
        quirks=quirks,
        of_name=of_name,
    )


def _fit_open_turn(draft: Draft, traits: MessagesTraits) -> None:
    asked = draft.options.thinking
    if asked is None or asked is ThinkingLevel.OFF or not traits.has_budget:
        return
    turn = open_turn(draft.history)
    if turn is not None and not thinks_from_its_start(turn, draft.history, traits.target):
        draft.set_options(thinking=ThinkingLevel.OFF)
        draft.note("thinking", asked.value, "off", "the open turn began without thinking")


def _fit_temperature(draft: Draft, traits: MessagesTraits) -> None:
    asked = draft.options.temperature
    if asked is not None and asked > _MAX_TEMPERATURE:
        draft.set_options(temperature=_MAX_TEMPERATURE)
        draft.note("temperature", asked, _MAX_TEMPERATURE, "the vendor takes no higher temperature")


def _fit_strict_schemas(draft: Draft, traits: MessagesTraits) -> None:
    """Write the schemas of the answer and of strict tools in the vendor's dialect.

    The vendor counts what they have together, so the answer comes first.
    """
    size = Size()
    wanted = draft.options.response_format
    if isinstance(wanted, JsonSchemaFormat) and traits.quirks.json_schema:
        schema = closed_schema(wanted.schema, size) if traits.strict_answers else None
        if schema is not None:
            draft.set_options(response_format=replace(wanted, schema=schema))
        elif traits.strict_answers:
            ask_in_words(draft, reason="the vendor's dialect cannot say what the schema means")
        else:
            ask_in_words(draft, reason="the model takes no answer format")
    form = (
        (lambda schema: closed_schema(schema, size, of_tool=True)) if traits.strict_tools else None
    )
    fit_strictness(draft, (traits.strict_tools, size.optional, size.unions), form)


RULES: Final = (
    Rule(
        "tool schemas",
        "a tool's schema is not an object's, combines schemas at its top, or breaks JSON Schema",
        "an object with all arguments; a tool that cannot be one is left out and noted",
        "anthropics/claude-code#5319, dearlordylord/huly-mcp#66",
        fit_tool_schemas,
    ),
    Rule(
        "tools of the history",
        "the history has calls, the request no tools, and the host wants them",
        "the tools of the history are sent with `tool_choice: none`; elsewhere `tools` is absent",
        "anthropics/anthropic-sdk-python#849, pydantic/pydantic-ai#1966",
        fit_tools_of_history,
    ),
    Rule(
        "answers by schema, strict tools",
        "always: objects are closed, and limits on numbers, texts and lists are left out; they are "
        "checked when the answer comes",
        "where the dialect cannot say what the schema means, and for models before Claude 4.1, the "
        "schema as an instruction, and the tool without `strict`, noted",
        "https://platform.claude.com/docs/en/build-with-claude/structured-outputs, "
        "BerriAI/litellm#35811",
        _fit_strict_schemas,
    ),
    Rule(
        "thinking in an open tool turn",
        "models with a thinking budget; the open turn did not begin with thinking",
        "thinking is turned off until the turn is over, noted",
        "mastra-ai/mastra#7799, anomalyco/opencode#3077, Kilo-Org/kilocode#5219",
        _fit_open_turn,
    ),
    Rule(
        "temperature",
        "above 1",
        "1, noted; none while the model thinks, and for models from Claude 4.7 on",
        "https://platform.claude.com/docs/en/api/messages",
        _fit_temperature,
    ),
    Rule(
        "one call at a time",
        "servers that refuse the field",
        "left out, noted",
        "https://platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use",
        fit_parallel_calls,
    ),
    Rule(
        "limit on the output",
        "more than the model puts out",
        "the most that it does, noted",
        "https://platform.claude.com/docs/en/about-claude/models/overview",
        fit_output_limit,
    ),
    Rule(
        "caching",
        "servers without cache marks",
        "nothing; the request for it is noted as left out",
        "https://platform.claude.com/docs/en/build-with-claude/prompt-caching",
        fit_cache,
    ),
)
"""The rules of Messages, in the order in which they are applied."""
