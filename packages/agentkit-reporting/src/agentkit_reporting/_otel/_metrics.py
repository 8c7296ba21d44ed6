"""Metrics: how long model calls, tools and turns take, and what they use."""

from __future__ import annotations

from typing import Final

from opentelemetry.metrics import Counter, Histogram, Meter

from agentkit_reporting._otel import _names as names
from agentkit_reporting._otel._attributes import Attributes, error_type, identity_of, tokens_of
from agentkit_reporting._spans import ModelCallSpan, Span, ToolCallSpan, TurnSpan

_SECONDS: Final = tuple(0.01 * 2**power for power in range(14))
"""The bounds that the conventions advise: 10 ms to 81.92 s."""
_TOKENS: Final = tuple(4**power for power in range(14))
"""The same for tokens: 1 to 67 million."""
_UNKNOWN_MODALITY: Final[Attributes] = {names.MODALITY: "unknown"}
"""Providers seldom say how many tokens were text."""


class Metrics:
    """The instruments, and what each span that ends adds to them."""

    def __init__(self, meter: Meter) -> None:
        """Create the instruments."""
        self._meter = meter
        self._inference = self._histogram(
            "gen_ai.client.inference.duration", "How long a model call took."
        )
        self._first_chunk = self._histogram(
            "gen_ai.client.inference.time_to_first_chunk", "How long until the first chunk came."
        )
        self._tool = self._histogram("gen_ai.execute_tool.duration", "How long a tool call took.")
        self._agent = self._histogram("gen_ai.invoke_agent.duration", "How long a turn took.")
        self._tokens: dict[str, Counter] = {}
        self._tokens_of_call = {
            attribute: meter.create_histogram(
                attribute.replace("gen_ai.usage.", "gen_ai.client.inference.operation."),
                "{token}",
                "How many tokens a model call used.",
                explicit_bucket_boundaries_advisory=_TOKENS,
            )
            for attribute in (names.INPUT_TOKENS, names.OUTPUT_TOKENS)
        }

    def add(self, span: Span, agent_name: str | None) -> None:
        """Add a span that has ended."""
        error = error_type(span)
        failed: Attributes = {} if error is None else {names.ERROR_TYPE: error}
        seconds = (span.duration_ms or 0) / 1000
        match span:
            case ModelCallSpan():
                self._add_model_call(span, seconds, failed)
            case ToolCallSpan(name=name):
                operation: Attributes = {
                    names.OPERATION: names.EXECUTE_TOOL,
                    names.TOOL_NAME: name,
                    names.TOOL_TYPE: names.FUNCTION,
                }
                if agent_name:
                    operation[names.AGENT_NAME] = agent_name
                self._tool.record(seconds, operation | failed)
            case TurnSpan():
                operation = {names.OPERATION: names.INVOKE_AGENT}
                if agent_name:
                    operation[names.AGENT_NAME] = agent_name
                self._agent.record(seconds, operation | failed)

    def _add_model_call(self, span: ModelCallSpan, seconds: float, failed: Attributes) -> None:
        identity = identity_of(span)
        if span.provenance is not None:
            identity[names.RESPONSE_MODEL] = span.provenance.model
        self._inference.record(seconds, identity | failed)
        if span.time_to_first_delta_ms is not None:
            self._first_chunk.record(span.time_to_first_delta_ms / 1000, identity)
        if span.usage is not None:
            for name, count in tokens_of(span.usage).items():
                self._counter(name).add(count, identity | _UNKNOWN_MODALITY)
                if name in self._tokens_of_call and not failed:
                    self._tokens_of_call[name].record(count, identity)

    def _counter(self, attribute: str) -> Counter:
        """Return the counter of a kind of tokens, named for the attribute of the same count."""
        if attribute not in self._tokens:
            name = attribute.replace("gen_ai.usage.", "gen_ai.client.inference.usage.")
            description = "How many tokens model calls used."
            self._tokens[attribute] = self._meter.create_counter(name, "{token}", description)
        return self._tokens[attribute]

    def _histogram(self, name: str, description: str) -> Histogram:
        return self._meter.create_histogram(
            name, "s", description, explicit_bucket_boundaries_advisory=_SECONDS
        )
