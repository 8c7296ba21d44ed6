"""From the bytes of a response to model events.

A stream and a whole response are read alike: the object that ends a stream is the whole response,
and output items in it that were not streamed are read from there.
"""

from __future__ import annotations

from typing import Any

import msgspec

from agentkit_core import MetadataMap, ModelRequest, Provenance, ProviderFailure, to_json
from agentkit_core.json import decode_json
from agentkit_core.provider import (
    AppendText,
    ModelEvent,
    ResponseFailed,
    ResponseFinished,
    UsageReported,
)
from agentkit_providers._framing._lenient_json import read_leniently
from agentkit_providers._protocol_kit._body_decoder import NOT_THIS_SHAPE, BodyDecoder
from agentkit_providers.failures._classify import classify_error
from agentkit_providers.failures._stream_failures import cut_off, empty_response
from agentkit_providers.openai_responses._common_events import READ_GROWTH
from agentkit_providers.openai_responses._decode_parts import ResponseParts
from agentkit_providers.openai_responses._event_handlers import HANDLERS, Handler, is_early
from agentkit_providers.openai_responses._finish import (
    awaited_item,
    error_event_failure,
    failed_finish,
    finish_reason,
    is_growing,
)
from agentkit_providers.openai_responses._metadata_keys import API, AWAITED_KEY, FINISH_REASONS_KEY
from agentkit_providers.openai_responses._quirks import Quirks
from agentkit_providers.openai_responses._usage import parse_usage
from agentkit_providers.openai_responses._wire_events import (
    BEGINNINGS,
    EVENT,
    STATUS_OF,
    UNFINISHED,
    WHOLE,
    Event,
    Response,
    Whole,
)


class OpenAIResponsesDecoder(BodyDecoder):
    """Reads the body of one response; see `agentkit_core.provider.ResponseDecoder` for its laws.

    Args:
        request: The request.
        provider: Who answers.
        quirks: How the vendor differs from OpenAI.
    """

    sender = "Responses"

    def __init__(self, request: ModelRequest, provider: str, quirks: Quirks) -> None:
        super().__init__()
        self._model = request.model
        self._provider = provider
        self._quirks = quirks
        self._is_flowing = False  # started, and no error came
        self._error: ProviderFailure | None = None  # from an event; the last object may say more
        self._usage: dict[str, Any] | None = None
        self._metadata: MetadataMap = {}
        self._early: list[tuple[Handler, Event]] = []  # deltas of items that nothing announced
        self._parts = ResponseParts(request.items, waits_for_secrets=quirks.encrypted_reasoning)

    def _take_common(self, payloads: list[bytes], at: int, out: list[ModelEvent]) -> int:
        if not self._is_flowing:
            return at
        find = self._parts.growing
        try:
            for event in map(READ_GROWTH, payloads[at:] if at else payloads):
                growing, piece = find(event), event.piece
                if growing is None:
                    break
                if piece:
                    growing.pieces.append(piece)
                    out.append(AppendText(growing.part_id, piece))
                at += 1
        except NOT_THIS_SHAPE:
            self._chances -= 1
        return at

    def _take_payload(self, payload: bytes, out: list[ModelEvent]) -> None:
        try:
            event = EVENT.decode(payload)
        except NOT_THIS_SHAPE:
            event = self._read_odd(payload, Event, out)
        if event is not None:
            self._take(event, payload, out)

    def _take_json(self, body: bytes, out: list[ModelEvent]) -> None:
        whole: Whole | None
        try:
            whole = WHOLE.decode(body)
        except NOT_THIS_SHAPE:
            whole = self._read_odd(body, Whole, out)
        if self._ended:
            return
        if whole is not None and (whole.output is not None or isinstance(whole.status, str)):
            self._start(whole, out)
            self._end(whole, "failed" if whole.error else "completed", out)
        elif whole is not None and (whole.error or whole.detail or whole.message):
            self._fail(classify_error(read_leniently(body)), out)
        else:
            self._fail(empty_response("output"), out)

    def _take_done(self, out: list[ModelEvent]) -> None:
        self._fail(self._error or cut_off(None if self._started else self._misfit), out)

    def _end_of_body(self, out: list[ModelEvent]) -> None:
        self._fail(self._error or cut_off(None if self._started else self._misfit), out)

    def _convert(self, value: Any, shape: Any) -> Any:
        event = msgspec.convert(_without_surrogates(value), shape)
        if isinstance(event, Event) and isinstance(value.get("delta"), str):
            # A half of a surrogate pair stays: the next delta may bring the other half.
            event.delta = value["delta"]
        return event

    def _expect_surrogates(self) -> None:
        self._parts.has_surrogates = True

    def _take(self, event: Event, payload: bytes, out: list[ModelEvent]) -> None:
        kind = event.type or ""
        if self._error is not None and kind != "response.failed":
            self._fail(self._error, out)
            return
        if kind == "error" or (not kind and (event.error or event.detail or event.message)):
            # A `response.failed` may follow, which has the usage.
            self._error = error_event_failure(read_leniently(payload))
            self._is_flowing = False
            return
        if event.response is not None and (kind in STATUS_OF or kind in BEGINNINGS):
            self._start(event.response, out)
            if kind in STATUS_OF:
                self._end(event.response, STATUS_OF[kind], out)
                return
            self._take_usage(event.response.usage, out, final=False)
            self._take_service_tier(event.response)
        handle = HANDLERS.get(kind)
        if handle is not None:
            if not self._started:
                self._start(Response(), out)
            if is_early(event, self._parts):
                self._early.append((handle, event))
            else:
                handle(self._parts, event, out)

    def _take_early(self, out: list[ModelEvent]) -> None:
        """Take the deltas that no item was announced for, where the server announces none."""
        early, self._early = self._early, []
        for handle, event in early:
            handle(self._parts, event, out)

    def _start(self, response: Response, out: list[ModelEvent]) -> None:
        """Report the start of the response with its id and model."""
        if self._started:
            self._origin.take_later(response.id, response.model)
            return
        self._is_flowing = True
        response_id, model = (
            value if isinstance(value, str) and value else None
            for value in (response.id, response.model)
        )
        origin = Provenance(self._provider, API, self._model, response_id, model)
        self._started = True
        self._origin.report(origin, out)

    def _take_service_tier(self, response: Response) -> None:
        if isinstance(response.service_tier, str) and response.service_tier:
            self._metadata[f"{API}.service_tier"] = response.service_tier

    def _take_usage(self, report: Any, out: list[ModelEvent], *, final: bool) -> None:
        if not isinstance(report, dict) or (report == self._usage and not final):
            return
        usage = parse_usage(report, self._quirks, final=final)
        if usage is not None:
            self._usage = report
            out.append(UsageReported(usage))

    def _end(self, response: Response, event_status: str, out: list[ModelEvent]) -> None:
        """End the response as its last object says.

        Args:
            response: The last object.
            event_status: The status that the event's name stands for. It is used where the object
                has no status, and in a stream also where the object's status is one of a response
                that is still growing, as some servers send.
            out: Gets the events.
        """
        status = response.status if isinstance(response.status, str) else ""
        if not status or (status in UNFINISHED and self._sse is not None):
            status = event_status
        self._take_usage(response.usage, out, final=True)
        self._take_service_tier(response)
        for name in ("moderation", "content_filters"):
            if value := getattr(response, name):
                self._metadata[f"{API}.{name}"] = value
        failure = failed_finish(status, response.error)
        if failure is not None:
            self._metadata[FINISH_REASONS_KEY] = [status]
            self._fail(self._error or failure, out)
            return
        parts = self._parts
        self._take_early(out)
        parts.close(response.output, out)
        incomplete = response.incomplete_details
        detail = incomplete.get("reason") if isinstance(incomplete, dict) else None
        detail = detail if isinstance(detail, str) else ""
        self._ended = True
        item = awaited_item(parts.raw_items)
        awaited = status if is_growing(status) else item
        if awaited is not None:
            self._metadata[AWAITED_KEY] = awaited
        calls = parts.has_calls or item is not None
        reason = finish_reason(status, detail, calls=calls, refused=parts.refused)
        words = (detail, status) if detail else (status,)
        out.append(ResponseFinished(reason, words, self._metadata, self._origin.late))

    def _fail(self, failure: ProviderFailure, out: list[ModelEvent]) -> None:
        self._ended = True
        self._take_early(out)
        out.append(ResponseFailed(failure, self._metadata, self._origin.late))


def _without_surrogates(value: Any) -> Any:
    """The same value without halves of surrogate pairs.

    Raises:
        ValueError: The value cannot be written as JSON.
    """
    try:
        return decode_json(to_json(value))
    except TypeError as error:
        raise ValueError(str(error)) from error
