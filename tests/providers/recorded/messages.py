"""Answers of Anthropic's Messages, read plainly."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

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
from providers.recorded.readings import (
    Ending,
    Spoken,
    call,
    cost_in_usd,
    count_at,
    part_broken_off,
    response,
    usage_of,
)

_API: Final = "anthropic_messages"
_ROWS: Final = {
    "anthropic": "anthropic",
    "google-vertex": "vertex-anthropic",
    "openrouter": "openrouter-anthropic",
}
"""The vendors' rows; others are `anthropic-compatible`."""
_COUNTS_IN_USD: Final = frozenset({"openrouter"})
_REASONS: Final = {
    "end_turn": FinishReason.COMPLETED,
    "stop_sequence": FinishReason.COMPLETED,
    "max_tokens": FinishReason.MAX_TOKENS,
    "tool_use": FinishReason.TOOL_CALL,
    "pause_turn": FinishReason.PAUSED,
    "compaction": FinishReason.PAUSED,
    "refusal": FinishReason.BLOCKED,
}
"""https://docs.anthropic.com/en/api/handling-stop-reasons"""
_GROWS: Final = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature"}


def row(exchange: Exchange) -> str:
    """The name of the vendor's row."""
    return _ROWS.get(exchange["vendor"], "anthropic-compatible")


def read(exchange: Exchange) -> ModelResponse:
    """Read an answer plainly: put the message together, then its blocks into parts."""
    message, error = _message(payloads_of(exchange))
    parts = [part for block in message["content"] if (part := _part(block)) is not None]
    if error:
        parts = [
            part_broken_off(part, f"{_API}.block", arguments=message["open"])
            if at == len(parts) - 1 and message["open"] is not None
            else part
            for at, part in enumerate(parts)
        ]
    raw = message.get("usage") or {}
    tokens = TokenUsage(
        input=count_at(raw, "input_tokens"),
        output=count_at(raw, "output_tokens"),
        cache_read=count_at(raw, "cache_read_input_tokens"),
        cache_write=count_at(raw, "cache_creation_input_tokens"),
        reasoning=count_at(raw, "output_tokens_details", "thinking_tokens"),
        cache_write_1h=count_at(raw, "cache_creation", "ephemeral_1h_input_tokens"),
    )
    reported = tokens.input is not None or tokens.output is not None
    cost = cost_in_usd(raw) if exchange["vendor"] in _COUNTS_IN_USD else CostUsage()
    names = ("stop_sequence", "stop_details", "container", "context_management", "service_tier")
    if raw.get("service_tier"):
        message["service_tier"] = raw["service_tier"]
    word = message.get("stop_reason") or ""
    failure = failure_inside(error) if error else _failed(word)
    return response(
        parts,
        Ending(
            Provenance(
                row(exchange),
                _API,
                exchange["model"],
                message.get("id") or None,
                message.get("model") or None,
            ),
            _reason(word, calls=any(isinstance(part, ToolCall) for part in parts)),
            [word] if word else [],
            {f"{_API}.{name}": message[name] for name in names if message.get(name) is not None},
            usage_of(
                f"{_API}.usage",
                [(raw, tokens, cost)] if reported else [],
                whole=message["usage_is_whole"],
            ),
            failure,
        ),
    )


def _message(payloads: list[Any]) -> tuple[dict[str, Any], Any]:
    """The message as the official SDK would put it together, and the error that ended it."""
    if payloads and payloads[0].get("type") == "message":
        whole = {**payloads[0], "usage": _present(payloads[0].get("usage") or {})}
        return {**whole, "content": whole.get("content") or [], "usage_is_whole": True}, None
    message: dict[str, Any] = {"usage_is_whole": False, "open": None}
    blocks: dict[int, dict[str, Any]] = {}
    inputs: dict[int, str] = {}
    error = None
    for event in payloads:
        delta, index = event.get("delta") or {}, event.get("index") or 0
        match event.get("type"):
            case "message_start":
                message |= event["message"]
            case "content_block_start":
                blocks[index] = dict(event["content_block"])
                message["open"] = ""
            case "content_block_stop":
                message["open"] = None
            case "content_block_delta":
                _grow(blocks[index], delta)
                if delta["type"] == "input_json_delta":
                    inputs[index] = inputs.get(index, "") + (delta.get("partial_json") or "")
                    message["open"] = inputs[index]
            case "message_delta":
                message |= {key: value for key, value in delta.items() if value is not None}
                if event.get("context_management") is not None:
                    message["context_management"] = event["context_management"]
                if event.get("usage"):
                    message["usage_is_whole"] = True
                    message["usage"] = {
                        **_present(message.get("usage") or {}),
                        **_present(event["usage"]),
                    }
            case "error":
                error = event
                break
    for index, text in inputs.items():
        if text.strip():
            blocks[index]["input"] = text if blocks[index]["type"] == "tool_use" else _json(text)
    message["usage"] = _present(message.get("usage") or {})
    message["content"] = [blocks[index] for index in sorted(blocks)]
    return message, error


def _grow(block: dict[str, Any], delta: Mapping[str, Any]) -> None:
    kind = delta["type"]
    if kind in _GROWS:
        name = _GROWS[kind]
        block[name] = (block.get(name) or "") + (delta.get(name) or "")
    elif kind == "citations_delta":
        block["citations"] = [*(block.get("citations") or []), delta["citation"]]
    elif kind != "input_json_delta":
        for name, value in delta.items():
            if name != "type" and value is not None:
                begun = block.get(name)
                joins = isinstance(begun, str) and isinstance(value, str)
                block[name] = begun + value if joins else value


def _present(report: Mapping[str, Any]) -> dict[str, Any]:
    """A usage report without its nulls, with which gateways say that they know nothing."""
    return {key: value for key, value in report.items() if value is not None}


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _part(block: dict[str, Any]) -> Part | None:
    """A block as a part; None for an empty text."""
    kind = block["type"]
    match kind:
        case "text":
            beside = _beside(block, "text", "citations")
            if block.get("citations"):
                beside[f"{_API}.citations"] = block["citations"]
            return Text(block["text"], metadata=beside) if block.get("text") else None
        case "thinking":
            beside = _beside(block, "thinking", "signature")
            if block.get("signature"):
                beside[f"{_API}.signature"] = block["signature"]
            text = block.get("thinking") or None
            return Reasoning(text, redacted=text is None, metadata=beside)
        case "redacted_thinking":
            data = {f"{_API}.redacted_data": block["data"]}
            return Reasoning(redacted=True, metadata={**data, **_beside(block, "data")})
        case "tool_use":
            beside = _beside(block, "id", "name", "input")
            arguments = block.get("input")
            return call(block.get("id"), block.get("name"), arguments or None, beside)
        case _:
            return Custom(f"{_API}.{kind}", block)


def _beside(block: dict[str, Any], *said: str) -> dict[str, Any]:
    """What a block has besides what its part says; it goes back with it."""
    rest = {name: value for name, value in block.items() if name not in ("type", *said)}
    return {f"{_API}.block": rest} if rest else {}


def _reason(word: str, *, calls: bool) -> FinishReason:
    reason = _REASONS.get(word, FinishReason.OTHER) if word else FinishReason.COMPLETED
    if calls:  # nothing can follow them but their results
        cut = (FinishReason.MAX_TOKENS, FinishReason.BLOCKED)
        return reason if reason in cut else FinishReason.TOOL_CALL
    return FinishReason.COMPLETED if reason is FinishReason.TOOL_CALL else reason


def _failed(word: str) -> ProviderFailure | None:
    if word != "model_context_window_exceeded":
        return None
    message = unknown("ProviderFailure.message", bool)
    return ProviderFailure(kind=FailureKind.CONTEXT_LENGTH, message=message, code=word)


# What the corpus expects, in its own words.


def _types(item: Item) -> list[str]:
    """The vendor's block types of an item's parts; blocks that became no part are not there."""
    types: list[str] = []
    for part in item.parts:
        match part:
            case Text():
                types.append("text")
            case Reasoning(metadata=metadata):
                redacted = f"{_API}.redacted_data" in metadata
                types.append("redacted_thinking" if redacted else "thinking")
            case ToolCall():
                types.append("tool_use")
            case Custom(kind=kind):
                types.append(kind.partition(".")[2])
            case _:
                types.append(type(part).__name__)
    return types


def _part_kinds(item: Item) -> list[str]:
    return [_kind(block_type) for block_type in _types(item)]


def _kind(block_type: str) -> str:
    match block_type:
        case "thinking":
            return "reasoning"
        case "redacted_thinking":
            return "redacted_reasoning"
        case "tool_use":
            return "tool_call"
        case "server_tool_use" | "mcp_tool_use":
            return "server_tool_call"
        case "text" | "compaction":
            return block_type
        case _ if block_type.endswith("_tool_result"):
            return "server_tool_result"
        case _:
            return f"other:{block_type}"


def _usage(tokens: TokenUsage, expected: Mapping[str, int]) -> dict[str, int | None]:
    names = ("input", "output", "cache_read", "cache_write", "reasoning")
    return {name: getattr(tokens, name) for name in names if name in expected}


def _more(item: Item, exchange: Exchange) -> dict[str, object]:
    message, _ = _message(payloads_of(exchange))
    return {
        # The vendor's own list has empty texts, which become no part: `read` checks the parts.
        "native_types": [block["type"] for block in message["content"]],
        "stop_sequence": item.metadata.get(f"{_API}.stop_sequence"),
    }


SPOKEN: Final = Spoken(row, read, _part_kinds, _usage, _more)
