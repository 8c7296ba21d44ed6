"""From the bytes of an answer to model events.

A stream and a whole answer take the same way: a whole answer is a stream whose blocks begin with
all they have. What the body is shows in its first byte, whatever was asked for.
"""

from __future__ import annotations

import json
from typing import Any, Final

import msgspec

from agentkit_core import MetadataMap, ModelRequest, Provenance, ProviderFailure, Usage
from agentkit_core.provider import (
    ModelEvent,
    PartId,
    ResponseFailed,
    ResponseFinished,
    ResponseStarted,
    UsageReported,
)
from agentkit_providers._protocol_kit._body_decoder import DONE, TRUNCATED, BodyDecoder
from agentkit_providers.anthropic_messages._blocks import Block, OtherBlock, open_block
from agentkit_providers.anthropic_messages._finish import (
    failed_finish,
    finish_reason,
    without_message,
)
from agentkit_providers.anthropic_messages._metadata_keys import (
    API,
    CONTAINER_KEY,
    CONTEXT_MANAGEMENT_KEY,
    FINISH_REASONS_KEY,
    STOP_DETAILS_KEY,
    STOP_SEQUENCE_KEY,
)
from agentkit_providers.anthropic_messages._quirks import Quirks
from agentkit_providers.anthropic_messages._usage import updated, usage_of
from agentkit_providers.anthropic_messages._wire_events import (
    BLOCK_DELTAS,
    EVENT,
    MESSAGE,
    Delta,
    Event,
    Message,
)
from agentkit_providers.failures._classify import classify_error
from agentkit_providers.failures._stream_failures import cut_off, unreadable

_SENDER: Final = "Messages"
_TYPE_OF_DELTA: Final = {
    "text_delta": "text",
    "citations_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "thinking",
}
"""Which block a delta opens whose block never began."""


class AnthropicMessagesDecoder(BodyDecoder):
    """Reads the body of one answer; see `agentkit_core.provider.ResponseDecoder` for its laws.

    Args:
        request: What was asked.
        provider: Who answers.
        quirks: In what way of its own.
    """

    def __init__(self, request: ModelRequest, provider: str, quirks: Quirks) -> None:
        super().__init__()
        self._model = request.model
        self._provider = provider
        self._currency = quirks.cost_currency
        self._careful = False
        self._started = False
        self._parts = 0
        self._open: dict[int, Block] = {}  # by index, in the order in which they began
        self._call_ids: set[str] = set()
        self._words: list[str] = []  # the stop reasons
        self._counts: dict[str, Any] = {}
        self._told: Usage | None = None
        self._metadata: MetadataMap = {}

    def _end_of_body(self, out: list[ModelEvent]) -> None:
        self._fail(cut_off(), out)

    def _take_payloads(self, payloads: list[bytes], out: list[ModelEvent]) -> None:
        for payload in payloads:
            try:
                event = EVENT.decode(payload)
            except (msgspec.DecodeError, RecursionError):
                event = self._read_odd(payload, EVENT.type, out)
            if event is not None:
                self._take(event, payload, out)
            if self._ended:
                return

    def _take_whole(self, body: bytes, out: list[ModelEvent]) -> None:
        try:
            message = MESSAGE.decode(body)
        except (msgspec.DecodeError, RecursionError) as error:
            if str(error) == TRUNCATED:
                self._fail(cut_off(), out)
                return
            message = self._read_odd(body, MESSAGE.type, out)
        if self._ended:
            return
        if message is None or message.error or not isinstance(message.content, list):
            told = _error_in(body)
            self._fail(without_message() if told is None else classify_error(told), out)
            return
        self._begin(message, out)
        for block in message.content:
            self._begin_block(len(self._open), block, out)
            self._close_blocks(out)
        self._take_message_end(message, message.context_management)
        self._take_usage(message.usage, out, final=True)
        self._end(out)

    def _read_odd(self, payload: bytes, shape: Any, out: list[ModelEvent]) -> Any:
        """Read what the quick way refuses: the end mark of gateways, odd JSON, no JSON at all."""
        if payload.strip() == DONE:
            if self._words:
                self._end(out)
            return None
        if not payload.strip():
            return None
        try:
            # Lets by what msgspec refuses: halves of surrogate pairs, NaN, raw control
            # characters, bytes that are no UTF-8.
            value = json.loads(payload.decode("utf-8", "replace"), strict=False)
        except (ValueError, RecursionError) as error:
            self._fail(unreadable(payload, error, _SENDER), out)
            return None
        self._careful = True
        for block in self._open.values():
            block.careful = True
        try:
            return msgspec.convert(value, shape)
        except (msgspec.ValidationError, RecursionError) as error:
            if isinstance(value, dict) and value.get("error"):
                self._fail(classify_error(value), out)
            else:
                self._fail(unreadable(payload, error, _SENDER), out)
            return None

    def _take(self, event: Event, payload: bytes, out: list[ModelEvent]) -> None:
        kind = event.type
        if kind == "content_block_delta":
            delta, block = event.delta, self._open.get(event.index or 0)
            if delta is None:
                return
            if block is None:
                block = self._opened_by(delta, event.index or 0, out)
            if block is not None:
                if delta.type in BLOCK_DELTAS:
                    block.grow(delta, out)
                elif isinstance(block, OtherBlock):
                    block.gain(_fields_of_delta(payload))
        elif kind == "content_block_start":
            self._begin_block(event.index or 0, event.content_block, out)
        elif kind == "content_block_stop":
            ended = self._open.pop(event.index or 0, None)
            if ended is not None:
                ended.close(out)
        elif kind == "message_start":
            if isinstance(event.message, dict):
                self._begin(_message(event.message), out)
        elif kind == "message_delta":
            self._take_message_end(event.delta, event.context_management)
            self._take_usage(event.usage, out, final=True)
        elif kind == "message_stop":
            self._end(out)
        elif kind is None or kind.endswith("error") or event.error:
            told = _error_in(payload)
            if told is not None:
                self._fail(classify_error(told), out)

    def _begin(self, message: Message, out: list[ModelEvent]) -> None:
        self._start(_text(message.id), _text(message.model), out)
        if self._sse is not None:
            self._take_usage(message.usage, out, final=False)

    def _start(self, response_id: str | None, model: str | None, out: list[ModelEvent]) -> None:
        if self._started:
            return
        self._started = True
        provenance = Provenance(self._provider, API, self._model, response_id, model)
        out.append(ResponseStarted(provenance))

    def _begin_block(self, index: int, block: Any, out: list[ModelEvent]) -> None:
        if not isinstance(block, dict) or not _text(block.get("type")):
            return
        self._start(None, None, out)
        before = self._open.pop(index, None)
        if before is not None:
            before.close(out)
        part_id = PartId(f"part-{self._parts}")
        self._parts += 1
        opened = open_block(block, part_id, self._call_id, out)
        if opened is not None:
            opened.careful = self._careful
            self._open[index] = opened

    def _opened_by(self, delta: Delta, index: int, out: list[ModelEvent]) -> Block | None:
        kind = _TYPE_OF_DELTA.get(delta.type or "")
        if kind is not None:
            self._begin_block(index, {"type": kind}, out)
        return self._open.get(index)

    def _call_id(self, given: Any) -> str:
        """Give a call its id; one that is missing, or was there before, is made up.

        Made-up ids are unique in the answer only, whoever keeps a transcript makes them unique
        there.
        """
        call_id, number = _text(given) or "", len(self._call_ids)
        while not call_id or call_id in self._call_ids:
            call_id, number = f"call_{number}", number + 1
        self._call_ids.add(call_id)
        return call_id

    def _close_blocks(self, out: list[ModelEvent]) -> None:
        for block in self._open.values():
            block.close(out)
        self._open.clear()

    def _take_message_end(self, end: Delta | Message | None, context_management: Any) -> None:
        if end is not None:
            if end.stop_reason:
                self._words.append(end.stop_reason)
            for key, found in (
                (STOP_SEQUENCE_KEY, end.stop_sequence),
                (STOP_DETAILS_KEY, end.stop_details),
                (CONTAINER_KEY, end.container),
            ):
                if found is not None:
                    self._metadata[key] = found
        if context_management is not None:
            self._metadata[CONTEXT_MANAGEMENT_KEY] = context_management

    def _take_usage(self, report: Any, out: list[ModelEvent], *, final: bool) -> None:
        self._counts = updated(self._counts, report)
        usage = usage_of(self._counts, final=final, currency=self._currency)
        if usage is not None and usage != self._told:
            self._told = usage
            out.append(UsageReported(usage))

    def _end(self, out: list[ModelEvent]) -> None:
        if not self._started:
            self._fail(without_message(), out)
            return
        word = self._words[-1] if self._words else ""
        failure = failed_finish(word)
        self._close_blocks(out)
        if failure is not None:
            self._fail(failure, out)
            return
        self._ended = True
        reason = finish_reason(word, calls=bool(self._call_ids))
        out.append(ResponseFinished(reason, tuple(self._words), self._metadata))

    def _fail(self, failure: ProviderFailure, out: list[ModelEvent]) -> None:
        self._ended = True
        metadata = dict(self._metadata)
        if self._words:
            # No answer's own words any more, but a hint to what went wrong.
            metadata[FINISH_REASONS_KEY] = list(self._words)
        out.append(ResponseFailed(failure, metadata))


def _message(value: dict[str, Any]) -> Message:
    """The head of a stream; of one that is odd, what can be read of it."""
    try:
        return msgspec.convert(value, Message)
    except msgspec.ValidationError:
        return Message(id=value.get("id"), model=value.get("model"), usage=value.get("usage"))


def _fields_of_delta(payload: bytes) -> dict[str, Any]:
    """The fields of a delta whose type is not known."""
    value = json.loads(payload.decode("utf-8", "replace"), strict=False)
    return {name: one for name, one in value["delta"].items() if name != "type"}


def _error_in(payload: bytes) -> Any:
    """The error that an event or a body is, whatever its shape; None where it is none."""
    try:
        value = json.loads(payload.decode("utf-8", "replace"), strict=False)
    except (ValueError, RecursionError):
        return None
    if isinstance(value, dict) and (
        value.get("error")
        or value.get("type") == "error"
        or value.get("detail")
        or isinstance(value.get("message"), str)
    ):
        return value
    return None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
