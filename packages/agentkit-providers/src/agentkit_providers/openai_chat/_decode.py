"""From the bytes of a response to model events.

A stream and a whole response are read alike: both become events of `_wire_events`, a whole
response a single one.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import Any, Final

import msgspec

from agentkit_core import JsonValue, MetadataMap, ModelRequest, Provenance, ProviderFailure
from agentkit_core.provider import (
    AppendText,
    ModelEvent,
    ResponseFailed,
    ResponseFinished,
    UsageReported,
    fold,
)
from agentkit_providers._framing._lenient_json import read_leniently
from agentkit_providers._protocol_kit._body_decoder import NOT_THIS_SHAPE, BodyDecoder
from agentkit_providers.failures._classify import classify_error
from agentkit_providers.failures._stream_failures import cut_off, empty_response, find_error
from agentkit_providers.openai_chat._decode_parts import ResponseParts
from agentkit_providers.openai_chat._finish import failed_finish, finish_reason
from agentkit_providers.openai_chat._metadata_keys import API, FINISH_REASONS_KEY
from agentkit_providers.openai_chat._quirks import Quirks
from agentkit_providers.openai_chat._usage import parse_usage
from agentkit_providers.openai_chat._wire_events import (
    CHUNK,
    HEAD,
    WHOLE,
    AnyChoice,
    Event,
    Head,
    Whole,
)

_SERVICE_TIER_KEY: Final = f"{API}.service_tier"
_AUDIO_TYPES: Final = {"mp3": "audio/mpeg", "pcm16": "audio/pcm"}


class OpenAIChatDecoder(BodyDecoder):
    """Reads the body of one response; see `agentkit_core.provider.ResponseDecoder` for its laws.

    Args:
        request: The request.
        provider: Who answers.
        quirks: How the vendor differs from OpenAI.
    """

    sender = "Chat Completions"

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
        self._missing: tuple[bytes, ...] = ()  # names of fields of the head that may come late
        self._has_choice = False  # whether any choice has come
        self._usage: dict[str, Any] | None = None
        self._usage_is_final = False
        self._usage_is_old = False  # whether content has come after the last report
        self._metadata: MetadataMap = {}
        self._index: int | None = 0 if _asks_for_several(extra) else None
        self._history = request.items
        self._parts = ResponseParts(self._tools, self._audio_type, self._history)
        self._others: dict[int, tuple[ResponseParts, list[ModelEvent]]] = {}  # further choices
        self._logprobs: list[JsonValue] = []

    def _take_common(self, payloads: list[bytes], at: int, out: list[ModelEvent]) -> int:
        growth = self._parts.growth
        if growth is None or self._index != 0:
            return at
        read, calls, pieces, part_id = growth
        last: AppendText | None = None
        rest = payloads[at:] if at else payloads
        if missing := self._missing:
            rest = list(takewhile(lambda event: not any(name in event for name in missing), rest))
        try:
            for chunk in map(read, rest):
                tier = chunk.service_tier
                if tier and tier != self._metadata.get(_SERVICE_TIER_KEY):
                    break
                if calls is None:
                    piece = chunk.choices[0].delta.piece
                else:
                    fragment = chunk.choices[0].delta.tool_calls[0]
                    slot = calls.get(fragment.index)
                    if slot is None or not slot.begun:
                        break
                    piece, pieces, part_id = fragment.function.piece, slot.arguments, slot.part_id
                if piece:
                    pieces.append(piece)
                    last = AppendText(part_id, piece)
                    out.append(last)
                at += 1
        except NOT_THIS_SHAPE:
            self._chances -= 1
        if last is not None:
            self._usage_is_old = True
            self._repeats.learn(payloads[at - 1], last, pieces, growth.read_piece)
        return at

    def _take_payload(self, payload: bytes, out: list[ModelEvent]) -> None:
        try:
            event = self._read.decode(payload)
        except NOT_THIS_SHAPE:
            event = self._read_odd(payload, self._read.type, out)
        if event is not None:
            self._take(event, payload, out)

    def _take_json(self, body: bytes, out: list[ModelEvent]) -> None:
        event: Event | None
        try:
            event = WHOLE.decode(body)
        except NOT_THIS_SHAPE:
            event = self._read_odd(body, WHOLE.type, out)
        if event is not None:
            self._take(event, body, out)
        if not self._ended:
            self._end(out, marked=True)

    def _take_done(self, out: list[ModelEvent]) -> None:
        self._end(out, marked=True)

    def _end_of_body(self, out: list[ModelEvent]) -> None:
        self._end(out, marked=False)

    def _expect_surrogates(self) -> None:
        self._parts.has_surrogates = True
        for parts, _ in self._others.values():
            parts.has_surrogates = True

    def _take(self, event: Event, payload: bytes, out: list[ModelEvent]) -> None:
        choices, error = event.choices, event.error
        if self._read is HEAD:
            self._take_head(event, out)
        events_before = len(out)
        if choices:
            closing = False
            for choice in choices:
                delta = choice.delta
                if choice.index == self._index or choice.index is None:
                    if delta is not None and not self._parts.finished:
                        self._parts.take(delta, out)
                elif delta is not None:
                    parts, deltas = self._other(choice.index)
                    if not parts.finished:
                        parts.take(delta, deltas)
                if choice.finish_reason is not None or choice.usage or choice.logprobs:
                    closing = True
            self._usage_is_old = self._usage_is_old or len(out) > events_before
            if closing:
                self._take_ends_of(choices, out)
                error = error or _error_of(choices, self._index)
        elif choices is None and event.usage is None and not error:
            error_body = find_error(payload)
            if error_body is not None:
                self._fail(classify_error(error_body), out)
        report = event.x_groq.get("usage") if type(event.x_groq) is dict else None
        if event.usage is not None or report is not None:
            self._usage_is_old = False
            self._take_usage(event.usage if event.usage is not None else report, out)
        if event.service_tier and type(event.service_tier) is str:
            self._metadata[_SERVICE_TIER_KEY] = event.service_tier
        if event.citations or event.search_results or event.moderation:
            for name in ("citations", "search_results", "moderation"):
                if value := getattr(event, name):
                    self._metadata[f"{API}.{name}"] = value
        if error and not self._ended:
            # The code of an error that is a text stands beside it.
            is_text = isinstance(event.error, str)
            self._fail(classify_error(read_leniently(payload) if is_text else error), out)

    def _take_head(self, event: Event, out: list[ModelEvent]) -> None:
        """Read the response's id and model; report the start once there is something to read."""
        if isinstance(event, Head | Whole):
            for name in ("id", "model", "system_fingerprint", "provider"):
                value = getattr(event, name)
                if value and isinstance(value, str):
                    self._head.setdefault(name, value)
        if event.choices:
            self._has_choice = True
            if self._index is None:
                self._index = event.choices[0].index or 0
        response_id, model = self._head.get("id"), self._head.get("model")
        known = ((b'"id"', response_id), (b'"model"', model))
        self._missing = tuple(name for name, value in known if not value)
        if self._has_choice and not self._missing:
            self._read = CHUNK
        if not (self._started or event.choices or event.usage):
            return
        for name in ("system_fingerprint", "provider"):
            if name in self._head:
                self._metadata[f"{API}.{name}"] = self._head[name]
        if self._started:
            self._origin.take_later(response_id, model)
            return
        origin = Provenance(self._provider, API, self._model, response_id, model)
        self._started = True
        self._origin.report(origin, out)

    def _other(self, index: int) -> tuple[ResponseParts, list[ModelEvent]]:
        if index not in self._others:
            parts = ResponseParts(self._tools, self._audio_type, self._history)
            self._others[index] = parts, []
            self._others[index][0].has_surrogates = self._parts.has_surrogates
        return self._others[index]

    def _take_ends_of(self, choices: Sequence[AnyChoice], out: list[ModelEvent]) -> None:
        """Take what choices hold besides their deltas, once all deltas are read."""
        for choice in choices:
            if choice.finish_reason is not None or choice.usage or choice.logprobs:
                self._take_end_of(choice, out)

    def _take_end_of(self, choice: AnyChoice, out: list[ModelEvent]) -> None:
        if choice.index == self._index or choice.index is None:
            parts, deltas = self._parts, out
            if isinstance(choice.logprobs, dict):
                content = choice.logprobs.get("content")
                self._logprobs += content if isinstance(content, list) else []
        else:
            parts, deltas = self._other(choice.index)
        word = choice.finish_reason
        if word is not None:
            parts.finish_words.append(word)
            self.is_complete = self.is_complete or (bool(word) and parts is self._parts)
            if word and not parts.finished and failed_finish(word) is None:
                parts.close(deltas)
        if choice.usage:
            self._usage_is_old = False
            self._take_usage(choice.usage, out)

    def _take_usage(self, report: Any, out: list[ModelEvent]) -> None:
        # Counts are running totals, and some vendors repeat them in every chunk: the last report
        # is valid. Before the finish reason, it may not be the last.
        final = self.is_complete and not self._usage_is_old
        known = report == self._usage and final is self._usage_is_final
        if not isinstance(report, dict) or known:
            return
        usage = parse_usage(report, self._quirks, final=final)
        if usage is not None:
            self._usage, self._usage_is_final = report, final
            out.append(UsageReported(usage))

    def _end(self, out: list[ModelEvent], *, marked: bool) -> None:
        """End the response, as finished or as failed.

        Args:
            out: Gets the events.
            marked: Whether there was an end mark: `[DONE]`, or the end of a whole response.
        """
        parts = self._parts
        word = next((word for word in parts.finish_words if word), "").lower()
        failure = failed_finish(word)
        if failure is not None:
            self._fail(failure, out)
        elif word or (self._has_choice and (marked or self._may_end_unmarked())):
            self._finish(word, out)
        elif marked and self._sse is None:
            self._fail(empty_response("choice"), out)
        else:
            self._fail(cut_off(None if self._started else self._misfit), out)

    def _may_end_unmarked(self) -> bool:
        no_call_is_open = all(slot.is_whole for slot in self._parts.calls)
        return no_call_is_open and not self._quirks.supports_finish_reason

    def _finish(self, word: str, out: list[ModelEvent]) -> None:
        self._ended = True
        parts = self._parts
        if not parts.finished:
            parts.close(out)
        self.is_complete = True
        self._take_usage(self._usage, out)
        reason = finish_reason(word, calls=parts.has_calls, refused=parts.refused)
        words = tuple(parts.finish_words)
        out.append(ResponseFinished(reason, words, self._all_metadata(), self._origin.late))

    def _fail(self, failure: ProviderFailure, out: list[ModelEvent]) -> None:
        self._ended = True
        metadata = self._all_metadata()
        if self._parts.finish_words:
            # Not the finish reasons of a response any more, but a hint to what went wrong.
            metadata[FINISH_REASONS_KEY] = list(self._parts.finish_words)
        out.append(ResponseFailed(failure, metadata, self._origin.late))

    def _all_metadata(self) -> MetadataMap:
        metadata = {**self._metadata, **self._parts.metadata}
        if self._logprobs:
            metadata[f"{API}.logprobs"] = self._logprobs
        if self._others:
            metadata[f"{API}.choices"] = [
                _further_choice(index, *self._others[index]) for index in sorted(self._others)
            ]
        return metadata


def _error_of(choices: Sequence[AnyChoice], index: int | None) -> Any:
    """The error of the choice that is read; None where it has none."""
    return next((choice.error for choice in choices if choice.index in (index, None)), None)


def _further_choice(index: int, parts: ResponseParts, deltas: list[ModelEvent]) -> JsonValue:
    if not parts.finished:
        parts.close(deltas)
    folded = fold(deltas, strict=False)  # type: ignore[arg-type]
    word = next((word for word in parts.finish_words if word), None)
    return {"index": index, "finish_reason": word, "parts": msgspec.to_builtins(list(folded))}


def _asks_for_several(extra: JsonValue) -> bool:
    several = extra.get("n") if isinstance(extra, dict) else None
    return isinstance(several, int) and several > 1


def _audio_type(extra: JsonValue) -> str:
    audio = extra.get("audio") if isinstance(extra, dict) else None
    kind = audio.get("format") if isinstance(audio, dict) else None
    return _AUDIO_TYPES.get(kind, f"audio/{kind}") if isinstance(kind, str) else "audio/wav"
