"""Values in few words: what a person needs to see of arguments, outputs and usage."""

from __future__ import annotations

from agentkit_core import (
    Custom,
    File,
    FilesOutput,
    JsonValue,
    Media,
    Part,
    PartsOutput,
    Reasoning,
    Structured,
    StructuredOutput,
    Text,
    TextOutput,
    ToolCall,
    ToolOutput,
    ToolResult,
    Usage,
    to_json,
)
from agentkit_reporting._terminal_safe import clean

_LOOK_AHEAD = 8


def brief(text: str, max_width: int) -> str:
    """Clean a text and bring it on one line of at most `max_width` characters."""
    # A result may be megabytes long; what is cut off need not be cleaned.
    start = text[: max_width * _LOOK_AHEAD]
    line = " ".join(clean(start).split())
    if len(line) <= max_width and len(start) == len(text):
        return line
    return line[: max_width - 1] + "…"


def brief_json(value: JsonValue, max_width: int) -> str:
    """Write a JSON value on one line of at most `max_width` characters."""
    return brief(to_json(value).decode(), max_width)


def brief_output(output: ToolOutput, max_width: int) -> str:
    """Say what a tool gave, on one line of at most `max_width` characters."""
    match output:
        case TextOutput() | StructuredOutput():
            return brief(output.text, max_width)
        case PartsOutput(parts=parts) | FilesOutput(files=parts):
            return brief(" ".join(map(part_in_words, parts)), max_width)


def part_in_words(part: Part) -> str:
    """Say what a part is: text as it is, anything else by its kind. Not cleaned yet."""
    match part:
        case Text() | Structured():
            return part.text
        case Media(modality=modality, mime_type=mime_type):
            return f"[{modality.value} {mime_type}]" if mime_type else f"[{modality.value}]"
        case File(name=name, mime_type=mime_type):
            return f"[file {name or mime_type or 'without a name'}]"
        case Reasoning():
            return "[reasoning]"
        case Custom(kind=kind):
            return f"[{kind}]"
        case ToolCall(name=name):
            return f"[call of {name}]"
        case ToolResult():
            return "[tool result]"


def usage_in_words(usage: Usage) -> str:
    """Say what was used: requests, tokens, money; what nobody reported is left out."""
    tokens = usage.tokens
    words = [f"{usage.requests} request" + ("" if usage.requests == 1 else "s")]
    if tokens.prompt is not None:
        cached = f" ({tokens.cache_read} from cache)" if tokens.cache_read else ""
        words.append(f"{tokens.prompt} tokens in{cached}")
    if tokens.output is not None:
        words.append(f"{tokens.output} out")
    words += [f"{amount} {currency}" for currency, amount in sorted(usage.cost.amounts.items())]
    if not usage.exact:
        words.append("or more")
    return ", ".join(words)
