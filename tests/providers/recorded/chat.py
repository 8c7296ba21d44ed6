"""Answers of Chat Completions, read plainly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from agentkit_core import (
    CostUsage,
    FailureKind,
    FinishReason,
    Item,
    ModelResponse,
    Provenance,
    ProviderFailure,
    TokenUsage,
)
from agentkit_providers import UnknownProvider
from agentkit_providers.endpoints import OPENAI_CHAT, default_registry
from providers.recorded.chat_choices import Choice
from providers.recorded.comparing import unknown
from providers.recorded.exchanges import Exchange, payloads_of
from providers.recorded.failures import failure_inside
from providers.recorded.readings import (
    Ending,
    Spoken,
    cost_in_usd,
    count_at,
    response,
    usage_of,
)
from providers.recorded.views import kind_of_part

_API: Final = "openai_chat"
_ROWS: Final = {"vercel-gateway": "vercel", "google": "google-openai"}
"""Vendors that the corpus calls otherwise than our rows."""
_COSTS_IN_USD: Final = frozenset({"openrouter", "perplexity", "vercel-gateway"})
_REASONS: Final = {
    "stop": FinishReason.COMPLETED,
    "eos": FinishReason.COMPLETED,
    "end_turn": FinishReason.COMPLETED,
    "length": FinishReason.MAX_TOKENS,
    "max_tokens": FinishReason.MAX_TOKENS,
    "model_length": FinishReason.MAX_TOKENS,
    "tool_calls": FinishReason.TOOL_CALL,
    "function_call": FinishReason.TOOL_CALL,
    "tool_use": FinishReason.TOOL_CALL,
    "content_filter": FinishReason.BLOCKED,
    "safety": FinishReason.BLOCKED,
    "sensitive": FinishReason.BLOCKED,
}
"""https://platform.openai.com/docs/api-reference/chat/object, and what other vendors say."""
_FAILED: Final = {
    "error": FailureKind.SERVER,
    "abort": FailureKind.SERVER,
    "network_error": FailureKind.SERVER,
    "insufficient_system_resource": FailureKind.OVERLOADED,
    "malformed_function_call": FailureKind.SERVER,
    "model_context_window_exceeded": FailureKind.CONTEXT_LENGTH,
}
_BESIDE: Final = ("system_fingerprint", "service_tier", "provider")
"""What the head of an answer says beside its id and its model."""
_AUDIO_TYPES: Final = {"mp3": "audio/mpeg", "pcm16": "audio/pcm"}


def row(exchange: Exchange) -> str:
    """The name of the vendor's row; `compatible` for those without one."""
    vendor: str = exchange["vendor"]
    try:
        endpoint = default_registry.get(_ROWS.get(vendor, vendor))
    except UnknownProvider:
        return "compatible"
    return endpoint.name if endpoint.api == OPENAI_CHAT else "compatible"


class _Answer:
    """What an answer's chunks say, put together; a whole answer is one chunk."""

    def __init__(self, exchange: Exchange) -> None:
        asked = exchange["request"]
        audio = (asked.get("audio") or {}).get("format", "wav")
        self.audio_type = _AUDIO_TYPES.get(audio, f"audio/{audio}")
        self.choices: dict[int, Choice] = {}
        self.first: int | None = 0 if (asked.get("n") or 1) > 1 else None
        """The choice that is the answer: the one that comes first, unless several are asked for."""
        self.names: dict[str, str] = {}
        self.metadata: dict[str, Any] = {}
        self.reports: list[dict[str, Any]] = []
        self.logprobs: list[Any] = []
        self.error: Any = None
        self._started = False
        self._content = "delta" if "sse" in exchange else "message"
        for chunk in payloads_of(exchange):
            if self._take(chunk):
                break

    def _take(self, chunk: dict[str, Any]) -> bool:
        """Take a chunk; say whether it ends the answer with an error."""
        report = chunk.get("usage") or (chunk.get("x_groq") or {}).get("usage")
        begins = bool(chunk.get("choices") or report)
        if not self.choices:
            for name in ("id", "model", *_BESIDE):
                if chunk.get(name) and not self._started:
                    self.names.setdefault(name, chunk[name])
        for entry in chunk.get("choices") or []:
            self._take_choice(entry)
        self.reports += [report] if report else []
        self._started = self._started or begins
        for name in ("citations", "search_results", "moderation", "service_tier"):
            if chunk.get(name):
                self.metadata[f"{_API}.{name}"] = chunk[name]
        if isinstance(chunk.get("error"), str):
            self.error = chunk
        self.error = self.error or chunk.get("error")
        return bool(self.error)

    def _take_choice(self, entry: dict[str, Any]) -> None:
        index = entry.get("index") or 0
        self.first = index if self.first is None else self.first
        choice = self.choices.setdefault(index, Choice(self.audio_type))
        if not choice.word:
            choice.take(entry.get(self._content) or {})
        if entry.get("finish_reason") is not None:
            choice.words.append(entry["finish_reason"])
        if index == self.first:
            self.logprobs += (entry.get("logprobs") or {}).get("content") or []
            self.error = self.error or entry.get("error")
        self.reports += [entry["usage"]] if entry.get("usage") else []


def read(exchange: Exchange) -> ModelResponse:
    """Read an answer plainly: put its choices together, then their runs into parts."""
    answer = _Answer(exchange)
    others = dict(answer.choices)
    choice = others.pop(answer.first or 0, None) or Choice(answer.audio_type)
    names = {name: answer.names[name] for name in _BESIDE if name in answer.names}
    metadata: dict[str, Any] = {f"{_API}.{name}": value for name, value in names.items()}
    metadata |= answer.metadata | choice.metadata
    if answer.logprobs:
        metadata[f"{_API}.logprobs"] = answer.logprobs
    if others:
        metadata[f"{_API}.choices"] = [
            {
                "index": index,
                "finish_reason": next((word for word in others[index].words if word), None),
                "parts": msgspec.to_builtins(others[index].parts(broken_off=False)),
            }
            for index in sorted(others)
        ]
    in_usd = exchange["vendor"] in _COSTS_IN_USD
    reports = [
        (raw, _tokens(raw), cost_in_usd(raw) if in_usd else CostUsage())
        for raw in answer.reports
        if count_at(raw, "prompt_tokens") is not None
        or count_at(raw, "completion_tokens") is not None
    ]
    id_, model = answer.names.get("id"), answer.names.get("model")
    error, failure = answer.error, _failure(choice.word)
    broken_off = failure is not None or (bool(error) and not choice.word)
    return response(
        choice.parts(broken_off=broken_off),
        Ending(
            Provenance(row(exchange), _API, exchange["model"], id_, model),
            _reason(choice),
            choice.words,
            metadata,
            usage_of(f"{_API}.usage", reports, whole=True),
            failure_inside(error) if error else failure,
        ),
    )


def _tokens(raw: Mapping[str, Any]) -> TokenUsage:
    """The vendor's counts, made disjoint so that they add up to its total.

    Cached tokens are part of the prompt, and never more than it (Azure's Grok). Reasoning is part
    of the output, and never more than it (Vercel's gateway), unless the total says that it comes on
    top (xAI). What only the total has is hidden reasoning (Google's endpoint), or sound in the
    prompt (Mistral).
    """
    prompt, output = count_at(raw, "prompt_tokens"), count_at(raw, "completion_tokens")
    cached = count_at(raw, "prompt_tokens_details", "cached_tokens")
    for name in ("prompt_cache_hit_tokens", "cached_tokens"):  # DeepSeek, Moonshot
        cached = count_at(raw, name) if cached is None else cached
    written = count_at(raw, "prompt_tokens_details", "cache_write_tokens")
    reasoning = count_at(raw, "completion_tokens_details", "reasoning_tokens")
    if reasoning is None:
        reasoning = count_at(raw, "reasoning_tokens")  # Copilot
    total = count_at(raw, "total_tokens")
    if total and prompt is not None and output is not None:
        if raw.get("prompt_audio_seconds"):
            prompt = total - output
        output = total - prompt
        cached = None if cached is None else min(cached, prompt)
        reasoning = None if reasoning is None else min(reasoning, output)
    return TokenUsage(
        input=None if prompt is None else max(0, prompt - (cached or 0) - (written or 0)),
        output=output,
        cache_read=cached,
        cache_write=written,
        reasoning=reasoning,
    )


def _reason(choice: Choice) -> FinishReason:
    if choice.refused:
        return FinishReason.BLOCKED
    words = [choice.word, *(piece.strip() for piece in choice.word.split(":")[::-1])]
    known = [_REASONS[word] for word in words if word in _REASONS]
    reason = known[0] if known else FinishReason.OTHER if choice.word else FinishReason.COMPLETED
    cut = (FinishReason.MAX_TOKENS, FinishReason.BLOCKED)
    if choice.calls:  # whatever the word; nothing can follow calls but their results
        return reason if reason in cut else FinishReason.TOOL_CALL
    return FinishReason.COMPLETED if reason is FinishReason.TOOL_CALL else reason


def _failure(word: str) -> ProviderFailure | None:
    """The failure that a finish reason means; Google's endpoint says `filter: REASON`."""
    pieces = [word, *(piece.strip() for piece in word.split(":")[::-1])]
    kind = next((_FAILED[piece] for piece in pieces if piece in _FAILED), None)
    if kind is None:
        return None
    message = unknown("ProviderFailure.message", lambda text: word in text)
    retryable = kind is not FailureKind.CONTEXT_LENGTH
    return ProviderFailure(kind=kind, message=message, retryable=retryable, code=word)


# What the corpus expects, in its own words.


def _part_kinds(item: Item) -> list[str]:
    # A message has one field for each of these, so each counts once.
    kinds = [kind for part in item.parts if (kind := kind_of_part(part)) is not None]
    return [
        kind
        for at, kind in enumerate(kinds)
        if kind not in ("text", "reasoning", "refusal") or kind not in kinds[:at]
    ]


def _usage(tokens: TokenUsage, expected: Mapping[str, int]) -> dict[str, int | None]:
    """Our counts as Chat Completions write them, for the keys that are expected."""
    output, reasoning = tokens.output, tokens.reasoning or 0
    both = expected.get("input", 0) + expected.get("output", 0)
    if output is not None and reasoning and expected.get("total") == both + reasoning:
        output -= reasoning  # the vendor counts reasoning on top
    seen = {
        "input": tokens.prompt,
        "output": output,
        "cache_read": tokens.cache_read,
        "cache_write": tokens.cache_write,
        "reasoning": tokens.reasoning,
    }
    return {key: seen.get(key) for key in expected if key in seen}


def _more(item: Item, exchange: Exchange) -> dict[str, object]:
    return {}


SPOKEN: Final = Spoken(row, read, _part_kinds, _usage, _more)
