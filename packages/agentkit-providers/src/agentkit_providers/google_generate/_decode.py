"""From the bytes of an answer to model events.

A stream of events, a stream that is one JSON array, and a whole answer take the same way: each
is a row of responses of one shape. What the body is shows in its first byte, whatever was
asked for.

There is no end mark. An answer may go on after a finish reason, so it is over when its body
is; without a finish reason it was cut off.
"""

from __future__ import annotations

import json
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
    ModelEvent,
    ResponseFailed,
    ResponseFinished,
    ResponseStarted,
    UsageReported,
    fold,
)
from agentkit_providers._framing._json_objects import JsonObjects
from agentkit_providers._framing._sse import SseDecoder
from agentkit_providers._protocol_kit._body_decoder import DONE, is_json
from agentkit_providers.failures._classify import classify_error
from agentkit_providers.failures._stream_failures import cut_off, unreadable
from agentkit_providers.google_generate._decode_parts import Answer
from agentkit_providers.google_generate._finish import (
    failed_finish,
    finish_reason,
    without_candidate,
)
from agentkit_providers.google_generate._metadata_keys import (
    API,
    CANDIDATES_KEY,
    CITATIONS_KEY,
    FINISH_REASONS_KEY,
    GROUNDING_KEY,
    PROMPT_FEEDBACK_KEY,
    URL_CONTEXT_KEY,
)
from agentkit_providers.google_generate._usage import usage_of
from agentkit_providers.google_generate._wire_events import CHUNK, HEAD, Candidate, Chunk, Head

_SENDER: Final = "Gemini models"
_BLANK: Final = b" \t\r\n\xef\xbb\xbf"
"""Not the vendor's own, but gateways end streams with it."""
_BESIDE: Final = (
    ("grounding_metadata", GROUNDING_KEY),
    ("citation_metadata", CITATIONS_KEY),
    ("url_context_metadata", URL_CONTEXT_KEY),
    ("safety_ratings", f"{API}.safety_ratings"),
    ("avg_logprobs", f"{API}.avg_logprobs"),
    ("logprobs_result", f"{API}.logprobs"),
)
"""What candidates say beside their content, and where it is kept."""


class GoogleGenerateDecoder:
    """Reads the body of one answer; see `agentkit_core.provider.ResponseDecoder` for its laws.

    Args:
        request: What was asked.
        provider: Who answers.
    """

    def __init__(self, request: ModelRequest, provider: str) -> None:
        self._model = request.model
        self._provider = provider
        self._sse: SseDecoder | None = None
        self._objects: JsonObjects | None = None
        self._whole = False  # whether the body is one object
        self._read: msgspec.json.Decoder[Any] = HEAD
        self._head: dict[str, str] = {}
        self._started = False
        self._answered = False  # whether any candidate has come
        self._blocked = False  # whether the prompt was refused
        self._ended = False
        self._usage: dict[str, Any] | None = None  # the last report, read
        self._last_usage = msgspec.Raw()  # the last report, as it came
        self._metadata: MetadataMap = {}
        self._answer = Answer()
        self._others: dict[int, tuple[Answer, list[ModelEvent]]] = {}

    def feed(self, chunk: bytes, /) -> tuple[ModelEvent, ...]:
        """Take the next bytes; return the events that they complete."""
        if self._ended:
            return ()
        if self._objects is not None:
            return self._take_payloads(self._objects.feed(chunk))
        if self._sse is None:
            chunk = chunk.lstrip(_BLANK)
            if not chunk:
                return ()
            if chunk[0] in b"{[":
                self._objects = JsonObjects()
                self._whole = chunk[:1] == b"{"
                return self._take_payloads(self._objects.feed(chunk))
            self._sse = SseDecoder()
        return self._take_payloads(self._sse.feed_data(chunk))

    def finish(self) -> tuple[ModelEvent, ...]:
        """Take note that the body is over; return what ends the answer."""
        if self._ended:
            return ()
        out: list[ModelEvent] = []
        if self._sse is not None:
            for last in self._sse.finish():
                # Without its blank line an event may be cut; if it can be read, it is not.
                if is_json(last.data):
                    out += self._take_payloads([last.data])
        if not self._ended:
            self._end(out)
        return tuple(out)

    def _take_payloads(self, payloads: list[bytes]) -> tuple[ModelEvent, ...]:
        out: list[ModelEvent] = []
        for payload in payloads:
            try:
                event = self._read.decode(payload)
            except (msgspec.DecodeError, RecursionError):
                event, payload = self._read_odd(payload, out)
            if event is not None:
                self._take(event, payload, out)
            if self._ended:
                break
        return tuple(out)

    def _read_odd(self, payload: bytes, out: list[ModelEvent]) -> tuple[Chunk | None, bytes]:
        """Read what the quick way refuses: lone surrogates, NaN, odd shapes, no JSON at all.

        Returns:
            The response, and its payload in good JSON; None where there is nothing to take.
        """
        if payload.strip() in (b"", DONE):
            return None, payload
        try:
            # Lets by halves of surrogate pairs, NaN, raw control characters, bytes no UTF-8.
            text = payload.decode("utf-8", "replace")
            value = json.loads(text, strict=False, parse_constant=lambda _: None)
            clean = without_lone_surrogates(json.dumps(value, ensure_ascii=False)).encode()
        except (ValueError, RecursionError) as error:
            self._fail(unreadable(payload, error, _SENDER), out)
            return None, payload
        try:
            return self._read.decode(clean), clean
        except (msgspec.DecodeError, RecursionError) as error:
            if isinstance(value, dict) and value.get("error"):
                self._fail(classify_error(value), out)
            else:
                self._fail(unreadable(payload, error, _SENDER), out)
            return None, payload

    def _take(self, event: Chunk, payload: bytes, out: list[ModelEvent]) -> None:
        if not self._started:
            self._take_head(event, out)
        if event.usage_metadata:
            self._last_usage = event.usage_metadata
            if self._usage is None:
                self._report_usage(out, last=False)
        candidates = event.candidates
        if candidates:
            self._answered = True
            for place, candidate in enumerate(candidates):
                self._take_candidate(candidate, place, payload, out)
        elif event.prompt_feedback is None and event.error is None:
            self._look_closer(payload, out)
        if event.prompt_feedback is not None:
            self._take_feedback(event.prompt_feedback)
        if event.error and not self._ended:
            self._fail(classify_error({"error": event.error}), out)

    def _take_head(self, event: Chunk, out: list[ModelEvent]) -> None:
        """Learn what the answer is called; tell of it when something is answered."""
        if isinstance(event, Head):
            for name in ("response_id", "model_version"):
                found = getattr(event, name)
                if found and isinstance(found, str):
                    self._head.setdefault(name, found)
        if event.candidates or event.prompt_feedback or event.usage_metadata:
            self._started = True
            self._read = CHUNK
            head = self._head
            out.append(
                ResponseStarted(
                    Provenance(
                        self._provider,
                        API,
                        self._model,
                        head.get("response_id"),
                        head.get("model_version"),
                    )
                )
            )

    def _take_candidate(
        self, candidate: Candidate, place: int, payload: bytes, out: list[ModelEvent]
    ) -> None:
        answer, deltas = self._answer, out
        if candidate.index:
            answer, deltas = self._others.setdefault(candidate.index, (Answer(), []))
        content = candidate.content
        if content is not None and content.parts:
            answer.take(content.parts, lambda at: _verbatim(payload, place, at), deltas)
        if candidate.finish_reason is not None:
            answer.finish_words.append(candidate.finish_reason)
            answer.finish_message = candidate.finish_message
            if answer.finish_message is not None:
                answer.metadata[f"{API}.finish_message"] = answer.finish_message
        if (
            candidate.grounding_metadata
            or candidate.citation_metadata
            or candidate.url_context_metadata
            or candidate.safety_ratings
            or candidate.avg_logprobs
            or candidate.logprobs_result
        ):
            _keep_beside(candidate, answer.metadata)

    def _take_feedback(self, feedback: Any) -> None:
        self._metadata[PROMPT_FEEDBACK_KEY] = feedback
        if isinstance(feedback, dict) and feedback.get("blockReason"):
            self._blocked = True

    def _report_usage(self, out: list[ModelEvent], *, last: bool) -> None:
        # Counts are running totals that come with every chunk: the first report says what the
        # prompt costs, the last one stands.
        if not self._last_usage:
            return
        try:
            raw = msgspec.json.decode(self._last_usage)
        except msgspec.DecodeError:
            return
        usage = usage_of(raw, last=last) if isinstance(raw, dict) else None
        if usage is not None:
            self._usage = raw
            out.append(UsageReported(usage))

    def _look_closer(self, payload: bytes, out: list[ModelEvent]) -> None:
        """See whether a response without anything known is an error in a shape of its own."""
        try:
            value = json.loads(payload)
        except (ValueError, RecursionError):
            return
        if isinstance(value, dict) and (
            value.get("detail") or isinstance(value.get("message"), str)
        ):
            self._fail(classify_error(value), out)

    def _end(self, out: list[ModelEvent]) -> None:
        """End the answer, as finished or as failed."""
        answer = self._answer
        word = answer.finish_word
        failed = failed_finish(word, answer.finish_message, calls=answer.calls > 0)
        if failed is not None:
            self._fail(failed, out)
        elif word or (self._whole and self._answered):
            reason = finish_reason(word, calls=answer.calls > 0)
            answer.close(out, cut=reason is FinishReason.MAX_TOKENS)
            self._finish(reason, out)
        elif self._blocked:
            answer.close(out, cut=True)
            self._finish(FinishReason.BLOCKED, out)
        elif self._whole and self._objects is not None and not self._objects.is_open:
            self._fail(without_candidate(), out)
        else:
            self._fail(cut_off(), out)

    def _finish(self, reason: FinishReason, out: list[ModelEvent]) -> None:
        self._ended = True
        self._report_usage(out, last=True)
        out.append(ResponseFinished(reason, tuple(self._answer.finish_words), self._all_metadata()))

    def _fail(self, failure: ProviderFailure, out: list[ModelEvent]) -> None:
        self._ended = True
        metadata = self._all_metadata()
        words = self._answer.finish_words
        if words:
            # No answer's own words any more, but a hint to what went wrong.
            metadata[FINISH_REASONS_KEY] = list(words)
        # After a finish reason the counts are whole, whatever it was.
        self._report_usage(out, last=bool(words))
        out.append(ResponseFailed(failure, metadata))

    def _all_metadata(self) -> MetadataMap:
        metadata = {**self._metadata, **self._answer.metadata}
        if self._others:
            metadata[CANDIDATES_KEY] = [
                _further_candidate(index, *self._others[index]) for index in sorted(self._others)
            ]
        return metadata


def _further_candidate(index: int, answer: Answer, deltas: list[ModelEvent]) -> JsonValue:
    answer.close(deltas)
    parts = fold(deltas, strict=False)  # type: ignore[arg-type]
    return {
        "index": index,
        "finish_reason": answer.finish_word or None,
        "parts": msgspec.to_builtins(list(parts)),
    }


def _verbatim(payload: bytes, place: int, at: int) -> dict[str, Any]:
    """A part as it stands in a response."""
    part = msgspec.json.decode(payload)["candidates"][place]["content"]["parts"][at]
    return part if isinstance(part, dict) else {}


def _keep_beside(candidate: Candidate, metadata: MetadataMap) -> None:
    """Keep what is said beside the content; of what comes in pieces, the last field stands."""
    for name, key in _BESIDE:
        found, known = getattr(candidate, name), metadata.get(key)
        if found:
            both = isinstance(known, dict) and isinstance(found, dict)
            metadata[key] = {**known, **found} if both else found  # type: ignore[dict-item]
