"""From the bytes of a response to model events.

A stream and a whole response are read alike: a whole response is a stream whose blocks begin
complete.
"""

from __future__ import annotations

from typing import Any

import msgspec

from agentkit_core import MetadataMap, ModelRequest, Provenance, ProviderFailure, Usage
from agentkit_core.provider import (
    AppendText,
    ModelEvent,
    ResponseFailed,
    ResponseFinished,
    UsageReported,
)
from agentkit_providers._protocol_kit._body_decoder import NOT_THIS_SHAPE, BodyDecoder
from agentkit_providers._protocol_kit._lenient_shapes import fields_of
from agentkit_providers._protocol_kit._lenient_values import text_or_empty
from agentkit_providers.anthropic_messages._blocks import OtherBlock
from agentkit_providers.anthropic_messages._common_events import READ_GROWTH, read_piece
from agentkit_providers.anthropic_messages._decode_parts import ResponseParts
from agentkit_providers.anthropic_messages._finish import failed_finish, finish_reason
from agentkit_providers.anthropic_messages._metadata_keys import (
    API,
    CONTAINER_KEY,
    CONTEXT_MANAGEMENT_KEY,
    FINISH_REASONS_KEY,
    STOP_DETAILS_KEY,
    STOP_SEQUENCE_KEY,
)
from agentkit_providers.anthropic_messages._quirks import Quirks
from agentkit_providers.anthropic_messages._usage import merge_report, parse_usage
from agentkit_providers.anthropic_messages._wire_events import (
    BLOCK_DELTAS,
    BLOCK_OF_DELTA,
    EVENT,
    MESSAGE,
    Delta,
    Event,
    Message,
)
from agentkit_providers.failures._classify import classify_error
from agentkit_providers.failures._stream_failures import cut_off, empty_response, find_error


class AnthropicMessagesDecoder(BodyDecoder):
    """Reads the body of one response; see `agentkit_core.provider.ResponseDecoder` for its laws.

    Args:
        request: The request.
        provider: Who answers.
        quirks: How the vendor differs from Anthropic.
    """

    sender = "Messages"

    def __init__(self, request: ModelRequest, provider: str, quirks: Quirks) -> None:
        super().__init__()
        self._model = request.model
        self._provider = provider
        self._quirks = quirks
        self._parts = ResponseParts(request.items)
        self._finish_words: list[str] = []  # the stop reasons
        self._report: dict[str, Any] = {}  # all usage reports, merged
        self._announced = False  # whether the server says which blocks there are
        self._unannounced: list[tuple[int, Delta]] = []  # deltas of blocks that never began
        self._usage: Usage | None = None
        self._has_total = False  # whether counts came that are not those of the beginning
        self._metadata: MetadataMap = {}

    def _take_common(self, payloads: list[bytes], at: int, out: list[ModelEvent]) -> int:
        blocks = self._parts.open
        if not blocks:
            return at
        last: AppendText | None = None
        pieces: list[str] = []
        try:
            for event in map(READ_GROWTH, payloads[at:] if at else payloads):
                block, piece = blocks.get(event.index), event.delta.piece
                if block is None or type(event.delta) is not block.grows_by:
                    break
                if piece:
                    pieces = block.pieces
                    pieces.append(piece)
                    last = AppendText(block.part_id, piece)
                    out.append(last)
                at += 1
        except NOT_THIS_SHAPE:
            self._chances -= 1
        if last is not None:
            self._repeats.learn(payloads[at - 1], last, pieces, read_piece)
        return at

    def _take_payload(self, payload: bytes, out: list[ModelEvent]) -> None:
        try:
            event = EVENT.decode(payload)
        except NOT_THIS_SHAPE:
            event = self._read_odd(payload, EVENT.type, out)
        if event is not None:
            self._take(event, payload, out)

    def _take_json(self, body: bytes, out: list[ModelEvent]) -> None:
        try:
            message = MESSAGE.decode(body)
        except NOT_THIS_SHAPE:
            message = self._read_odd(body, MESSAGE.type, out)
        if self._ended:
            return
        if message is None or message.error or not isinstance(message.content, list):
            error_body = find_error(body)
            failure = (
                empty_response("message") if error_body is None else classify_error(error_body)
            )
            self._fail(failure, out)
            return
        self._begin(message, out)
        for block in message.content:
            self._begin_block(0, block, out)
            self._parts.close(out)
        self._take_message_end(message, message.context_management)
        self._take_usage(message.usage, out, final=True)
        self._end(out)

    def _take_done(self, out: list[ModelEvent]) -> None:
        if self._finish_words:
            self._end(out)

    def _end_of_body(self, out: list[ModelEvent]) -> None:
        if self.is_complete:
            self._end(out)  # only the form of the end is missing
            return
        self._fail(cut_off(None if self._started else self._misfit), out)

    def _expect_surrogates(self) -> None:
        self._parts.expect_surrogates()

    def _take(self, event: Event, payload: bytes, out: list[ModelEvent]) -> None:
        kind = event.type
        if kind == "content_block_delta":
            delta, block = event.delta, self._parts.open.get(event.index or 0)
            if delta is None:
                return
            if block is None:
                if not self._announced:
                    self._unannounced.append((event.index or 0, delta))
            elif delta.type in BLOCK_DELTAS:
                block.grow(delta, out)
            elif isinstance(block, OtherBlock):
                block.merge(_delta_fields(payload))
        elif kind == "content_block_start":
            self._announced = True
            self._begin_block(event.index or 0, event.content_block, out)
        elif kind == "content_block_stop":
            self._parts.finish(event.index or 0, out)
        elif kind == "message_start":
            if isinstance(event.message, dict):
                self._begin(_message(event.message), out)
        elif kind == "message_delta":
            self._take_message_end(event.delta, event.context_management)
            if isinstance(event.usage, dict):
                self._has_total = True
            self._take_usage(event.usage, out, final=self.is_complete and self._has_total)
        elif kind == "message_stop":
            self._end(out)
        elif kind is None or kind.endswith("error"):
            error_body = find_error(payload)
            if error_body is not None:
                self._fail(classify_error(error_body), out)

    def _begin(self, message: Message, out: list[ModelEvent]) -> None:
        self._start(_text(message.id), _text(message.model), out)
        if self._sse is not None:
            self._take_usage(message.usage, out, final=False)

    def _start(self, response_id: str | None, model: str | None, out: list[ModelEvent]) -> None:
        """Report the start of the response with its id and model."""
        if self._started:
            self._origin.take_later(response_id, model)
        else:
            origin = Provenance(self._provider, API, self._model, response_id, model)
            self._started = True
            self._origin.report(origin, out)

    def _begin_block(self, index: int, block: Any, out: list[ModelEvent]) -> None:
        if isinstance(block, dict) and text_or_empty(block.get("type")):
            self._start(None, None, out)
            self._parts.begin(index, block, out)

    def _take_unannounced(self, out: list[ModelEvent]) -> None:
        """Take the deltas of blocks that never began, where the server announces none at all.

        Where it does, such deltas belong to nothing and are dropped.
        """
        if self._announced:
            return
        for index, delta in self._unannounced:
            kind = BLOCK_OF_DELTA.get(delta.type or "")
            if index not in self._parts.open and kind is not None:
                self._begin_block(index, {"type": kind}, out)
            block = self._parts.open.get(index)
            if block is not None:
                block.grow(delta, out)

    def _take_message_end(self, end: Delta | Message | None, context_management: Any) -> None:
        if end is not None:
            if end.stop_reason:
                self._finish_words.append(end.stop_reason)
                self.is_complete = True
            for key, value in (
                (STOP_SEQUENCE_KEY, end.stop_sequence),
                (STOP_DETAILS_KEY, end.stop_details),
                (CONTAINER_KEY, end.container),
            ):
                if value is not None:
                    self._metadata[key] = value
        if context_management is not None:
            self._metadata[CONTEXT_MANAGEMENT_KEY] = context_management

    def _take_usage(self, report: Any, out: list[ModelEvent], *, final: bool) -> None:
        merge_report(self._report, report)
        if tier := text_or_empty(self._report.get("service_tier")):
            self._metadata[f"{API}.service_tier"] = tier
        usage = parse_usage(self._report, self._quirks, final=final)
        if usage is not None and usage != self._usage:
            self._usage = usage
            out.append(UsageReported(usage))

    def _end(self, out: list[ModelEvent]) -> None:
        """End the response, as finished or as failed."""
        if not self._started and not self._unannounced:
            self._fail(empty_response("message"), out)
            return
        self._take_unannounced(out)
        word = self._finish_words[-1] if self._finish_words else ""
        failure = failed_finish(word)
        self._parts.close(out)
        if self._has_total:
            self._take_usage(None, out, final=True)
        if failure is not None:
            self._fail(failure, out)
            return
        self._ended = True
        reason = finish_reason(word, calls=self._parts.has_calls)
        out.append(
            ResponseFinished(reason, tuple(self._finish_words), self._metadata, self._origin.late)
        )

    def _fail(self, failure: ProviderFailure, out: list[ModelEvent]) -> None:
        self._ended = True
        metadata = dict(self._metadata)
        if self._finish_words:
            # Not the finish reasons of a response any more, but a hint to what went wrong.
            metadata[FINISH_REASONS_KEY] = list(self._finish_words)
        out.append(ResponseFailed(failure, metadata, self._origin.late))


def _message(value: dict[str, Any]) -> Message:
    """Read the head of a stream; of an odd one, its id, model and usage."""
    try:
        return msgspec.convert(value, Message)
    except msgspec.ValidationError:
        return Message(id=value.get("id"), model=value.get("model"), usage=value.get("usage"))


def _delta_fields(payload: bytes) -> dict[str, Any]:
    """All fields of a delta of unknown type."""
    delta = fields_of(payload).get("delta")
    known = delta if isinstance(delta, dict) else {}
    return {name: value for name, value in known.items() if name != "type"}


def _text(value: Any) -> str | None:
    return text_or_empty(value) or None
