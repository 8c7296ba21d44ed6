"""Where a response comes from, also where the server says it only after the first content."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from agentkit_core import Provenance
from agentkit_core.provider import ModelEvent, ResponseStarted
from agentkit_providers._protocol_kit._lenient_values import text_or_empty


class ResponseOrigin:
    """The id of a response and the name of its model; the first of each is valid."""

    __slots__ = ("_reported", "late")

    def __init__(self) -> None:
        self._reported: Provenance | None = None
        self.late: Provenance | None = None
        """What was reported with what came later; None where nothing came."""

    def report(self, origin: Provenance, out: list[ModelEvent]) -> None:
        """Report the start of the response."""
        self._reported = origin
        out.append(ResponseStarted(origin))

    def take_later(self, response_id: Any, model: Any) -> None:
        """Take an id and a model that come after the start."""
        known = self.late or self._reported
        if known is None:
            return
        late = replace(
            known,
            response_id=known.response_id or text_or_empty(response_id) or None,
            response_model=known.response_model or text_or_empty(model) or None,
        )
        if late != known:
            self.late = late
