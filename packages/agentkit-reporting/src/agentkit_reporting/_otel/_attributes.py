"""The attributes of spans: what is known when one begins, and what when it ends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from agentkit_core import JsonFormat, JsonSchemaFormat, ModelOptions, Usage
from agentkit_reporting._otel import _names as names
from agentkit_reporting._spans import (
    ModelCallSpan,
    RunSpan,
    Span,
    SpanStatus,
    ToolCallSpan,
    TurnSpan,
)

Value = str | bool | int | float | list[str]
Attributes = dict[str, Value]

_USAGE: Final[Mapping[str, str]] = {
    "prompt": names.INPUT_TOKENS,
    "cache_read": "gen_ai.usage.cache_read.input_tokens",
    "cache_write": "gen_ai.usage.cache_write.input_tokens",
    "output": names.OUTPUT_TOKENS,
    "reasoning": "gen_ai.usage.reasoning.output_tokens",
}
_OPTIONS: Final[Mapping[str, str]] = {
    "max_output_tokens": "gen_ai.request.max_tokens",
    "temperature": "gen_ai.request.temperature",
    "top_p": "gen_ai.request.top_p",
    "seed": "gen_ai.request.seed",
}


def name_of(span: Span, agent_name: str | None) -> str:
    """Return the name of a span: the operation, and what it is about."""
    match span:
        case ModelCallSpan(model=model):
            return f"{names.CHAT} {model}" if model else names.CHAT
        case ToolCallSpan(name=name):
            return f"{names.EXECUTE_TOOL} {name}"
        case _:
            return f"{names.INVOKE_AGENT} {agent_name}" if agent_name else names.INVOKE_AGENT


def at_begin(span: Span, agent_name: str | None) -> Attributes:
    """Return what is known when a span begins; samplers see these."""
    attributes: Attributes = {names.CONVERSATION: span.session_id}
    if span.turn_id is not None:
        attributes["agentkit.turn.id"] = span.turn_id
    if span.continues:
        attributes["agentkit.continues"] = True
    match span:
        case ModelCallSpan():
            attributes |= identity_of(span)
            attributes["agentkit.call"] = span.call
            attributes["agentkit.attempt"] = span.attempt
            if span.options is not None:
                attributes |= _of_options(span.options)
        case ToolCallSpan():
            attributes |= {
                names.OPERATION: names.EXECUTE_TOOL,
                names.TOOL_NAME: span.name,
                names.TOOL_CALL_ID: span.call_id,
                names.TOOL_TYPE: names.FUNCTION,
            }
        case _:
            attributes[names.OPERATION] = names.INVOKE_AGENT
    if agent_name and not isinstance(span, ModelCallSpan):
        attributes[names.AGENT_NAME] = agent_name
    return attributes


def at_end(span: Span) -> Attributes:
    """Return what is known when a span ends."""
    attributes: Attributes = {"agentkit.status": span.status}
    if (error := error_type(span)) is not None:
        attributes[names.ERROR_TYPE] = error
    match span:
        case ModelCallSpan():
            attributes |= _of_answer(span)
        case ToolCallSpan():
            attributes |= _of_tool_call(span)
        case TurnSpan(result=result) if result is not None:
            attributes["agentkit.turn.end"] = result.end
            if result.limit is not None:
                attributes["agentkit.turn.limit"] = result.limit
            attributes |= _totals(result.usage)
    return attributes


def identity_of(span: ModelCallSpan) -> Attributes:
    """Return what says which model was asked; these are also the dimensions of metrics."""
    provider = span.provider or "unknown"
    attributes: Attributes = {
        names.OPERATION: names.CHAT,
        names.PROVIDER: names.PROVIDERS.get(provider, provider),
    }
    if span.model is not None:
        attributes[names.REQUEST_MODEL] = span.model
    return attributes


def error_type(span: Span) -> str | None:
    """Return the class of error that a span ended with; None if it did not end with one.

    A cancelled or paused span, and one whose end nobody reported, has no error.
    """
    if span.status is not SpanStatus.ERROR:
        return None
    match span:
        case ModelCallSpan(failure=failure):
            return failure.kind.value if failure is not None else "error"
        case ToolCallSpan(result=result):
            failed = result.failure if result is not None else None
            return failed.value if failed is not None else "tool_error"
        case TurnSpan(result=result) if result is not None:
            return result.failure.kind.value if result.failure is not None else result.end.value
        case RunSpan() | _:
            return "error"


def tokens_of(usage: Usage) -> dict[str, int]:
    """Return the token counts that are known, by the names of the conventions.

    The counts of cached and reasoning tokens are shares of the input and the output.
    """
    counts = {name: getattr(usage.tokens, field) for field, name in _USAGE.items()}
    return {name: count for name, count in counts.items() if count is not None}


def _of_options(options: ModelOptions) -> Attributes:
    given = {name: getattr(options, field) for field, name in _OPTIONS.items()}
    attributes: Attributes = {name: value for name, value in given.items() if value is not None}
    if options.stop_sequences:
        attributes["gen_ai.request.stop_sequences"] = list(options.stop_sequences)
    if options.thinking is not None:
        attributes["gen_ai.request.reasoning.level"] = options.thinking.value
    if isinstance(options.response_format, JsonFormat | JsonSchemaFormat):
        attributes["gen_ai.output.type"] = "json"
    return attributes


def _of_answer(span: ModelCallSpan) -> Attributes:
    attributes: Attributes = {}
    if span.finish_reason is not None:
        reason = names.REASONS.get(span.finish_reason, span.finish_reason.value)
        attributes[names.FINISH_REASONS] = [reason]
    if span.provenance is not None:
        attributes[names.RESPONSE_MODEL] = span.provenance.model
        if span.provenance.response_id is not None:
            attributes[names.RESPONSE_ID] = span.provenance.response_id
    if span.time_to_first_delta_ms is not None:
        attributes["gen_ai.request.stream"] = True
        attributes[names.TIME_TO_FIRST_CHUNK] = span.time_to_first_delta_ms / 1000
    if span.usage is not None:
        attributes |= tokens_of(span.usage)
        attributes["agentkit.usage.exact"] = span.usage.exact
        for currency, amount in sorted(span.usage.cost.amounts.items()):
            attributes[f"agentkit.usage.cost.{currency.lower()}"] = float(amount)
    if span.failure is not None and span.failure.status is not None:
        attributes["http.response.status_code"] = span.failure.status
    return attributes


def _of_tool_call(span: ToolCallSpan) -> Attributes:
    attributes: Attributes = {}
    if span.is_background:
        attributes["agentkit.tool.background"] = True
    if span.approvals:
        waited_ms = sum(
            wait.until_ms - wait.since_ms for wait in span.approvals if wait.until_ms is not None
        )
        attributes["agentkit.tool.approvals"] = len(span.approvals)
        attributes["agentkit.tool.approval_wait"] = waited_ms / 1000
    if span.result_bytes is not None:
        attributes["agentkit.tool.result_bytes"] = span.result_bytes
    return attributes


def _totals(usage: Usage) -> Attributes:
    """Return the usage of a turn, under names that nobody adds to those of its model calls."""
    attributes: Attributes = {"agentkit.turn.requests": usage.requests}
    if usage.tokens.prompt is not None:
        attributes["agentkit.turn.input_tokens"] = usage.tokens.prompt
    if usage.tokens.output is not None:
        attributes["agentkit.turn.output_tokens"] = usage.tokens.output
    return attributes
