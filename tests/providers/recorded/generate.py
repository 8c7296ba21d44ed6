"""Answers of Google's generateContent, read plainly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from agentkit_core import (
    CostUsage,
    Custom,
    FailureKind,
    FinishReason,
    Item,
    ModelResponse,
    Part,
    Provenance,
    ProviderFailure,
    Reasoning,
    Text,
    TokenUsage,
    ToolCall,
)
from providers.recorded.comparing import unknown
from providers.recorded.exchanges import Exchange, payloads_of
from providers.recorded.failures import failure_inside
from providers.recorded.generate_parts import parts_of
from providers.recorded.readings import (
    Ending,
    Spoken,
    count_at,
    part_broken_off,
    usage_of,
)
from providers.recorded.readings import response as put_together
from providers.recorded.views import kind_of_part

_API: Final = "google_generate"
_ROWS: Final = {"google-vertex": "vertex"}
"""Vendors that the corpus calls otherwise than our rows; others are `google`."""
_BLOCKED: Final = (
    "SAFETY",
    "RECITATION",
    "LANGUAGE",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "SPII",
    "MODEL_ARMOR",
    "IMAGE_SAFETY",
    "IMAGE_PROHIBITED_CONTENT",
    "IMAGE_RECITATION",
)
"""https://ai.google.dev/api/generate-content#FinishReason"""
_FAILED: Final = {
    "MALFORMED_FUNCTION_CALL": FailureKind.SERVER,
    "MALFORMED_RESPONSE": FailureKind.SERVER,
    "MISSING_THOUGHT_SIGNATURE": FailureKind.INVALID_REQUEST,
}
_BESIDE: Final = {
    "groundingMetadata": "grounding_metadata",
    "citationMetadata": "citation_metadata",
    "urlContextMetadata": "url_context_metadata",
    "safetyRatings": "safety_ratings",
    "avgLogprobs": "avg_logprobs",
    "logprobsResult": "logprobs",
}
"""What candidates say beside their content, and what it is called in an item's metadata."""


def row(exchange: Exchange) -> str:
    """The name of the vendor's row."""
    return _ROWS.get(exchange["vendor"], "google")


class _Candidate:
    """One candidate, put together from all chunks."""

    def __init__(self) -> None:
        self.entries: list[dict[str, Any]] = []
        self.words: list[str] = []
        self.message: str | None = None
        self.metadata: dict[str, Any] = {}

    def take(self, candidate: dict[str, Any]) -> None:
        self.entries += (candidate.get("content") or {}).get("parts") or []
        if candidate.get("finishReason") is not None:
            self.words.append(candidate["finishReason"])
            self.message = candidate.get("finishMessage")
            if self.message is not None:
                self.metadata[f"{_API}.finish_message"] = self.message
        for name, key in _BESIDE.items():
            if new := candidate.get(name):
                known = self.metadata.get(f"{_API}.{key}")
                if isinstance(known, dict) and isinstance(new, dict):
                    new = {**known, **new}
                self.metadata[f"{_API}.{key}"] = new

    @property
    def word(self) -> str:
        return next((word for word in reversed(self.words) if word), "")


def read(exchange: Exchange) -> ModelResponse:
    """Read an answer plainly: put its candidates together, then their entries into parts."""
    names: dict[str, str] = {}
    candidates: dict[int, _Candidate] = {0: _Candidate()}
    metadata: dict[str, Any] = {}
    reports: list[dict[str, Any]] = []
    error = None
    for chunk in payloads_of(exchange):
        for name in ("responseId", "modelVersion"):
            if chunk.get(name):
                names.setdefault(name, chunk[name])
        for candidate in chunk.get("candidates") or []:
            index = candidate.get("index") or 0
            candidates.setdefault(index, _Candidate()).take(candidate)
        if chunk.get("promptFeedback") is not None:
            metadata[f"{_API}.prompt_feedback"] = chunk["promptFeedback"]
        if chunk.get("usageMetadata"):
            reports.append(chunk["usageMetadata"])
        error = error or chunk.get("error")
    first, others = candidates[0], sorted(candidates.items())[1:]
    metadata |= first.metadata
    if others:
        metadata[f"{_API}.candidates"] = [
            {
                "index": index,
                "finish_reason": other.word or None,
                "parts": msgspec.to_builtins(parts_of(other.entries, cut=False)),
            }
            for index, other in others
        ]
    tiers = [raw["serviceTier"] for raw in reports if raw.get("serviceTier")]
    if tiers:
        metadata[f"{_API}.service_tier"] = tiers[-1]
    parts = parts_of(first.entries, cut=first.word == "MAX_TOKENS")
    calls = any(isinstance(part, ToolCall) for part in parts)
    blocked = bool((metadata.get(f"{_API}.prompt_feedback") or {}).get("blockReason"))
    failure = failure_inside({"error": error}) if error else _failure(first, calls=calls)
    if failure is not None and parts and isinstance(parts[-1], Text | Reasoning):
        parts[-1] = part_broken_off(parts[-1])
    # The first report that has a count says what the prompt costs, and the last one stands.
    readable = [(raw, _tokens(raw), CostUsage()) for raw in reports if _has_count(raw)]
    return put_together(
        parts,
        Ending(
            Provenance(
                row(exchange),
                _API,
                exchange["model"],
                names.get("responseId"),
                names.get("modelVersion"),
            ),
            _reason(first.word, calls=calls, blocked=blocked),
            first.words,
            metadata,
            usage_of(f"{_API}.usage", [*readable[:1], *readable[-1:]], whole=True),
            failure,
        ),
    )


def _has_count(raw: Mapping[str, Any]) -> bool:
    names = ("promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount")
    return any(count_at(raw, name) is not None for name in names)


def _tokens(raw: Mapping[str, Any]) -> TokenUsage:
    """The vendor's counts, made disjoint; one of 0 is left out, as the total says."""
    prompt, cached = count_at(raw, "promptTokenCount"), count_at(raw, "cachedContentTokenCount")
    thoughts, said = count_at(raw, "thoughtsTokenCount"), count_at(raw, "candidatesTokenCount")
    of_tools = count_at(raw, "toolUsePromptTokenCount") or 0
    total = count_at(raw, "totalTokenCount")
    if said is None and total is not None:
        said = max(0, total - (prompt or 0) - of_tools - (thoughts or 0))
    return TokenUsage(
        input=None if prompt is None else max(0, prompt - (cached or 0)) + of_tools,
        output=None if said is None and thoughts is None else (said or 0) + (thoughts or 0),
        cache_read=cached,
        reasoning=thoughts,
    )


def _reason(word: str, *, calls: bool, blocked: bool) -> FinishReason:
    if word == "MAX_TOKENS":
        return FinishReason.MAX_TOKENS
    if word in _BLOCKED or (blocked and not word):
        return FinishReason.BLOCKED
    if calls:
        return FinishReason.TOOL_CALL
    return FinishReason.COMPLETED if word in ("STOP", "") else FinishReason.OTHER


def _failure(candidate: _Candidate, *, calls: bool) -> ProviderFailure | None:
    word, said = candidate.word, candidate.message or ""
    kind = _FAILED.get(word)
    if kind is None and not calls and word in ("UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS"):
        kind = FailureKind.SERVER
    if kind is None:
        return None
    message = unknown("ProviderFailure.message", lambda text: word in text and said[:1500] in text)
    retryable = kind is FailureKind.SERVER
    return ProviderFailure(kind=kind, message=message, retryable=retryable, code=word)


# What the corpus expects, in its own words.

_BLOCKS: Final = {
    "executableCode": "server_tool_call",
    "toolCall": "server_tool_call",
    "codeExecutionResult": "server_tool_result",
    "toolResponse": "server_tool_result",
}


def _part_kinds(item: Item) -> list[str]:
    kinds = [kind for part in item.parts if (kind := _kind(part)) is not None]
    # A stream cuts text anywhere, so neighbours are one.
    joined = ("text", "reasoning")
    return [
        kind for at, kind in enumerate(kinds) if kind not in joined or kinds[at - 1 : at] != [kind]
    ]


def _kind(part: Part) -> str | None:
    match part:
        case Reasoning(data=data) if data is not None:
            return "thought_image"
        case Custom(kind="google_generate.text"):
            return None  # a signature and nothing else
        case Custom(kind=kind):
            name = kind.partition(".")[2]
            return _BLOCKS.get(name, f"other:{name}")
        case _:
            return kind_of_part(part)


def _usage(tokens: TokenUsage, expected: Mapping[str, int]) -> dict[str, int | None]:
    """Our counts as the vendor writes them: its own tools and thoughts stand apart."""
    of_tools = expected.get("tool_use_input", 0)
    seen = {
        "input": None if tokens.prompt is None else tokens.prompt - of_tools,
        "output": None if tokens.output is None else tokens.output - (tokens.reasoning or 0),
        "cache_read": tokens.cache_read,
        "reasoning": tokens.reasoning,
        "tool_use_input": of_tools,
    }
    return {key: seen.get(key) for key in expected if key in seen}


def _more(item: Item, exchange: Exchange) -> dict[str, object]:
    feedback = item.metadata.get(f"{_API}.prompt_feedback")
    reason = feedback.get("blockReason") if isinstance(feedback, dict) else None
    return {"block_reason": reason}


SPOKEN: Final = Spoken(row, read, _part_kinds, _usage, _more)
