"""One output item as parts: the Responses API, read plainly."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import Any, Final

from msgspec.structs import replace

from agentkit_core import (
    Custom,
    InlineBytes,
    Media,
    Modality,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolCallId,
)
from providers.recorded.readings import broken_call, call, json_text

_API: Final = "openai_responses"


def parts_of(
    item: dict[str, Any],
    grown: Mapping[str, str],
    marks: Mapping[int, list[Any]],
    place: dict[str, Any],
) -> list[Part]:
    """One output item as parts: each text of a message, or the item itself."""
    kind = item["type"]
    own = f"{_API}.item"
    match kind:
        case "message":
            beside = {**place, own: _without(item, "type", "role", "content")}
            return _texts(item.get("content") or [], marks, beside)
        case "reasoning":
            summary, content = (
                "".join(entry.get("text") or "" for entry in item.get(name) or [])
                for name in ("summary", "content")
            )
            text = (summary if summary == content else summary + content) or grown.get("thought")
            return [Reasoning(text or None, redacted=not text, metadata={**place, own: item})]
        case "function_call":
            return [_call(item, item.get("arguments") or grown.get("arguments", ""), place)]
        case "custom_tool_call":
            beside = _without(item, "call_id", "name", "input")
            arguments = {"input": item["input"]}
            custom = ToolCall(ToolCallId(item["call_id"]), item["name"], arguments)
            return [replace(custom, metadata={**place, own: beside})]
        case "image_generation_call" if _is_exact(item.get("result") or ""):
            mime_type = f"image/{item.get('output_format') or 'png'}"
            data = InlineBytes(b64decode(item["result"]))
            beside = {**place, own: _without(item, "result")}
            return [Media(Modality.IMAGE, mime_type, data, metadata=beside)]
        case _:
            return [Custom(f"{_API}.{kind}", item, metadata=place)]


def _is_exact(base64: str) -> bool:
    """Whether bytes are written again as they came; the corpus has images that were cut."""
    try:
        return bool(base64) and b64encode(b64decode(base64)).decode() == base64
    except ValueError:
        return False


def _texts(
    content: list[dict[str, Any]], marks: Mapping[int, list[Any]], beside: dict[str, Any]
) -> list[Part]:
    parts: list[Part] = []
    for at, entry in enumerate(content):
        metadata = dict(beside)
        match entry["type"]:
            case "output_text":
                for name in ("annotations", "logprobs"):
                    if entry.get(name):
                        metadata[f"{_API}.{name}"] = entry[name]
                if at in marks and not entry.get("annotations"):
                    metadata[f"{_API}.annotations"] = marks[at]
                parts += [Text(entry["text"], metadata=metadata)] if entry.get("text") else []
            case "refusal":
                parts.append(Text(entry["refusal"], metadata={**beside, f"{_API}.refusal": True}))
            case kind:
                parts.append(Custom(f"{_API}.content.{kind}", entry, metadata=metadata))
    return parts


def _call(item: dict[str, Any], arguments: Any, place: dict[str, Any]) -> ToolCall:
    text = arguments if isinstance(arguments, str) else json_text(arguments)
    beside = _without(item, "type", "call_id", "name", "arguments")
    parsed = call(item.get("call_id"), item.get("name"), text, {})
    if item.get("status") == "incomplete":
        parsed = broken_call(parsed, text)
    elif parsed.raw_input is None and json_text(parsed.input) != (text or "{}"):
        beside["arguments"] = text  # written in another way than we would; it goes back as it is
    return replace(parsed, metadata={**place, f"{_API}.item": beside} if beside else place)


def _without(item: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in item.items() if name not in names}
