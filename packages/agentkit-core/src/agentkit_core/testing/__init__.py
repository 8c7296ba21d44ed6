"""Checks for projections, decoders and anything that makes histories; no test framework needed.

Each check raises `AssertionError` that says which law broke and for what input. They are the
ones that the project runs on its own providers.

    check_projection(MyProjection())
    check_decoder(lambda: MyProjection().decoder(request), recorded_body)
"""

from agentkit_core.testing._checks import (
    check_decoder,
    check_projection,
    check_sendable,
    decoded,
)
from agentkit_core.testing._hard_transcripts import hard_transcripts

__all__ = [
    "check_decoder",
    "check_projection",
    "check_sendable",
    "decoded",
    "hard_transcripts",
]
