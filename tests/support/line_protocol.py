"""A small protocol of lines, and a decoder that reads it as it should be read.

+text    the text grows
end      the response ends
"""

from agentkit_core import FailureKind, FinishReason, Provenance, ProviderFailure, Text
from agentkit_core.provider import (
    AppendText,
    BeginPart,
    ModelEvent,
    PartId,
    ResponseFailed,
    ResponseFinished,
    ResponseStarted,
)

P = PartId("p")
CUT = ResponseFailed(ProviderFailure(kind=FailureKind.STREAM_CUT, message="cut off"))
STARTED = ResponseStarted(Provenance("here", "an_api", "a-model"))
BODY = "+hé\n+🙈 you\nend\n".encode()


class Lines:
    """Reads a small protocol as it should be read: `+text` grows the text, `end` ends."""

    def __init__(self) -> None:
        self.held = b""
        self.begun = self.ended = self.closed = False

    def feed(self, chunk: bytes, /) -> tuple[ModelEvent, ...]:
        *lines, self.held = (self.held + chunk).split(b"\n")
        return tuple(event for line in lines for event in self.line(line.decode()))

    def line(self, line: str) -> list[ModelEvent]:
        if self.ended:
            return []
        if line == "end":
            self.ended = True
            return self.end()
        begin: list[ModelEvent] = [] if self.begun else [STARTED, BeginPart(P, Text(""))]
        self.begun = True
        return [*begin, AppendText(P, line.removeprefix("+"))]

    def end(self) -> list[ModelEvent]:
        return [ResponseFinished(FinishReason.COMPLETED)]

    def finish(self) -> tuple[ModelEvent, ...]:
        ended = self.ended
        self.ended = True
        return () if ended else (CUT,)
