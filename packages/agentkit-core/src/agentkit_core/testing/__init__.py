"""Checks for projections, decoders and sendable histories; they need no test framework.

A check raises `AssertionError`, which says which rule was broken, and for what input. The project
runs the same checks on its own providers.

    check_projection(MyProjection())
    check_decoder(lambda: MyProjection().decoder(request), recorded_body)
"""

from agentkit_core.testing._checks import (
    check_decoder,
    check_projection,
    check_sendable,
    decode_chunks,
)
from agentkit_core.testing._hard_transcripts import hard_transcripts

__all__ = [
    "check_decoder",
    "check_projection",
    "check_sendable",
    "decode_chunks",
    "hard_transcripts",
]
