"""Your own provider: an encoder and a decoder, both without I/O, and an endpoint.

The protocol is invented: a request is `{"say": [["user", "hi"], …]}`, and a response consists of
lines, each a JSON string; the last line is `null`. `HttpModel` adds HTTP, streaming and errors.
"""

import anyio
import msgspec

import agentkit_core as core
from agentkit_core import provider
from agentkit_core.testing import check_decoder, check_projection
from agentkit_loop import Agent
from agentkit_providers import Endpoint, HttpModel
from agentkit_providers.replay import Answer, ReplayServer

ANSWER = provider.PartId("answer")
CUT = core.ProviderFailure(kind=core.FailureKind.STREAM_CUT, message="no end mark", retryable=True)
BROKEN = core.ProviderFailure(kind=core.FailureKind.PROTOCOL, message="not a line of JSON")
VOICES = frozenset({core.ItemKind.USER, core.ItemKind.ASSISTANT})


class LinesProjection:
    def encode(self, request: core.ModelRequest) -> provider.WireRequest:
        target = provider.Target(provider="lines", api="lines", model=request.model, kinds=VOICES)
        lines = [(item.kind, item.text) for item in provider.sendable(request.items, target)]
        return provider.WireRequest(path="/say", body=core.to_json({"say": lines}))

    def decoder(self, request: core.ModelRequest) -> "LinesDecoder":
        return LinesDecoder(request.model)


class LinesDecoder:
    def __init__(self, model: str) -> None:
        self.rest, self.begun, self.over = b"", False, False
        self.started = provider.ResponseStarted(core.Provenance("lines", "lines", model))

    def feed(self, chunk: bytes) -> tuple[provider.ModelEvent, ...]:
        *lines, self.rest = (self.rest + chunk).split(b"\n")
        return tuple(event for line in lines if not self.over for event in self.read(line))

    def read(self, line: bytes) -> list[provider.ModelEvent]:
        try:
            word = msgspec.json.decode(line, type=str | None)
        except msgspec.DecodeError:
            self.over = True
            return [provider.ResponseFailed(BROKEN)]
        self.over = word is None
        events: list[provider.ModelEvent] = []
        if not self.begun:
            events += [self.started, provider.BeginPart(ANSWER, core.Text(""))]
            self.begun = True
        if word is None:
            return [*events, provider.ResponseFinished(core.FinishReason.COMPLETED)]
        return [*events, provider.AppendText(ANSWER, word)]

    def finish(self) -> tuple[provider.ModelEvent, ...]:
        cut, self.over = not self.over, True
        return (provider.ResponseFailed(CUT),) if cut else ()


projection = LinesProjection()
check_projection(projection, tools=(), streams=False)  # it has no tools, and always streams
check_decoder(
    lambda: projection.decoder(core.ModelRequest(model="m")), b'"Hello"\n" there"\nnull\n'
)

with ReplayServer([Answer.from_body('"Hello"\n" there"\nnull\n')]) as server:
    endpoint = Endpoint(name="lines", base_url=server.url, key_required=False)
    model = HttpModel("m", endpoint=endpoint, projection=projection)
    print(anyio.run(Agent(model=model, instructions="Be kind.").run, [core.Item.user("Hi")]).text)
