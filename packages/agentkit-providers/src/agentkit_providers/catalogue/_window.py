"""A decoder that knows the model's context window, and notices when a request did not fit it.

Some servers cut what is too long and answer all the same, as if nothing had been. The counts
show it: a prompt larger than the window, or one that fills it and leaves no answer.
"""

from __future__ import annotations

from typing import Final

from agentkit_core import FailureKind, FinishReason, ProviderFailure, Usage
from agentkit_core.provider import (
    ModelEvent,
    ResponseDecoder,
    ResponseFailed,
    ResponseFinished,
    UsageReported,
    with_native_reasons,
)

Events = tuple[ModelEvent, ...]

_LOOKED_AT: Final = frozenset({UsageReported, ResponseFinished})
_FULL: Final = 0.99
"""From which share of the window on a prompt that leaves no answer has filled it."""


class WindowDecoder:
    """Decodes as another decoder does; an answer to a request that did not fit is a failure.

    Args:
        decoder: Reads the answer.
        context_window: How many tokens prompt and answer may have together.
    """

    def __init__(self, decoder: ResponseDecoder, context_window: int) -> None:
        self._decoder = decoder
        self._window = context_window
        self._usage = Usage()

    def feed(self, chunk: bytes, /) -> Events:
        """Take the next bytes; see `agentkit_core.provider.ResponseDecoder`."""
        return self._looked_at(self._decoder.feed(chunk))

    def finish(self) -> Events:
        """Take note that the body is over; see `agentkit_core.provider.ResponseDecoder`."""
        return self._looked_at(self._decoder.finish())

    def _looked_at(self, events: Events) -> Events:
        for event in events:
            if type(event) in _LOOKED_AT:
                return tuple(map(self._judged, events))
        return events

    def _judged(self, event: ModelEvent) -> ModelEvent:
        if isinstance(event, UsageReported):
            self._usage = self._usage.updated_by(event.usage)
        elif isinstance(event, ResponseFinished) and self._overflows(event.finish_reason):
            metadata = with_native_reasons(event.metadata, event.native_reasons)
            return ResponseFailed(self._failure(), metadata)
        return event

    def _overflows(self, reason: FinishReason) -> bool:
        tokens = self._usage.tokens
        prompt = tokens.prompt or 0
        if prompt > self._window:
            return True
        cut = reason is FinishReason.MAX_TOKENS and tokens.output == 0
        return cut and prompt >= self._window * _FULL

    def _failure(self) -> ProviderFailure:
        prompt = self._usage.tokens.prompt
        return ProviderFailure(
            kind=FailureKind.CONTEXT_LENGTH,
            message=f"the prompt had {prompt} tokens and does not fit the model's context window "
            f"of {self._window}; the provider answered all the same",
            tokens=prompt,
            token_limit=self._window,
        )
