"""Checks for projections, decoders and sendable histories; they need no test framework.

A check raises `AssertionError`, which says which rule was broken, and for what input. The project
runs the same checks on its own providers.

    check_projection(MyProjection())
    check_decoder(lambda: MyProjection().decoder(request), recorded_body)
"""

from agentkit_core.testing._decoder_checks import check_decoder, check_response, decode_chunks
from agentkit_core.testing._hard_transcripts import hard_transcripts
from agentkit_core.testing._projection_checks import check_origin, check_projection
from agentkit_core.testing._sendable_checks import check_sendable

__all__ = [
    "check_decoder",
    "check_origin",
    "check_projection",
    "check_response",
    "check_sendable",
    "decode_chunks",
    "hard_transcripts",
]
