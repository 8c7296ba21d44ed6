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
        lambda: projection.decoder(request),
        body,
        cuts=cuts_of(body),
        model=request.model,
        end_mark=end_mark,
    )


def cuts_of(body: bytes) -> list[int]:
    """Where a body is cut in two: around each end of a line, and at every ninth byte.

    `read_body` reads hundreds of bodies, and each is also fed byte by byte, which cuts it
    everywhere. `tests/providers/test_every_cut.py` cuts in two at every position.
    """
    ends = [at for at, byte in enumerate(body) if byte in b"\r\n"]
    around = {at + near for at in ends for near in (-1, 0, 1, 2)}
    # Bodies differ in length, so another remainder is tried with each.
    spread = {*range(len(body) % 9, len(body) + 1, 9)}
    return sorted(cut for cut in around | spread | {0, len(body)} if 0 <= cut <= len(body))


def events_of(
    projection: Projection, body: bytes | Sequence[bytes], request: ModelRequest
) -> tuple[ModelEvent, ...]:
    """The events of a body, or of its pieces."""
    pieces = [body] if isinstance(body, bytes) else body
    return decode_chunks(projection.decoder(request), pieces)
