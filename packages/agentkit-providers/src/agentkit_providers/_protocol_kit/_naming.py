"""An encoder and a decoder that rename tools and arguments on the way to a vendor, and back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import is_
from typing import Final

from msgspec.structs import replace

from agentkit_core import Item, JsonValue, ModelRequest, ToolCall, ToolSpec, to_json
from agentkit_core.provider import (
    AppendText,
    BeginPart,
    CommitPart,
    ModelEvent,
    PartId,
    ReplaceStructured,
    ResponseDecoder,
    ResponseFailed,
    ResponseFinished,
    WireRequest,
)
from agentkit_providers._protocol_kit._completion import is_complete
from agentkit_providers._protocol_kit._encoded_request import EncodedRequest, PieceEncoder
from agentkit_providers._protocol_kit._wire_names import Names, WireNames, renamed

_ENDS: Final = (ResponseFinished, ResponseFailed)


class NamingEncoder:
    """Writes the requests of one conversation with names that the vendor takes.

    Args:
        encoder: Writes requests whose names the vendor takes.
        names_of: Finds the names that the vendor refuses; None where it takes all.
        changes_key: The protocol's metadata key for changes of requests.
    """

    __slots__ = (
        "_changes_key",
        "_encoder",
        "_items",
        "_names",
        "_names_of",
        "_sent",
        "_tools",
    )

    def __init__(
        self,
        encoder: PieceEncoder,
        names_of: Callable[[ModelRequest], WireNames | None],
        changes_key: str,
    ) -> None:
        self._encoder = encoder
        self._names_of = names_of
        self._changes_key = changes_key
        self._names: WireNames | None = None
        self._items: Sequence[Item] = ()
        """The items of the last request; and below, the same items as they were sent. Equal ones
        would do, but encoders keep what they wrote of the same ones."""
        self._sent: Sequence[Item] = ()
        self._tools: tuple[tuple[ToolSpec, ...], tuple[ToolSpec, ...]] = ((), ())
        """The tools of the last request, and as they were sent."""

    def encode(self, request: ModelRequest, /) -> WireRequest:
        """Write a request; see `agentkit_core.provider.Projection`.

        Raises:
            UnsupportedContent: The request requires something that the vendor cannot do.
        """
        return self.encode_in_pieces(request).joined()

    def encode_in_pieces(self, request: ModelRequest, /) -> EncodedRequest:
        """Write a request, and leave its body in pieces; see `encode`."""
        names = self._names_of(request)
        if names is None:
            return self._encoder.encode_in_pieces(request)
        if names != self._names:
            self._names, self._tools = names, ((), ())
            self._items = ()
        if self._tools[0] is not request.tools:
            self._tools = request.tools, names.specs(request.tools)
        sent = names.request(request, self._renamed(request.items, names), self._tools[1])
        encoded = self._encoder.encode_in_pieces(sent)
        noted = encoded.metadata.get(self._changes_key)
        changes: list[JsonValue] = [*names.notes(), *(noted if isinstance(noted, list) else ())]
        return replace(encoded, metadata={**encoded.metadata, self._changes_key: changes})

    def _renamed(self, items: Sequence[Item], names: WireNames) -> Sequence[Item]:
        known = len(self._items)
        if known > len(items) or not all(map(is_, self._items, items)):
            known = 0
        self._sent = [*self._sent[:known], *map(names.item, items[known:])]
        self._items = tuple(items)
        return self._sent


class NamingDecoder:
    """Decodes like another decoder, and gives calls the names that the request has.

    The arguments of a call with renamed arguments come in one piece, at its end.

    Args:
        decoder: Decodes the response, with the names that were sent.
        names: How the request was renamed.
    """

    def __init__(self, decoder: ResponseDecoder, names: WireNames) -> None:
        self._decoder = decoder
        self._tools = {sent: name for name, sent in names.tools.items()}
        self._arguments: dict[str, Names] = {
            tool: {sent: name for name, sent in arguments.items()}
            for tool, arguments in names.arguments.items()
        }
        self._held: dict[PartId, list[str]] = {}
        """The arguments, as they were sent, of open calls with renamed arguments."""
        self._open: dict[PartId, str] = {}
        """The names of the tools of these calls."""

    @property
    def is_complete(self) -> bool:
        """Whether all of the response has come; see `CompletionAware`."""
        return is_complete(self._decoder)

    def feed(self, chunk: bytes, /) -> tuple[ModelEvent, ...]:
        """Take the next bytes; see `agentkit_core.provider.ResponseDecoder`."""
        return self._restored(self._decoder.feed(chunk))

    def finish(self) -> tuple[ModelEvent, ...]:
        """Take note that the body is over; see `agentkit_core.provider.ResponseDecoder`."""
        return self._restored(self._decoder.finish())

    def _restored(self, events: tuple[ModelEvent, ...]) -> tuple[ModelEvent, ...]:
        out: list[ModelEvent] = []
        for event in events:
            match event:
                case BeginPart(part_id=part_id, part=ToolCall() as call):
                    call = self._call(call)
                    if call.name in self._arguments:
                        self._held[part_id], self._open[part_id] = [], call.name
                    out.append(BeginPart(part_id, call))
                case AppendText(part_id=part_id, chunk=chunk) if part_id in self._held:
                    self._held[part_id].append(chunk)
                case ReplaceStructured(part_id=part_id, value=dict() as value) if (
                    part_id in self._held
                ):
                    self._held[part_id].clear()
                    names = self._arguments[self._open[part_id]]
                    out.append(ReplaceStructured(part_id, renamed(value, names)))
                case CommitPart(part=ToolCall() as call, part_id=ended):
                    call = self._call(call)
                    if ended is not None and self._held.pop(ended, []):
                        out.append(AppendText(ended, _text(call)))
                    out.append(CommitPart(call, ended))
                case _:
                    if isinstance(event, _ENDS):
                        self._release(out)
                    out.append(event)
        return tuple(out)

    def _release(self, out: list[ModelEvent]) -> None:
        """Give out the arguments of calls that did not end: their names cannot be told apart."""
        out += [AppendText(part_id, "".join(held)) for part_id, held in self._held.items() if held]
        self._held.clear()

    def _call(self, call: ToolCall) -> ToolCall:
        name = self._tools.get(call.name, call.name)
        arguments = renamed(call.input, self._arguments.get(name, {}))
        return replace(call, name=name, input=arguments)


def _text(call: ToolCall) -> str:
    return call.raw_input if call.raw_input is not None else to_json(call.input).decode()
