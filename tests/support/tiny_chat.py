"""A provider of a stranger's: the smallest projection that streams, and answers in its words.

request   {"say": <the last text>, "stream": bool}
stream    data: {"text": …}    data: {"used": n}    data: {"error": …}    data: END
whole     {"text": …}
"""

import json

from agentkit_core import (
    FailureKind,
    FinishReason,
    ModelRequest,
    Provenance,
    ProviderFailure,
    Text,
    TokenUsage,
    Usage,
)
from agentkit_core.provider import (
    AppendText,
    BeginPart,
    ModelEvent,
    PartId,
    ResponseFailed,
    ResponseFinished,
    ResponseStarted,
    UsageReported,
    WireRequest,
)
from agentkit_providers.replay import Answer

PART = PartId("text")


def tiny_answer(*words: str) -> Answer:
    """Says the words and ends as it should."""
    return Answer.events(*({"text": word} for word in words), "END")


def unended_answer(*words: str) -> Answer:
    """Says the words and stops without an end mark."""
    return Answer.events(*({"text": word} for word in words))


class TinyChat:
    """Fits `agentkit_core.provider.Projection` and no more than that."""

    def encode(self, request: ModelRequest, /) -> WireRequest:
        said = request.items[-1].text if request.items else ""
        body = json.dumps({"say": said, "stream": request.streamed}).encode()
        return WireRequest(path="/tiny", body=body, metadata={"tiny.encoded": True})

    def decoder(self, request: ModelRequest, /) -> "TinyDecoder":
        return TinyDecoder(request)


class TinyDecoder:
    def __init__(self, request: ModelRequest) -> None:
        self._streamed = request.streamed
        self._model = request.model
        self._held = b""
        self._begun = False
        self._ended = False

    def feed(self, chunk: bytes, /) -> tuple[ModelEvent, ...]:
        self._held += chunk
        if not self._streamed:
            return ()
        *lines, self._held = self._held.split(b"\n")
        events: list[ModelEvent] = []
        for line in lines:
            if line.startswith(b"data: ") and not self._ended:
                events += self._event(line.removeprefix(b"data: "))
        return tuple(events)

    def finish(self) -> tuple[ModelEvent, ...]:
        if self._ended:
            return ()
        if not self._streamed and self._held:
            return (*self._event(self._held), *self._event(b"END"))
        return self._end(ResponseFailed(_failure(FailureKind.STREAM_CUT, "no END")))

    def _event(self, data: bytes) -> tuple[ModelEvent, ...]:
        if data == b"END":
            return self._end(ResponseFinished(FinishReason.COMPLETED))
        value = json.loads(data)
        if "error" in value:
            return self._end(ResponseFailed(_failure(FailureKind.SERVER, value["error"])))
        if "used" in value:
            tokens = TokenUsage(input=value["used"])
            return (UsageReported(Usage(tokens=tokens, requests=1, reported_requests=1)),)
        grown = AppendText(PART, value["text"])
        if self._begun:
            return (grown,)
        self._begun = True
        started = ResponseStarted(Provenance("tiny", "tiny_chat", self._model))
        return (started, BeginPart(PART, Text("")), grown)

    def _end(self, last: ModelEvent) -> tuple[ModelEvent, ...]:
        self._ended = True
        return (last,)


def _failure(kind: FailureKind, message: str) -> ProviderFailure:
    return ProviderFailure(kind=kind, message=message, retryable=True)
