"""Bodies of responses and what they mean, for the tests of every protocol's decoder."""

from __future__ import annotations

from collections.abc import Sequence

from agentkit_core import ModelRequest, ModelResponse
from agentkit_core.provider import ModelEvent, Projection
from agentkit_core.testing import check_decoder, decode_chunks


def read_body(
    projection: Projection, body: bytes, request: ModelRequest, *, end_mark: bool = True
) -> ModelResponse:
    """Decode a body; the laws of decoders are checked on the way."""
    return check_decoder(
        lambda: projection.decoder(request), body, model=request.model, end_mark=end_mark
    )


def events_of(
    projection: Projection, body: bytes | Sequence[bytes], request: ModelRequest
) -> tuple[ModelEvent, ...]:
    """The events of a body, or of its pieces."""
    pieces = [body] if isinstance(body, bytes) else body
    return decode_chunks(projection.decoder(request), pieces)
