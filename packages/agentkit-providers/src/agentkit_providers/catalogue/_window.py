"""A decoder that knows the model's context window, and detects requests that did not fit it.

Some servers cut a prompt that is too long, and respond as if nothing had happened. The counts show
it: the prompt is larger than the window, or it fills the window and leaves no room for a response.
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
from agentkit_providers._protocol_kit._completion import is_complete

Events = tuple[ModelEvent, ...]

_RELEVANT: Final = frozenset({UsageReported, ResponseFinished})
_FULL: Final = 0.99
"""From which share of the window on a prompt without a response has filled the window."""


class WindowDecoder:
    """Decodes like another decoder, but a response to a prompt that did not fit is a failure.

    Args:
        decoder: Decodes the response.
        context_window: How many tokens prompt and response may have together.
    """

    def __init__(self, decoder: ResponseDecoder, context_window: int) -> None:
        self._decoder = decoder
        self._window = context_window
        self._usage = Usage()

    @property
    def is_complete(self) -> bool:
        """Whether all of the response has come; see `CompletionAware`."""
        return is_complete(self._decoder)

    def feed(self, chunk: bytes, /) -> Events:
        """Take the next bytes; see `agentkit_core.provider.ResponseDecoder`."""
        return self._check_all(self._decoder.feed(chunk))

    def finish(self) -> Events:
        """Take note that the body is over; see `agentkit_core.provider.ResponseDecoder`."""
        return self._check_all(self._decoder.finish())

    def _check_all(self, events: Events) -> Events:
        for event in events:
            if type(event) in _RELEVANT:
                return tuple(map(self._check, events))
        return events

    def _check(self, event: ModelEvent) -> ModelEvent:
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
            f"of {self._window}, although the provider responded; shorten the prompt",
            tokens=prompt,
            token_limit=self._window,
        )
