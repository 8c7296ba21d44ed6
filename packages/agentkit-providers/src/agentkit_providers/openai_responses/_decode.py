"""From the bytes of an answer to model events.

A stream and a whole answer take the same way: the object that ends a stream is the whole answer,
and what it names that was not streamed is taken from it. What the body is shows in its first byte,
whatever was asked for.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec

from agentkit_core import MetadataMap, ModelRequest, Provenance, ProviderFailure, to_json
from agentkit_core.json import decode_json
from agentkit_core.provider import (
    ModelEvent,
    ResponseFailed,
    ResponseFinished,
    ResponseStarted,
    UsageReported,
)
from agentkit_providers._protocol_kit._body_decoder import DONE, TRUNCATED, BodyDecoder
from agentkit_providers.failures._classify import classify_error
from agentkit_providers.failures._stream_failures import cut_off, unreadable
from agentkit_providers.openai_responses._decode_parts import Answer
from agentkit_providers.openai_responses._event_handlers import HANDLERS
from agentkit_providers.openai_responses._finish import (
    SENDER,
    failed_status,
    failure_of,
    finish_reason,
    in_band,
    without_output,
)
from agentkit_providers.openai_responses._metadata_keys import API, FINISH_REASONS_KEY
from agentkit_providers.openai_responses._quirks import Quirks
from agentkit_providers.openai_responses._usage import usage_of
from agentkit_providers.openai_responses._wire_events import (
    EVENT,
    STATUS_OF,
    TEXT_DELTA,
    UNFINISHED,
    WHOLE,
    Event,
    Response,
    Whole,
)


class OpenAIResponsesDecoder(BodyDecoder):
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
        self._quirks = quirks
        self._started = False
        self._flows = False  # whether it has started and no error came
        self._error: ProviderFailure | None = None  # told of by an event; the end may say more
        self._usage: dict[str, Any] | None = None
        self._metadata: MetadataMap = {}
        self._answer = Answer(late_secrets=quirks.encrypted_reasoning)

    def _end_of_body(self, out: list[ModelEvent]) -> None:
        self._fail(self._error or cut_off(), out)

    def _take_payloads(self, payloads: list[bytes], out: list[ModelEvent]) -> None:
        decode, answer = EVENT.decode, self._answer
        for payload in payloads:
            try:
                event = decode(payload)
            except (msgspec.DecodeError, RecursionError):
                event = self._read_odd(payload, Event, out)
            if event is None:
                pass
            elif event.type == TEXT_DELTA and self._flows and type(event.delta) is str:
                answer.take_text(event.output_index, event.content_index, event.delta, out)
            else:
                self._take(event, payload, out)
            if self._ended:
                return

    def _take_whole(self, body: bytes, out: list[ModelEvent]) -> None:
        whole: Whole | None
        try:
            whole = WHOLE.decode(body)
        except (msgspec.DecodeError, RecursionError) as error:
            if str(error) == TRUNCATED:
                self._fail(cut_off(), out)
                return
            whole = self._read_odd(body, Whole, out)
        if self._ended:
            return
        if whole is not None and (whole.output is not None or isinstance(whole.status, str)):
            self._start(whole, out)
            self._end(whole, "failed" if whole.error else "completed", out)
        elif whole is not None and (whole.error or whole.detail or whole.message):
            self._fail(classify_error(_loosely_read(body)), out)
        else:
            self._fail(without_output(), out)

    def _read_odd(self, payload: bytes, shape: Any, out: list[ModelEvent]) -> Any:
        """Read what the quick way refuses: the end mark, odd JSON, no JSON at all."""
        if payload.strip() == DONE:
            self._fail(self._error or cut_off(), out)
            return None
        if not payload.strip():
            return None
        try:
            value = _loosely_read(payload)
            event = msgspec.convert(_mended(value), shape)
        except (ValueError, RecursionError) as error:
            self._fail(unreadable(payload, error, SENDER), out)
            return None
        self._answer.careful = True
        if isinstance(event, Event) and isinstance(value.get("delta"), str):
            event.delta = value["delta"]  # half a character may be made whole by the next one
        return event

    def _take(self, event: Event, payload: bytes, out: list[ModelEvent]) -> None:
        kind = event.type or ""
        if self._error is not None and kind != "response.failed":
            self._fail(self._error, out)
            return
        if kind == "error" or (not kind and (event.error or event.detail or event.message)):
            # A `response.failed` may follow, which knows the usage.
            self._error = in_band(_loosely_read(payload))
            self._flows = False
            return
        if event.response is not None:
            self._start(event.response, out)
            if kind in STATUS_OF:
                self._end(event.response, STATUS_OF[kind], out)
                return
            self._take_usage(event.response.usage, out)
        handle = HANDLERS.get(kind)
        if handle is not None:
            if not self._started:
                self._start(Response(), out)
            handle(self._answer, event, out)

    def _start(self, response: Response, out: list[ModelEvent]) -> None:
        """Tell what the answer is called."""
        if not self._started:
            self._started = self._flows = True
            names = (response.id, response.model)
            known = (one if isinstance(one, str) and one else None for one in names)
            out.append(ResponseStarted(Provenance(self._provider, API, self._model, *known)))

    def _take_usage(self, raw: Any, out: list[ModelEvent]) -> None:
        if not isinstance(raw, dict) or raw == self._usage:
            return
        usage = usage_of(raw, self._quirks)
        if usage is not None:
            self._usage = raw
            out.append(UsageReported(usage))

    def _end(self, response: Response, named: str, out: list[ModelEvent]) -> None:
        """End the answer as its last object says.

        Args:
            response: That object.
            named: The status by the name of the event, for servers whose object has none or still
                one of an answer that grows; a whole answer may be one that grows.
            out: Gets the events.
        """
        status = response.status if isinstance(response.status, str) else ""
        if not status or (status in UNFINISHED and self._sse is not None):
            status = named
        self._take_usage(response.usage, out)
        for name in ("service_tier", "moderation", "content_filters"):
            if found := getattr(response, name):
                self._metadata[f"{API}.{name}"] = found
        if failed_status(status) or response.error:
            self._metadata[FINISH_REASONS_KEY] = [status]
            self._fail(self._error or failure_of(response.error, status), out)
            return
        answer = self._answer
        answer.close(response.output, out)
        details = response.incomplete_details
        why = details.get("reason") if isinstance(details, dict) else None
        why = why if isinstance(why, str) else ""
        self._ended = True
        reason = finish_reason(status, why, calls=answer.has_calls, refused=answer.refused)
        out.append(ResponseFinished(reason, (why, status) if why else (status,), self._metadata))

    def _fail(self, failure: ProviderFailure, out: list[ModelEvent]) -> None:
        self._ended = True
        out.append(ResponseFailed(failure, self._metadata))


def _loosely_read(payload: bytes) -> Any:
    """Read JSON loosely.

    Lets by what msgspec refuses: halves of surrogate pairs, NaN, raw control characters, bytes
    that are no UTF-8.

    Raises:
        ValueError: It is no JSON.
    """
    return json.loads(payload.decode("utf-8", "replace"), strict=False)


def _mended(value: Any) -> Any:
    """The same value without halves of surrogate pairs and NaN."""
    try:
        return decode_json(to_json(value))
    except TypeError as error:
        raise ValueError(str(error)) from error
