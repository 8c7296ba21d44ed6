"""From the bytes of an answer to model events.

A stream and a whole answer take the same way: both become events of `_wire_events`, a whole
answer just one. What the body is shows in its first byte, whatever was asked for, so a server
that answers a streamed request with plain JSON is understood, and one that errs with it too.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from agentkit_core import JsonValue, MetadataMap, ModelRequest, Provenance, ProviderFailure
from agentkit_core.provider import (
    ModelEvent,
    ResponseFailed,
    ResponseFinished,
    ResponseStarted,
    UsageReported,
    fold,
)
from agentkit_providers._protocol_kit._body_decoder import DONE, TRUNCATED, BodyDecoder
from agentkit_providers.failures._classify import classify_error
from agentkit_providers.failures._stream_failures import cut_off, unreadable
from agentkit_providers.openai_chat._decode_parts import Answer
from agentkit_providers.openai_chat._finish import (
    failed_finish,
    finish_reason,
    without_choice,
)
from agentkit_providers.openai_chat._metadata_keys import API, FINISH_REASONS_KEY
from agentkit_providers.openai_chat._quirks import Quirks
from agentkit_providers.openai_chat._usage import usage_of
from agentkit_providers.openai_chat._wire_events import (
    CHUNK,
    HEAD,
    WHOLE,
    AnyChoice,
    Event,
    Head,
    Whole,
)

_AUDIO_TYPES: Final = {"mp3": "audio/mpeg", "pcm16": "audio/pcm"}
_SENDER: Final = "Chat Completions"


class OpenAIChatDecoder(BodyDecoder):
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
        self._tools = frozenset(tool.name for tool in request.tools)
        extra = request.options.extra.get(API)
        self._audio_type = _audio_type(extra)
        self._read: msgspec.json.Decoder[Any] = HEAD
        self._head: dict[str, Any] = {}
        self._started = False
        self._answered = False  # whether any choice has come
        self._usage: dict[str, Any] | None = None
        self._metadata: MetadataMap = {}
        self._index: int | None = 0 if _asks_for_several(extra) else None
        self._answer = Answer(self._tools, self._audio_type)
        self._others: dict[int, tuple[Answer, list[ModelEvent]]] = {}
        self._logprobs: list[JsonValue] = []

    def _end_of_body(self, out: list[ModelEvent]) -> None:
        self._end(out, marked=False)

    def _take_payloads(self, payloads: list[bytes], out: list[ModelEvent]) -> None:
        for payload in payloads:
            try:
                event = self._read.decode(payload)
            except (msgspec.DecodeError, RecursionError):
                event = self._read_odd(payload, self._read.type, out)
            if event is not None:
                self._take(event, payload, out)
            if self._ended:
                return

    def _take_whole(self, body: bytes, out: list[ModelEvent]) -> None:
        event: Event | None
        try:
            event = WHOLE.decode(body)
        except (msgspec.DecodeError, RecursionError) as error:
            if str(error) == TRUNCATED:
                self._fail(cut_off(), out)
                return
            event = self._read_odd(body, WHOLE.type, out)
        if event is not None:
            self._take(event, body, out)
        if not self._ended:
            self._end(out, marked=True)

    def _read_odd(self, payload: bytes, shape: Any, out: list[ModelEvent]) -> Any:
        """Read what the quick way refuses: the end mark, odd JSON, no JSON at all."""
        if payload.strip() == DONE:
            self._end(out, marked=True)
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
        self._answer.careful = True
        for answer, _ in self._others.values():
            answer.careful = True
        try:
            return msgspec.convert(value, shape)
        except (msgspec.ValidationError, RecursionError) as error:
            if isinstance(value, dict) and value.get("error"):
                self._fail(classify_error(value), out)
            else:
                self._fail(unreadable(payload, error, _SENDER), out)
            return None

    def _take(self, event: Event, payload: bytes, out: list[ModelEvent]) -> None:
        choices, error = event.choices, event.error
        if not self._answered:
            self._take_head(event, out)
        if choices:
            closing = False
            for choice in choices:
                delta = choice.delta
                if choice.index == self._index or choice.index is None:
                    if delta is not None and not self._answer.finished:
                        self._answer.take(delta, out)
                elif delta is not None:
                    self._take_other(choice, out)
                if choice.finish_reason is not None or choice.usage or choice.logprobs:
                    closing = True
            if closing:
                self._take_ends_of(choices, out)
                error = error or self._error_of(choices)
        elif choices is None and event.usage is None and not error:
            self._look_closer(payload, out)
        if event.usage is not None:
            self._take_usage(event.usage, out)
        elif type(event.x_groq) is dict:
            self._take_usage(event.x_groq.get("usage"), out)
        if event.citations or event.search_results or event.moderation:
            for name in ("citations", "search_results", "moderation"):
                if found := getattr(event, name):
                    self._metadata[f"{API}.{name}"] = found
        if error and not self._ended:
            whole = isinstance(event.error, str)  # its code stands beside it
            self._fail(classify_error(json.loads(payload) if whole else error), out)

    def _take_head(self, event: Event, out: list[ModelEvent]) -> None:
        """Learn what the answer is called; tell of it when something is answered."""
        if isinstance(event, Head | Whole):
            for name in ("id", "model", "system_fingerprint", "service_tier", "provider"):
                found = getattr(event, name)
                if found and isinstance(found, str):
                    self._head.setdefault(name, found)
        if event.choices:
            self._answered = True
            self._read = CHUNK
            if self._index is None:
                self._index = event.choices[0].index or 0
        if self._started or not (event.choices or event.usage):
            return
        self._started = True
        for name in ("system_fingerprint", "service_tier", "provider"):
            if name in self._head:
                self._metadata[f"{API}.{name}"] = self._head[name]
        provenance = Provenance(
            self._provider, API, self._model, self._head.get("id"), self._head.get("model")
        )
        out.append(ResponseStarted(provenance))

    def _take_other(self, choice: AnyChoice, out: list[ModelEvent]) -> None:
        """Take what a further choice gained; it is kept beside the answer."""
        answer, deltas = self._other(choice.index or 0)
        if choice.delta is not None and not answer.finished:
            answer.take(choice.delta, deltas)

    def _other(self, index: int) -> tuple[Answer, list[ModelEvent]]:
        if index not in self._others:
            self._others[index] = Answer(self._tools, self._audio_type), []
            self._others[index][0].careful = self._answer.careful
        return self._others[index]

    def _take_ends_of(self, choices: Sequence[AnyChoice], out: list[ModelEvent]) -> None:
        """Take what choices say beside their deltas, once all deltas are read."""
        for choice in choices:
            if choice.finish_reason is not None or choice.usage or choice.logprobs:
                self._take_end_of(choice, out)

    def _take_end_of(self, choice: AnyChoice, out: list[ModelEvent]) -> None:
        if choice.index == self._index or choice.index is None:
            answer, deltas = self._answer, out
            if isinstance(choice.logprobs, dict):
                content = choice.logprobs.get("content")
                self._logprobs += content if isinstance(content, list) else []
        else:
            answer, deltas = self._other(choice.index)
        word = choice.finish_reason
        if word is not None:
            answer.finish_words.append(word)
            if word and not answer.finished and failed_finish(word) is None:
                answer.close(deltas)
        if choice.usage:
            self._take_usage(choice.usage, out)

    def _error_of(self, choices: Sequence[AnyChoice]) -> Any:
        """The error that the choice which is read has ended with, if it says which."""
        return next((one.error for one in choices if one.index in (self._index, None)), None)

    def _take_usage(self, raw: Any, out: list[ModelEvent]) -> None:
        # Counts are running totals, repeated by some in every chunk: the last report stands.
        if not isinstance(raw, dict) or raw == self._usage:
            return
        usage = usage_of(raw, self._quirks)
        if usage is not None:
            self._usage = raw
            out.append(UsageReported(usage))

    def _look_closer(self, payload: bytes, out: list[ModelEvent]) -> None:
        """See whether an event without anything known is an error in a shape of its own."""
        try:
            value = json.loads(payload)
        except (ValueError, RecursionError):
            return
        if isinstance(value, dict) and (
            value.get("object") == "error"
            or value.get("type") == "error"
            or value.get("detail")
            or isinstance(value.get("message"), str)
        ):
            self._fail(classify_error(value), out)

    def _end(self, out: list[ModelEvent], *, marked: bool) -> None:
        """End the answer, as finished or as failed.

        Args:
            out: Gets the events.
            marked: Whether an end mark was there: `[DONE]`, or the end of a whole answer.
        """
        answer = self._answer
        word = next((word for word in answer.finish_words if word), "").lower()
        failed = failed_finish(word)
        if failed is not None:
            self._fail(failed, out)
        elif word or (self._answered and (marked or self._may_end_unmarked())):
            self._finish_well(word, out)
        elif marked and self._sse is None:
            self._fail(without_choice(), out)
        else:
            self._fail(cut_off(), out)

    def _may_end_unmarked(self) -> bool:
        no_call_is_open = all(slot.is_whole for slot in self._answer.calls)
        return no_call_is_open and not self._quirks.supports_finish_reason

    def _finish_well(self, word: str, out: list[ModelEvent]) -> None:
        self._ended = True
        answer = self._answer
        if not answer.finished:
            answer.close(out)
        reason = finish_reason(word, calls=bool(answer.calls), refused=answer.refused)
        out.append(ResponseFinished(reason, tuple(answer.finish_words), self._all_metadata()))

    def _fail(self, failure: ProviderFailure, out: list[ModelEvent]) -> None:
        self._ended = True
        metadata = self._all_metadata()
        if self._answer.finish_words:
            # No answer's own words any more, but a hint to what went wrong.
            metadata[FINISH_REASONS_KEY] = list(self._answer.finish_words)
        out.append(ResponseFailed(failure, metadata))

    def _all_metadata(self) -> MetadataMap:
        metadata = {**self._metadata, **self._answer.metadata}
        if self._logprobs:
            metadata[f"{API}.logprobs"] = self._logprobs
        if self._others:
            metadata[f"{API}.choices"] = [
                _further_choice(index, *self._others[index]) for index in sorted(self._others)
            ]
        return metadata


def _further_choice(index: int, answer: Answer, deltas: list[ModelEvent]) -> JsonValue:
    if not answer.finished:
        answer.close(deltas)
    parts = fold(deltas, strict=False)  # type: ignore[arg-type]
    word = next((word for word in answer.finish_words if word), None)
    return {"index": index, "finish_reason": word, "parts": msgspec.to_builtins(list(parts))}


def _asks_for_several(extra: JsonValue) -> bool:
    several = extra.get("n") if isinstance(extra, dict) else None
    return isinstance(several, int) and several > 1


def _audio_type(extra: JsonValue) -> str:
    audio = extra.get("audio") if isinstance(extra, dict) else None
    kind = audio.get("format") if isinstance(audio, dict) else None
    return _AUDIO_TYPES.get(kind, f"audio/{kind}") if isinstance(kind, str) else "audio/wav"
