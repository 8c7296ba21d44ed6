"""Whether a response is complete although its body is not over."""

from __future__ import annotations

from typing import Protocol, runtime_checkable


@runtime_checkable
class CompletionAware(Protocol):
    """A decoder that knows when all has come that matters, so that what is missing is only form."""

    @property
    def is_complete(self) -> bool:
        """Whether the final finish reason has come."""
        ...


def is_complete(decoder: object) -> bool:
    """Whether a decoder says that its response is complete; false for decoders that do not say."""
    return isinstance(decoder, CompletionAware) and decoder.is_complete
