"""Answers of the Responses API, read plainly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from agentkit_core import (
    CostUsage,
    Custom,
    FinishReason,
    Item,
    Media,
    ModelResponse,
    Part,
    Provenance,
    Reasoning,
    Text,
    TokenUsage,
    ToolCall,
)
from agentkit_core.provider import native_reasons
from agentkit_providers.endpoints import default_registry
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
from providers.recorded.responses_parts import parts_of
from providers.recorded.views import kind_of_part

_API: Final = "openai_responses"
_COSTS_IN_USD: Final = frozenset({"openrouter"})
_ENDS: Final = {
    "response.completed": "completed",
    "response.incomplete": "incomplete",
    "response.failed": "failed",
    "response.cancelled": "cancelled",
}
"""The events that end a stream, and the status that each stands for."""
_INCOMPLETE: Final = {
    "max_output_tokens": FinishReason.MAX_TOKENS,
    "content_filter": FinishReason.BLOCKED,
}
_GROWING: Final = ("queued", "in_progress")
"""Statuses of a response that is not there yet."""
_RUN_BY_CLIENT: Final = ("computer_call", "local_shell_call", "shell_call", "apply_patch_call")
_STREAMED: Final = {
    "response.output_text.delta": "text",
    "response.refusal.delta": "refusal",
    "response.reasoning_summary_text.delta": "thought",
    "response.reasoning_text.delta": "thought",
    "response.function_call_arguments.delta": "arguments",
}
"""Deltas, and what of their item they make grow."""


def row(exchange: Exchange) -> str:
    """The name of the vendor's row; `compatible-responses` for those without one."""
    name = f"{exchange['vendor']}-responses"
    return name if name in {row.name for row in default_registry} else "compatible-responses"


class _Answer:
    """What an answer's events say, put together by the index of each output item."""

    def __init__(self, payloads: list[Any]) -> None:
        self.items: dict[int, dict[str, Any]] = {}
        self.done = set[int]()
        """The output items, as whole as they came, in the order in which they began."""
        self.grown: dict[int, dict[str, str]] = {}
        self.marks: dict[tuple[int, int], list[Any]] = {}
        self.end: dict[str, Any] = {}
        self.names: dict[str, Any] = {}
        self.status = ""
        self.error: Any = None
        self.reports: list[dict[str, Any]] = []
        for event in payloads:
            self._take(event)

    def _take(self, event: dict[str, Any]) -> None:
        kind, index = event.get("type"), event.get("output_index", 0)
        whole = (
            event if "output" in event and "response" not in str(kind) else event.get("response")
        )
        if whole is not None:
            self.names = self.names or whole
            self.reports += [whole["usage"]] if whole.get("usage") else []
            self.end = whole
        if whole is event:
            self.status = event.get("status") or "completed"
            self.items = dict(enumerate(event["output"] or []))
        elif kind in _ENDS:
            status = self.end.get("status")
            self.status = _ENDS[kind] if status in (None, "", "in_progress", "queued") else status
            self._take_rest(self.end.get("output") or [])
        elif kind == "error":
            self.error = event
        elif kind in ("response.output_item.added", "response.output_item.done"):
            self.items[index] = event["item"]
            self.done |= {index} if kind == "response.output_item.done" else set()
        elif kind in _STREAMED:
            grown = self.grown.setdefault(index, {})
            grown[_STREAMED[kind]] = grown.get(_STREAMED[kind], "") + (event.get("delta") or "")
        elif kind == "response.function_call_arguments.done":
            self.grown.setdefault(index, {})["arguments"] = event["arguments"]
        elif kind == "response.output_text.annotation.added":
            place = index, event.get("content_index", 0)
            self.marks.setdefault(place, []).append(event["annotation"])

    def _take_rest(self, output: list[dict[str, Any]]) -> None:
        """Take what only the last event names: items, and the secrets of reasoning (Azure)."""
        for index, item in enumerate(output):
            known = self.items.get(index)
            if index not in self.done and len(output) > len(self.done):
                self.items[index] = item
            elif known is not None and known["type"] == item["type"] == "reasoning":
                secret = item.get("encrypted_content")
                if secret and not known.get("encrypted_content") and not known.get("content"):
                    self.items[index] = {**known, "encrypted_content": secret}

    def parts(self) -> list[Part]:
        """The items as parts; each knows its place, and the reasoning that it follows."""
        parts: list[Part] = []
        thought: int | None = None
        for number, (index, item) in enumerate(self.items.items()):
            place: dict[str, Any] = {"index": number}
            if thought is not None:
                place["reasoning"] = thought
            if item["type"] == "reasoning":
                thought = number
            grown = self.grown.get(index, {})
            marks = {at: marks for (of, at), marks in self.marks.items() if of == index}
            parts += parts_of(item, grown, marks, {f"{_API}.place": place})
        return parts


def read(exchange: Exchange) -> ModelResponse:
    """Read an answer plainly: put its output items together, then each into parts."""
    answer = _Answer(payloads_of(exchange))
    end, parts = answer.end, answer.parts()
    names = ("service_tier", "moderation", "content_filters")
    why = (end.get("incomplete_details") or {}).get("reason") or ""
    in_usd = exchange["vendor"] in _COSTS_IN_USD
    reports = [
        (raw, _tokens(raw), cost_in_usd(raw) if in_usd else CostUsage())
        for raw in answer.reports
        if count_at(raw, "input_tokens") is not None or count_at(raw, "output_tokens") is not None
    ]
    error = answer.error or end.get("error")
    words = [answer.status] if error else [why, answer.status]
    metadata = {f"{_API}.{name}": end[name] for name in names if end.get(name)}
    awaited = answer.status if answer.status in _GROWING else _awaited([*answer.items.values()])
    if awaited and not error:
        metadata[f"{_API}.awaited"] = awaited
    return response(
        parts,
        Ending(
            Provenance(
                row(exchange),
                _API,
                exchange["model"],
                answer.names.get("id") or None,
                answer.names.get("model") or None,
            ),
            _reason(answer.status, why, parts, awaited=bool(awaited)),
            words,
            metadata,
            usage_of(f"{_API}.usage", reports, whole=True),
            failure_inside(error) if error else None,
        ),
    )


def _tokens(raw: Mapping[str, Any]) -> TokenUsage:
    """The vendor's counts, made disjoint: cached tokens are part of the input."""
    whole = count_at(raw, "input_tokens")
    cached = count_at(raw, "input_tokens_details", "cached_tokens")
    written = count_at(raw, "input_tokens_details", "cache_write_tokens")
    return TokenUsage(
        input=None if whole is None else max(0, whole - (cached or 0) - (written or 0)),
        output=count_at(raw, "output_tokens"),
        cache_read=cached,
        cache_write=written,
        reasoning=count_at(raw, "output_tokens_details", "reasoning_tokens"),
    )


def _awaited(items: list[dict[str, Any]]) -> str | None:
    """The type of an item that waits for the client to run or to answer it.

    See https://platform.openai.com/docs/guides/tools-shell and the guides of the other tools.
    """
    outputs = {item.get("call_id") for item in items if item["type"].endswith("_output")}
    for item in items:
        kind, call_id = item["type"], item.get("call_id")
        runs_there = (item.get("environment") or {}).get("type") == "container_reference"
        if kind == "mcp_approval_request":
            return str(kind)
        if kind in _RUN_BY_CLIENT and call_id not in outputs and not runs_there:
            return str(kind)
        if kind == "tool_search_call" and item.get("execution") == "client":
            return str(kind)
    return None


def _reason(status: str, why: str, parts: list[Part], *, awaited: bool) -> FinishReason:
    if any(part.metadata.get(f"{_API}.refusal") for part in parts):
        return FinishReason.BLOCKED
    if status == "incomplete":
        return _INCOMPLETE.get(why, FinishReason.OTHER)
    if status != "completed":
        return FinishReason.OTHER
    calls = awaited or any(isinstance(part, ToolCall) for part in parts)
    return FinishReason.TOOL_CALL if calls else FinishReason.COMPLETED


# What the corpus expects, in its own words.


def _type(part: Part) -> str:
    """The type of the vendor's item that a part comes from."""
    match part:
        case Text():
            return "message"
        case Reasoning():
            return "reasoning"
        case ToolCall(metadata=metadata) | Media(metadata=metadata):
            item = metadata.get(f"{_API}.item")
            return str(item.get("type", "function_call") if isinstance(item, dict) else "?")
        case Custom(kind=kind):
            name = kind.partition(".")[2]
            return "message" if name.startswith("content.") else name
        case _:
            return type(part).__name__


def _part_kinds(item: Item) -> list[str]:
    return [_kind(part) for part in item.parts]


def _kind(part: Part) -> str:
    match _type(part):
        case "message":
            return kind_of_part(part) or "text"
        case "function_call" | "custom_tool_call":
            return "tool_call"
        case "shell_call" | "local_shell_call" | "apply_patch_call" | "computer_call":
            return "client_tool_call"
        case "mcp_approval_request":
            return "approval_request"
        case "reasoning" | "compaction" as kind:
            return kind
        case kind if kind.endswith("_output"):
            return "server_tool_result"
        case kind if kind.endswith("_call") or kind == "mcp_list_tools":
            return "server_tool_call"
        case kind:
            return f"other:{kind}"


def _usage(tokens: TokenUsage, expected: Mapping[str, int]) -> dict[str, int | None]:
    seen = {
        "input": tokens.prompt,
        "output": tokens.output,
        "cache_read": tokens.cache_read,
        "cache_write": tokens.cache_write,
        "reasoning": tokens.reasoning,
    }
    return {key: seen.get(key) for key in expected if key in seen}


def _more(item: Item, exchange: Exchange) -> dict[str, object]:
    answer = _Answer(payloads_of(exchange))
    words = native_reasons(item.metadata)
    return {
        # The vendor's own list has messages without text, which become no part; `read` checks
        # the parts.
        "native_types": [entry["type"] for entry in answer.items.values()],
        "incomplete_reason": words[0] if len(words) > 1 else None,
    }


SPOKEN: Final = Spoken(row, read, _part_kinds, _usage, _more)
