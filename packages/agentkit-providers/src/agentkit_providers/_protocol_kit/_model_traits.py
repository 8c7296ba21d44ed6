"""What a model takes of a request, as the rules of all protocols need it."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from agentkit_core.provider import Target


class ForcedCalls(StrEnum):
    """Whether a model can be made to call a tool."""

    ALWAYS = "always"
    """It can."""
    NOT_THINKING = "not_thinking"
    """It can while it does not think; a request for both is refused."""


class ModelTraits(Struct, frozen=True, kw_only=True):
    """What one model takes at one endpoint.

    Attributes:
        sampling: Whether `temperature` and `top_p` may be sent.
        max_temperature: The highest temperature.
        max_stop_sequences: How many stop sequences; 0 for none, None for any number.
        seed: Whether there is a seed.
        parallel_calls: Whether the number of calls in a round can be limited to one.
        min_output_tokens: The smallest limit on the output.
        max_output_tokens: The most that the model puts out; None where it is not known.
        forced_calls: Whether the model can be made to call a tool.
        thinks: Whether it thinks where the request does not say so.
        can_stop_thinking: Whether thinking can be turned off.
        strict_tools: Whether tools may be strict.
        typed_schemas: Whether each schema in a tool's schema must name its type.
        tools_of_history: Whether tools must be sent where the history has calls.
        strict_answers: Whether an answer may have to follow a schema exactly.
        json_with_tools: Whether a request may have tools and a response format in JSON.
        caches: Whether the vendor has a field or a mark for caching.
        target: What the model can be sent.
    """

    target: Target

    sampling: bool = True
    max_temperature: float = 2.0
    max_stop_sequences: int | None = None
    seed: bool = True
    parallel_calls: bool = True
    min_output_tokens: int = 1
    max_output_tokens: int | None = None
    forced_calls: ForcedCalls = ForcedCalls.ALWAYS
    thinks: bool = False
    can_stop_thinking: bool = True
    strict_tools: bool = True
    typed_schemas: bool = False
    tools_of_history: bool = False
    strict_answers: bool = True
    json_with_tools: bool = True
    caches: bool = True
