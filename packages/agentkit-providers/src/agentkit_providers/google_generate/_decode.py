"""From the bytes of a response to model events.

A stream of events, a stream that is one JSON array, and a whole response are read alike: each is a
sequence of objects of one shape.

The protocol has no end mark, and a response may continue after a finish reason. So it is over when
its body is over; without a finish reason it was cut off.
"""

from __future__ import annotations

import json
from itertools import takewhile
from typing import Any, Final

import msgspec

from agentkit_core import (
    FinishReason,
    JsonValue,
    MetadataMap,
    ModelRequest,
    Provenance,
    ProviderFailure,
)
from agentkit_core.json import without_lone_surrogates
from agentkit_core.provider import (
    AppendText,
    ModelEvent,
    ResponseFailed,
    ResponseFinished,
    UsageReported,
    fold,
)
from agentkit_providers._framing._json_objects import JsonObjects
from agentkit_providers._protocol_kit._body_decoder import NOT_THIS_SHAPE, BodyDecoder
from agentkit_providers._protocol_kit._lenient_values import text_or_empty
from agentkit_providers.failures._classify import classify_error
from agentkit_providers.failures._stream_failures import cut_off, empty_response, find_error
from agentkit_providers.google_generate._common_events import READ_GROWTH
from agentkit_providers.google_generate._decode_parts import ResponseParts
from agentkit_providers.google_generate._finish import failed_finish, finish_reason
from agentkit_providers.google_generate._metadata_keys import (
    API,
    CANDIDATES_KEY,
    CITATIONS_KEY,
    FINISH_REASONS_KEY,
    GROUNDING_KEY,
    PROMPT_FEEDBACK_KEY,
    URL_CONTEXT_KEY,
)
from agentkit_providers.google_generate._quirks import Quirks
from agentkit_providers.google_generate._usage import parse_usage
from agentkit_providers.google_generate._wire_events import CHUNK, HEAD, Candidate, Chunk, Head

_FURTHER_FIELDS: Final = (
    ("grounding_metadata", GROUNDING_KEY),
    ("citation_metadata", CITATIONS_KEY),
    ("url_context_metadata", URL_CONTEXT_KEY),
    ("safety_ratings", f"{API}.safety_ratings"),
    ("avg_logprobs", f"{API}.avg_logprobs"),
    ("logprobs_result", f"{API}.logprobs"),
)
"""Fields of candidates besides their content, and the metadata key of each."""


class GoogleGenerateDecoder(BodyDecoder):
    """Reads the body of one response; see `agentkit_core.provider.ResponseDecoder` for its laws.

    Args:
        request: The request.
        provider: Who answers.
        quirks: How the endpoint or the model differs from Google's newest.
    """

    sender = "generateContent"
    _json_reader = JsonObjects

    def __init__(self, request: ModelRequest, provider: str, quirks: Quirks) -> None:
        super().__init__()
        self._model = request.model
        self._provider = provider
        self._quirks = quirks
        self._read: msgspec.json.Decoder[Any] = HEAD
        self._payload = b""  # the object that is being read, as strict JSON
        self._head: dict[str, str] = {}
        self._missing: tuple[bytes, ...] = ()  # names of fields of the head that may come late
        self._has_candidate = False  # whether any candidate has come
        self._is_blocked = False  # whether the prompt was refused
        self._usage: dict[str, Any] | None = None  # the report that was last reported
        self._last_usage = msgspec.Raw()  # the last report, as it came
        self._usage_is_old = False  # whether content has come after the last report
        self._metadata: MetadataMap = {}
        self._history = request.items
        self._parts = ResponseParts(self._history)
        self._others: dict[int, tuple[ResponseParts, list[ModelEvent]]] = {}  # further candidates

    def _take_common(self, payloads: list[bytes], at: int, out: list[ModelEvent]) -> int:
        run = self._parts.run
        if run is None or self._parts.finish_words:
            return at
        rest = payloads[at:] if at else payloads
        if missing := self._missing:
            rest = list(takewhile(lambda event: not any(name in event for name in missing), rest))
        try:
            for chunk in map(READ_GROWTH, rest):
                part, usage = chunk.candidates[0].content.parts[0], chunk.usage_metadata
                if run.thought is not (part.thought is True) or (usage and self._usage is None):
                    break
                piece = part.piece
                if piece:
                    run.pieces.append(piece)
                    out.append(AppendText(run.part_id, piece))
                    self._usage_is_old = True
                if usage:
                    self._usage_is_old = False
                    if b"TokenCount" in bytes(usage):
                        self._last_usage = usage
                at += 1
        except NOT_THIS_SHAPE:
            self._chances -= 1
        return at

    def _take_payload(self, payload: bytes, out: list[ModelEvent]) -> None:
        self._payload = payload
        try:
            event = self._read.decode(payload)
        except NOT_THIS_SHAPE:
            event = self._read_odd(payload, self._read.type, out)
        if event is not None:
            self._take(event, out)

    def _take_json(self, body: bytes, out: list[ModelEvent]) -> None:
        self._take_payload(body, out)

    def _take_done(self, out: list[ModelEvent]) -> None:
        """Ignore the end mark, which only gateways send."""

    def _end_of_body(self, out: list[ModelEvent]) -> None:
        self._end(out)

    def _convert(self, value: Any, shape: Any) -> Any:
        text = json.dumps(value, ensure_ascii=False)
        self._payload = without_lone_surrogates(text).encode()
        return self._read.decode(self._payload)

    def _take(self, event: Chunk, out: list[ModelEvent]) -> None:
        if self._read is HEAD:
            self._take_head(event, out)
        # A report may hold no count, such as `{"trafficType": "ON_DEMAND"}`.
        if event.usage_metadata and b"TokenCount" in bytes(event.usage_metadata):
            self._last_usage = event.usage_metadata
            if self._usage is None:
                self._report_usage(out, final=False)
        candidates = event.candidates
        if candidates:
            self._has_candidate = True
            for place, candidate in enumerate(candidates):
                self._take_candidate(candidate, place, out)
        elif event.prompt_feedback is None and event.error is None:
            error_body = find_error(self._payload)
            if error_body is not None:
                self._fail(classify_error(error_body), out)
        if event.usage_metadata:
            self._usage_is_old = False
        if event.prompt_feedback is not None:
            self._take_feedback(event.prompt_feedback)
        if event.error and not self._ended:
            self._fail(classify_error({"error": event.error}), out)

    def _take_head(self, event: Chunk, out: list[ModelEvent]) -> None:
        """Read the response's id and model; report the start once there is something to read."""
        if isinstance(event, Head):
            for name in ("response_id", "model_version"):
                value = getattr(event, name)
                if value and isinstance(value, str):
                    self._head.setdefault(name, value)
        response_id, model = self._head.get("response_id"), self._head.get("model_version")
        if self._started:
            self._origin.take_later(response_id, model)
        elif event.candidates or event.prompt_feedback or event.usage_metadata:
            origin = Provenance(self._provider, API, self._model, response_id, model)
            self._started = True
            self._origin.report(origin, out)
        known = ((b'"responseId"', response_id), (b'"modelVersion"', model))
        self._missing = tuple(name for name, value in known if not value)
        if self._started and not self._missing:
            self._read = CHUNK

    def _take_candidate(self, candidate: Candidate, place: int, out: list[ModelEvent]) -> None:
        parts, deltas = self._parts, out
        if candidate.index:
            other = ResponseParts(self._history)
            parts, deltas = self._others.setdefault(candidate.index, (other, []))
        content = candidate.content
        events_before = len(deltas)
        if content is not None and content.parts:
            parts.take(content.parts, _Verbatim(self._payload, place), deltas)
        if len(deltas) > events_before:
            parts.has_continued = bool(parts.finish_words)
            self._usage_is_old = True
        if candidate.finish_reason is not None:
            parts.finish_words.append(candidate.finish_reason)
            parts.has_continued = parts.has_continued and not candidate.finish_reason
            parts.finish_message = candidate.finish_message
            if parts.finish_message is not None:
                parts.metadata[f"{API}.finish_message"] = parts.finish_message
        if (
            candidate.grounding_metadata
            or candidate.citation_metadata
            or candidate.url_context_metadata
            or candidate.safety_ratings
            or candidate.avg_logprobs
            or candidate.logprobs_result
        ):
            _keep_further_fields(candidate, parts.metadata)

    def _take_feedback(self, feedback: Any) -> None:
        self._metadata[PROMPT_FEEDBACK_KEY] = feedback
        if isinstance(feedback, dict) and feedback.get("blockReason"):
            self._is_blocked = True

    def _report_usage(self, out: list[ModelEvent], *, final: bool) -> None:
        # Counts are running totals that come with every chunk. The first report says what the
        # prompt costs, and the last one is valid, so only these two are read.
        if not self._last_usage:
            return
        try:
            report = msgspec.json.decode(self._last_usage)
        except msgspec.DecodeError:
            return
        if not isinstance(report, dict):
            return
        if tier := text_or_empty(report.get("serviceTier")):
            self._metadata[f"{API}.service_tier"] = tier
        usage = parse_usage(report, self._quirks, final=final and not self._usage_is_old)
        if usage is not None:
            self._usage = report
            out.append(UsageReported(usage))

    def _end(self, out: list[ModelEvent]) -> None:
        """End the response, as finished or as failed."""
        parts, body = self._parts, self._json
        is_whole = isinstance(body, JsonObjects) and body.is_array is False
        word = parts.finish_word
        failure = failed_finish(word, parts.finish_message, calls=parts.has_calls)
        if failure is not None:
            self._fail(failure, out)
        elif word or (is_whole and self._has_candidate):
            reason = finish_reason(word, calls=parts.has_calls)
            parts.close(out, cut=reason is FinishReason.MAX_TOKENS)
            self._finish(reason, out)
        elif self._is_blocked:
            parts.close(out, cut=True)
            self._finish(FinishReason.BLOCKED, out)
        elif is_whole and isinstance(body, JsonObjects) and not body.is_open:
            self._fail(empty_response("candidate"), out)
        else:
            self._fail(cut_off(None if self._started else self._misfit), out)

    def _finish(self, reason: FinishReason, out: list[ModelEvent]) -> None:
        self._ended = True
        self._report_usage(out, final=True)
        words = tuple(self._parts.finish_words)
        out.append(ResponseFinished(reason, words, self._all_metadata(), self._origin.late))

    def _fail(self, failure: ProviderFailure, out: list[ModelEvent]) -> None:
        self._ended = True
        # After a finish reason the counts are complete, whatever the reason was.
        self._report_usage(out, final=bool(self._parts.finish_word))
        metadata = self._all_metadata()
        words = self._parts.finish_words
        if words:
            # Not the finish reasons of a response any more, but a hint to what went wrong.
            metadata[FINISH_REASONS_KEY] = list(words)
        out.append(ResponseFailed(failure, metadata, self._origin.late))

    def _all_metadata(self) -> MetadataMap:
        metadata = {**self._metadata, **self._parts.metadata}
        if self._others:
            metadata[CANDIDATES_KEY] = [
                _further_candidate(index, *self._others[index]) for index in sorted(self._others)
            ]
        return metadata


def _further_candidate(index: int, parts: ResponseParts, deltas: list[ModelEvent]) -> JsonValue:
    parts.close(deltas)
    folded = fold(deltas, strict=False)  # type: ignore[arg-type]
    return {
        "index": index,
        "finish_reason": parts.finish_word or None,
        "parts": msgspec.to_builtins(list(folded)),
    }


class _Verbatim:
    """The parts of a candidate as they stand in a payload, which is read when one is wanted."""

    def __init__(self, payload: bytes, place: int) -> None:
        self._payload = payload
        self._place = place
        self._parts: list[Any] | None = None

    def __call__(self, at: int) -> dict[str, Any]:
        if self._parts is None:
            candidates = msgspec.json.decode(self._payload)["candidates"]
            self._parts = candidates[self._place]["content"]["parts"]
        part = self._parts[at]
        return part if isinstance(part, dict) else {}


def _keep_further_fields(candidate: Candidate, metadata: MetadataMap) -> None:
    """Keep the fields besides the content; of objects that come in pieces, later fields win."""
    for name, key in _FURTHER_FIELDS:
        value, known = getattr(candidate, name), metadata.get(key)
        if value:
            if isinstance(known, dict) and isinstance(value, dict):
                known.update(value)  # nobody else has it before the response ends
            else:
                metadata[key] = value
